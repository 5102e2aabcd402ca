"""The verdict on a peak: its outcome and margin, the largest term, and the changes that would make it fit, each with its price."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..evaluation import scalar
from ..expression import Apply, Expression, Symbol
from ..figures import figure
from ..notation import TEXT, words
from ..tables import Drawn, Grid

SAID = {"fits": "It fits", "does_not_fit": "It does not fit", "too_close_to_call": "It is too close to call"}


@dataclass(frozen=True)
class Change:
    """A change of inputs. said: in words; price: what it costs, in words; made: the scenario with it."""

    said: str
    inputs: Mapping[str, Any] = field(hash=False)
    price: str
    made: Any

    @property
    def fits(self) -> bool:
        """Whether the peak fits with it, even with the most context and reserve that were measured."""
        return bool(self.made.fits_with_most)


def largest_terms(scenario: Any, name: str) -> tuple[str, ...]:
    """The quantities on the way from a peak to its largest term: through every maximum to what is largest, through every sum to its largest addend."""
    formula: Expression = type(scenario).quantities[name].expression
    way: list[str] = []
    while True:
        if isinstance(formula, Apply) and formula.operation in ("+", "max"):
            formula = max(formula.operands, key=lambda operand: float(scalar(operand)(scenario)))
        elif isinstance(formula, Symbol) and len(formula.path) == 1 and formula.path[0] in type(scenario).quantities:
            way.append(formula.path[0])
            formula = type(scenario).quantities[formula.path[0]].expression
        else:
            return tuple(way)


class FitVerdict(Drawn):
    """A verdict in words, and the changes that would make it fit, the gentlest first. `cheapest` is the first of them, None where none helps."""

    def __init__(self, scenario: Any, changes: tuple[Change, ...]):
        self.scenario = scenario
        self.outcome: str = scenario.outcome
        self.terms = largest_terms(scenario, "peak_allocated")
        self.changes = () if self.outcome == "fits" else tuple(change for change in changes if change.fits)

    @property
    def cheapest(self) -> Change | None:
        """The gentlest change that makes it fit."""
        return self.changes[0] if self.changes else None

    @property
    def sentence(self) -> str:
        """The outcome, the peak, what the device gives, the margin, and the range that context and reserve leave."""
        said = self.scenario.figure_text
        left = self.scenario.margin.m_as("byte")
        unit = type(self.scenario).quantities["margin"].unit
        margin = f"{TEXT.figure(figure(abs(left), unit))} {'to spare' if left >= 0 else 'too much'}"
        return (f"{SAID[self.outcome]}: {said('peak_occupied')} of {said('usable_memory')}, {margin}; "
                f"from {said('least_occupied')} to {said('most_occupied')}, as context and reserve were measured.")

    @property
    def largest(self) -> str:
        """Where the peak stands, and its largest term."""
        return " › ".join(f"{words(name)} {self.scenario.figure_text(name)}" for name in self.terms)

    def grid(self) -> Grid:
        rows = tuple((change.said, change.made.figure_text("peak_occupied"), change.made.figure_text("margin"), change.price) for change in self.changes)
        below: tuple[str, ...] = ()
        if self.outcome != "fits":
            below = (f"The gentlest change: {self.cheapest.said}; its price: {self.cheapest.price}.",) if self.cheapest else ("No single change makes it fit.",)
        heads = ("change that makes it fit", "peak", "to spare", "price") if rows else ("largest",)
        return Grid(f"{self.sentence} Largest: {self.largest}." if rows else self.sentence, heads, rows or ((self.largest,),), frozenset({0, 3}), below)


__all__ = ["Change", "FitVerdict", "largest_terms"]

"""Sensitivity: by what share a quantity changes when an input grows by one percent, from the slopes of its formula."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..units import ONE
from .declarations import Parametrised
from .expression import FormulaError
from .figures import figure
from .gradient import STEPS, WITHOUT_SLOPE, Duals
from .inputs import InputError
from .notation import TEXT, words
from .record import Path, Record
from .tables import Drawn, Grid
from .writing import figure_text

if TYPE_CHECKING:
    from .scenario import Scenario


class Sensitivity(NamedTuple):
    """How one input moves the quantity: its elasticity (None where the formula has no slope), and what is to be said of it."""
    input: str
    value: str
    elasticity: float | None
    note: str = ""


class Sensitivities(Drawn, Mapping[str, "float | None"]):
    """The elasticity of a quantity to each input, by the input's path, largest first; a notebook shows it as a table."""

    def __init__(self, quantity: str, value: str, rows: tuple[Sensitivity, ...]):
        self.quantity, self.value, self.rows = quantity, value, rows

    def __getitem__(self, name: str) -> float | None:
        for row in self.rows:
            if row.input == name:
                return row.elasticity
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (row.input for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def grid(self) -> Grid:
        rows = tuple((row.input, row.value, "none" if row.elasticity is None else TEXT.figure(figure(row.elasticity, ONE)), row.note) for row in self.rows)
        noted = any(row.note for row in self.rows)
        heads = ("input", "value", "elasticity", "note")
        below = [f"Elasticity: percent by which {words(self.quantity)} changes for 1 % more of an input. It does not depend here on inputs that are not listed."]
        if any(row.note == STEPS for row in self.rows):
            below.append("In steps: ⌈ ⌉, ⌊ ⌋ or mod keeps small changes of this input from showing, so the elasticity leaves those steps out.")
        return Grid(f"Sensitivity of {words(self.quantity)} ({self.value})", heads if noted else heads[:3], rows if noted else tuple(row[:3] for row in rows), frozenset({0, 3}),
                    tuple(below))


def sensitivity(scenario: Scenario, quantity: str) -> Sensitivities:
    """The elasticity of a quantity to each number it depends on, largest first: `sensitivity(scenario, "total")["bytes_per_value"]`.

    An elasticity of 0.5 says that one percent more of the input makes the quantity half a percent larger; it is the exact
    slope of the formula at these inputs, d ln quantity / d ln input. Counts are treated as if they could change a little.
    Inputs inside records go by their path. Where a formula has no slope (at a tie of min or max, at the edge of a step or of
    a condition) the elasticity is None, and the note says why.

    Raises InputError for an unknown quantity, for one that is no number, or is zero; MissingInputError where it waits for an input.
    """
    if not isinstance(scenario, Record):
        raise InputError(f"sensitivity takes a scenario with its inputs, not {scenario!r}; write sensitivity(MyScenario(...), ...)")
    kind = type(scenario)
    path = tuple(quantity.split("."))
    try:
        declared = kind.declaration(path)
    except FormulaError as error:
        raise InputError(str(error)) from None
    if isinstance(declared, Parametrised):
        raise InputError(f"{kind.__name__}.{quantity} takes an argument; ask about a quantity without one")
    value: Any = scenario.at(path)
    if value is None or isinstance(value, (bool, str)) or getattr(declared, "kind", "") in ("record", "rows"):
        said = "none" if value is None else "yes or no" if isinstance(value, bool) else "no number"
        near = f": ask about a number, such as {scenario.presentation.whole}" if scenario.presentation.whole else ""
        raise InputError(f"{kind.__name__}: {quantity} is {said}, which has no slope{near}")
    found = Duals(scenario).number(path)
    if not found.value:
        raise InputError(f"{kind.__name__}: {quantity} is 0 with these inputs, so no change can be a share of it")
    slopes = {**found.slopes, **{at: 0.0 for at in found.notes if at not in found.slopes}}      # an input that only decides a branch
    rows = [_row(scenario, at, slope, found.value, found.notes.get(at, "")) for at, slope in slopes.items()]
    rows.sort(key=lambda row: (row.elasticity is None, -round(abs(row.elasticity or 0.0), 12)))
    return Sensitivities(quantity, figure_text(scenario, path), tuple(rows))


def _row(scenario: Scenario, at: Path, slope: float, value: float, note: str) -> Sensitivity:
    holder: Any = scenario
    for name in at[:-1]:
        name, _, index = name.partition("[")
        holder = getattr(holder, name)
        holder = holder[int(index.rstrip("]"))] if index else holder
    own = holder.number(at[-1:])
    return Sensitivity(".".join(at), figure_text(holder, at[-1:]), None if note in WITHOUT_SLOPE else slope * own / value, note)


__all__ = ["Sensitivities", "sensitivity"]

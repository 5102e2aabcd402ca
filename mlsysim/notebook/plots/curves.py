"""Quantities as curves over one input, with the least or the scenario's own point marked."""
from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes

from ...engine.bar import FILLS
from ...engine.inputs import InputError
from ...engine.notation import words
from ...engine.scenario import Scenario
from ...engine.tables import Grid
from .canvas import INK, SMALL, axes, few, joined, label_beside, outlined, started, tell
from .points import Measure, Points, Swept, declared_unit
from .stacks import scaled

COLORS = ("#0072B2", FILLS[5], FILLS[2], INK)      # of Okabe and Ito's, dark enough for a line
STROKES = ("-", "--", ":", "-.")
MOST_SAID = 40      # letters that an axis of the usual height has room for


def curves(scenario: Scenario, *quantities: str, ax: Axes | None = None, **inputs: Any) -> Axes:
    """Quantities of one unit over the values of one input: `curves(run, "overhead", "expected_waste", interval=[...])`.

    The least of each is marked where it lies between the ends. Returns the axes: `ax`, or new ones that show themselves in a
    notebook. Raises InputError for an unknown name, for units that do not go together, for other than one input of rising
    numbers, and where no point has a value.
    """
    kind = type(scenario)
    if len(inputs) != 1 or not quantities:
        raise InputError(f"{kind.__name__}: curves takes quantities and the values of one input; write curves(scenario, \"{next(iter(kind.quantities))}\", {next(iter(inputs), next(iter(kind.inputs)))}=[...])")
    told = Curves(scenario, quantities, inputs)
    with axes(ax) as drawn_on:
        told.draw(drawn_on)
        return tell(drawn_on, told.alternative_text(), told.grid())


class Curves:
    """What curves over one input show, and the words for that."""

    def __init__(self, scenario: Scenario, quantities: tuple[str, ...], inputs: dict[str, Any]):
        points = Points(scenario, quantities, inputs)
        kind = type(scenario)
        self.scenario = scenario
        self.input: Swept = points.inputs[0]
        if not self.input.ordered:
            raise InputError(f"{kind.__name__}: curves takes rising numbers; {self.input.name} has {joined(self.input.texts[:4])}; stacked_parts draws such values as bars")
        if truths := [name for name in quantities if name in kind.quantities and kind.quantities[name].returns in ("bool", "str")]:
            raise InputError(f"{kind.__name__}: {truths[0]} is no number, and a curve draws numbers; feasibility_map draws where a condition holds")
        units = {name: declared_unit(scenario, name) for name in quantities}
        first = units[quantities[0]]
        for name, of in units.items():
            if not of.is_compatible_with(first):
                raise InputError(f"{kind.__name__}: {name} is in {of} and {quantities[0]} in {first or 'pure numbers'}; draw each in axes of its own")
        self.lines = {name: points.numbers(name) for name in quantities}
        self.measure = Measure(first, max(abs(number) for line in self.lines.values() for number in line if not math.isnan(number)))
        self.errors = points.errors

    def least(self, name: str) -> int | None:
        """Where a curve is least, if that is between its ends."""
        line = self.lines[name]
        known = [i for i, number in enumerate(line) if not math.isnan(number)]
        least = min(known, key=lambda i: line[i])
        return least if known[0] < least < known[-1] else None

    def finding(self) -> str:
        name = next(iter(self.lines))
        line, least = self.lines[name], self.least(name)
        if least is not None:
            return f"{started(words(name))} is least at {self.input.said(least)}: {self.measure.text(line[least])}"
        known = [i for i, number in enumerate(line) if not math.isnan(number)]
        if len(known) == 1:
            return f"{started(words(name))}: {self.measure.text(line[known[0]])} at {self.input.said(known[0])}"
        return f"{started(words(name))}: {self.measure.text(line[known[0]])} at {self.input.said(known[0])}, {self.measure.text(line[known[-1]])} at {self.input.said(known[-1])}"

    def alternative_text(self) -> str:
        said = [f"{self.scenario.title}. {self.finding()}.", f"Curves over {self.input.label}, {self.input.texts[0]} to {self.input.texts[-1]}."]
        for name, line in self.lines.items():
            known = [i for i, number in enumerate(line) if not math.isnan(number)]
            least = self.least(name)
            told = sorted({known[0], known[-1], *([least] if least is not None else [])})
            said.append(f"{started(words(name))}: " + ", ".join(f"{self.measure.text(line[i])} at {self.input.texts[i]}" + (" (least)" if i == least else "") for i in told) + ".")
        refused = [i for i, error in enumerate(self.errors) if error]
        if refused:
            said.append(f"No value at {joined([self.input.texts[i] for i in refused[:4]])}{' and more' if len(refused) > 4 else ''}: {self.errors[refused[0]]}.")
        return " ".join(said)

    def grid(self) -> Grid:
        telling = [least for name in self.lines if (least := self.least(name)) is not None]
        rows = tuple((self.input.texts[i], *("" if math.isnan(line[i]) else self.measure.text(line[i]) for line in self.lines.values())) for i in few(len(self.input), telling))
        return Grid(self.finding(), (self.input.label, *map(words, self.lines)), rows)

    def draw(self, ax: Axes) -> None:
        x = self.input.numbers
        ends: list[tuple[str, float]] = []
        scaled(ax, x)
        for i, (name, line) in enumerate(self.lines.items()):
            heights = [self.measure.on_axis(number) for number in line]
            ax.plot(x, heights, color=COLORS[i % len(COLORS)], linestyle=STROKES[i % len(STROKES)], linewidth=2, zorder=2, label=words(name), marker="o" if len(x) == 1 else None)
            if (least := self.least(name)) is not None:
                ax.plot(x[least], heights[least], marker="o", markersize=7, color=COLORS[i % len(COLORS)], markeredgecolor=INK, zorder=4)
                if i == 0:
                    lowest = all(not other[least] < line[least] for other in self.lines.values())
                    ax.annotate(f"{self.measure.text(line[least])} at {self.input.texts[least]} {self.input.unit}".rstrip(), (x[least], heights[least]), xytext=(0, -9 if lowest else 9),
                                textcoords="offset points", ha="center", va="top" if lowest else "bottom", fontsize=SMALL, path_effects=outlined(ax), zorder=5)
            last = max(j for j, number in enumerate(line) if not math.isnan(number))
            ends.append((f"{words(name)} {self.measure.text(line[last])}", heights[last]))
        if len(x) > 1:
            ax.set_xlim(x[0], x[-1])
        known = [self.measure.on_axis(number) for line in self.lines.values() for number in line if not math.isnan(number)]
        ax.set_ylim(min(0.0, *known), max(0.0, *known) * 1.1 or (1.0 if not any(known) else 0.0))
        ax.set_xlabel(self.input.label)
        said = joined([words(name) for name in self.lines])
        ax.set_ylabel(self.measure.labelled(said) if len(said) <= MOST_SAID else self.measure.name)      # each line has its name beside it
        ax.set_title(self.finding(), wrap=True)
        label_beside(ax, ends, 1.0)


__all__ = ["curves"]

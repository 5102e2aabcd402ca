"""Where in two inputs a condition holds: a map of cells that fit, that do not, and that cannot be."""
from __future__ import annotations

import math
from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...engine.bar import FILLS
from ...engine.figures import figure
from ...engine.inputs import InputError
from ...engine.notation import TEXT, words
from ...engine.scenario import Scenario
from ...engine.tables import Grid
from ...units import unit
from .canvas import INK, SIZE, SMALL, axes, few, outlined, started, tell
from .points import Points, Swept

HOLDS, FAILS, CANNOT = 0, 1, 2
LOOKS: tuple[dict[str, Any], ...] = ({"facecolor": FILLS[0], "hatch": ""}, {"facecolor": FILLS[1], "hatch": "/"}, {"facecolor": "white", "hatch": "xx"})
STROKES = ("none", "#7a4a00", "#8c8c8c")
MOST_WRITTEN = (12, 14)     # cells across and up that still have room for a number
MOST_TICKS = 10
MOST_REASONS = 2


def feasibility_map(scenario: Scenario, *, ax: Axes | None = None, holds: str = "", **inputs: Any) -> Axes:
    """Where a condition holds over two inputs, the first across and the second up: `feasibility_map(run, batch_size=[8, 16, 32], seq_len=[1024, 2048])`.

    holds: the name of a quantity that is yes or no; by default the one that answers the breakdown's question. Few cells say
    what share of the capacity they take. A cell whose combination construction refuses is drawn as impossible, and the words
    for it stand in the alternative text.

    Returns the axes: `ax`, or new ones that show themselves in a notebook. Raises InputError for an unknown name, for other
    than two inputs, for a quantity that is no yes or no, and where no point has a value.
    """
    told = FeasibilityMap(scenario, holds, inputs)
    with axes(ax, (SIZE[0], max(3.2, min(6.0, 1.6 + 0.42 * len(told.up))))) as drawn_on:
        told.draw(drawn_on)
        return tell(drawn_on, told.alternative_text(), told.grid())


class FeasibilityMap:
    """What a map of two inputs shows: the state of each cell, by row upwards and column, and the words for that."""

    def __init__(self, scenario: Scenario, holds: str, inputs: dict[str, Any]):
        kind, shown = type(scenario), type(scenario).presentation
        self.scenario, self.holds = scenario, holds or shown.answer
        if len(inputs) != 2:
            raise InputError(f"{kind.__name__}: feasibility_map takes the values of two inputs; write feasibility_map(scenario, {', '.join(f'{name}=[...]' for name in [*inputs, *kind.inputs][:2])})")
        if not self.holds or getattr(kind.quantities.get(self.holds), "returns", "bool") != "bool":
            raise InputError(f"{kind.__name__}: {self.holds or 'its presentation'} is no yes or no; write holds=\"...\" with one of {', '.join(n for n, d in kind.quantities.items() if d.returns == 'bool')}")
        holder = shown.capacity.split(".")[0]
        if self.holds == shown.answer and holder and not scenario.present((holder,)) and holder not in inputs:
            raise InputError(f"{kind.__name__}: {holder} is absent, so nothing can be said of {self.holds}; start from scenario.variant({kind.inputs[holder].how_to_give()})")
        shared = [shown.whole, shown.capacity] if shown.whole and shown.capacity and scenario.present((shown.whole,)) and scenario.present(tuple(shown.capacity.split("."))) else []
        points = Points(scenario, [self.holds, *shared], inputs)
        self.across: Swept = points.inputs[0]
        self.up: Swept = points.inputs[1]
        shape = (len(self.across), len(self.up))
        truths = [truth if known else None for truth, known in zip(points.truths(self.holds), self._known(points, holder))]
        self.states = numpy.array([CANNOT if truth is None else HOLDS if truth else FAILS for truth in truths]).reshape(shape).T
        self.reasons = dict.fromkeys(error for error in points.errors if error)
        shares = [whole / capacity for whole, capacity in zip(*map(points.numbers, shared))] if shared else [math.nan] * len(truths)
        self.shares = numpy.array(shares).reshape(shape).T
        self.shared = bool(shared)

    def _known(self, points: Points, holder: str) -> list[bool]:
        """Where there is a capacity for the answer to be about."""
        if self.holds != type(self.scenario).presentation.answer or holder not in points.table:
            return [True] * len(points.errors)
        return points.given(holder)

    # Words.

    @property
    def verb(self) -> str:
        return "fits" if self.holds in ("fits", "feasible", "training_fits") else words(self.holds)

    def counts(self) -> tuple[int, int, int]:
        return tuple(int((self.states == state).sum()) for state in (HOLDS, FAILS, CANNOT))      # type: ignore[return-value]

    def finding(self) -> str:
        fitting, _, _ = self.counts()
        return f"{started(self.verb)} at {fitting} of {self.states.size:,} combinations of {self.across.words} and {self.up.words}"

    def frontier(self) -> list[tuple[int, int | None]]:
        """For each value up, the last value across at which it holds, where the ones that hold come first; None where none does."""
        found: list[tuple[int, int | None]] = []
        for row in range(len(self.up)):
            holding = numpy.flatnonzero(self.states[row] == HOLDS)
            found.append((row, int(holding[-1]) if len(holding) else None))
        return found

    def alternative_text(self) -> str:
        fitting, failing, impossible = self.counts()
        said = [f"{self.scenario.title}. {self.finding()}.", f"Map with {self.across.label} across, {self.across.texts[0]} to {self.across.texts[-1]}, and {self.up.label} up, "
                f"{self.up.texts[0]} to {self.up.texts[-1]}: {fitting} {'cell' if fitting == 1 else 'cells'} where it {self.verb}, {failing} where not" + (f", {impossible} not possible" if impossible else "") + "."]
        if self.across.ordered and fitting:
            rows = self.frontier()
            chosen = rows if len(rows) <= 6 else [rows[0], rows[len(rows) // 2], rows[-1]]
            said.append(f"Largest {self.across.words} that {self.verb}: " + ", ".join(f"{self.across.texts[last] if last is not None else 'none'} at {self.up.said(row)}" for row, last in chosen) + ".")
        if self.reasons:
            told = list(self.reasons)[:MOST_REASONS]
            said.append(f"Not possible: {'; '.join(told)}" + (f"; {len(self.reasons)} reasons in all" if len(self.reasons) > len(told) else "") + ".")
        return " ".join(said)

    def cell(self, row: int, column: int) -> str:
        """What a cell says: its share of the capacity, or yes or no."""
        if self.states[row, column] == CANNOT:
            return ""
        if not math.isnan(self.shares[row, column]):
            return TEXT.figure(figure(float(self.shares[row, column]), unit("percent"), 2))
        return "yes" if self.states[row, column] == HOLDS else "no"

    def grid(self) -> Grid:
        columns = few(len(self.across), [])
        heads = (f"{self.up.label} \\ {self.across.label}", *(self.across.texts[column] for column in columns))
        rows = tuple((self.up.texts[row], *(self._said(row, column) for column in columns)) for row in few(len(self.up), []))
        return Grid(self.finding(), heads, rows, below=("Shares of the capacity; what is above 100 % does not fit.",) if self.shared else ())

    def _said(self, row: int, column: int) -> str:
        state = self.states[row, column]
        return "not possible" if state == CANNOT else f"{self.cell(row, column)}" + ("" if not self.shared else ", fits" if state == HOLDS else ", does not")

    # Drawing.

    def draw(self, ax: Axes) -> None:
        rows, columns = self.states.shape
        written = columns <= MOST_WRITTEN[0] and rows <= MOST_WRITTEN[1]
        for state, look in enumerate(LOOKS):
            for row, first, last in self._runs(state):
                ax.add_patch(Rectangle((first - 0.5, row - 0.5), last - first + 1, 1, edgecolor=STROKES[state], linewidth=0, **look))
        self._borders(ax)
        if written:
            for row in range(rows):
                for column in range(columns):
                    ax.text(column, row, self.cell(row, column), ha="center", va="center", fontsize=SMALL, zorder=4, path_effects=self._halo(self.states[row, column]))
        self._names(ax, written)
        for axis, swept, most in ((ax.xaxis, self.across, columns), (ax.yaxis, self.up, rows)):
            step = -(-most // (MOST_TICKS if not written else most))
            axis.set_ticks(list(range(0, most, step)), [swept.texts[i] for i in range(0, most, step)])
            axis.set_label_text(swept.label)
        ax.set_xlim(-0.5, columns - 0.5)
        ax.set_ylim(-0.5, rows - 0.5)
        ax.set_title(self.finding(), wrap=True, pad=24)

    def _halo(self, state: int) -> list[Any]:
        from matplotlib.patheffects import withStroke
        return [withStroke(linewidth=4, foreground=str(LOOKS[state]["facecolor"]))]

    def _runs(self, state: int) -> list[tuple[int, int, int]]:
        """Stretches of one state along each row: fewer shapes than cells, and hatches without seams."""
        found = []
        for row, line in enumerate(self.states):
            start: int | None = None
            for column, here in enumerate([*line, -1]):
                if here == state and start is None:
                    start = column
                elif here != state and start is not None:
                    found.append((row, start, column - 1))
                    start = None
        return found

    def _borders(self, ax: Axes) -> None:
        """A thick line wherever it stops to hold."""
        holding = self.states == HOLDS
        lines = [((column + 0.5, column + 0.5), (row - 0.5, row + 0.5)) for row, column in zip(*numpy.nonzero(holding[:, 1:] != holding[:, :-1]))]
        lines += [((column - 0.5, column + 0.5), (row + 0.5, row + 0.5)) for row, column in zip(*numpy.nonzero(holding[1:] != holding[:-1]))]
        for x, y in lines:
            ax.plot(x, y, color=INK, linewidth=2.2, solid_capstyle="butt", zorder=3)

    def _names(self, ax: Axes, written: bool) -> None:
        """What each kind of cell means: inside its region, or above the map where the cells are written on."""
        names = (self.verb, f"does not {'fit' if self.verb == 'fits' else 'hold: ' + self.verb}", "not possible")
        there = [state for state in (HOLDS, FAILS, CANNOT) if (self.states == state).any()]
        if not written:
            for state in there:
                row, column = _middle(self.states == state)
                ax.text(column, row, names[state], ha="center", va="center", fontsize=SMALL + 1, fontweight="bold", zorder=5, path_effects=self._halo(state))
        else:
            from matplotlib.patches import Patch
            ax.legend(handles=[Patch(edgecolor=STROKES[state] if state else INK, label=names[state] + (" (share of the capacity)" if state == HOLDS and self.shared else ""), **LOOKS[state]) for state in there],
                      loc="lower left", bbox_to_anchor=(0, 1.0), ncols=3, frameon=False, fontsize=SMALL, borderaxespad=0.2, handlelength=1.6, columnspacing=1.4, borderpad=0.2)


def _middle(region: Any) -> tuple[float, float]:
    """The cell deepest inside a region: peeled from its edge until nothing is left."""
    left = numpy.pad(region, 1)
    while True:
        peeled = left.copy()
        peeled[1:-1, 1:-1] &= left[:-2, 1:-1] & left[2:, 1:-1] & left[1:-1, :-2] & left[1:-1, 2:]
        if not peeled.any():
            row, column = numpy.argwhere(left)[len(numpy.argwhere(left)) // 2]
            return float(row) - 1, float(column) - 1
        left = peeled


__all__ = ["feasibility_map"]

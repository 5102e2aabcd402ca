"""Parts stacked to their whole at several values of one input, against the capacity that must hold them."""
from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from ...engine.inputs import InputError
from ...engine.notation import words
from ...engine.scenario import Scenario
from ...engine.tables import Grid
from ...engine.writing import in_both_systems
from .canvas import INK, SMALL, WALL, axes, few, joined, label_beside, looks, outlined, started, tell, thousands
from .points import Measure, Points, Swept, declared_unit

MOST_BARS = 12


def stacked_parts(scenario: Scenario, *, ax: Axes | None = None, parts: Sequence[str] = (), whole: str = "", capacity: str = "", **inputs: Any) -> Axes:
    """Parts of a whole over the values of one input: `stacked_parts(run, batch_size=[1, 2, 4, 8])`.

    parts, whole, capacity: names of quantities of one unit, and the path of what must hold them; by default those of the
    breakdown's bar. Up to twelve values, and values that are no rising numbers, stand as bars; more as areas. The wall
    stands at the capacity, and the title says up to where the whole fits.

    Returns the axes: `ax`, or new ones that show themselves in a notebook. Raises InputError for an unknown name, for no or
    several inputs, and where no point has a value.
    """
    return _drawn(Stack(scenario, parts, whole, capacity, inputs), ax)


def _drawn(told: Stack, ax: Axes | None) -> Axes:
    with axes(ax) as drawn_on:
        told.draw(drawn_on)
        return tell(drawn_on, told.alternative_text(), told.grid())


def zero_stages(scenario: Scenario, *, ax: Axes | None = None, parts: Sequence[str] = (), whole: str = "", capacity: str = "") -> Axes:
    """One accelerator's memory at ZeRO stage 0 to 3, side by side, against its capacity: `zero_stages(TrainingMemoryModel().solve(...))`.

    parts, whole, capacity: as for `stacked_parts`, for example `parts=("weights", "gradients", "optimizer_state"), whole="model_state"`.
    Returns the axes, and raises InputError, as `stacked_parts`, and for a scenario without a ZeRO stage.
    """
    if "zero_stage" not in type(scenario).inputs:
        raise InputError(f"{type(scenario).__name__} has no zero_stage; zero_stages draws what TrainingMemoryModel().solve(...) returns")
    told = Stack(scenario, parts, whole, capacity, {"zero_stage": [0, 1, 2, 3]})
    told.input.words = "ZeRO stage"
    return _drawn(told, ax)


class Stack:
    """What a stack of parts shows: its numbers, where it fits, and the words for that."""

    def __init__(self, scenario: Scenario, parts: Sequence[str], whole: str, capacity: str, inputs: dict[str, Any]):
        kind, shown = type(scenario), type(scenario).presentation
        if len(inputs) != 1:
            example = next(iter(kind.inputs.values())).name
            raise InputError(f"{kind.__name__}: stacked_parts takes the values of one input; write stacked_parts(scenario, {next(iter(inputs), example)}=[...])")
        self.scenario, self.parts = scenario, tuple(parts) or shown.parts
        self.whole, wall = whole or shown.whole, capacity or shown.capacity
        if not self.parts or not self.whole:
            raise InputError(f"{kind.__name__} names no parts of a whole; write stacked_parts(scenario, parts=(\"...\", \"...\"), whole=\"...\", ...)")
        known = bool(wall) and (scenario.present(tuple(wall.split("."))) or wall.split(".")[0] in inputs)
        inputs = {name: values if hasattr(values, "__len__") else list(values) for name, values in inputs.items()}
        points = Points(scenario, [*parts, self.whole, *([wall] if known else [])], inputs)
        self.input: Swept = points.inputs[0]
        self.totals, self.errors = points.numbers(self.whole), points.errors
        self.walls = points.numbers(wall) if known else [math.nan] * len(self.totals)
        sizes = {part: [0.0 if math.isnan(size) else size for size in (points.numbers(part) if parts else _sizes(scenario, part, inputs))] for part in self.parts}
        self.sizes = {part: column for part, column in sizes.items() if any(column)}
        self.measure = Measure(declared_unit(scenario, self.whole), max(number for number in (*self.totals, *self.walls) if not math.isnan(number)))
        self.possible = [i for i, total in enumerate(self.totals) if not math.isnan(total)]
        self.fitting = [i for i in self.possible if self.totals[i] <= self.walls[i]]
        self.walled = any(not math.isnan(wall) for wall in self.walls)
        self.as_bars = not self.input.ordered or len(self.input) <= MOST_BARS

    @property
    def wall(self) -> float | None:
        """The capacity, where it is one for all points."""
        return self.walls[self.possible[0]] if self.walled and len({self.walls[i] for i in self.possible}) == 1 else None

    # Words.

    def finding(self) -> str:
        """What the plot shows, in a line."""
        name, texts, possible = self.input.words, self.input.texts, self.possible
        if not self.walled:
            least = self._least()
            if self.input.ordered and possible[0] < least < possible[-1]:
                return f"{started(words(self.whole))} is least at {self.input.said(least)}: {self.measure.text(self.totals[least])}"
            return f"{started(words(self.whole))}: {self.measure.text(self.totals[possible[0]])} at {self.input.said(possible[0])}, " \
                   f"{self.measure.text(self.totals[possible[-1]])} at {self.input.said(possible[-1])}"
        if len(self.fitting) == len(possible):
            return f"Fits at every {name} shown"
        if not self.fitting:
            return f"Fits at no {name} shown"
        if self.input.ordered and self.fitting == possible[:len(self.fitting)]:
            return f"Fits up to {self.input.said(self.fitting[-1])}"
        if self.input.ordered and self.fitting == possible[-len(self.fitting):]:
            return f"Fits from {self.input.said(self.fitting[0])}"
        return f"Fits at {name} {joined([texts[i] for i in self.fitting])}" if len(self.fitting) <= 4 else f"Fits at {len(self.fitting)} of {len(possible)} values of {name}"

    def wall_text(self, number: float) -> str:
        other = in_both_systems(number, self.measure.of)
        return f"capacity {self.measure.text(number)}" + (f" ({other})" if other else "")

    def alternative_text(self) -> str:
        kind = "Stacked bars" if self.as_bars else "Stacked areas"
        said = [f"{self.scenario.title}. {self.finding()}.", f"{kind} over {self.input.words}, {self.input.texts[0]} to {self.input.texts[-1]}" +
                (f" {self.input.unit}" if self.input.unit else "") + f", of {joined([words(part) for part in self.sizes])}."]
        if self.wall is not None:
            said.append(f"{started(self.wall_text(self.wall))}.")
        told = self.possible if len(self.possible) <= 6 else sorted({self.possible[0], *self.fitting[-1:], *self._first_over(), self.possible[-1]})
        said.append(f"{started(words(self.whole))}: " + ", ".join(f"{self.measure.text(self.totals[i])} at {self.input.texts[i]}" for i in told) + ".")
        last = self.possible[-1]
        said.append(f"At {self.input.said(last)}: " + ", ".join(f"{words(part)} {self.measure.text(column[last])}" for part, column in self.sizes.items()) + ".")
        refused = [i for i, error in enumerate(self.errors) if error]
        if refused:
            said.append(f"Not possible at {joined([self.input.texts[i] for i in refused[:4]])}{' and more' if len(refused) > 4 else ''}: {self.errors[refused[0]]}.")
        return " ".join(said)

    def _least(self) -> int:
        return min(self.possible, key=lambda i: self.totals[i])

    def _first_over(self) -> list[int]:
        return [i for i in self.possible if self.totals[i] > self.walls[i]][:1]

    def grid(self) -> Grid:
        heads = (self.input.label, *(words(part) for part in self.sizes), words(self.whole), *(("capacity", "fits") if self.walled else ()))
        rows = []
        for i in few(len(self.totals), [*self.fitting[-1:], *self._first_over(), self._least()]):
            text = self.input.texts[i]
            if i not in self.possible:
                rows.append((text, *[""] * (len(heads) - 2), "not possible"))
                continue
            fits = () if not self.walled else ("", "") if math.isnan(self.walls[i]) else (self.measure.text(self.walls[i]), "yes" if i in self.fitting else "no")
            rows.append((text, *(self.measure.text(column[i]) for column in self.sizes.values()), self.measure.text(self.totals[i]), *fits))
        return Grid(self.finding(), heads, tuple(rows))

    # Drawing.

    def draw(self, ax: Axes) -> None:
        top = max(*(total for total in self.totals if not math.isnan(total)), *(wall for wall in self.walls if not math.isnan(wall)), 0)
        ax.set_ylim(0, self.measure.on_axis(top) * 1.13)
        ax.set_ylabel(self.measure.labelled(words(self.whole)))
        ax.set_xlabel(self.input.label)
        ax.set_title(self.finding(), wrap=True)
        self._bars(ax) if self.as_bars else self._areas(ax)

    def _bars(self, ax: Axes) -> None:
        width = 0.62
        bottoms = [0.0] * len(self.totals)
        middles: list[tuple[str, float]] = []
        last = self.possible[-1]
        for part, look in looks(self.scenario, tuple(self.sizes)).items():
            heights = [self.measure.on_axis(self.sizes[part][i]) if i in self.possible else 0.0 for i in range(len(self.totals))]
            ax.bar(range(len(heights)), heights, width, bottoms, label=words(part), zorder=2, **look.style)
            middles.append((f"{words(part)} {self.measure.text(self.sizes[part][last])}", bottoms[last] + heights[last] / 2))
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights)]
        for i, total in enumerate(self.totals):
            if i in self.possible:
                over = total > self.walls[i]
                ax.annotate(self.measure.digits(total) + ("\nover" if over else ""), (i, self.measure.on_axis(total)), xytext=(0, 3), textcoords="offset points", ha="center", va="bottom",
                            fontsize=SMALL, zorder=4, linespacing=1.0, path_effects=outlined(ax))
            else:
                ax.text(i, 0, "not possible", rotation=90, ha="center", va="bottom", fontsize=SMALL)
        ax.set_xticks(range(len(self.totals)), [textwrap.fill(text, max(8, 62 // len(self.totals))) for text in self.input.texts])
        ax.set_xlim(-0.6, len(self.totals) - 0.4)
        if self.wall is not None:
            ax.axhline(self.measure.on_axis(self.wall), color=WALL, linewidth=2, linestyle=(0, (5, 2)), zorder=3)
            middles.append((self.wall_text(self.wall), self.measure.on_axis(self.wall)))
        elif self.walled:
            for i in self.possible:
                ax.hlines(self.measure.on_axis(self.walls[i]), i - 0.45, i + 0.45, color=WALL, linewidth=2, linestyle=(0, (5, 2)), zorder=3)
            if not math.isnan(self.walls[last]):
                middles.append((self.wall_text(self.walls[last]), self.measure.on_axis(self.walls[last])))
        label_beside(ax, middles, (last + 0.6 + width / 2) / (len(self.totals) + 0.2))

    def _areas(self, ax: Axes) -> None:
        x = [self.input.numbers[i] for i in self.possible]
        bottoms = [0.0] * len(x)
        middles: list[tuple[str, float]] = []
        last = self.possible[-1]
        for part, look in looks(self.scenario, tuple(self.sizes)).items():
            tops = [bottom + self.measure.on_axis(self.sizes[part][i]) for bottom, i in zip(bottoms, self.possible)]
            ax.fill_between(x, bottoms, tops, label=words(part), zorder=2, **look.style)
            middles.append((f"{words(part)} {self.measure.text(self.sizes[part][last])}", (bottoms[-1] + tops[-1]) / 2))
            bottoms = tops
        scaled(ax, x)
        ax.set_xlim(x[0], x[-1])
        if self.wall is not None:
            ax.axhline(self.measure.on_axis(self.wall), color=WALL, linewidth=2, linestyle=(0, (5, 2)), zorder=3)
            middles.append((self.wall_text(self.wall), self.measure.on_axis(self.wall)))
            if self.fitting and len(self.fitting) < len(self.possible) and self.fitting == self.possible[:len(self.fitting)]:
                end = self.input.numbers[self.fitting[-1]]
                ax.axvline(end, color=INK, linewidth=1.2, linestyle=":", zorder=4)
                for side, said, gap in (("right", "fits", -4), ("left", "over", 4)):
                    ax.annotate(said, (end, 0.99), xycoords=("data", "axes fraction"), xytext=(gap, 0), textcoords="offset points", ha=side, va="top", fontsize=SMALL, zorder=5,
                                path_effects=outlined(ax))
        elif self.walled:
            ax.plot(x, [self.measure.on_axis(self.walls[i]) for i in self.possible], color=WALL, linewidth=2, linestyle=(0, (5, 2)), zorder=3)
            middles.append((self.wall_text(self.walls[last]), self.measure.on_axis(self.walls[last])))
        label_beside(ax, middles, 1.0)


def _sizes(scenario: Scenario, part: str, inputs: dict[str, Any]) -> list[float]:
    """A part of the breakdown's bar at every point, NaN where the scenario has none such."""
    try:
        return Points(scenario, [part], inputs).numbers(part)
    except InputError:
        return [math.nan] * len(next(iter(inputs.values())))


def scaled(ax: Axes, x: Sequence[float]) -> None:
    """A logarithmic axis where the numbers go up in multiples rather than in steps."""
    from matplotlib.ticker import LogLocator, NullFormatter
    steps, multiples = [b - a for a, b in zip(x, x[1:])], [b / a if a > 0 else math.inf for a, b in zip(x, x[1:])]
    if steps and max(multiples) / min(multiples) < max(steps) / min(steps):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if x[-1] < 1000 * x[0] else (1,)))
        ax.xaxis.set_minor_formatter(NullFormatter())
    thousands(ax.xaxis)


__all__ = ["stacked_parts", "zero_stages"]

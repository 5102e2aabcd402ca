"""How the parts of one scenario add up to its whole, and what that leaves of a capacity."""
from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from ...engine.bar import base
from ...engine.inputs import InputError
from ...engine.notation import words
from ...engine.scenario import Scenario
from ...engine.tables import Grid
from ...engine.writing import in_both_systems
from .canvas import FAINT, INK, SIZE, SMALL, WALL, axes, looks, outlined, started, tell
from .points import Measure, declared_unit


def waterfall(scenario: Scenario, *, ax: Axes | None = None, parts: Sequence[str] = (), whole: str = "", capacity: str = "") -> Axes:
    """Each part of a whole from where the one before it ended, then the whole, and the wall where the capacity stands: `waterfall(run)`.

    parts, whole, capacity: as for `stacked_parts`. Returns the axes: `ax`, or new ones that show themselves in a notebook.
    Raises InputError for an unknown name, and MissingInputError where the whole waits for an input.
    """
    kind, shown = type(scenario), type(scenario).presentation
    names, whole, wall_path = tuple(parts) or shown.parts, whole or shown.whole, capacity or shown.capacity
    if not names or not whole:
        raise InputError(f"{kind.__name__} names no parts of a whole; write waterfall(scenario, parts=(\"...\", \"...\"), whole=\"...\")")
    getattr(scenario, whole)
    total = scenario.number((whole,))
    sizes = {name: size for name in names if (size := base(scenario, name))}
    wall = base(scenario, wall_path) if wall_path else None
    measure = Measure(declared_unit(scenario, whole), max(total, wall or 0.0))
    left = None if wall is None else wall - total
    finding = f"{started(words(whole))} {measure.text(total)}"
    if left is not None:
        finding += f" of {measure.text(wall or 0.0)}: {measure.text(abs(left))} {'free' if left >= 0 else 'over'}"
    with axes(ax, (SIZE[0], 1.5 + 0.42 * (len(sizes) + 1))) as drawn_on:
        _draw(drawn_on, scenario, sizes, words(whole), total, wall, measure, finding)
        said = ", ".join(f"{words(name)} {measure.text(size)} ({size / total:.0%})" for name, size in sizes.items())
        rows = [(words(name), measure.text(size), f"{size / total:.1%}") for name, size in sizes.items()] + [(words(whole), measure.text(total), "100.0%")]
        if wall is not None and left is not None:
            rows += [("capacity", measure.text(wall), ""), ("free" if left >= 0 else "over", measure.text(abs(left)), "")]
        return tell(drawn_on, f"{scenario.title}. {finding}. Parts, each drawn from where the one before it ends: {said}.",
                    Grid(finding, ("part", "size", f"share of {words(whole)}"), tuple(rows)))


def _draw(ax: Axes, scenario: Scenario, sizes: dict[str, float], whole: str, total: float, wall: float | None, measure: Measure, finding: str) -> None:
    start, height = 0.0, 0.62
    for row, (name, look) in enumerate(looks(scenario, tuple(sizes)).items()):
        length = measure.on_axis(sizes[name])
        ax.barh(row, length, height, start, zorder=2, **look.style)
        ax.plot([start + length] * 2, [row + height / 2, row + 1 - height / 2], color=FAINT, linewidth=1, zorder=1)
        _amount(ax, f"+ {measure.text(sizes[name])}" if row else measure.text(sizes[name]), start + length, row)
        start += length
    end, row = measure.on_axis(total), len(sizes)
    ax.barh(row, end, height, facecolor="#d9d9d9", edgecolor=INK, linewidth=0.8, zorder=2)
    _amount(ax, measure.text(total), end, row)
    limit = end
    if wall is not None:
        limit = max(end, measure.on_axis(wall))
        other = in_both_systems(wall, measure.of)
        ax.axvline(measure.on_axis(wall), color=WALL, linewidth=2, linestyle=(0, (5, 2)), zorder=3)
        ax.annotate(f"capacity {measure.text(wall)}" + (f" ({other})" if other else ""), (measure.on_axis(wall), 1), xycoords=("data", "axes fraction"), xytext=(0, 3),
                    textcoords="offset points", ha="right" if measure.on_axis(wall) > 0.5 * limit else "left", va="bottom", fontsize=SMALL)
    ax.set_xlim(0, limit * 1.16)
    ax.set_yticks(range(row + 1), [*map(words, sizes), whole])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(row + 0.55, -0.55)
    ax.set_xlabel(measure.labelled(whole))
    ax.set_title(finding, pad=20 if wall is not None else None)


def _amount(ax: Axes, said: str, end: float, row: float) -> None:
    ax.annotate(said, (end, row), xytext=(5, 0), textcoords="offset points", ha="left", va="center", fontsize=SMALL, zorder=5, path_effects=outlined(ax))


__all__ = ["waterfall"]

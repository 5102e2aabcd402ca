"""What plots share: the figure they stand on, the look of each part, labels that keep apart, and the plot said in words and numbers."""
from __future__ import annotations

import base64
import contextlib
import io
import itertools
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from ...engine.bar import FILLS, bar
from ...engine.notation import words
from ...engine.scenario import Scenario
from ...engine.tables import Grid

INK, FAINT, WALL = "#1a1a1a", "#767676", "#000000"
HATCHES = ("", "//", "..", "\\\\", "xx", "||")
SIZE = (7.6, 4.4)           # inches; a notebook shows 96 dots for one
DOTS = 192
COLORS = 64
MOST_ROWS = 20
SMALL = 10                  # points, the least that is written
THEME: dict[str, Any] = {
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white", "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": FAINT, "xtick.color": INK,
    "ytick.color": INK, "font.family": "DejaVu Sans", "font.size": SMALL + 0.5, "axes.labelsize": SMALL + 0.5, "xtick.labelsize": SMALL, "ytick.labelsize": SMALL,
    "axes.titlesize": SMALL + 2, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": False,
    "hatch.linewidth": 0.7,
}


class PlotAxes(Axes):
    """Axes of a figure of their own. As a cell's value they show the figure, with its alternative text and its numbers."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        told = in_words(self)
        picture = png(self)
        return ({"text/plain": told.text(), "text/html": picture_html(self), "image/png": picture}, {"image/png": {"alt": told.alternative_text, "width": SIZE[0] * 96}})

    def __repr__(self) -> str:
        return in_words(self).text()


@contextlib.contextmanager
def axes(ax: Axes | None, size: tuple[float, float] = SIZE) -> Iterator[Axes]:
    """The axes to draw on: the reader's, as they are, or new ones that are light with dark writing under any theme of the page."""
    if ax is not None:
        yield ax
        return
    chosen: dict[Any, Any] = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")} | THEME
    with matplotlib.rc_context(chosen):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
        yield figure.add_subplot(axes_class=PlotAxes)


# What a plot says.

class Told(NamedTuple):
    """A plot in words and numbers."""

    alternative_text: str
    numbers: Grid

    def text(self) -> str:
        return f"{self.alternative_text}\n\n{self.numbers.text()}"

    def _repr_html_(self) -> str:
        return f'<p class="mathjax_ignore tex2jax_ignore">{escape(self.alternative_text)}</p>{self.numbers.html()}'

    def __repr__(self) -> str:
        return self.text()


def tell(ax: Axes, alternative_text: str, numbers: Grid) -> Axes:
    """Keep with the axes what they say."""
    setattr(ax, "alternative_text", alternative_text)
    setattr(ax, "in_numbers", numbers)
    return ax


def in_words(ax: Axes) -> Told:
    """What a plot says, in words and as a table. Raises TypeError for axes that no plot of this package drew on."""
    try:
        return Told(getattr(ax, "alternative_text"), getattr(ax, "in_numbers"))
    except AttributeError:
        raise TypeError("these axes were not drawn by mlsysim.notebook.plots, so there are no words for them") from None


def png(ax: Axes) -> bytes:
    """The figure as a PNG that carries its alternative text."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo
    drawn, picture, figure, said = io.BytesIO(), io.BytesIO(), root(ax), PngInfo()
    figure.savefig(drawn, format="png", dpi=DOTS, facecolor=figure.get_facecolor(), transparent=False, pil_kwargs={"compress_level": 1})
    said.add_itxt("Description", in_words(ax).alternative_text)
    Image.open(drawn).convert("RGB").quantize(COLORS).save(picture, "png", pnginfo=said)      # a third of the size, in a notebook that is kept
    return picture.getvalue()


def root(ax: Axes) -> Figure:
    """The figure that the axes stand on."""
    figure = ax.figure
    while not isinstance(figure, Figure):
        figure = figure.figure
    return figure


def picture_html(ax: Axes) -> str:
    """The figure as an HTML image with alternative text, and its numbers folded beneath."""
    told = in_words(ax)
    width = root(ax).get_figwidth() * 96
    source = "data:image/png;base64," + base64.b64encode(png(ax)).decode()
    return (f'<img src="{source}" alt="{escape(told.alternative_text)}" style="width:{width:.0f}px;max-width:100%">'
            f'<details class="mathjax_ignore tex2jax_ignore"><summary>The figure in words and numbers</summary>{told._repr_html_()}</details>')


# Parts, with the colours that the breakdown's bar gives them.

class Look(NamedTuple):
    """How a part is drawn: its fill, and a hatch that tells it apart without colour."""
    fill: str
    hatch: str

    @property
    def style(self) -> dict[str, Any]:
        return {"facecolor": self.fill, "hatch": self.hatch, "edgecolor": INK, "linewidth": 0.8}


def looks(scenario: Scenario, parts: Sequence[str]) -> dict[str, Look]:
    """The look of each part, in the colour that the scenario's own bar gives it; parts that are not on it take what is left."""
    drawn = bar(scenario)
    fills = {part.name: part.fill for part in drawn.parts} if drawn else {}
    left = itertools.cycle([fill for fill in FILLS if fill not in fills.values()] or FILLS)
    chosen = {name: fills.get(words(name)) or next(left) for name in parts}
    return {name: Look(fill, HATCHES[FILLS.index(fill)]) for name, fill in chosen.items()}


# Labels that keep apart.

def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, in the same order, at least `gap` from one another and between low and high as far as there is room."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [max(low, min(high, wanted[i])) for i in order]
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + gap)
    if placed and placed[-1] > high:
        placed[-1] = high
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - gap)
    found = [0.0] * len(wanted)
    for i, place in zip(order, placed):
        found[i] = place
    return found


def label_beside(ax: Axes, said: Sequence[tuple[str, float]], start: float) -> None:
    """Labels right of the axes, each joined by a thin line to its height in data's measure; the lines start at that fraction of the axes' width."""
    low, high = ax.get_ylim()
    gap = 1.45 * SMALL / 72 / (root(ax).get_figheight() * ax.get_position().height) * (high - low)
    across = ax.get_yaxis_transform()
    for (text, height), place in zip(said, apart([height for _, height in said], gap, low + gap / 2, high - gap / 2)):
        line, = ax.plot([start, 1.025], [height, place], transform=across, color=FAINT, linewidth=0.8, clip_on=False, scalex=False, scaley=False)
        line.set_in_layout(False)
        ax.text(1.032, place, text, transform=across, va="center", ha="left", fontsize=SMALL)


def outlined(ax: Axes) -> list[Any]:
    """What keeps writing legible where a line runs through it."""
    from matplotlib.patheffects import withStroke
    return [withStroke(linewidth=3, foreground=ax.get_facecolor())]


def thousands(axis: Any) -> None:
    """Ticks as people write them: `16,384`."""
    from matplotlib.ticker import FuncFormatter
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def few(count: int, telling: Sequence[int]) -> list[int]:
    """Rows for a table that a person reads: all of a few, of many every so many, and the telling ones."""
    step = -(-count // MOST_ROWS)
    return sorted({*range(0, count, step), count - 1, *telling})


def started(said: str) -> str:
    """The words with a capital letter at the start."""
    return said[:1].upper() + said[1:]


def joined(said: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(said[:-1]), *said[-1:]]))

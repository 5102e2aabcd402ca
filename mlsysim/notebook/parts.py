"""The live parts below the controls: breakdown, equation of one quantity, comparison with the start, plot."""
from __future__ import annotations

import asyncio
import base64
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets      # type: ignore[import-untyped]

from ..engine.declarations import Parametrised
from ..engine.derivation import MissingInputError
from ..engine.expression import Nothing, Number, Option
from ..engine.inputs import InputError, near_name
from ..engine.notation import HTML, TEXT, Text, words
from ..engine.scenario import Scenario
from ..engine.tables import Grid
from ..engine.writing import Worked, equation_in, left_side

DEBOUNCE = 0.1          # seconds without a change before a plot is drawn again
DOTS = 2                # pixels drawn for one of the page's, for screens with small ones
DIFFERS = "≠ "          # before what is not the same in all scenarios of a comparison
IGNORE = 'class="mathjax_ignore tex2jax_ignore"'


class Part:
    """Something that shows a scenario: as HTML in a widget of its own, and as text."""

    def __init__(self) -> None:
        self.widget = ipywidgets.HTML(layout=ipywidgets.Layout(width="100%", margin="0"))
        self.widget.add_class("jp-RenderedHTMLCommon")

    def text(self, start: Scenario, scenario: Scenario) -> str:
        raise NotImplementedError

    def html(self, start: Scenario, scenario: Scenario) -> str:
        raise NotImplementedError

    def show(self, start: Scenario, scenario: Scenario) -> None:
        try:
            self.widget.value = self.html(start, scenario)
        except (InputError, MissingInputError) as error:
            self.widget.value = f'<p {IGNORE} role="alert">{escape(str(error))}</p>'


class Breakdown(Part):
    """Everything, as the scenario shows itself."""

    def text(self, start: Scenario, scenario: Scenario) -> str:
        return str(scenario)

    def html(self, start: Scenario, scenario: Scenario) -> str:
        return scenario._repr_html_()


class Comparison(Part):
    """What is no longer as it was at the start, inputs and quantities."""

    def text(self, start: Scenario, scenario: Scenario) -> str:
        return self._grid(start, scenario).text()

    def html(self, start: Scenario, scenario: Scenario) -> str:
        return self._grid(start, scenario).html()

    def _grid(self, start: Scenario, scenario: Scenario) -> Grid:
        rows: list[tuple[str, ...]] = []
        heading: list[tuple[str, ...]] = []
        for row in start.compare(scenario).grid().rows:
            if len(row) == 1:
                heading = [row]
            elif row[0].startswith(DIFFERS):
                rows += [*heading, (row[0].removeprefix(DIFFERS), *row[1:])]
                heading = []
        return Grid("Against the start", ("", "start", "now", "to the start"), tuple(rows), below=() if rows else ("All is as it was.",))


class Equation(Part):
    """One quantity: its meaning, its equation, and the numbers in it. What it waits for stands in their place."""

    def __init__(self, name: str, arguments: Mapping[str, Any]):
        super().__init__()
        self.name, self.arguments = name, dict(arguments)

    def text(self, start: Scenario, scenario: Scenario) -> str:
        return f"{words(self.name)}: {self._symbols(scenario, TEXT)}\n  {self._numbers(scenario)}"

    def html(self, start: Scenario, scenario: Scenario) -> str:
        numbers = self._numbers(scenario)
        return (f'<div {IGNORE} style="margin:2px 0;padding:2px 12px;border-left:4px solid #0072b2">'
                f'<div><b>{escape(words(self.name))}</b><span style="display:none">: </span> <span style="padding-left:8px">{escape(type(scenario).quantities[self.name].doc)}</span></div>'
                f'<div style="padding-top:2px;overflow-x:auto">{self._symbols(scenario, HTML)}</div>'
                f'<div style="padding-top:2px;overflow-x:auto">{getattr(numbers, "html", None) or escape(numbers)}</div></div>')

    def _symbols(self, scenario: Scenario, notation: Text) -> str:
        """The branch that holds, in symbols; the whole equation where the quantity waits, or has nothing to work out."""
        kind = type(scenario)
        try:
            worked = Worked(scenario, self.name, self.arguments)
        except (MissingInputError, InputError):
            return equation_in(kind, self.name, notation)
        if isinstance(worked.formula, Number | Option | Nothing):
            return equation_in(kind, self.name, notation)
        return left_side(kind, worked.declared, notation) + notation.signs["=="] + worked.symbols(notation)

    def _numbers(self, scenario: Scenario) -> str:
        try:
            return scenario.substitution(self.name, **self.arguments)
        except (MissingInputError, InputError) as error:
            return str(error)


class Plot(Part):
    """A figure that a function draws of the scenario, drawn again once the reader's hand has rested a moment.

    The function returns a matplotlib Figure or Axes. Where that carries `alternative_text` and a table `in_numbers`, as the
    plots of this package do, both go with the picture; otherwise titles and labels of axes say what it shows.
    """

    def __init__(self, draw: Callable[[Scenario], Any]):
        super().__init__()
        self.draw = draw
        self.drawn = Drawing("")
        self._waiting: asyncio.TimerHandle | None = None

    def text(self, start: Scenario, scenario: Scenario) -> str:
        return "\n\n".join(filter(None, [f"Figure: {self.drawn.words}", self.drawn.numbers.text() if self.drawn.numbers else ""]))

    def html(self, start: Scenario, scenario: Scenario) -> str:
        """The figure in words and numbers; a picture's bytes differ between machines."""
        return f"<p {IGNORE}>Figure: {escape(self.drawn.words)}</p>" + (self.drawn.numbers.html() if self.drawn.numbers else "")

    def show(self, start: Scenario, scenario: Scenario) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        if loop is None or not self.drawn.words:
            self._paint(scenario)
        else:
            self._waiting = loop.call_later(DEBOUNCE, self._paint, scenario)

    def _paint(self, scenario: Scenario) -> None:
        self._waiting, self.drawn = None, drawing(self.draw, scenario)
        self.widget.value = self.drawn.html()


@dataclass(frozen=True)
class Drawing:
    """A picture, what it shows in words, and its numbers as a table; only the words where it could not be drawn."""

    words: str
    picture: bytes = b""
    width: float = 0
    numbers: Any = None

    def html(self) -> str:
        if not self.picture:
            return f'<p {IGNORE} role="alert">{escape(self.words)}</p>'
        source = "data:image/png;base64," + base64.b64encode(self.picture).decode()
        image = f'<img src="{source}" alt="{escape(self.words)}" style="width:{self.width:.0f}px;max-width:100%">'
        if not self.numbers:
            return image
        return image + f'<details {IGNORE}><summary>The figure in numbers</summary><div style="display:inline-block">{self.numbers.html()}</div></details>'


def drawing(draw: Callable[[Scenario], Any], scenario: Scenario) -> Drawing:
    """What a function draws. Whatever it raises is said in words."""
    before = _open_figures()
    try:
        drawn = draw(scenario)
        figure = drawn if hasattr(drawn, "savefig") else drawn.figure.figure      # the last step leaves a subfigure
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=96 * DOTS)
        return Drawing(alternative_text(drawn, figure), picture.getvalue(), figure.get_figwidth() * 96, getattr(drawn, "in_numbers", None))
    except Exception as error:
        return Drawing(f"This figure cannot be drawn: {error or type(error).__name__}")
    finally:
        for number in _open_figures() - before:      # the notebook would show them a second time below the cell
            sys.modules["matplotlib.pyplot"].close(number)


def _open_figures() -> set[int]:
    """The figures that pyplot keeps."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())


def alternative_text(drawn: Any, figure: Any) -> str:
    """What a figure shows, in words."""
    for holder in (drawn, figure):
        if stated := getattr(holder, "alternative_text", ""):
            return str(stated)
    pieces = [figure.get_suptitle() if hasattr(figure, "get_suptitle") else ""]
    for axes in figure.axes:
        pieces += [axes.get_title(), " against ".join(filter(None, [axes.get_ylabel(), axes.get_xlabel()]))]
    return "; ".join(filter(None, pieces)) or "a figure"


def part(scenario: Scenario, asked: Any) -> Part:
    """The part that a name, a quantity or a function stands for. Raises InputError."""
    if isinstance(asked, Part):
        return asked
    if asked == "breakdown":
        return Breakdown()
    if asked == "comparison":
        return Comparison()
    if isinstance(asked, str):
        return _equation(scenario, asked, {})
    if isinstance(asked, Sequence) and len(asked) == 2 and isinstance(asked[1], Mapping):
        return _equation(scenario, asked[0], asked[1])
    if callable(asked):
        return Plot(asked)
    raise InputError(f"explore: show takes \"breakdown\", \"comparison\", the name of a quantity, or a function that draws a scenario; not {asked!r}")


def _equation(scenario: Scenario, name: str, arguments: Mapping[str, Any]) -> Equation:
    quantities = type(scenario).quantities
    if name not in quantities:
        raise InputError(f"explore: show={name!r} is no quantity of {type(scenario).__name__}{near_name(name, ['breakdown', 'comparison', *quantities])}")
    declared = quantities[name]
    if isinstance(declared, Parametrised):
        if not arguments:
            raise InputError(f"explore: {name} takes {', '.join(declared.parameters)}; write show=[({name!r}, dict({', '.join(p.how_to_give() for p in declared.parameters.values())}))]")
        declared.bind((), arguments)
    elif arguments:
        raise InputError(f"explore: {name} takes no arguments; write show=[{name!r}]")
    return Equation(name, arguments)


__all__ = ["Part", "part"]

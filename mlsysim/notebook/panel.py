"""A scenario under a reader's hands: controls for its inputs, and below them what follows, kept up to date."""
from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Generic, TypeVar

import ipywidgets      # type: ignore[import-untyped]
import traitlets

from .. import __all__ as FRONT_DOOR
from ..engine.inputs import InputError
from ..engine.scenario import Scenario
from .caption import caption, opening
from .choices import DECLARED, Made, Place, Truth, choice
from .controls import Control, control, label_width
from .page import PANEL, manners
from .parts import IGNORE, Part, part

S = TypeVar("S", bound=Scenario)
OFFERED = ("quantity", "count", "number", "truth", "option", "record")


class Panel(ipywidgets.VBox, Generic[S]):      # type: ignore[misc]
    """Controls for a scenario's inputs and the parts that show what follows from them. `explore` makes one.

    scenario: the scenario as the controls stand, observable as a trait; while they stand at a combination that does not work,
    the last one that did. start: where they began. controls: a Control for each input, by name, whose `value` can be read and
    set. code: the line that rebuilds the scenario.
    """

    scenario: S = traitlets.Any(read_only=True)      # type: ignore[assignment]

    def __init__(self, start: S, controls: Sequence[Control], show: Sequence[Any]):
        self.start: S = start
        self.controls: Mapping[str, Control] = {one.name: one for one in controls}
        self.caption, self.error = opening(start), ""
        self._changes: dict[str, Any] = {}
        self._wrong: dict[str, InputError] = {}
        self._pending: dict[str, None] = {}      # inputs moved since the last combination that worked
        self._parts: list[Part] = [part(start, asked) for asked in show]
        self._message = ipywidgets.HTML(layout=ipywidgets.Layout(width="100%", margin="4px 0"))
        self._code = ipywidgets.HTML(layout=ipywidgets.Layout(width="100%", margin="0"))
        reset = ipywidgets.Button(description="Reset", tooltip="Put every control back where it started", layout=ipywidgets.Layout(width="auto"))
        copy = ipywidgets.Button(description="Copy as code", tooltip="Show and copy the line that rebuilds this scenario", layout=ipywidgets.Layout(width="auto"))
        reset.on_click(lambda button: self.reset())
        copy.on_click(lambda button: self._show_code())
        width = label_width(list(controls))
        for one in controls:
            one.wide(width)
            one.changed = self._changed
        super().__init__([*(one.row for one in controls), ipywidgets.HBox([reset, copy], layout=ipywidgets.Layout(margin=f"4px 0 4px {width + 6}px")), self._code, self._message,
                          *(one.widget for one in self._parts), manners()])
        self.add_class(PANEL)
        self.set_trait("scenario", start)
        self._show(start)

    # What a reader or a notebook does.

    def reset(self) -> None:
        """Put every control back where it started."""
        for one in sorted(self.controls.values(), key=lambda one: len(one.place.path)):
            one.rebase(Place(self.start, one.name))
        self.caption, self.error = opening(self.start, "Back at the start"), ""
        self._changes, self._wrong, self._pending = {}, {}, {}
        self.set_trait("scenario", self.start)
        self._show(self.start)

    @property
    def code(self) -> str:
        """The line that rebuilds the scenario."""
        return repr(self.scenario)

    def live(self, asked: Any) -> Any:
        """One more part, for another place in the notebook: `panel.live("total")`. Takes what `show` takes."""
        made = part(self.start, asked)
        self._parts.append(made)
        made.show(self.start, self.scenario)
        return made.widget

    # What follows.

    def _changed(self, moved: Control) -> None:
        before = self.scenario
        self._pending[moved.name] = None
        self._note(moved)
        for one in self._beneath(moved):
            one.rebase(self._place_beneath(moved, one))
            self._note(one)
        try:
            after = self._standing()
        except InputError as error:
            self._fail(str(error))
            return
        self.error, self.caption = "", caption(self.start, before, after, list(self._pending))
        self._pending = {}
        for one in self.controls.values():
            if not one.resting:
                one.follow(after)
        self.set_trait("scenario", after)
        self._show(after)

    def _note(self, one: Control) -> None:
        """Keep what a control now changes, or what is wrong with it."""
        self._changes.pop(one.name, None)
        self._wrong.pop(one.name, None)
        try:
            if not one.resting and one.moved:
                self._changes[one.name] = one.value
        except InputError as error:
            self._wrong[one.name] = error

    def _standing(self) -> S:
        """The scenario as the controls stand. Raises InputError."""
        for error in self._wrong.values():
            raise error
        return self.start.variant(**self._changes) if self._changes else self.start

    def _beneath(self, moved: Control) -> list[Control]:
        """The controls of inputs of the input that was moved."""
        return [one for one in self.controls.values() if one.name.startswith(f"{moved.name}.")]

    def _place_beneath(self, moved: Control, one: Control) -> Place | None:
        """Where an inner input stands in the record that was just chosen; None where none was."""
        try:
            return Place(self.start.variant(**{moved.name: moved.value}), one.name)
        except InputError:
            return None

    def _fail(self, words: str) -> None:
        """Say what is wrong where the caption stands, and mark what is shown as older."""
        if not self.error:
            for one in self._parts:
                one.widget.value = f'<div style="opacity:.8">{one.widget.value}</div>'
        self.error = words
        self._code.value = ""
        self._message.value = (f'<div {IGNORE} role="alert" style="border:2px solid #d55e00;border-radius:4px;padding:6px 12px;line-height:1.4"><b>This does not work.</b> {escape(words)}'
                               f'<br>Below stands the last combination that did.</div>')

    def _show(self, scenario: S) -> None:
        self._code.value = ""
        self._message.value = f'<div {IGNORE} role="status" style="line-height:1.4;font-size:110%">{escape(self.caption)}</div>'
        for one in self._parts:
            one.show(self.start, scenario)

    def _show_code(self) -> None:
        """Lay the line open; opening it selects and copies it, where the front end lets a page do that."""
        self._code.value = ""
        code = "\n".join(filter(None, [imports(self.code), self.code]))
        rows = min(8, code.count("\n") + 1 + len(self.code) // 100)
        self._code.value = ('<details open ontoggle="if (this.open) { const code = this.querySelector(\'textarea\'); code.focus(); code.select();'
                            ' this.querySelector(\'span\').hidden = !document.execCommand(\'copy\') }">'
                            '<summary>The line that rebuilds this scenario<span hidden>, copied</span></summary>'
                            f'<textarea readonly rows="{rows}" aria-label="The line that rebuilds this scenario" onfocus="this.select()" style="width:100%;box-sizing:border-box;'
                            f'font-family:monospace">{escape(code)}</textarea></details>')

    # How it is shown where there are no widgets.

    def __repr__(self) -> str:
        return f"<explore {', '.join(self.controls)} of {self.scenario!r}>"

    def text(self) -> str:
        """Controls, caption and parts as text."""
        return "\n\n".join([*(f"Control: {one.summary}" for one in self.controls.values()), self.error or self.caption, *(one.text(self.start, self.scenario) for one in self._parts)])

    def html(self) -> str:
        """The same as HTML, for a page where nothing runs."""
        offered = "".join(f"<li>{escape(one.summary)}</li>" for one in self.controls.values())
        return (f'<div {IGNORE}><p>Run this cell to move:</p><ul>{offered}</ul><p>{escape(self.error or self.caption)}</p></div>'
                + "".join(one.html(self.start, self.scenario) for one in self._parts))

    def _repr_mimebundle_(self, **keywords: Any) -> dict[str, Any]:
        return {**super()._repr_mimebundle_(**keywords), "text/plain": self.text(), "text/html": self.html()}


def imports(code: str) -> str:
    """The line that brings in what an expression names of this package; empty where it names nothing of it."""
    named = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    return f"from mlsysim import {', '.join(sorted(named & {*FRONT_DOOR}))}" if named & {*FRONT_DOOR} else ""


def _check(scenario: Any, names: Sequence[Any]) -> None:
    """Raises InputError for what is no scenario, and for a name that is no text."""
    if not isinstance(scenario, Scenario):
        example = f"{scenario.__name__}(...), one of its scenarios" if isinstance(scenario, type) and issubclass(scenario, Scenario) else "Scenarios.Gpt2Fp32AdamOnH100"
        raise InputError(f"explore: takes a scenario, not {scenario!r}; write {example}")
    if strange := [name for name in names if not isinstance(name, str)]:
        raise InputError(f"explore: {strange[0]!r} is no name of an input; write \"{next(iter(type(scenario).inputs))}\"")


def explore(scenario: S, /, *inputs: str, show: Sequence[Any] = ("breakdown",), **controls: Any) -> Panel[S]:
    """Controls for a scenario's inputs, and below them what follows, kept up to date.

    Each keyword names an input (`**{"workload.layers": (1, 96)}` one of an inner record) and says what a reader may choose:

    * a tuple of two or three is a slider with a box, from, to and step: `(1, 256)`, `("1 GB", "80 GB")`. It goes up in
      multiples where the range spans decades;
    * a list is a choice, `[None, "4 byte"]`, a dictionary one under labels of your own, a group of the catalogue all its entries;
    * True or False is a checkbox that starts so;
    * a widget is itself.

    An input named without a keyword, `explore(scenario, "batch_size")`, gets the control that its declaration suggests; without
    any names all given inputs do. show: the parts below, in order: "breakdown", "comparison" with the start, the name of a
    quantity for its equation with numbers (`("activations_at", {"batch_size": 64})` for one with arguments), or a function
    that draws the scenario and returns a matplotlib Figure or Axes.

    A combination that does not work shows the reason in its place, and `panel.scenario` stays the last one that did. Raises
    InputError, here and now, for an unknown input, a range the input cannot take, or a part that is not there.
    """
    _check(scenario, inputs)
    wanted = {**dict.fromkeys(inputs, DECLARED), **controls}
    if not wanted:
        given = type(scenario).inputs
        wanted = {name: DECLARED for name in scenario.given_inputs() if given[name].kind in OFFERED}
    chosen = {name: choice(Place(scenario, name), written) for name, written in wanted.items()}
    first = {name: one.start if isinstance(one, Truth) else one.widget.value for name, one in chosen.items() if isinstance(one, Made) or isinstance(one, Truth) and one.start is not None}
    if moved := {name: value for name, value in first.items() if Place(scenario, name).declared.accept(value, f"explore: {name}") != Place(scenario, name).stored}:
        scenario = scenario.variant(**moved)
    return Panel(scenario, [control(Place(scenario, name), one) for name, one in chosen.items()], show if isinstance(show, (list, tuple)) else [show])


__all__ = ["Panel", "explore"]

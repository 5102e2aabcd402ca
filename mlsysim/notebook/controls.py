"""The widgets of one input: a named box beside every slider, and for each kind of choice the control that people expect."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import ipywidgets      # type: ignore[import-untyped]

from ..engine.inputs import InputError
from ..engine.record import Record
from .choices import Choice, Made, Options, Place, Range, Rows, Truth, Words, example, following, said, stored

LETTER = 7.5            # pixels a letter of a label takes, at the size that widgets are drawn in
BOX = 132               # pixels of a box that holds a number
FULL = 430              # pixels of the widest control, its label apart


class Control:
    """One input under the reader's hand.

    value: what it stands at, as the input takes it; setting it moves the widgets and updates the panel. base: the value at
    which it changes nothing. widgets: the ipywidgets it is made of; row: the box that holds them.
    """

    widgets: tuple[Any, ...] = ()
    row: Any = None

    def __init__(self, place: Place):
        self.place, self.name, self.declared, self.label = place, place.name, place.declared, place.label
        self.base: Any = place.stored
        self.changed: Callable[[Control], None] = lambda control: None
        self.resting = False
        self._silent = False

    # Values.

    @property
    def value(self) -> Any:
        """The value it stands at. Raises InputError for one that the input does not accept."""
        return self.declared.accept(self._read(), self.label)

    @value.setter
    def value(self, value: Any) -> None:
        self.show(self.declared.accept(value, self.label))
        self.changed(self)

    def _read(self) -> Any:
        raise NotImplementedError

    def _show(self, value: Any) -> None:
        raise NotImplementedError

    def show(self, value: Any) -> None:
        """Stand at an accepted value without telling anybody."""
        with self._quietly():
            self._show(value)

    @property
    def moved(self) -> bool:
        """Whether it stands elsewhere than at its base. Raises InputError."""
        return bool(self.value != self.base)

    def rebase(self, place: Place | None) -> None:
        """Stand at the value that another record now holds; rest where there is no such record."""
        self.able(place is not None)
        if place is not None:
            self.place, self.base = place, place.stored
            self.show(self.base)

    def follow(self, record: Record) -> None:
        """Show what an input that is left to its formula now comes to."""

    def able(self, able: bool) -> None:
        """Take part, or rest, as the input of a record that is absent does."""
        self.resting = not able
        for widget in self.widgets:
            widget.disabled = not able

    @property
    def summary(self) -> str:
        """What it offers, in words."""
        return self.label

    # Widgets.

    def wide(self, label_width: int) -> None:
        """Align with the other controls of a panel, whose labels are that many pixels wide."""
        self.widgets[0].style.description_width = f"{label_width}px"
        self.widgets[0].layout.width = f"{label_width + FULL}px"

    @property
    def title(self) -> str:
        """What stands beside it, and names it for a screen reader."""
        return self.label

    def _made(self, kind: Any, **options: Any) -> Any:
        """A widget with the input's name and, as its tooltip, meaning."""
        return kind(description=self.title, tooltip=self.declared.doc, layout=ipywidgets.Layout(max_width="100%"), **options)

    def _listen(self, *widgets: Any) -> None:
        self.widgets = widgets
        self.row = widgets[0] if len(widgets) == 1 else ipywidgets.HBox(widgets, layout=ipywidgets.Layout(flex_flow="row wrap", align_items="center"))
        for widget in widgets:
            widget.observe(self._hear, "value")

    def _hear(self, change: Any) -> None:
        if not self._silent:
            with self._quietly():
                self._together(change.owner)
            self.changed(self)

    def _together(self, widget: Any) -> None:
        """Bring the other widgets in line with the one that was moved."""

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        before, self._silent = self._silent, True
        try:
            yield
        finally:
            self._silent = before


class RangeControl(Control):
    """A number: a box that takes any within the range, a slider that stops at round ones, and, where the input may be left out, a checkbox."""

    def __init__(self, place: Place, range: Range):
        super().__init__(place)
        self.range = range
        box = ipywidgets.BoundedIntText if self._in_whole_numbers else ipywidgets.BoundedFloatText
        self.box = self._made(box, min=self._boxed(range.low), max=self._boxed(range.high), value=self._boxed(range.suggested))
        if self._in_whole_numbers:
            self.box.step = 1
        self.slider = ipywidgets.SelectionSlider(options=self._stops(), value=range.suggested, description=self.title, readout=False, tooltip=self.declared.doc,
                                                 style={"description_width": "0px"}, layout=ipywidgets.Layout(width=f"{FULL - BOX - 4}px", min_width="120px", max_width="100%"))
        self.given: Any = None
        if range.optional:
            self.given = ipywidgets.Checkbox(value=place.stored is not None, description=f"{self.label} {'stated' if self.declared.formula else 'given'}", indent=False,
                                             layout=ipywidgets.Layout(width="auto"))
        self._listen(self.box, self.slider, *filter(None, [self.given]))
        self._rest()

    @property
    def title(self) -> str:
        return f"{self.label} ({unit})" if (unit := self.range.unit_name) else self.label

    @property
    def summary(self) -> str:
        ends = [said(self.range.value(end)) for end in (self.range.low, self.range.high)]
        return f"{self.label} from {ends[0]} to {ends[1]}" + (", or left out" if self.range.optional else "")

    def wide(self, label_width: int) -> None:
        self.box.style.description_width = f"{label_width}px"
        self.box.layout.width = f"{label_width + BOX}px"

    @property
    def _in_whole_numbers(self) -> bool:
        return self.range.whole and (self.range.unit is None or self.range.unit_name == "")

    def _boxed(self, number: float) -> Any:
        return int(number) if self._in_whole_numbers else float(number)

    def _stops(self) -> list[tuple[str, float]]:
        return [(said(self.range.value(stop)), stop) for stop in self.range.stops]

    @property
    def moved(self) -> bool:
        value = self.value
        if value is None or self.base is None:
            return value is not self.base
        return not math.isclose(self.range.number(value), self.range.number(self.base), rel_tol=1e-9)      # a base in another unit

    def _read(self) -> Any:
        return None if self.given is not None and not self.given.value else self.range.value(self.box.value)

    def _show(self, value: Any) -> None:
        if self.given is not None:
            self.given.value = value is not None
        if value is not None:
            self._stand(self.range.number(value))
        self._rest()

    def _stand(self, number: float) -> None:
        """Set box and slider, and widen the range where the number lies outside."""
        if not self.range.low <= number <= self.range.high:
            self.range = self.range.holding(number)
            self.box.min, self.box.max = min(self.box.min, self._boxed(self.range.low)), max(self.box.max, self._boxed(self.range.high))
            self.slider.options = self._stops()
        self.box.value = self._boxed(number)
        self._together(self.box)

    def _together(self, widget: Any) -> None:
        if widget is self.slider:
            self.box.value = self._boxed(self.slider.value)
        elif widget is self.box:
            self.slider.value = min(self.range.stops, key=lambda stop: abs(self._distance(stop) - self._distance(self.box.value)))
        else:
            self._rest()

    def _distance(self, number: float) -> float:
        """Where a number lies on the slider."""
        return math.log(number) if self.range.low > 0 else number

    def _rest(self) -> None:
        if self.given is not None:
            self.box.disabled = self.slider.disabled = self.resting or not self.given.value

    def able(self, able: bool) -> None:
        super().able(able)
        self._rest()

    def follow(self, record: Record) -> None:
        if self.given is not None and not self.given.value and self.declared.formula is not None:
            *holder, name = self.place.path
            held = record.at(tuple(holder))
            value = following(held, name) if held is not None else None
            if value is not None:
                with self._quietly():
                    self._stand(self.range.number(value))


class OptionsControl(Control):
    """A choice among a few values. Its widget's value is the value as it was written."""

    def __init__(self, place: Place, options: Options):
        super().__init__(place)
        self.options = options
        self.menu = self._made(ipywidgets.Dropdown, options=list(zip(options.labels, options.values)), equals=lambda a, b: a is b or bool(a == b))
        self.show(place.stored)
        self._listen(self.menu)

    @property
    def summary(self) -> str:
        shown = self.options.labels[:6]
        more = len(self.options.labels) - len(shown)
        return f"{self.label}: {', '.join(shown)}" + (f" and {more} more" if more else "")

    def _read(self) -> Any:
        return self.options.values[self.menu.index] if self.menu.index is not None else None

    def _show(self, value: Any) -> None:
        for index, written in enumerate(self.options.values):
            if self.declared.accept(written, self.label) == value:
                self.menu.index = index
                return
        self.options = Options((*self.options.labels, self.place.said(value)), (*self.options.values, value))
        self.menu.options = list(zip(self.options.labels, self.options.values))
        self.menu.index = len(self.options.values) - 1


class TruthControl(Control):
    """Yes or no."""

    def __init__(self, place: Place):
        super().__init__(place)
        self.box = self._made(ipywidgets.Checkbox, value=bool(place.stored), indent=True)
        self._listen(self.box)

    def _read(self) -> Any:
        return self.box.value

    def _show(self, value: Any) -> None:
        self.box.value = bool(value)


class WordsControl(Control):
    """A text; an input that may be left out is left out while the box is empty."""

    def __init__(self, place: Place, words: Words):
        super().__init__(place)
        self.optional = words.optional
        self.box = self._made(ipywidgets.Text, value=place.stored or "", continuous_update=False, placeholder=self.place.said(None) if words.optional else "")
        self._listen(self.box)

    def _read(self) -> Any:
        return None if self.optional and not self.box.value.strip() else self.box.value

    def _show(self, value: Any) -> None:
        self.box.value = value or ""


class RowsControl(Control):
    """Rows of a record, a named box for each of a row's inputs; rows are added and taken away at the end."""

    def __init__(self, place: Place, rows: Rows):
        super().__init__(place)
        self.record_type, self.optional = rows.record_type, rows.optional
        self.given: Any = self._checkbox() if rows.optional else None
        self.add = ipywidgets.Button(description="Add a row", tooltip=f"Add a row to {self.label}", layout=ipywidgets.Layout(width="auto"))
        self.remove = ipywidgets.Button(description="Take away the last", tooltip=f"Take away the last row of {self.label}", layout=ipywidgets.Layout(width="auto"))
        self.add.on_click(self._add)
        self.remove.on_click(self._remove)
        self.heading = ipywidgets.HTML(f"<b>{escape(self.label)}</b>")
        self.lines = ipywidgets.VBox()
        self.row = ipywidgets.VBox([self.heading, *filter(None, [self.given]), self.lines, ipywidgets.HBox([self.add, self.remove])])
        self.inner: list[list[Control]] = []
        self.show(place.stored)

    def _checkbox(self) -> Any:
        box = ipywidgets.Checkbox(description=f"{self.label} given", indent=False, layout=ipywidgets.Layout(width="auto"))
        box.observe(self._switch, "value")
        return box

    @property
    def widgets(self) -> tuple[Any, ...]:      # type: ignore[override]
        return (*filter(None, [self.given]), *(widget for line in self.inner for control in line for widget in control.widgets), self.add, self.remove)

    def wide(self, label_width: int) -> None:
        self.row.layout.margin = f"0 0 0 {label_width + 6}px"

    @property
    def _first(self) -> Record:
        """The row that a first click adds."""
        return self.record_type(**{name: example(declared) for name, declared in self.record_type.inputs.items() if declared.required})

    def _read(self) -> Any:
        if self.given is not None and not self.given.value:
            return None
        return tuple(self.record_type(**{control.name: control.value for control in line}) for line in self.inner)

    def _show(self, value: Any) -> None:
        if self.given is not None:
            self.given.value = value is not None
        self._lay(value or ())

    def _lay(self, rows: tuple[Any, ...]) -> None:
        """Show these rows, in the boxes that are there as far as they reach."""
        while len(self.inner) > len(rows):
            for cell in self.inner.pop():
                cell.row.close()
        for number, row in enumerate(rows[len(self.inner):], len(self.inner) + 1):
            self.inner.append([self._cell(row, number, name) for name in self.record_type.inputs])
        for line, row in zip(self.inner, rows):
            for cell in line:
                cell.show(stored(row, cell.name))
        if len(self.lines.children) != len(rows):
            self.lines.children = [ipywidgets.HBox([cell.row for cell in line], layout=ipywidgets.Layout(flex_flow="row wrap")) for line in self.inner]

    def _cell(self, row: Record, number: int, name: str) -> Control:
        place = Place(row, name)
        made = control(place, None)
        for widget in made.widgets:
            widget.description = f"row {number} {made.title}"
            widget.style.description_width = "initial"
            widget.layout.width = "auto"
        if isinstance(made, RangeControl):
            made.box.min, made.box.max = made.box.min if made.declared.positive else 0, max(made.box.max, 10 ** 9)
            made.box.layout.width = f"{round(LETTER * len(made.box.description)) + BOX}px"
            made.widgets = tuple(widget for widget in made.widgets if widget is not made.slider)
            made.row = ipywidgets.HBox(made.widgets)
        made.changed = lambda moved: self.changed(self)
        return made

    def _add(self, button: Any) -> None:
        rows = self._rows()
        with self._quietly():
            self._show((*rows, rows[-1] if rows else self._first))
        self.changed(self)

    def _remove(self, button: Any) -> None:
        with self._quietly():
            self._show(self._rows()[:-1])
        self.changed(self)

    def _switch(self, change: Any) -> None:
        if self._silent:
            return
        if change.new and not self.inner:
            self._lay((self._first,))
        self.changed(self)

    def _rows(self) -> tuple[Any, ...]:
        """The rows as far as they are right."""
        try:
            return tuple(self.record_type(**{control.name: control.value for control in line}) for line in self.inner)
        except InputError:
            return self.base or ()


class MadeControl(Control):
    """A widget that the reader made; its value is taken as it is."""

    def __init__(self, place: Place, made: Made):
        super().__init__(place)
        widget = made.widget
        self.first = widget.value
        if hasattr(widget, "description") and not widget.description:
            widget.description = self.label
        self._listen(widget)

    def _read(self) -> Any:
        return self.widgets[0].value

    def _show(self, value: Any) -> None:
        self.widgets[0].value = self.first if value == self.declared.accept(self.first, self.label) else value

    def wide(self, label_width: int) -> None:
        if hasattr(self.widgets[0], "style") and hasattr(self.widgets[0].style, "description_width"):
            self.widgets[0].style.description_width = f"{label_width}px"


def control(place: Place, choice: Choice | None) -> Control:
    """The control for what a reader may choose; for None, for what the declaration allows."""
    from .choices import from_declaration
    match choice if choice is not None else from_declaration(place):
        case Range() as range: return RangeControl(place, range)
        case Options() as options: return OptionsControl(place, options)
        case Truth(): return TruthControl(place)
        case Words() as words: return WordsControl(place, words)
        case Rows() as rows: return RowsControl(place, rows)
        case Made() as made: return MadeControl(place, made)
    raise TypeError(repr(choice))


def label_width(controls: list[Control]) -> int:
    """The pixels that the longest label of a panel takes."""
    return max((min(300, max(70, round(LETTER * len(control.title)) + 8)) for control in controls), default=70)


__all__ = ["Control", "control", "label_width"]

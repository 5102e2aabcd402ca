"""What a reader may choose for one input: read from the abbreviations of `ipywidgets.interact`, or from the input's declaration."""
from __future__ import annotations

import ast
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..engine.catalogue import Catalogue, Group
from ..engine.figures import as_given
from ..engine.inputs import Input, InputError, near_name
from ..engine.notation import TEXT, words
from ..engine.record import Record
from ..units import ONE, Quantity, UnitError, quantity, scale, units

DECLARED: Any = type("Declared", (), {"__repr__": lambda self: "from its declaration"})()
DECADES = 32            # a range whose end is this many times its start goes up in multiples
MOST_STEPS = 100        # of a slider that goes up in equal steps
MOST_STOPS = 2000       # of a slider whose step the reader chose; more than it has pixels
MULTIPLES = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
NUMERIC = ("quantity", "count", "number")


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, in a unit where the input has one. A slider stops at `stops`; a box takes any number between.

    optional: the input may also be left out; suggested: the number where the slider stands while it is.
    """

    low: float
    high: float
    stops: tuple[float, ...]
    unit: Any               # None for plain numbers
    whole: bool
    optional: bool
    suggested: float

    def value(self, number: float) -> Any:
        """A number of the box as the input takes it."""
        number = round(number) if float(number).is_integer() else number
        return number if self.unit is None else units.Quantity(number, self.unit)

    def number(self, value: Any) -> float:
        """An input's value as a number of the box."""
        if self.unit is None:
            return value.m_as("") if isinstance(value, Quantity) else value
        of = units.Quantity(value, "") if not isinstance(value, Quantity) else value
        return of.magnitude if of.units == self.unit else tidy(of.magnitude * scale(of.units) / scale(self.unit))

    def holding(self, number: float) -> Range:
        """The range, wide enough for a number, where the slider stops too."""
        return replace(self, low=min(self.low, number), high=max(self.high, number), stops=tuple(sorted({*self.stops, number})))

    @property
    def unit_name(self) -> str:
        return "" if self.unit is None or str(self.unit) in ("", "count", "dimensionless") else f"{self.unit:~P}"


@dataclass(frozen=True)
class Options:
    """A few values, each under a label; as they were written."""

    labels: tuple[str, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Truth:
    """Yes or no; `start` is what the reader wrote, None for the scenario's own."""

    start: bool | None = None


@dataclass(frozen=True)
class Words:
    """Any text."""

    optional: bool


@dataclass(frozen=True)
class Rows:
    """Rows of a record type, each input of a row in a box."""

    record_type: type[Record]
    optional: bool


@dataclass(frozen=True)
class Made:
    """A widget that the reader made."""

    widget: Any


Choice = Range | Options | Truth | Words | Rows | Made


class Place:
    """Where an input stands: its scenario, its path, its declaration, and the record that holds it."""

    def __init__(self, scenario: Record, name: str):
        self.name, self.path = name, tuple(name.split("."))
        holder: Any = scenario
        for step in self.path[:-1]:
            declared = _declared(holder, step)
            if declared.kind != "record":
                raise InputError(f"explore: {step} holds no inputs of its own, so there is no {name}")
            if (held := holder.at(step)) is None:
                raise InputError(f"explore: {step} is absent, so {name} cannot change; start from scenario.variant({declared.how_to_give()})")
            holder = held
        self.holder: Record = holder
        self.declared = _declared(holder, self.path[-1])
        self.stored = stored(holder, self.path[-1])
        self.effective = self.stored if self.stored is not None or self.declared.formula is None else following(holder, self.path[-1])

    @property
    def label(self) -> str:
        return " ".join(map(words, self.path))

    @property
    def where(self) -> str:
        return f"explore: {self.name}"

    def said(self, value: Any) -> str:
        """A value as a choice names it."""
        return "not stated" if value is None and self.declared.formula is not None else said(value)


def _declared(holder: Record, name: str) -> Input:
    inputs = type(holder).inputs
    if name not in inputs:
        hint = near_name(name, inputs) or "; its inputs are " + ", ".join(inputs)
        raise InputError(f"explore: {type(holder).__name__} has no input called {name!r}{hint}")
    return inputs[name]


def stored(holder: Record, name: str) -> Any:
    """What a record was given for an input: None where it was left to a formula."""
    if type(holder).inputs[name].formula is not None and name not in holder.given_inputs():
        return None
    return holder.at(name)


def following(holder: Record, name: str) -> Any:
    """What an input's formula gives; None where that waits for another input."""
    try:
        return holder.at(name)
    except ValueError:
        return None


# From what the reader wrote.

def choice(place: Place, written: Any) -> Choice:
    """What the reader may choose, from an abbreviation or, for DECLARED, from the declaration. Raises InputError."""
    declared, where = place.declared, place.where
    if written is DECLARED:
        return from_declaration(place)
    if hasattr(written, "_model_module") and hasattr(written, "observe"):
        if not hasattr(written, "value"):
            raise InputError(f"{where}: {type(written).__name__} has no value to read; give a widget that has one, such as a slider or a box")
        return Made(written)
    if isinstance(written, bool):
        if declared.kind != "truth":
            raise InputError(f"{where}: a checkbox is for what is True or False, and this is {declared.type_name}; write {_example(place)}")
        return Truth(written)
    if isinstance(written, (Group, Catalogue)):
        written = [entry for group in ([written] if isinstance(written, Group) else written) for entry in group]
    if isinstance(written, Mapping):
        return _options(place, list(written.values()), [str(label) for label in written])
    if isinstance(written, (list, range)):
        return _options(place, list(written))
    if isinstance(written, tuple):
        return _range(place, written)
    raise InputError(f"{where}: {written!r} is one value, and a control offers several; write {_example(place)}, or scenario.variant({place.name}=...) to fix it")


def _example(place: Place) -> str:
    name, declared = place.name, place.declared
    if declared.kind == "quantity" and declared.unit is not None and not declared.unit.dimensionless:
        return f"{name}=(\"1 {declared.unit}\", \"10 {declared.unit}\")"
    return f"{name}=(1, 10)" if declared.kind in NUMERIC else f"{name}=True" if declared.kind == "truth" else f"{name}=[..., ...]"


def _options(place: Place, values: Sequence[Any], labels: Sequence[str] | None = None) -> Options:
    if not values:
        raise InputError(f"{place.where}: the list is empty; write {_example(place)}")
    accepted = [place.declared.accept(value, place.where) for value in values]
    shown = list(labels or map(place.said, accepted))
    if place.stored not in accepted:
        values, shown = [place.stored, *values], [place.said(place.stored), *shown]
    return Options(_distinct(shown, values), tuple(values))


def _distinct(labels: Sequence[str], values: Sequence[Any]) -> tuple[str, ...]:
    """Labels, those that stand twice told apart by their address or their place."""
    found: list[str] = []
    for i, (label, value) in enumerate(zip(labels, values), 1):
        if labels.count(label) > 1:
            label = f"{label} ({getattr(value, 'address', '') or f'choice {i}'})"
        found.append(label)
    return tuple(found)


def _range(place: Place, written: tuple[Any, ...]) -> Range:
    declared, where = place.declared, place.where
    if declared.kind not in NUMERIC:
        raise InputError(f"{where}: a slider goes over numbers, and this is {declared.type_name}; write a list to choose from, {place.name}=[..., ...]")
    if len(written) not in (2, 3):
        raise InputError(f"{where}: a slider takes (from, to) or (from, to, step), not {len(written)} values; write a list to choose from them")
    if None in written[:2]:
        raise InputError(f"{where}: a slider goes from a number to a number; write a list with None in it, {place.name}=[None, ...], for an input that may be left out")
    ends = [declared.accept(end, where) for end in written[:2]]
    unit = _unit(declared, written[1])
    wide = Range(0, 0, (), unit, declared.whole, place.stored is None, 0)
    low, high = map(wide.number, ends)
    if not low < high:
        raise InputError(f"{where}: the slider goes from {written[0]} to {written[1]}; write the smaller end first")
    step = _step(place, written[2], unit) if len(written) == 3 else None
    if step and (high - low) / step > MOST_STOPS:
        raise InputError(f"{where}: with a step of {written[2]} the slider would have more than {MOST_STOPS:,} stops; leave the step out, and type numbers between into the box")
    stops = equal_steps(low, high, step, declared.whole) if step else steps(low, high, declared.whole)
    suggested = wide.number(place.effective) if place.effective is not None else stops[len(stops) // 2]
    return replace(wide, low=low, high=high, stops=stops, suggested=suggested).holding(suggested)


def _unit(declared: Input, end: Any) -> Any:
    """The unit a range is written in; None for plain numbers."""
    if isinstance(end, (str, Quantity)):
        of = quantity(end).units
        return None if of == ONE and declared.kind != "quantity" else of
    return declared.unit if declared.kind == "quantity" else None


def _step(place: Place, written: Any, unit: Any) -> float:
    try:
        given = quantity(written) if isinstance(written, (str, Quantity)) else units.Quantity(written, unit or "")
    except UnitError as error:
        raise InputError(f"{place.where}: {error}") from None
    except TypeError:
        raise InputError(f"{place.where}: the step is {written!r}, which is no number; write one above zero") from None
    if not given.units.is_compatible_with(unit or ONE):
        raise InputError(f"{place.where}: the step {written} is not in {unit or 'plain numbers'}, as the range is")
    size = given.magnitude * scale(given.units) / scale(unit or ONE)
    if not size > 0:
        raise InputError(f"{place.where}: the step is {written}; write one above zero")
    return size


# From the declaration alone.

def from_declaration(place: Place) -> Choice:
    """A control for an input of any kind, about the value it has."""
    declared = place.declared
    optional = declared.optional or declared.formula is not None
    match declared.kind:
        case "quantity" | "count" | "number":
            return _about(place, optional)
        case "truth" if not optional:
            return Truth()
        case "truth":
            return _options(place, [None, True, False])
        case "option":
            return _options(place, [*([None] if optional else []), *declared.choices])
        case "record":
            return _options(place, [*([None] if optional else []), *catalogued(declared.record_type or Record, place.stored)])
        case "rows":
            return Rows(declared.record_type or Record, optional)
    return Words(optional)


def _about(place: Place, optional: bool) -> Range:
    """A range about the value an input has, or about its example where it has none."""
    declared = place.declared
    value = place.effective if place.effective is not None else typical(place)
    unit = value.units if isinstance(value, Quantity) else None
    wide = Range(0, 0, (), unit, declared.whole, optional, 0)
    number = wide.number(value)
    least, most = limits(declared, unit)
    doubled = number > 0 and math.log2(number).is_integer()
    if least is not None and most is not None:
        low, high = least, most
    elif number > 0:
        low, high = (number / 16, number * 16) if doubled else (nice(number / 10, math.floor), nice(number * 10, math.ceil))
    else:
        low, high = number, number + 2 * max(abs(number), wide.number(example(declared)), 1)
    floor = least if least is not None else 0
    low, high = max(low, floor, 1 if declared.whole and declared.positive else low), min(high, most if most is not None else high)
    if declared.whole:
        low, high = math.floor(low), math.ceil(high)
    return replace(wide, low=low, high=high, stops=steps(low, high, declared.whole), suggested=number).holding(number)


def limits(declared: Input, unit: Any) -> tuple[float | None, float | None]:
    """The least and the most an input may be, in a unit; None where only zero or nothing bounds it."""
    size = 1.0 if unit is None or declared.unit is None else scale(declared.unit) / scale(unit)
    return (None if declared.minimum is None else declared.minimum * size), (None if declared.maximum is None else declared.maximum * size)


def example(declared: Input) -> Any:
    """A value an input accepts, from the example its declaration gives or the first that its bounds allow."""
    plain: dict[str, Any] = {"count": 1, "number": 0.5, "truth": False, "text": "a name", "option": (declared.choices or ("",))[0]}
    written: list[Any] = []
    try:
        written.append(ast.literal_eval(declared.example))
    except (SyntaxError, ValueError):
        pass
    unit = declared.unit or ONE
    written += [plain.get(declared.kind, units.Quantity(1, unit)), *(b if declared.kind != "quantity" else units.Quantity(b, unit) for b in (declared.minimum, declared.maximum) if b is not None)]
    for value in written:
        try:
            return declared.accept(value, declared.name)
        except InputError:
            continue
    return None


def typical(place: Place) -> Any:
    """A value for an input that has none: its declaration's example, else the middle one of the catalogues, else whatever is accepted."""
    if not place.declared.example:
        name = place.path[-1]
        known = [value for entry in _catalogued(_type_of(place.holder)) if (value := stored(entry, name)) is not None]
        if known:
            return sorted(known)[len(known) // 2]
    return example(place.declared)


def _type_of(record: Record) -> Any:
    return type(record)


def catalogued(record_type: Any, own: Record | None) -> list[Record]:
    """Every record of a type in the catalogues, or in what their entries hold; its own first where it is none of them."""
    found = list(_catalogued(record_type))
    return found if own is None or own in found else [own, *found]


@functools.lru_cache(maxsize=None)
def _catalogued(record_type: Any) -> tuple[Record, ...]:
    from ..hardware import Hardware
    from ..models import Models
    found: dict[Record, None] = {}

    def look(record: Record) -> None:
        if isinstance(record, record_type):
            found.setdefault(record)
            return
        for name, declared in type(record).inputs.items():
            if declared.kind == "record" and (held := record.at(name)) is not None:
                look(held)
    catalogues: tuple[Catalogue[Any], ...] = (Hardware, Models)
    for catalogue in catalogues:
        for group in catalogue:
            for entry in group:
                look(entry)
    return tuple(found)


# The stops of a slider.

def steps(low: float, high: float, whole: bool) -> tuple[float, ...]:
    """Where a slider stops: multiples where the range spans decades, doublings between powers of two, equal steps otherwise."""
    between_powers = low > 0 and math.log2(low).is_integer() and math.log2(high).is_integer()
    if low > 0 and high / low >= DECADES:
        if between_powers:
            return tuple(tidy(low * 2**i) for i in range(round(math.log2(high / low)) + 1))
        exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = {tidy(multiple * 10.0**exponent) for exponent in exponents for multiple in MULTIPLES}
        return tuple(sorted({low, high, *(x for x in found if low < x < high and (not whole or x.is_integer()))}))
    span = high - low
    step = 1.0 if whole and span <= MOST_STEPS else 2.0 ** math.ceil(math.log2(span / MOST_STEPS)) if between_powers else nice(span / MOST_STEPS, math.ceil)
    return equal_steps(low, high, max(step, 1.0) if whole else step, whole)


def equal_steps(low: float, high: float, step: float, whole: bool) -> tuple[float, ...]:
    """From low to high by a step; high is a stop even where the step does not reach it."""
    found = {tidy(low + i * step) for i in range(math.floor((high - low) / step * (1 + 1e-12)) + 1)}
    return tuple(sorted({low, high, *(x for x in found if not whole or float(x).is_integer())}))


def nice(number: float, rounding: Any) -> float:
    """The next 1, 2 or 5 times a power of ten, above for `math.ceil`, below for `math.floor`."""
    power = 10.0 ** math.floor(math.log10(number))
    multiples = (1, 2, 5, 10)
    part = number / power
    return tidy(power * (next(m for m in multiples if m >= part * (1 - 1e-9)) if rounding is math.ceil else next(m for m in reversed(multiples) if m <= part * (1 + 1e-9))))


def tidy(number: float) -> float:
    """A number without the dust of floating point."""
    return float(f"{number:.12g}")


def said(value: Any) -> str:
    """A value as a choice names it."""
    if isinstance(value, Quantity):
        of: Any = value.units
        return TEXT.figure(as_given(value.magnitude, of))
    if isinstance(value, Record):
        return _record_said(value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(said, value)) or "no rows"
    return TEXT.plain(value)


def _record_said(record: Record) -> str:
    """A record by its name, or by the facts it holds."""
    if "name" in type(record).inputs:
        return str(record.at("name"))
    return ", ".join(said(value) for value in list(record.given_inputs().values())[:3]) or type(record).__name__


__all__ = ["Choice", "DECLARED", "Made", "Options", "Place", "Range", "Rows", "Truth", "Words", "choice", "example", "following", "said", "stored"]

"""What one declared input is, which values it accepts, and what it says to those it refuses."""
from __future__ import annotations

import difflib
import math
import numbers
import operator
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, Literal, TypeVar, overload

from ..units import ONE, Quantity, UnitError, quantity, scale, unit, units
from .dimension import OPTION, RECORD, ROWS, TRUTH

T = TypeVar("T")
MISSING: Any = type("Missing", (), {"__repr__": lambda self: "required"})()


class DefinitionError(TypeError):
    """A class declares something that cannot work; raised when the class is made."""


class InputError(ValueError, TypeError):
    """A value that an input does not accept: says where, what is wrong and what to write instead."""


class Given(Generic[T]):
    """The type of a declared quantity: `"40 GB"` or a Quantity going in, a Quantity coming out.

    Read on the class it is the declaration.
    """

    @overload
    def __get__(self, record: None, owner: type) -> Given[T]: ...
    @overload
    def __get__(self, record: object, owner: type) -> T: ...
    def __get__(self, record: Any, owner: type) -> Any:
        raise NotImplementedError

    def __set__(self, record: object, value: T | str) -> None:
        raise AttributeError(f"{type(record).__name__} objects do not change; write .variant(name=value) for a changed copy")


class Input(Given[Any]):
    """A declared input: its name, symbol, unit, bounds, default, meaning and source."""

    name: str = ""
    owner: str = ""
    home: Any = None                    # the class that declares it; None for an argument
    kind: str = ""                      # quantity, count, number, truth, option, text, record or rows
    optional = False
    record_type: type | None = None
    formula: Callable[[Any], Any] | None = None
    expression: Any = None              # of a default that is a formula

    def __init__(self, symbol: str, unit_name: str | None, *, default: Any, positive: bool, minimum: float | None, maximum: float | None,
                 choices: Iterable[str] | None, aliases: Mapping[str, str] | None, example: str, doc: str, source: str):
        self.symbol, self.doc, self.source, self.example = symbol, doc, source, example
        self.unit = declared_unit(symbol, unit_name)
        if not all(limit is None or isinstance(limit, (int, float)) for limit in (minimum, maximum)):
            raise DefinitionError(f"the declaration of {symbol!r}: minimum and maximum are plain numbers in the declared unit, not {minimum!r} and {maximum!r}")
        if minimum is not None and maximum is not None and minimum > maximum:
            raise DefinitionError(f"the declaration of {symbol!r}: nothing is at least {minimum} and at most {maximum}")
        names = () if choices is None else (choices,) if isinstance(choices, str) else tuple(choices)
        if isinstance(choices, str) or not all(isinstance(name, str) for name in names):
            raise DefinitionError(f"the declaration of {symbol!r}: choices are several names, such as choices=(\"fast\", \"slow\"), not {choices!r}")
        self.positive, self.minimum, self.maximum = positive, minimum, maximum
        self.choices, self.aliases = names, dict(aliases or {})
        self.default = default
        if isinstance(default, types.FunctionType):
            self.formula, self.default = default, None
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner, self.home = name, owner.__name__, owner

    def __get__(self, record: Any, owner: type) -> Any:
        return self if record is None else record._read(self)

    def __repr__(self) -> str:
        return f"<input {self.owner}.{self.name}{f' in {self.unit}' if self.unit else ''}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from .reference import declaration_text
        printer.text(declaration_text(self) if self.home else repr(self))

    def _repr_html_(self) -> str | None:
        from .reference import declaration_html
        return declaration_html(self) if self.home else None

    @property
    def required(self) -> bool:
        return self.default is MISSING

    @property
    def dimension(self) -> Any:
        """What a formula may do with it: a unit, or one of the words of `dimension`."""
        match self.kind:
            case "quantity": return self.unit
            case "count" | "number": return ONE
            case "truth": return TRUTH
            case "record": return RECORD
            case "rows": return ROWS
        return OPTION

    @property
    def type_name(self) -> str:
        """The type a person reads on a reference card."""
        names = {"quantity": f"quantity in {self.unit}", "count": "whole number", "number": "number", "truth": "True or False", "text": "text",
                 "option": " | ".join(self.choices)}
        of = self.record_type.__name__ if self.record_type else ""
        said = names.get(self.kind) or (of if self.kind == "record" else f"rows of {of}")
        return f"{said} or None" if self.optional and self.formula is None else said

    def settle(self, annotation: Any, record_base: type) -> None:
        """Take the kind of the input from its annotation. Raises DefinitionError where the two don't fit."""
        of, self.optional = _without_none(annotation)
        if typing.get_origin(of) is Given:
            of, inner_optional = _without_none(typing.get_args(of)[0])
            self.optional = self.optional or inner_optional
        where = f"{self.owner}.{self.name}"
        if of is Quantity:
            if self.unit is None:
                raise DefinitionError(f"{where}: a quantity needs a unit; write given(symbol, \"GB\")")
            self.kind = "quantity"
        elif of is bool:
            self.kind = "truth"
        elif of is int:
            self.kind = "count"
        elif of is float:
            self.kind = "number"
        elif typing.get_origin(of) is Literal:
            self.kind, self.choices = "option", self.choices or typing.get_args(of)
        elif of is str:
            self.kind = "option" if self.choices else "text"
        elif isinstance(of, type) and issubclass(of, record_base):
            self.kind, self.record_type = "record", of
        elif typing.get_origin(of) is tuple and isinstance(row := typing.get_args(of)[0], type) and issubclass(row, record_base):
            self.kind, self.record_type = "rows", row
        else:
            raise DefinitionError(f"{where}: an input is annotated Given[Quantity], int, float, bool, str, Literal[...], a Record or tuple[Record, ...], each | None "
                                  f"where it may be absent; not {annotation!r}")
        if self.kind != "quantity" and self.unit is not None and self.unit != ONE:
            raise DefinitionError(f"{where}: only a quantity has a unit; annotate it Given[Quantity]")
        if self.default is None and self.formula is None and not self.optional:
            raise DefinitionError(f"{where}: its default is None, so annotate it with | None")
        if self.default is not MISSING and self.default is not None:
            try:
                self.default = self.accept(self.default, where)
            except InputError as error:
                raise DefinitionError(f"the default of {error}") from None

    def how_to_give(self, name: str | None = None) -> str:
        """The words that give the input a value: `batch_size=32`."""
        example = self.example or {"quantity": f"\"1 {self.unit}\"", "count": "1", "number": "0.5", "truth": "True", "text": "\"a name\"",
                                   "option": f"\"{(self.choices or ('?',))[0]}\""}.get(self.kind) or f"{self.record_type.__name__ if self.record_type else ''}(...)"
        return f"{name or self.name}={f'[{example}]' if self.kind == 'rows' and not example.startswith('[') else example}"

    def accept(self, value: Any, where: str) -> Any:
        """The value as the input keeps it. Raises InputError that says where, what is wrong and what to write instead."""
        if value is None:
            if self.optional or self.formula is not None:
                return None
            raise InputError(f"{where}: it may not be None; write {self.how_to_give()}")
        accept: Callable[[Any, str], Any] = getattr(self, f"_{self.kind}")
        return accept(value, where)

    def base(self, value: Any) -> Any:
        """An accepted value as formulas see it: a float in base units, or the value itself."""
        match self.kind:
            case "quantity": return value.magnitude * scale(value.units)
            case "count" | "number": return float(value)
        return value

    def _number_of(self, value: Any, where: str) -> float | int:
        if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
            raise InputError(f"{where}: {value} is a truth value, not a number; write {self.how_to_give()}")
        if getattr(value, "shape", ()):
            raise InputError(f"{where}: takes one number, not an array; use sweep(scenario, {self.name}=[...]) for many")
        if not isinstance(value, numbers.Real):
            raise InputError(f"{where}: {value!r} is not a number; write {self.how_to_give()}")
        try:
            finite = math.isfinite(value)
        except OverflowError:
            raise InputError(f"{where}: that whole number is too large; write {self.how_to_give()}") from None
        if not finite:
            raise InputError(f"{where}: {value} is not a size anything can have; write {self.how_to_give()}")
        return int(value) if isinstance(value, numbers.Integral) else float(value)

    def bounds(self) -> list[tuple[str, float, str]]:
        """The limits a value keeps: an operation, a number in the declared unit, and the words for breaking it."""
        lower = self.minimum if self.minimum is not None else 1 if self.kind == "count" and self.positive else 0
        said = f" {self.unit}" if self.unit is not None and self.unit != ONE and str(self.unit) != "count" else ""
        limits = [(">", 0.0, f"must be more than zero")] if self.positive and self.minimum is None else [(">=", lower, f"must be at least {lower:g}{said}" if lower else "must not be negative")]
        return limits if self.maximum is None else [*limits, ("<=", self.maximum, f"must be at most {self.maximum:g}{said}")]

    @property
    def whole(self) -> bool:
        """Whether only whole numbers make sense."""
        return self.kind == "count" or self.kind == "quantity" and str(self.unit) == "count"

    def _within(self, magnitude: float, said: Any, where: str) -> None:
        for comparison, limit, words in self.bounds():
            if not {">": operator.gt, ">=": operator.ge, "<=": operator.le}[comparison](magnitude, limit):
                raise InputError(f"{where}: {said} {words}; write for example {self.how_to_give()}")

    def _quantity(self, value: Any, where: str) -> Quantity:
        assert self.unit is not None      # settle() refuses a quantity without one
        pure = self.unit.dimensionless
        if not isinstance(value, (str, Quantity)):
            value = self._number_of(value, where)
            if not pure:
                raise InputError(f"{where}: {value:g} has no unit; write {self.name}=\"{value:g} {self.unit}\"")
            value = units.Quantity(value, self.unit)
        try:
            given = quantity(value, self.example.strip('"') or f"4 {self.unit}")
        except UnitError as error:
            raise InputError(f"{where}: {error}") from None
        if type(given.magnitude) not in (int, float):      # NumPy's numbers and fractions have no text that reads back
            given = units.Quantity(self._number_of(given.magnitude, where), given.units)
        self._number_of(given.magnitude, where)
        if not given.units.is_compatible_with(self.unit):
            if given.units.dimensionless:
                raise InputError(f"{where}: {given.magnitude:g} has no unit; write {self.name}=\"{given.magnitude:g} {self.unit}\"")
            raise InputError(f"{where}: {given} is in {given.units}, and {self.name} is measured in {self.unit}; write {self.how_to_give()}")
        magnitude = given.magnitude * scale(given.units) / scale(self.unit)
        if not math.isfinite(magnitude):
            raise InputError(f"{where}: {given} is too large; write {self.how_to_give()}")
        if self.whole and magnitude != round(magnitude):
            raise InputError(f"{where}: {given:~P} is not a whole number; write {self.name}={round(magnitude)}")
        self._within(magnitude, given, where)
        return given

    def _count(self, value: Any, where: str) -> int:
        if isinstance(value, Quantity):
            if not value.dimensionless:
                raise InputError(f"{where}: {value} has a unit, and {self.name} is a plain count; write {self.how_to_give()}")
            value = value.m_as("")
        number = self._number_of(value, where)
        if number != int(number):
            raise InputError(f"{where}: {number} is not a whole number; write {self.name}={max(1, round(number))}")
        self._within(number, int(number), where)
        return int(number)

    def _number(self, value: Any, where: str) -> float:
        if isinstance(value, (str, Quantity)):
            try:
                given = quantity(value, "50 %")
            except UnitError as error:
                raise InputError(f"{where}: {error}") from None
            if not given.dimensionless:
                raise InputError(f"{where}: {given} has a unit, and {self.name} is a pure number; write {self.how_to_give()}")
            value = float(given.magnitude * scale(given.units))
        number = self._number_of(value, where)
        self._within(number, number, where)
        return number

    def _truth(self, value: Any, where: str) -> bool:
        if isinstance(value, bool) or type(value).__name__ == "bool_":
            return bool(value)
        raise InputError(f"{where}: {value!r} is neither True nor False; write {self.name}=True or {self.name}=False")

    def _text(self, value: Any, where: str) -> str:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{where}: takes text, not {value!r}; write {self.how_to_give()}")
        return value

    def _option(self, value: Any, where: str) -> str:
        if isinstance(value, str):
            spelt = {_plain(choice): choice for choice in self.choices} | {_plain(alias): choice for alias, choice in self.aliases.items()}
            if (found := spelt.get(_plain(value))) is not None:
                return found
            near = difflib.get_close_matches(_plain(value), spelt, n=1)
            hint = f"; did you mean \"{spelt[near[0]]}\"?" if near else ""
        else:
            hint = ""
        raise InputError(f"{where}: {value!r} is not one of {', '.join(self.choices)}{hint}" + ("" if hint else f"; write {self.how_to_give()}"))

    def _record(self, value: Any, where: str) -> Any:
        record_type: Any = self.record_type
        if isinstance(value, Mapping):
            return record_type(**{str(name): inner for name, inner in value.items()})
        if not isinstance(value, record_type):
            if type(value).__name__ == record_type.__name__ and self.home is not None:
                raise InputError(f"{where}: this {record_type.__name__} is of a class that was defined again since; run the cell that defines {self.home.__name__} again")
            raise InputError(f"{where}: takes a {record_type.__name__}, not {value!r}; write {self.how_to_give()}")
        return value

    def _rows(self, value: Any, where: str) -> tuple[Any, ...]:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            example = self.how_to_give().partition("=")[2]
            raise InputError(f"{where}: takes several {self.record_type.__name__ if self.record_type else ''} rows, such as {example}")
        return tuple(self._record(row, f"{where}[{i}]") for i, row in enumerate(value))


def given(symbol: str = "", unit: str | None = None, *, default: Any = MISSING, positive: bool = False, minimum: float | None = None, maximum: float | None = None,
          choices: Iterable[str] | None = None, aliases: Mapping[str, str] | None = None, example: str = "", doc: str = "", source: str = "") -> Any:
    """Declare an input.

    symbol: how equations write it, `"M_opt"` for M with index opt; unit: the unit its bounds and displays are in, only for a
    quantity; default: a value, None for an input that may be absent, or a formula `lambda self: ...`, read where the
    input is not given; positive, minimum, maximum: its limits in that unit (negative values are always refused unless
    minimum says otherwise); choices, aliases: the names of an option and other spellings of them; example: how to write a
    value, shown by errors; doc: one sentence of meaning; source: the citation of a default.
    """
    return Input(symbol, unit, default=default, positive=positive, minimum=minimum, maximum=maximum, choices=choices, aliases=aliases, example=example,
                 doc=doc, source=source)


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        parts = [a for a in typing.get_args(annotation) if a is not type(None)]
        if len(parts) == 1:
            return parts[0], len(typing.get_args(annotation)) == 2
    return annotation, False


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")


def declared_unit(symbol: str, name: str | None) -> Any:
    """The unit that a declaration names. Raises DefinitionError where the kit has no such unit."""
    if not isinstance(symbol, str) or not isinstance(name, str | None):
        raise DefinitionError(f"a declaration takes a symbol and a unit as text, such as (\"M\", \"GB\"), not {symbol!r} and {name!r}")
    try:
        return None if name is None else unit(name)
    except UnitError as error:
        raise DefinitionError(f"the declaration of {symbol!r}: {error}") from None


def near_name(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'weights'?`, or nothing where no name is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


__all__ = ["DefinitionError", "Given", "Input", "InputError", "MISSING", "declared_unit", "given", "near_name"]

"""What a class may declare beside its inputs: quantities by their formulas, requirements and warnings."""
from __future__ import annotations

import string
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from ..units import ONE, scale, units
from .dimension import OPTION, TRUTH
from .expression import Expression, FormulaError, paths
from .inputs import DefinitionError, Input, InputError, declared_unit

T = TypeVar("T")
P = ParamSpec("P")


class Derived(Generic[T]):
    """A quantity with one formula. Read on an object it is the value; read on the class it is this declaration."""

    name: str = ""
    owner: str = ""
    home: Any = None                     # the class that declares it
    expression: Expression
    returns: str = ""                    # Quantity, float, int, bool or str
    may_be_nothing = False
    parameters: Mapping[str, Input] = {}

    def __init__(self, formula: Callable[..., Any], symbol: str, unit_name: str | None, source: str, below_zero: str = ""):
        self.formula, self.symbol, self.source, self.below_zero = formula, symbol, source, below_zero
        self.unit = declared_unit(symbol, unit_name)
        self.doc = self.__doc__ = " ".join((formula.__doc__ or "").split())

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner, self.home = name, owner.__name__, owner
        self.symbol = self.symbol or name.replace("_", " ")

    @overload
    def __get__(self, record: None, owner: type) -> Derived[T]: ...
    @overload
    def __get__(self, record: object, owner: type) -> T: ...
    def __get__(self, record: Any, owner: type) -> Any:
        if record is None:
            return self
        value = record._value(self)
        record.__dict__[self.name] = value      # the next read finds it there and never comes here
        return value

    def __repr__(self) -> str:
        return f"<quantity {self.owner}.{self.name}{f' in {self.unit}' if self.unit not in (None, ONE) else ''}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from .reference import declaration_text
        printer.text(declaration_text(self))

    def _repr_html_(self) -> str:
        from .reference import declaration_html
        return declaration_html(self)

    @property
    def dimension(self) -> Any:
        """What another formula may do with it."""
        if self.returns == "bool":
            return TRUTH
        return OPTION if self.returns == "str" else self.unit if self.unit is not None else ONE

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The inputs and quantities its formula mentions, in reading order."""
        return tuple(map(".".join, paths(self.expression)))

    def words_below_zero(self, record: Any) -> str:
        """What a negative value means, with the record's own figures."""
        return _Message(record).format(self.below_zero)

    def value(self, base: Any) -> Any:
        """A result in base units as a person reads it."""
        if base is None:
            return None
        match self.returns:
            case "Quantity": return units.Quantity(base / scale(self.unit), self.unit)
            case "int": return int(base)
            case "bool": return bool(base)
            case "str": return base
        return float(base)


class Parametrised(Derived[Any], Generic[P, T]):
    """A quantity whose formula has arguments of its own. Read on an object it is a method."""

    @overload
    def __get__(self, record: None, owner: type) -> Parametrised[P, T]: ...
    @overload
    def __get__(self, record: object, owner: type) -> Callable[P, T]: ...
    def __get__(self, record: Any, owner: type) -> Any:
        if record is None:
            return self

        def at(*arguments: Any, **named: Any) -> Any:
            return self.value(record._call(self, self.bind(arguments, named)))
        at.__name__, at.__doc__ = self.name, self.doc
        return at

    def fill(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        """The arguments in the order of their declaration, with defaults where they are left out. Raises InputError."""
        where = f"{self.owner}.{self.name}"
        if len(arguments) > len(self.parameters) or not named.keys() <= set(list(self.parameters)[len(arguments):]):
            raise InputError(f"{where} takes {', '.join(self.parameters)}; write {self.name}({', '.join(p.how_to_give() for p in self.parameters.values())})")
        values = {n: p.default for n, p in self.parameters.items() if not p.required} | dict(zip(self.parameters, arguments)) | dict(named)
        if lacking := [p.how_to_give() for n, p in self.parameters.items() if n not in values]:
            raise InputError(f"{where} needs {', '.join(lacking)}")
        return [values[n] for n in self.parameters]

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments, checked, in base units. Raises InputError."""
        return tuple(p.base(p.accept(value, f"{self.owner}.{self.name}: {p.name}")) for p, value in zip(self.parameters.values(), self.fill(arguments, named)))


class Condition:
    """Something that must hold between inputs, or that a person should know when it does not."""

    name: str = ""
    owner: str = ""
    expression: Expression

    def __init__(self, formula: Callable[[Any], Any], message: str, fatal: bool, source: str):
        self.formula, self.message, self.fatal, self.source = formula, message, fatal, source
        self.doc = self.__doc__ = " ".join((formula.__doc__ or "").split())

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner = name, owner.__name__

    def words(self, record: Any) -> str:
        """The message, with the record's own values in its braces."""
        return _Message(record).format(self.message)


def check_message(kind: Any, where: str, message: str) -> None:
    """Raise DefinitionError where the braces of a message name nothing that the class has."""
    try:
        fields = [(field, how) for _, field, how, _ in string.Formatter().parse(message) if field is not None]
    except ValueError as error:
        raise DefinitionError(f"{where}: {error} in {message!r}; write {{{{ and }}}} for braces that stay") from None
    for field, how in fields:
        if how:
            raise DefinitionError(f"{where}: {{{field}:{how}}} in its message; write {{{field}}}, values are written as a breakdown writes them")
        try:
            kind.declaration(tuple(field.split(".")))
        except FormulaError as error:
            raise DefinitionError(f"{where}: {{{field}}} in its message: {error}") from None


class _Message(string.Formatter):
    def __init__(self, record: Any):
        self.record = record

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return self.record.figure_text(field_name), field_name


def refuse_misplaced(owner: type, name: str, value: Any) -> None:
    """Raise DefinitionError where a declaration of this module is wrapped in, or wraps, another decorator."""
    inner = next((found for part in ("fget", "func", "__wrapped__", "__func__") if isinstance(found := getattr(value, part, None), Derived | Condition)), None)
    if inner is not None:
        raise DefinitionError(f"{owner.__name__}.{name}: @{type(value).__name__} stands above a declared quantity; leave it out, a quantity is read without brackets anyway")


def _formula(formula: Any, words: str) -> Any:
    """A formula as declared. Raises DefinitionError where there is something else beneath the decorator."""
    if not isinstance(formula, types.FunctionType):
        raise DefinitionError(f"{words} stands above a formula, def name(self): ..., and there is {type(formula).__name__} {formula!r} beneath it")
    return formula


def derived(symbol: str = "", unit: str | None = None, *, source: str = "", below_zero: str = "") -> Callable[[Callable[[Any], T]], Derived[T]]:
    """Declare a quantity by its formula, which is called once, with symbols, when its class is made.

    symbol: how equations write it, `"M_opt"` for M with index opt; unit: the unit of its value (leave it out for a truth or an
    option, write `""` for a pure number, `"percent"` for a share); source: the citation of the formula; below_zero: the words
    that say what a negative value means, with `{name}` for another value. The formula's docstring is its meaning, its return annotation (Quantity, float, int, bool, str, each `| None`) the type of its value.
    Raises DefinitionError, when the class is made, where units clash or a name is unknown.
    """
    if not isinstance(symbol, str):
        raise DefinitionError(f"{getattr(symbol, '__name__', symbol)}: write @derived(symbol, unit), or @derived() with its brackets")
    return lambda formula: Derived(_formula(formula, "@derived(...)"), symbol, unit, source, below_zero)


def parametrised(symbol: str = "", unit: str | None = None, *, source: str = "", **arguments: Input) -> Callable[[Callable[Concatenate[Any, P], T]], Parametrised[P, T]]:
    """Declare a quantity whose formula has arguments of its own: each is declared with `given`, as in
    `@parametrised("A", "byte", batch_size=given("B"))`. Otherwise as `derived`."""
    if not isinstance(symbol, str):
        raise DefinitionError(f"{getattr(symbol, '__name__', symbol)}: write @parametrised(symbol, unit, argument=given(...))")

    def declare(formula: Callable[Concatenate[Any, P], T]) -> Parametrised[P, T]:
        made: Parametrised[P, T] = Parametrised(_formula(formula, "@parametrised(...)"), symbol, unit, source)
        made.parameters = arguments
        return made
    return declare


def requires(message: str, *, source: str = "") -> Callable[[Callable[[Any], Any]], Condition]:
    """Declare what must hold between inputs. Construction refuses what breaks it, with the message; `{name}` in it stands for a value."""
    if not isinstance(message, str):
        raise DefinitionError(f"{getattr(message, '__name__', message)}: write @requires(\"what to say\") above it")
    return lambda formula: Condition(_formula(formula, "@requires(...)"), message, True, source)


def warns(message: str, *, source: str = "") -> Callable[[Callable[[Any], Any]], Condition]:
    """Declare what a person should know when the condition holds: the message stands on the breakdown; `{name}` in it stands for a value."""
    if not isinstance(message, str):
        raise DefinitionError(f"{getattr(message, '__name__', message)}: write @warns(\"what to say\") above it")
    return lambda formula: Condition(_formula(formula, "@warns(...)"), message, False, source)


__all__ = ["Condition", "Derived", "Parametrised", "derived", "parametrised", "requires", "warns"]

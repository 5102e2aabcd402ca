"""Formulas as trees: what a formula builds while it is traced, and the words it may use."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..units import ONE, Quantity, scale, unit


class FormulaError(TypeError):
    """A formula says something that a tree cannot hold."""


class UnknownNameError(FormulaError, AttributeError):
    """A class has no input or quantity of that name."""


class Expression:
    """What a formula builds while it is traced. It has arithmetic, and no value to branch on."""

    __array_ufunc__ = None      # NumPy leaves the arithmetic to this class

    def __add__(self, other: Any) -> Any: return apply("+", self, other)
    def __radd__(self, other: Any) -> Any: return self if type(other) is int and other == 0 else apply("+", other, self)
    def __sub__(self, other: Any) -> Any: return apply("-", self, other)
    def __rsub__(self, other: Any) -> Any: return apply("-", other, self)
    def __mul__(self, other: Any) -> Any: return apply("*", self, other)
    def __rmul__(self, other: Any) -> Any: return apply("*", other, self)
    def __truediv__(self, other: Any) -> Any: return apply("/", self, other)
    def __rtruediv__(self, other: Any) -> Any: return apply("/", other, self)
    def __pow__(self, other: Any) -> Any: return apply("**", self, other)
    def __rpow__(self, other: Any) -> Any: return apply("**", other, self)
    def __mod__(self, other: Any) -> Any: return apply("%", self, other)
    def __neg__(self) -> Any: return apply("*", -1, self)
    def __eq__(self, other: Any) -> Any: return apply("==", self, other)
    def __ne__(self, other: Any) -> Any: return apply("!=", self, other)
    def __le__(self, other: Any) -> Any: return apply("<=", self, other)
    def __lt__(self, other: Any) -> Any: return apply("<", self, other)
    def __ge__(self, other: Any) -> Any: return apply(">=", self, other)
    def __gt__(self, other: Any) -> Any: return apply(">", self, other)
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise FormulaError(f"{_said(self)} has no part called {name!r} inside a formula; use arithmetic, or the words of mlsysim: case, choose, "
                           "total_of, all_of, any_of, minimum, maximum, ceil, floor, square_root, exponential, is_given")

    def _refused(instead: str) -> Callable[..., Any]:      # type: ignore[misc]  # noqa: N805  (a factory of methods)
        def method(self: Any, *_: Any) -> Any:
            raise FormulaError(f"{_said(self)} has no value while its formula is being read: {instead}")
        return method

    __bool__ = _refused("write case((condition, value), otherwise=value), all_of(), any_of(), maximum() or minimum() in place of if, and, or, not, max, min "
                        "and chained comparisons")
    __float__ = __int__ = __index__ = __complex__ = _refused("write the arithmetic without float() or int(); the value's type follows from the formula's return annotation")
    __ceil__ = _refused("write mlsysim.ceil(x) in place of math.ceil(x)")
    __floor__ = __trunc__ = __round__ = _refused("write mlsysim.floor(x) in place of math.floor(x), int(x), round(x)")
    __floordiv__ = __rfloordiv__ = _refused("write floor(a / b) in place of a // b")
    __abs__ = _refused("write maximum(x, -x) in place of abs(x)")
    __contains__ = __iter__ = __len__ = _refused("write any_of(x == a, x == b) in place of in, and total_of(rows, term) in place of a loop")
    __getitem__ = _refused("write total_of(rows, term) to add over rows, choose(option, table) to pick from a table")
    __and__ = __rand__ = _refused("write all_of(a, b) in place of a & b")
    __or__ = __ror__ = _refused("write any_of(a, b) in place of a | b")
    __call__ = _refused("it is a quantity, not a method: leave the brackets out")
    __format__ = __str__ = _refused("a formula returns arithmetic, not text")
    del _refused

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


@dataclass(frozen=True, eq=False, repr=False)
class Symbol(Expression):
    """A declared input or quantity, by its path from the scenario: `("hardware", "memory", "capacity")`."""
    path: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Argument(Expression):
    """The argument of a parametrised quantity."""
    name: str


@dataclass(frozen=True, eq=False, repr=False)
class Number(Expression):
    """A pure number that stands in the formula itself."""
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Expression):
    """One entry of a table of cited facts: a value in base units and the unit it is written in."""
    value: float
    unit: Any
    source: str


@dataclass(frozen=True, eq=False, repr=False)
class Option(Expression):
    """The name of a choice, or a truth value."""
    value: str | bool


@dataclass(frozen=True, eq=False, repr=False)
class Nothing(Expression):
    """The result of a formula that has none to give."""


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Expression):
    """An operation on operands."""
    operation: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, eq=False, repr=False)
class IsGiven(Expression):
    """Whether an input that may be absent is there."""
    path: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Case(Expression):
    """The value of the first branch whose condition holds."""
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression


@dataclass(frozen=True, eq=False, repr=False)
class Choose(Expression):
    """The entry of a table that an option names."""
    option: Expression
    entries: tuple[tuple[str, Expression], ...]
    symbol: str


@dataclass(frozen=True, eq=False, repr=False)
class TotalOf(Expression):
    """The sum of a term over the rows of an input."""
    rows: tuple[str, ...]
    term: Expression


@dataclass(frozen=True, eq=False, repr=False)
class Call(Expression):
    """A parametrised quantity of the same scenario, at an argument."""
    name: str
    arguments: tuple[Expression, ...]


class Table(Mapping[str, float]):
    """Cited facts of one kind, one entry an option: what `choose` picks from.

    symbol: how an equation writes it; unit: the unit its numbers are in; source: where the numbers stand, one text for
    all or a mapping from entry to text.
    """

    def __init__(self, symbol: str, unit_name: str, entries: Mapping[str, float], *, source: str | Mapping[str, str]):
        self.symbol, self.unit, self.entries = symbol, unit(unit_name), dict(entries)
        sources = dict.fromkeys(entries, source) if isinstance(source, str) else dict(source)
        if missing := sorted(self.entries.keys() - sources.keys()):
            raise FormulaError(f"table {symbol}: no source for {', '.join(missing)}")
        self.sources = sources

    def __getitem__(self, key: str) -> float: return self.entries[key]
    def __iter__(self) -> Iterator[str]: return iter(self.entries)
    def __len__(self) -> int: return len(self.entries)

    def constant(self, key: str) -> Constant:
        return Constant(self.entries[key] * scale(self.unit), self.unit, self.sources[key])


def _said(e: Expression) -> str:
    return f"self.{'.'.join(e.path)}" if isinstance(e, Symbol) else "a part of the formula"


def lift(x: Any) -> Expression:
    """Take what a formula may mention: an expression, a plain number, a truth, the name of a choice, or None."""
    if isinstance(x, Expression):
        return x
    if x is None:
        return Nothing()
    if isinstance(x, (bool, str)):
        return Option(x)
    if isinstance(x, (int, float)):
        if not math.isfinite(x):
            raise FormulaError(f"{x} is not a number a formula can hold")
        return Number(x)
    if isinstance(x, Quantity):
        said = f"{x}" if isinstance(x.magnitude, (int, float)) else f"1 {x.units}"
        raise FormulaError(f"a number with a unit needs a name: declare an input with given(symbol, unit, default=\"{said}\", source=...) and use it in its place")
    raise FormulaError(f"a formula is made of the scenario's own quantities and plain numbers, not of {type(x).__name__} {x!r}")


def apply(operation: str, *operands: Any) -> Expression:
    return Apply(operation, tuple(map(lift, operands)))


# The vocabulary of formulas beyond arithmetic. Typed as Any: that is what a formula appears to hold.

def case(*branches: tuple[Any, Any], otherwise: Any) -> Any:
    """The value of the first branch whose condition holds: `case((condition, value), otherwise=value)`."""
    if not branches or not all(isinstance(b, tuple) and len(b) == 2 for b in branches):
        raise FormulaError("case takes pairs: write case((condition, value), otherwise=value)")
    return Case(tuple((lift(c), lift(v)) for c, v in branches), lift(otherwise))


def choose(option: Any, table: Table | Mapping[str, Any]) -> Any:
    """The entry of a table that an option names: `choose(self.precision, BYTES_PER_VALUE)`."""
    if isinstance(table, Table):
        return Choose(lift(option), tuple((key, table.constant(key)) for key in table), table.symbol)
    return Choose(lift(option), tuple((key, lift(value)) for key, value in table.items()), "")


_adding_over: list[tuple[str, ...]] = []      # the rows whose terms are being read


def total_of(rows: Any, term: Callable[[Any], Any]) -> Any:
    """The sum of a term over the rows of an input: `total_of(self.matrices, lambda row: row.inputs * row.outputs)`."""
    if not hasattr(type(rows), "row"):
        raise FormulaError("total_of takes an input that holds rows: declare it as tuple[Row, ...] where Row is a Record")
    if rows.path in _adding_over:      # the two rows in view would have the same name
        raise FormulaError(f"total_of over {'.'.join(rows.path)} stands within another over the same rows; give the inner sum a quantity of its own")
    _adding_over.append(rows.path)
    try:
        return TotalOf(rows.path, lift(term(rows.row())))
    finally:
        _adding_over.pop()


def is_given(symbol: Any) -> Any:
    """Whether an input that may be absent is there."""
    if not isinstance(symbol, Symbol):
        raise FormulaError("is_given takes one input that may be absent, such as is_given(self.hardware)")
    return IsGiven(symbol.path)


def all_of(*conditions: Any) -> Any:
    """Whether every condition holds."""
    return apply("and", *conditions)


def any_of(*conditions: Any) -> Any:
    """Whether at least one condition holds."""
    return apply("or", *conditions)


def not_(condition: Any) -> Any:
    """Whether the condition does not hold."""
    return apply("not", condition)


def _several(values: tuple[Any, ...], word: str) -> tuple[Any, ...]:
    if len(values) < 2:
        raise FormulaError(f"{word} compares two values or more: write {word}(a, b)")
    return values


def minimum(*values: Any) -> Any:
    """The smallest of the values."""
    return apply("min", *_several(values, "minimum"))


def maximum(*values: Any) -> Any:
    """The largest of the values."""
    return apply("max", *_several(values, "maximum"))


def ceil(value: Any) -> Any:
    """The value rounded up to a whole number."""
    return apply("ceil", value)


def floor(value: Any) -> Any:
    """The value rounded down to a whole number."""
    return apply("floor", value)


def square_root(value: Any) -> Any:
    """The square root of a value."""
    return apply("sqrt", value)


def exponential(value: Any) -> Any:
    """Euler's number to the power of a pure number: `exponential(-self.elapsed / self.mean_time)`."""
    return apply("exp", value)


def children(e: Expression) -> tuple[Expression, ...]:
    """The expressions directly beneath one, in reading order."""
    match e:
        case Apply(_, operands): return operands
        case Case(branches, otherwise): return (*(x for branch in branches for x in branch), otherwise)
        case Choose(option, entries): return (option, *(value for _, value in entries))
        case TotalOf(_, term): return (term,)
        case Call(_, arguments): return arguments
    return ()


def walk(e: Expression) -> Iterator[Expression]:
    """An expression and everything beneath it, in reading order."""
    yield e
    for child in children(e):
        yield from walk(child)


def paths(e: Expression) -> tuple[tuple[str, ...], ...]:
    """The inputs and quantities an expression mentions, each once, in reading order (rows by their input)."""
    found: dict[tuple[str, ...], None] = {}
    for node in walk(e):
        match node:
            case Symbol(path) if "*" not in path: found[path] = None
            case IsGiven(path) if "*" not in path: found[path] = None
            case TotalOf(rows, _): found[rows] = None
            case Call(name, _): found[(name,)] = None
    return tuple(found)


__all__ = ["Apply", "Argument", "Call", "Case", "Choose", "Constant", "Expression", "FormulaError", "IsGiven", "Nothing", "Number", "ONE", "Option", "Symbol",
           "Table", "TotalOf", "UnknownNameError", "all_of", "any_of", "apply", "case", "ceil", "children", "choose", "exponential", "floor", "is_given", "lift", "maximum", "minimum", "not_",
           "paths", "square_root", "total_of", "walk"]

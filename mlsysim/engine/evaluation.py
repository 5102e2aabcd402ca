"""Turns a tree into a function of plain floats in base units."""
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from .expression import Apply, Argument, Call, Case, Choose, Constant, Expression, IsGiven, Nothing, Number, Option, Symbol, TotalOf


class Absent(Exception):
    """A value that is not there; `paths` are the inputs any one of which would give it."""

    def __init__(self, paths: tuple[tuple[str, ...], ...]):
        self.paths = paths
        super().__init__(" or ".join(map(".".join, paths)))


class Values(Protocol):
    """Where a formula finds the values of what it mentions, in base units."""

    def number(self, path: tuple[str, ...]) -> Any:
        """The value at a path. Raises where it is absent."""

    def has(self, path: tuple[str, ...]) -> bool:
        """Whether the input at a path is there."""

    def rows(self, path: tuple[str, ...]) -> Sequence[Any]:
        """The rows of an input."""

    def argument(self, name: str) -> Any:
        """The argument of the parametrised quantity that is being evaluated."""

    def call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """A parametrised quantity at arguments."""


class RowValues:
    """The values around a formula, with one row of an input in view."""

    def __init__(self, values: Values, path: tuple[str, ...], row: Any):
        self._values, self._path, self._row = values, (*path, "*"), row

    def number(self, path: tuple[str, ...]) -> Any:
        own = len(self._path)
        if path[:own] != self._path:
            return self._values.number(path)
        try:
            return self._row.number(path[own:])
        except Absent as absent:      # named from the scenario, as what every row needs
            raise Absent(tuple((*self._path[:-1], *p) for p in absent.paths)) from None

    def has(self, path: tuple[str, ...]) -> bool:
        own = len(self._path)
        return self._row.has(path[own:]) if path[:own] == self._path else self._values.has(path)

    def rows(self, path: tuple[str, ...]) -> Sequence[Any]: return self._values.rows(path)
    def argument(self, name: str) -> Any: return self._values.argument(name)
    def call(self, name: str, arguments: tuple[Any, ...]) -> Any: return self._values.call(name, arguments)


def _power(a: float, b: float) -> float:
    """A power of real numbers."""
    if b == 2:
        return a * a
    if a == 0 and b < 0:
        raise ZeroDivisionError("a denominator is zero")
    return math.pow(a, b)


def _round_up(a: float) -> float:
    return float(math.ceil(a))


def _round_down(a: float) -> float:
    return float(math.floor(a))


def added(terms: Iterable[Any]) -> Any:
    """The terms added in order, without the compensation that newer Pythons' sum() has and NumPy has not."""
    return functools.reduce(operator.add, terms, 0.0)


def _divide(a: float, b: float) -> float:
    if b == 0:
        raise ZeroDivisionError("a denominator is zero")
    return a / b


SCALAR: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide, "**": _power, "%": operator.mod, "==": operator.eq, "!=": operator.ne,
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "min": min, "max": max, "ceil": _round_up, "floor": _round_down, "sqrt": math.sqrt, "exp": math.exp,
    "not": operator.not_,
}

Function = Callable[[Any], Any]


def scalar(e: Expression) -> Function:
    """The formula as a function of `Values` that gives one float, bool, option or None. Branches not taken are not evaluated."""
    match e:
        case Symbol(path): return lambda values: values.number(path)
        case Argument(name): return lambda values: values.argument(name)
        case Number(value) | Constant(value) | Option(value): return lambda values: value
        case Nothing(): return lambda values: None
        case IsGiven(path): return lambda values: values.has(path)
        case Call(name, arguments):
            parts = tuple(map(scalar, arguments))
            return lambda values: values.call(name, tuple(part(values) for part in parts))
        case TotalOf(rows, term):
            inner = scalar(term)
            return lambda values: added(inner(RowValues(values, rows, row)) for row in values.rows(rows))
        case Choose(option, entries):
            chosen, table = scalar(option), {key: scalar(value) for key, value in entries}
            return lambda values: table[chosen(values)](values)
        case Case(branches, otherwise):
            return _case(tuple((scalar(c), scalar(v)) for c, v in branches), scalar(otherwise))
        case Apply("and", operands):
            conditions = tuple(map(scalar, operands))
            return lambda values: all(condition(values) for condition in conditions)
        case Apply("or", operands):
            conditions = tuple(map(scalar, operands))
            return lambda values: any(condition(values) for condition in conditions)
        case Apply(operation, (a,)):
            one, only = SCALAR[operation], scalar(a)
            return lambda values: one(only(values))
        case Apply(operation, (a, b)):
            two, left, right = SCALAR[operation], scalar(a), scalar(b)
            return lambda values: two(left(values), right(values))
        case Apply(operation, operands):
            many, parts = SCALAR[operation], tuple(map(scalar, operands))
            return lambda values: many(*(part(values) for part in parts))
    raise TypeError(f"a formula cannot hold {e!r}")


def _case(branches: tuple[tuple[Function, Function], ...], otherwise: Function) -> Function:
    def function(values: Any) -> Any:
        for condition, value in branches:
            if condition(values):
                return value(values)
        return otherwise(values)
    return function


def _nothing_from_a_branch(e: Expression, values: Values) -> bool:
    """Whether a case adds zero here: what is not there need not be written."""
    return isinstance(e, Case) and isinstance(branch := taken(e, values), Number) and branch.value == 0


def taken(e: Expression, values: Values, keep_tables: bool = False) -> Expression:
    """The same formula with every case and choice replaced by the branch that holds for these values; a table with a symbol may stay, a branch that adds zero goes."""
    while True:
        match e:
            case Case(branches, otherwise):
                e = next((value for condition, value in branches if scalar(condition)(values)), otherwise)
            case Choose(option, entries, symbol) if not (symbol and keep_tables):
                e = dict(entries)[scalar(option)(values)]
            case Apply("and" | "or" as operation, operands):
                kept: list[Expression] = []
                decided = False
                for operand in operands:
                    try:
                        decides = bool(scalar(operand)(values)) == (operation == "or")
                    except Exception:
                        if not decided:
                            raise
                        break      # decided before this operand, which need not have a value then
                    if _guards_alone(operand) and decides:
                        return Option(operation == "or")
                    if not _guards_alone(operand):
                        kept.append(taken(operand, values, keep_tables))
                    decided = decided or decides
                return Option(operation == "and") if not kept else kept[0] if len(kept) == 1 else Apply(operation, tuple(kept))
            case Apply("+", (a, b)) if (nothing := _nothing_from_a_branch(b, values)) or _nothing_from_a_branch(a, values):
                e = a if nothing else b
            case Apply(operation, operands):
                return Apply(operation, tuple(taken(o, values, keep_tables) for o in operands))
            case _:
                return e


def _guards_alone(condition: Expression) -> bool:
    """Whether a condition asks of nothing but whether inputs are given."""
    match condition:
        case IsGiven(): return True
        case Apply("and" | "or" | "not", operands): return all(map(_guards_alone, operands))
    return False


__all__ = ["Absent", "RowValues", "SCALAR", "Values", "added", "scalar", "taken"]

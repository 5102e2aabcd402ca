"""Turns a tree into a function: of plain floats in base units, or of NumPy and Dask arrays of them."""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .expression import Apply, Argument, Call, Case, Choose, Constant, Expression, IsGiven, Nothing, Number, Option, Symbol, TotalOf


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
        return self._row.number(path[own:]) if path[:own] == self._path else self._values.number(path)

    def has(self, path: tuple[str, ...]) -> bool:
        own = len(self._path)
        return self._row.has(path[own:]) if path[:own] == self._path else self._values.has(path)

    def rows(self, path: tuple[str, ...]) -> Sequence[Any]: return self._values.rows(path)
    def argument(self, name: str) -> Any: return self._values.argument(name)
    def call(self, name: str, arguments: tuple[Any, ...]) -> Any: return self._values.call(name, arguments)


def _power(a: float, b: float) -> float:
    return a ** b


def _divide(a: float, b: float) -> float:
    if b == 0:
        raise ZeroDivisionError("a denominator is zero")
    return a / b


SCALAR: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divide, "**": _power, "%": operator.mod, "==": operator.eq, "!=": operator.ne,
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "min": min, "max": max, "ceil": math.ceil, "floor": math.floor, "sqrt": math.sqrt, "exp": math.exp,
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
            return lambda values: sum(inner(RowValues(values, rows, row)) for row in values.rows(rows))
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


def taken(e: Expression, values: Values, keep_tables: bool = False) -> Expression:
    """The same formula with every case and choice replaced by the branch that holds for these values; a table with a symbol may stay."""
    while True:
        match e:
            case Case(branches, otherwise):
                e = next((value for condition, value in branches if scalar(condition)(values)), otherwise)
            case Choose(option, entries, symbol) if not (symbol and keep_tables):
                e = dict(entries)[scalar(option)(values)]
            case Apply("and" | "or" as operation, operands):
                kept: list[Expression] = []
                for operand in operands:
                    if isinstance(operand, IsGiven) and values.has(operand.path) == (operation == "or"):
                        return Option(operation == "or")
                    if not isinstance(operand, IsGiven):
                        kept.append(taken(operand, values, keep_tables))
                return Option(operation == "and") if not kept else kept[0] if len(kept) == 1 else Apply(operation, tuple(kept))
            case Apply(operation, operands):
                return Apply(operation, tuple(taken(o, values, keep_tables) for o in operands))
            case _:
                return e


def arrays(e: Expression, values: Any) -> Any:
    """The formula's value where any symbol may be a NumPy or Dask array. `values` is as `Values`, and decides each case it can on its own."""
    import numpy
    match e:
        case Symbol(path): return values.number(path)
        case Argument(name): return values.argument(name)
        case Number(value) | Constant(value) | Option(value): return value
        case Nothing(): return None
        case IsGiven(path): return values.has(path)
        case Call(name, arguments): return values.call(name, tuple(arrays(a, values) for a in arguments))
        case TotalOf(rows, term): return sum(arrays(term, RowValues(values, rows, row)) for row in values.rows(rows))
        case Choose(option, entries): return arrays(dict(entries)[arrays(option, values)], values)
        case Case(branches, otherwise):
            if not branches:
                return arrays(otherwise, values)
            (condition, result), *rest = branches
            holds = arrays(condition, values)
            if not getattr(holds, "ndim", 0):
                return arrays(result, values) if holds else arrays(Case(tuple(rest), otherwise), values)
            return numpy.where(holds, arrays(result, values), arrays(Case(tuple(rest), otherwise), values))
        case Apply("and" | "or" as operation, operands):
            answer: Any = operation == "and"
            for operand in operands:
                if not getattr(answer, "ndim", 0) and bool(answer) == (operation == "or"):
                    return answer      # decided: what follows may need inputs that are absent
                holds = arrays(operand, values)
                answer = answer & holds if operation == "and" else answer | holds
            return answer
        case Apply("not", (operand,)):
            holds = arrays(operand, values)
            return numpy.logical_not(holds)
        case Apply("min" | "max" as operation, operands):
            pick = numpy.minimum if operation == "min" else numpy.maximum
            first, *others = (arrays(o, values) for o in operands)
            for other in others:
                first = pick(first, other)
            return first
        case Apply("ceil" | "floor" | "sqrt" | "exp" as operation, (operand,)):
            return getattr(numpy, operation)(arrays(operand, values))
        case Apply("/", (a, b)):
            top, bottom = arrays(a, values), arrays(b, values)
            return numpy.divide(top, bottom) if not getattr(bottom, "ndim", 0) else top / bottom
        case Apply(operation, (a, b)):
            return SCALAR[operation](arrays(a, values), arrays(b, values))
    raise TypeError(f"a formula cannot hold {e!r}")


__all__ = ["RowValues", "SCALAR", "Values", "arrays", "scalar", "taken"]

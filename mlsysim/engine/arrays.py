"""Evaluates a tree over NumPy or Dask arrays, and marks the points at which one number alone would have no value."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from .evaluation import SCALAR, added
from .expression import Apply, Argument, Call, Case, Choose, Constant, Expression, IsGiven, Nothing, Number, Option, Symbol, TotalOf
from .record import Absent, Path

# A value, and whether it fails at each point: False where it never does. What fails is left to the evaluation of one point,
# which has the words for it.
Pair = tuple[Any, Any]
FAILURES = (Absent, ArithmeticError, ValueError)


class _Row:
    """The values around a formula, with one row of an input in view."""

    def __init__(self, points: Any, path: Path, row: Any):
        self._points, self._path, self._row = points, (*path, "*"), row
        self.rows, self.argument, self.call = points.rows, points.argument, points.call

    def number(self, path: Path) -> Pair:
        own = len(self._path)
        return (self._row.number(path[own:]), False) if path[:own] == self._path else self._points.number(path)

    def has(self, path: Path) -> Pair:
        own = len(self._path)
        return (self._row.has(path[own:]), False) if path[:own] == self._path else self._points.has(path)


def evaluate(e: Expression, values: Any) -> Pair:
    """The formula's value at every point, and where it has none."""
    match e:
        case Symbol(path): return values.number(path)
        case Argument(name): return values.argument(name)
        case Number(value) | Constant(value) | Option(value): return value, False
        case Nothing(): return None, False
        case IsGiven(path): return values.has(path)
        case Call(name, arguments): return values.call(name, tuple(evaluate(a, values) for a in arguments))
        case TotalOf(rows, term): return _combined(lambda *terms: added(terms), [evaluate(term, _Row(values, rows, row)) for row in values.rows(rows)])
        case Choose(option, entries):
            chosen, fault = evaluate(option, values)
            if not is_array(chosen):
                value, own = evaluate(dict(entries)[chosen], values)
                return value, either(fault, own)
            value, own = _first([(partial(_chosen, chosen, key), entry) for key, entry in entries[:-1]], entries[-1][1], values)
            return value, either(fault, own)
        case Case(branches, otherwise):
            return _first([(partial(evaluate, condition, values), value) for condition, value in branches], otherwise, values)
        case Apply("and" | "or" as operation, operands): return _decided(operation == "or", operands, values)
        case Apply(operation, operands): return _applied(operation, [evaluate(o, values) for o in operands])
    raise TypeError(f"a formula cannot hold {e!r}")


def _first(branches: list[tuple[Callable[[], Pair], Expression]], otherwise: Expression, values: Any) -> Pair:
    """The value of the first branch whose condition holds, point by point. A branch that no point takes is not evaluated."""
    if not branches:
        return evaluate(otherwise, values)
    (condition, result), *rest = branches
    holds, fault = condition()
    if not is_array(holds):
        value, own = evaluate(result, values) if holds else _first(rest, otherwise, values)
        return value, either(fault, own)
    a, fault_a = _tried(lambda: evaluate(result, values))
    b, fault_b = _tried(lambda: _first(rest, otherwise, values))
    if a is None or b is None:      # both: no point has a value
        a, b = (_like(b) if a is None else a), (_like(a) if b is None else b)
    own = False if fault_a is False and fault_b is False else numpy.where(holds, fault_a, fault_b)
    return numpy.where(holds, a, b), either(fault, own)


def _chosen(options: Any, key: str) -> Pair:
    return options == key, False


def _tried(branch: Callable[[], Pair]) -> Pair:
    """A branch that only some points take: where it cannot be evaluated or gives nothing, those points fail, and no others."""
    try:
        value, fault = branch()
    except FAILURES:
        return None, True
    return (None, True) if value is None else (value, fault)


def _like(value: Any) -> Any:
    """What stands at a failed point beside values of that kind."""
    kind = value.dtype.kind if is_array(value) else numpy.asarray(value).dtype.kind
    return {"b": False, "U": ""}.get(kind, numpy.nan)


def _decided(by: bool, conditions: tuple[Expression, ...], values: Any) -> Pair:
    """Conditions joined: `or` is decided by the first that holds, `and` by the first that does not. What follows then need not have a value."""
    answer: Any = not by
    fault: Any = False
    for condition in conditions:
        if not is_array(answer):
            if bool(answer) == by:
                break
            answer, own = evaluate(condition, values)
        else:
            holds, own = _tried(lambda: evaluate(condition, values))
            own = own & (~answer if by else answer)
            holds = False if holds is None else holds
            answer = answer | holds if by else answer & holds
        fault = either(fault, own)
    return answer, fault


def _applied(operation: str, operands: list[Pair]) -> Pair:
    if not any(is_array(value) for value, _ in operands):
        return _combined(SCALAR[operation], operands)
    match operation:
        case "/" | "%":
            bottom, zero = operands[1][0], False
            if is_array(bottom):
                zero = somewhere(bottom == 0)
            elif bottom == 0:
                raise ZeroDivisionError("a denominator is zero")
            value, fault = _combined(numpy.divide if operation == "/" else numpy.mod, operands)
            return value, either(fault, zero)
        case "**":
            squared = not is_array(operands[1][0]) and operands[1][0] == 2
            value, fault = _combined(SCALAR["**"] if squared else _one_by_one("**"), operands)
            return value, either(fault, not_finite(value))
        case "exp":
            value, fault = _combined(_one_by_one("exp"), operands)
            return value, either(fault, not_finite(value))
        case "sqrt":
            value, fault = _combined(numpy.sqrt, operands)
            return value, either(fault, somewhere(operands[0][0] < 0))
        case "min" | "max":
            pick = numpy.minimum if operation == "min" else numpy.maximum
            value, fault = operands[0]
            for operand in operands[1:]:
                value, fault = _combined(pick, [(value, fault), operand])
            return value, fault
        case "ceil" | "floor" | "not": return _combined({"ceil": numpy.ceil, "floor": numpy.floor, "not": numpy.logical_not}[operation], operands)
    return _combined(SCALAR[operation], operands)


def _combined(function: Callable[..., Any], operands: list[Pair]) -> Pair:
    fault: Any = False
    for _, own in operands:
        fault = either(fault, own)
    return function(*(value for value, _ in operands)), fault


def _one_by_one(operation: str) -> Callable[..., Any]:
    """A function of arrays that is to the last digit that of one number, where NumPy's own differs from the C library's."""
    def of_one(*numbers: Any) -> float:
        try:
            return float(SCALAR[operation](*map(float, numbers)))
        except (ArithmeticError, ValueError):
            return numpy.nan
    return lambda *operands: numpy.frompyfunc(of_one, len(operands), 1)(*operands).astype(float)


def is_array(x: Any) -> bool:
    return getattr(x, "ndim", 0) > 0


def is_dask(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "dask"


def somewhere(mask: Any) -> Any:
    """A mask that holds at some point; False for one that holds at none. A lazy one is kept as it is."""
    return mask if is_dask(mask) or mask.any() else False


def not_finite(value: Any) -> Any:
    """Where a value is infinite or NaN; False where it nowhere is."""
    finite = numpy.isfinite(value)
    return ~finite if is_dask(finite) or not finite.all() else False


def either(a: Any, b: Any) -> Any:
    """Where one of two masks holds."""
    return b if a is False else a if b is False else a | b


__all__ = ["FAILURES", "Pair", "either", "evaluate", "is_array", "is_dask", "not_finite", "somewhere"]

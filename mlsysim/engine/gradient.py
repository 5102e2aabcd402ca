"""Differentiates a formula exactly, by carrying slopes through its tree beside the value, and marks where there is no slope."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from .evaluation import SCALAR
from .expression import Apply, Argument, Call, Case, Choose, Constant, Expression, IsGiven, Nothing, Number, Option, Symbol, TotalOf
from .record import Path

STEPS = "in steps"
EDGE = "at the edge of a step, where the slope jumps"
TIE = "at a tie in min or max, where the slope differs on either side"
BORDER = "at the border of a condition, where another branch begins"
UPRIGHT = "at zero under a root, where the slope has no limit"
NEGATIVE = "in the exponent of a negative number, which has powers at whole numbers only"
WITHOUT_SLOPE = (EDGE, TIE, BORDER, UPRIGHT, NEGATIVE)


class Dual(NamedTuple):
    """A value, its slope along every input it depends on, and what is to be said of some of these slopes; all in base units."""
    value: Any
    slopes: Mapping[Path, float] = {}
    notes: Mapping[Path, str] = {}


class Duals:
    """A record's values with their slopes. `prefix` is where the record stands in the scenario."""

    def __init__(self, record: Any, prefix: Path = ()):
        self.record, self.prefix = record, prefix
        self._found: dict[str, Dual] = {}

    def number(self, path: Path) -> Dual:
        """The value at a path, with slopes. Raises what reading it from the record raises."""
        value = self.record.number(path)
        name, *rest = path
        if rest:
            return Duals(self.record.at((name,)), (*self.prefix, name)).number(tuple(rest))
        if name not in self._found:
            declared = type(self.record)._declared(name)
            stated = self.record.__dict__["_stored"].get(name) is not None
            if stated or getattr(declared, "expression", None) is None:
                self._found[name] = leaf(value, (*self.prefix, name))
            else:
                self._found[name] = dual(declared.expression, self)
        return self._found[name]

    def has(self, path: Path) -> bool:
        return bool(self.record.has(path))

    def rows(self, path: Path) -> list[Duals]:
        return [Duals(row, (*self.prefix, *path[:-1], f"{path[-1]}[{i}]")) for i, row in enumerate(self.record.rows(path))]

    def argument(self, name: str) -> Dual:
        raise TypeError(f"{name} is an argument of another quantity")

    def call(self, name: str, arguments: tuple[Dual, ...]) -> Dual:
        declared = type(self.record)._declared(name)
        return dual(declared.expression, _Called(self, dict(zip(declared.parameters, arguments))))


class _Called:
    """The values around a parametrised quantity, with its arguments."""

    def __init__(self, around: Any, arguments: Mapping[str, Dual]):
        self.number, self.has, self.rows, self.call, self._arguments = around.number, around.has, around.rows, around.call, arguments

    def argument(self, name: str) -> Dual: return self._arguments[name]


class _Row:
    """The values around a formula, with one row of an input in view."""

    def __init__(self, around: Any, path: Path, row: Duals):
        self._around, self._path, self._row = around, (*path, "*"), row
        self.rows, self.argument, self.call = around.rows, around.argument, around.call

    def number(self, path: Path) -> Dual:
        own = len(self._path)
        return self._row.number(path[own:]) if path[:own] == self._path else self._around.number(path)

    def has(self, path: Path) -> bool:
        own = len(self._path)
        return self._row.has(path[own:]) if path[:own] == self._path else bool(self._around.has(path))


def leaf(value: Any, path: Path) -> Dual:
    """An input: its slope along itself is one."""
    return Dual(value, {path: 1.0}) if isinstance(value, float) else Dual(value)


def dual(e: Expression, values: Any) -> Dual:
    """A formula's value with its slopes. Branches that are not taken are not looked at."""
    match e:
        case Symbol(path): return values.number(path)
        case Argument(name): return values.argument(name)
        case Number(value): return Dual(float(value))
        case Constant(value) | Option(value): return Dual(value)
        case Nothing(): return Dual(None)
        case IsGiven(path): return Dual(values.has(path))
        case Call(name, arguments): return values.call(name, tuple(dual(a, values) for a in arguments))
        case TotalOf(rows, term):
            total = Dual(0.0)
            for row in values.rows(rows):
                total = _apply("+", (total, dual(term, _Row(values, rows, row))))
            return total
        case Choose(option, entries): return dual(dict(entries)[dual(option, values).value], values)
        case Case(branches, otherwise):
            met: list[Dual] = []
            for condition, result in branches:
                met.append(dual(condition, values))
                if met[-1].value:
                    return _noted(dual(result, values), met)
            return _noted(dual(otherwise, values), met)
        case Apply("and" | "or" as operation, operands):
            met = []
            for operand in operands:
                met.append(dual(operand, values))
                if bool(met[-1].value) == (operation == "or"):
                    break
            return _noted(Dual(met[-1].value), met)
        case Apply(operation, operands): return _apply(operation, tuple(dual(o, values) for o in operands))
    raise TypeError(f"a formula cannot hold {e!r}")


def _noted(result: Dual, others: list[Dual]) -> Dual:
    return result._replace(notes=_together(result, *others)) if any(other.notes for other in others) else result


def _together(*duals: Dual) -> dict[Path, str]:
    notes: dict[Path, str] = {}
    for d in duals:
        for path, note in d.notes.items():
            if notes.get(path) not in WITHOUT_SLOPE:
                notes[path] = note
    return notes


def _weighed(value: float, *parts: tuple[float, Dual]) -> Dual:
    """The chain rule: the slopes of the operands, each times how much the result follows that operand."""
    slopes: dict[Path, float] = {}
    for weight, d in parts:
        for path, slope in d.slopes.items():
            slopes[path] = slopes.get(path, 0.0) + weight * slope
    return Dual(value, slopes, _together(*(d for _, d in parts)))


def _apply(operation: str, operands: tuple[Dual, ...]) -> Dual:
    value = SCALAR[operation](*(d.value for d in operands))
    match operation, operands:
        case "+", (a, b): return _weighed(value, (1.0, a), (1.0, b))
        case "-", (a, b): return _weighed(value, (1.0, a), (-1.0, b))
        case "*", (a, b): return _weighed(value, (b.value, a), (a.value, b))
        case "/", (a, b): return _weighed(value, (1.0 / b.value, a), (-value / b.value, b))
        case "**", (a, b):
            along_exponent = value * math.log(a.value) if b.slopes and a.value > 0 else 0.0
            along_base = b.value * SCALAR["**"](a.value, b.value - 1) if a.slopes else 0.0
            result = _weighed(value, (along_base, a), (along_exponent, b))
            return _marked(result, b.slopes, NEGATIVE) if a.value < 0 else result
        case "exp", (a,): return _weighed(value, (value, a))
        case "sqrt", (a,):
            result = _weighed(value, (0.5 / value if value else 0.0, a))
            return result if value else _marked(result, a.slopes, UPRIGHT)
        case "ceil" | "floor", (a,): return _marked(_weighed(value, (0.0, a)), a.slopes, EDGE if a.value == value else STEPS)
        case "%", (a, b):
            result = _weighed(value, (1.0, a), (-math.floor(a.value / b.value), b))
            return _marked(result, result.slopes, STEPS if value else EDGE)
        case "min" | "max", _: return _picked(value, operands)
    result = Dual(value, {}, _together(*operands))      # a comparison, or not
    numbers = [d for d in operands if isinstance(d.value, float)]
    if len(numbers) == 2 and numbers[0].value == numbers[1].value:
        return _marked(result, _differing(numbers), BORDER)
    return result


def _picked(value: Any, operands: tuple[Dual, ...]) -> Dual:
    """The smallest or largest operand. What it does not follow stays listed, with no slope."""
    tied = [d for d in operands if d.value == value]
    result = _weighed(value, *((1.0 if d is tied[0] else 0.0, d) for d in operands))
    return _marked(result, _differing(tied), TIE) if len(tied) > 1 else result


def _differing(tied: list[Dual]) -> list[Path]:
    """The inputs along which values that are equal here part."""
    every = dict.fromkeys(path for d in tied for path in d.slopes)
    return [path for path in every if len({d.slopes.get(path, 0.0) for d in tied}) > 1]


def _marked(result: Dual, along: Any, note: str) -> Dual:
    extra = Dual(None, {}, dict.fromkeys(along, note))
    return result._replace(notes=_together(result, extra))


__all__ = ["Dual", "Duals", "STEPS", "WITHOUT_SLOPE", "dual"]

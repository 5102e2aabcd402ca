"""A record whose inputs are arrays: its quantities at every point, and the points that construction would refuse."""
from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy

from .arrays import FAILURES, Pair, either, evaluate, is_array, not_finite
from .derivation import Derivation
from .expression import paths
from .inputs import InputError
from .record import Absent, Path, Record
from .tracing import formulas, order


class Points:
    """A record's values where some of its inputs are arrays, or hold records with such inputs. Quantities the arrays do not reach are read off the record."""

    def __init__(self, record: Record, changed: Mapping[str, Any]):
        kind: Any = type(record)
        self.record, self.changed = record, changed
        stated = frozenset(name for name, value in record.__dict__["_stored"].items() if value is not None)
        self.touched = _touched(kind, frozenset(changed), stated)
        self._found: dict[str, Pair] = {}

    def number(self, path: Path) -> Pair:
        """The value at a path in base units. Raises Absent where no point has one."""
        name = path[0]
        held = self.changed.get(name)
        if len(path) > 1 and held is not None:
            try:
                return held.number(path[1:])
            except Absent as absent:
                raise Absent(tuple((name, *p) for p in absent.paths)) from None
        if held is not None:
            return held, False
        if len(path) > 1 or name not in self.touched:
            return self.record.number(path), False
        value, fault = self._found_at(name)
        if value is None:
            raise Absent(self.record._absent_reason(name))      # type: ignore[attr-defined]
        return value, fault

    def has(self, path: Path) -> Pair:
        """Whether there is a value at a path. Raises Absent where that waits for another input."""
        name = path[0]
        held = self.changed.get(name)
        if held is not None:
            return (True, False) if len(path) == 1 else held.has(path[1:])
        if len(path) > 1 or name not in self.touched:
            return self.record.has(path), False
        try:
            value, fault = self._found_at(name)
        except Absent:
            if name in type(self.record).inputs:
                return False, False
            raise
        return value is not None, fault

    def rows(self, path: Path) -> Any:
        held = self.changed.get(path[0]) if len(path) > 1 else None
        return self.record.rows(path) if held is None else held.rows(path[1:])

    def argument(self, name: str) -> Pair:
        raise TypeError(f"{name} is an argument of another quantity")

    def call(self, name: str, arguments: tuple[Pair, ...]) -> Pair:
        declared: Any = type(self.record)._declared(name)
        return evaluate(declared.expression, _Called(self, dict(zip(declared.parameters, arguments))))

    def _found_at(self, name: str) -> Pair:
        if name not in self._found:
            declared: Any = type(self.record)._declared(name)
            value, fault = evaluate(declared.expression, self)
            if is_array(value) and value.dtype.kind == "f" and not any(value is given for given in self.changed.values()):
                fault = either(fault, not_finite(value))
            self._found[name] = value, fault
        return self._found[name]


class _Called:
    """The values around a parametrised quantity, with its arguments."""

    def __init__(self, points: Any, arguments: Mapping[str, Pair]):
        self.number, self.has, self.rows, self.call, self._arguments = points.number, points.has, points.rows, points.call, arguments

    def argument(self, name: str) -> Pair: return self._arguments[name]


@lru_cache(maxsize=256)
def _touched(kind: Any, changed: frozenset[str], stated: frozenset[str]) -> frozenset[str]:
    """The inputs and quantities of a class whose values follow from the changed ones. A stated input does not, though it has a formula for a default."""
    touched = set(changed)
    if issubclass(kind, Derivation):
        declared = formulas(kind)
        for name in order(kind):
            if name in declared and name not in stated and any(path[0] in touched for path in paths(declared[name].expression)):
                touched.add(name)
    return frozenset(touched)


def over(record: Record, fixed: Mapping[Path, Any], arrays: Mapping[Path, Any]) -> Any:
    """A record's values with some inputs fixed at others and some as arrays: Points, or the record itself where nothing is an array.

    Nothing is checked that holds between inputs: `refused` does that point by point. Raises InputError where there is no such input.
    """
    kind = type(record)
    if missing := [path for path in (*fixed, *arrays) if path[0] not in kind.inputs]:
        raise InputError(f"{kind.__name__}: no input is called {missing[0][0]!r}")
    stored = dict(record.__dict__["_stored"])
    changed: dict[str, Any] = {}
    inner: dict[str, tuple[dict[Path, Any], dict[Path, Any]]] = {}
    for which, changes in enumerate((fixed, arrays)):
        for path, value in changes.items():
            if len(path) > 1:
                inner.setdefault(path[0], ({}, {}))[which][path[1:]] = value
            elif which == 0:
                stored[path[0]] = value
            else:
                changed[path[0]] = value
    for name, (inner_fixed, inner_arrays) in inner.items():
        if stored[name] is None:
            raise InputError(f"{kind.__name__}: {name} is absent")
        held = over(stored[name], inner_fixed, inner_arrays)
        if isinstance(held, Points):
            changed[name] = held
        else:
            stored[name] = held
    made: Any = record
    if stored != record.__dict__["_stored"]:
        made = object.__new__(type(record))
        made._hold(stored)
    return Points(made, changed) if changed else made


def refused(points: Any) -> tuple[Any, Any]:
    """Where construction would refuse what holds between inputs, and where only the construction of one point can tell."""
    impossible: Any = False
    undecided: Any = False
    if not isinstance(points, Points):
        try:
            points._check()
        except InputError:
            return True, False
        return False, False
    for held in points.changed.values():
        if isinstance(held, Points):
            bad, unclear = refused(held)
            impossible, undecided = either(impossible, bad), either(undecided, unclear)
    for condition in getattr(type(points.record), "conditions", {}).values():
        if not condition.fatal:
            continue
        try:
            holds, fault = evaluate(condition.expression, points)
        except FAILURES:
            continue      # it waits for an input, at every point
        impossible = either(impossible, ~holds if is_array(holds) else not holds)
        undecided = either(undecided, fault)
    return impossible, undecided


__all__ = ["Points", "over", "refused"]

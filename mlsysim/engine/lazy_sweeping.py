"""A sweep over Dask arrays: named lazy arrays, nothing computed yet."""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import dask.array as lazy

from .arrays import FAILURES, either
from .axes import Axis
from .columns import Shown, unit_of
from .derivation import MissingInputError
from .inputs import InputError
from .points import over, refused
from .tables import Drawn, Grid


class LazySweep(Drawn, Mapping[str, Any]):
    """A sweep that is not computed yet: Dask arrays by name, for inputs, quantities and `possible`.

    Each has a dimension for every swept input, in the order they were given (one in all where they were zipped).
    `units[name]` is the unit of its numbers. `possible` is False where construction would refuse the point or a quantity has
    no value there; numbers are NaN at such points, so read a yes or no together with `possible`.
    """

    def __init__(self, arrays: dict[str, Any], units: dict[str, str]):
        self._arrays, self.units = arrays, units

    def __getitem__(self, name: str) -> Any: return self._arrays[name]
    def __iter__(self) -> Iterator[str]: return iter(self._arrays)
    def __len__(self) -> int: return len(self._arrays)

    def grid(self) -> Grid:
        rows = tuple((name, self.units[name], str(array.dtype), " × ".join(f"{n:,}" for n in array.shape), " × ".join(map(str, array.numblocks))) for name, array in self.items())
        return Grid("Lazy arrays; nothing is computed yet", ("name", "unit", "type", "points", "blocks"), rows, frozenset({0, 1, 2}))


def swept_lazily(scenario: Any, shown: list[Shown], axes: list[Axis], zipped: bool) -> LazySweep:
    arrays = {}
    possible: Any = lazy.ones((1,) * (1 if zipped else len(axes)), dtype=bool)
    for i, axis in enumerate(axes):
        if axis.others or axis.errors:
            where = next(iter(axis.errors.values())) if axis.errors else f"{axis.where}: {axis.element(next(iter(axis.others)))!r} is no number"
            raise InputError(f"{where}; a sweep over Dask arrays takes acceptable numbers: make one sweep for every other value")
        across = [1] * len(axes)
        across[i] = len(axis)
        numbers = lazy.asarray(axis.numbers)
        numbers = numbers if zipped else numbers.reshape(across)
        arrays[axis.path] = numbers
        if axis.lazy_accepted is not None:
            possible = possible & (axis.lazy_accepted if zipped else axis.lazy_accepted.reshape(across))
    points = over(scenario, {}, arrays)
    impossible, undecided = refused(points)
    possible = possible & ~lazy.asarray(either(impossible, undecided))
    shape = (len(axes[0]),) if zipped else tuple(map(len, axes))
    results: dict[str, Any] = {}
    units: dict[str, str] = {}
    for axis in axes:
        units[axis.name], size = unit_of(axis.declared)
        results[axis.name] = lazy.broadcast_to(arrays[axis.path] / size, shape)
    values = {}
    for quantity in shown:
        try:
            value, fault = points.number(quantity.path)
        except FAILURES:
            raise InputError(_why(scenario, quantity)) from None
        if fault is not False:
            possible = possible & ~lazy.asarray(fault)
        values[quantity] = lazy.asarray(value)
    for quantity, value in values.items():
        units[quantity.name], size = unit_of(quantity.declared)
        if value.dtype.kind == "b":
            value = value & possible
        elif value.dtype.kind in "iuf":
            value = lazy.where(possible, value / size, math.nan)
        results[quantity.name] = lazy.broadcast_to(value, shape)
    results["possible"], units["possible"] = lazy.broadcast_to(possible, shape), ""
    return LazySweep(results, units)


def _why(scenario: Any, quantity: Shown) -> str:
    """What the scenario itself says where a quantity has no value at any point."""
    try:
        value = scenario.at(quantity.path)
    except (InputError, MissingInputError) as error:
        return str(error)
    return f"{type(scenario).__name__}: {quantity.name} is {'none' if value is None else 'not to be had at any of these points'}"


__all__ = ["LazySweep", "swept_lazily"]

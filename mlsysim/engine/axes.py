"""Reads the values that a sweep gives one input: which of them the input accepts, as arrays where they are numbers, and what is wrong with the others."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy

from ..units import ONE, Quantity, UnitError, scale, unit, units
from .arrays import is_dask
from .inputs import Input, InputError
from .record import Path, Record

NUMERIC = ("quantity", "count", "number")
_BOUNDS = {">": operator.gt, ">=": operator.ge, "<=": operator.le}


class Axis:
    """The values of one swept input.

    numbers: in base units, one a value, with NaN where a value is no number; numeric: the positions that hold accepted
    numbers (None where all do); others: the accepted values that are no numbers (options, records, None), by position;
    errors: what construction says to the values it refuses, by position.
    """

    def __init__(self, kind: type[Record], name: str, declared: Input, values: Any):
        self.name, self.path, self.declared = name, tuple(name.split(".")), declared
        self.where = f"{kind.__name__}: {declared.name}"
        self.others: dict[int, Any] = {}
        self.errors: dict[int, str] = {}
        self.numeric: Any = None
        self.lazy_accepted: Any = None
        self.unit: Any = declared.unit if declared.kind == "quantity" else None
        self._elements: Any = None
        magnitudes = self._magnitudes(values)
        if magnitudes is None:
            self._read_each()
        else:
            self._read_all(magnitudes)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def stated_in_one_unit(self) -> bool:
        """Whether the values came as an array with a unit of its own."""
        return self._bare_unit

    def element(self, position: int) -> Any:
        """The value at a position, as it was given."""
        value = self._elements[position]
        value = value.item() if isinstance(value, numpy.generic) else value
        return units.Quantity(value, self.unit) if self._bare_unit and not isinstance(value, str) else value

    # An array, or a list of plain numbers: what is surely accepted is so at once, the rest one by one.

    def _magnitudes(self, values: Any) -> Any:
        """The values as one array of numbers, in the unit of the axis; None where they must be read one by one."""
        self._bare_unit = False
        if isinstance(values, Quantity):
            return self._of_quantity(values)
        if isinstance(values, (str, Mapping, Record)) or not isinstance(values, Iterable):
            raise InputError(f"{self.where}: a sweep takes several values; write {self.name}=[{self.declared.how_to_give().partition('=')[2]}, ...]")
        if is_dask(values):
            return self._pure(values)
        if hasattr(values, "to_numpy"):
            values = values.to_numpy()
        if isinstance(values, numpy.ndarray):
            if values.ndim != 1:
                raise InputError(f"{self.where}: a sweep takes a list or a one-dimensional array, not {values.ndim} dimensions")
            self._elements = values
            return self._pure(values) if values.dtype.kind in "iuf" else None
        self._elements = list(values)
        if self.declared.kind in NUMERIC and (self.unit is None or self.unit.dimensionless) and all(type(value) in (int, float) for value in self._elements):
            try:
                return numpy.asarray(self._elements, dtype=float)
            except OverflowError:
                return None
        return None

    def _of_quantity(self, values: Quantity) -> Any:
        magnitudes = values.magnitude
        if getattr(magnitudes, "ndim", 0) != 1:
            raise InputError(f"{self.where}: a sweep takes several values; write {self.name}=[{self.declared.how_to_give().partition('=')[2]}, ...]")
        try:
            of = values.units if values._REGISTRY is units else unit(str(values.units))
        except UnitError as error:
            raise InputError(f"{self.where}: {error}") from None
        if self.declared.kind not in NUMERIC or not of.is_compatible_with(self.declared.unit or ONE):
            raise InputError(f"{self.where}: these values are in {of}; write {self.declared.how_to_give()}")
        self._elements, self.unit, self._bare_unit = magnitudes, of, True
        return magnitudes if getattr(magnitudes, "dtype", numpy.dtype(object)).kind in "iuf" else None

    def _pure(self, values: Any) -> Any:
        if self.declared.kind not in NUMERIC:
            raise InputError(f"{self.where}: takes {self.declared.type_name}, not numbers; write {self.declared.how_to_give()}")
        if self.unit is not None and not self.unit.dimensionless:
            raise InputError(f"{self.where}: these numbers have no unit; write {self.name}=units.Quantity(values, \"{self.unit}\")")
        return values

    def _read_all(self, magnitudes: Any) -> None:
        declared = self.declared
        size = 1.0 if self.unit is None else scale(self.unit)
        magnitudes = magnitudes.astype(float, copy=False)
        own = magnitudes if size == 1.0 and self.unit in (None, declared.unit) else magnitudes * size / (scale(declared.unit) if declared.unit else 1.0)
        self.numbers = magnitudes if size == 1.0 else magnitudes * size
        if is_dask(own):
            self.lazy_accepted = self._accepts(own)
        elif len(own) and not (self._accepts(numpy.array([own.min(), own.max()])).all() and (not declared.whole or self._accepts(own).all())):
            self.numbers = self.numbers.copy()      # the extremes do not stand for all: look at each
            for position in numpy.flatnonzero(~self._accepts(own)):
                self._read_one(int(position))
            self._settle_numeric()

    def _accepts(self, own: Any) -> Any:
        """Which numbers, in the declared unit, the input surely accepts."""
        accepted = numpy.isfinite(own)
        for comparison, limit, _ in self.declared.bounds():
            accepted &= _BOUNDS[comparison](own, limit)
        return accepted & (own == numpy.round(own)) if self.declared.whole else accepted

    def _read_each(self) -> None:
        self.numbers = numpy.full(len(self._elements), numpy.nan)
        for position in range(len(self._elements)):
            self._read_one(position)
        self._settle_numeric()

    def _read_one(self, position: int) -> None:
        """Ask the input itself, which has the words for what it refuses."""
        try:
            value = self.declared.accept(self.element(position), self.where)
        except InputError as error:
            self.errors[position] = str(error)
            return
        if value is None or self.declared.kind not in NUMERIC:
            self.others[position] = value
        else:
            self.numbers[position] = self.declared.base(value)

    def _settle_numeric(self) -> None:
        apart = self.errors.keys() | self.others.keys()
        self.numeric = numpy.setdiff1d(numpy.arange(len(self)), numpy.fromiter(apart, int, len(apart))) if apart else None

    @property
    def groups(self) -> list[tuple[Any, Any]]:
        """Accepted positions, each with what a sweep does there: None for numbers, which go into one array, else the value in a box."""
        every = range(len(self)) if self.numeric is None else self.numeric
        apart: dict[Any, list[int]] = {}
        for position, value in self.others.items():
            apart.setdefault(value, []).append(position)
        return ([(every, None)] if len(every) else []) + [(numpy.array(positions), (value,)) for value, positions in apart.items()]


def declaration(record: Record, path: Path, said: str) -> Input:
    """The input at a path of a record. Raises InputError for an unknown name, or a quantity that follows from others."""
    kind: Any = type(record)
    for depth, name in enumerate(path):
        if name not in kind.inputs:
            if name in getattr(kind, "quantities", {}):
                raise InputError(f"{kind.__name__}: {name} follows from a formula, so it cannot be swept; sweep what it depends on: {', '.join(kind.quantities[name].depends_on)}")
            from .inputs import near_name
            raise InputError(f"{kind.__name__}: no input is called {name!r}{near_name(name, kind.inputs) or '; its inputs are ' + ', '.join(kind.inputs)}")
        declared: Input = kind.inputs[name]
        if depth + 1 < len(path):
            held: Any = record.at(path[:depth + 1])
            if declared.kind != "record":
                raise InputError(f"{kind.__name__}: {name!r} holds no inputs of its own")
            kind = declared.record_type if held is None else type(held)
    return declared


__all__ = ["Axis", "NUMERIC", "declaration"]

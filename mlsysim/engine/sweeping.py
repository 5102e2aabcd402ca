"""Sweeps: the quantities of a scenario at many values of its inputs, all at once through their formulas."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .derivation import MissingInputError, Parametrised
from .expression import FormulaError
from .inputs import InputError
from .record import Path, Record
from .tables import Drawn, Grid

if TYPE_CHECKING:
    from .arrays import Points
    from .axes import Axis
    from .scenario import Scenario


def sweep(scenario: Scenario, /, *quantities: str, zipped: bool = False, **inputs: Any) -> Any:
    """The scenario's quantities at every combination of values of some inputs: `sweep(scenario, "total", "fits", batch_size=[1, 2, 4])`.

    quantities: names of quantities; by default the whole and the answer that the scenario's breakdown leads with.
    inputs: several values each, as a list, an array, or a Quantity that holds an array; an input of an input goes by its
    path, `**{"workload.layers": [12, 24]}`. zipped: take the first value of every input together, then the second ones,
    in place of every combination.

    Returns a pandas DataFrame where pandas is installed, otherwise a `SweepTable` with the same columns: one row a point,
    one column an input or quantity (`table["total"]`, under a heading with its unit, `total (GB)`), and `error`, which says
    what construction says where a point cannot be; such a point has no numbers. With Dask arrays for inputs, it returns a `LazySweep`:
    Dask arrays by name, nothing computed yet.

    Raises InputError for an unknown name, for values of another kind or unit than the input's, and for zipped values of
    different lengths; ImportError where NumPy is missing.
    """
    try:
        import numpy
    except ImportError:
        raise ImportError("sweep needs NumPy, which is not installed; write pip install numpy") from None
    from .arrays import is_dask
    from .axes import Axis, declaration
    kind = type(scenario)
    shown = [_quantity(kind, name) for name in quantities or _answers(kind)]
    if not inputs:
        raise InputError(f"{kind.__name__}: a sweep takes several values of some input; write sweep(scenario, {next(iter(kind.inputs))}=[...])")
    axes = []
    for name, values in inputs.items():
        path = tuple(name.split("."))
        declared = declaration(scenario, path, name)
        holder: Any = scenario.at(path[:-1])
        axes.append(Axis(kind if len(path) == 1 else type(holder) if holder is not None else _holder(kind, path), name, declared, values))
    if zipped and len(lengths := {len(axis) for axis in axes}) > 1:
        raise InputError(f"{kind.__name__}: zipped inputs have one length; here " + ", ".join(f"{axis.name} has {len(axis)}" for axis in axes) + f" ({len(lengths)} lengths)")
    with numpy.errstate(all="ignore"):
        if any(is_dask(axis.numbers) for axis in axes):
            return _lazily(scenario, shown, axes, zipped)
        return _Sweep(scenario, shown, axes, zipped).table()


class Shown(NamedTuple):
    """A quantity that a sweep shows."""
    name: str
    path: Path
    declared: Any


def _quantity(kind: Any, name: str) -> Shown:
    path = tuple(name.split("."))
    try:
        declared = kind.declaration(path)
    except FormulaError as error:
        raise InputError(str(error)) from None
    if isinstance(declared, Parametrised):
        raise InputError(f"{kind.__name__}.{name} takes an argument; sweep a quantity without one")
    if getattr(declared, "kind", "") in ("record", "rows", "text"):
        raise InputError(f"{kind.__name__}.{name} is no quantity; name one of its own, such as {name}.parameters")
    return Shown(name, path, declared)


def _answers(kind: Any) -> list[str]:
    """The quantities a sweep shows by default."""
    leading = [name for name in (kind.presentation.whole, kind.presentation.answer) if name]
    return leading or [name for name, declared in kind.quantities.items() if not isinstance(declared, Parametrised)]


def _holder(kind: Any, path: Path) -> Any:
    for name in path[:-1]:
        kind = kind.inputs[name].record_type
    return kind


class _Batch(NamedTuple):
    """Points that share every value that is no number: where they stand among all points, their shape, and what changes there."""
    places: Any
    shape: tuple[int, ...]
    fixed: dict[Path, Any]
    arrays: dict[Path, Any]


class _Sweep:
    """One sweep under way: results by quantity in base units, and errors by point."""

    def __init__(self, scenario: Scenario, shown: list[Shown], axes: list[Axis], zipped: bool):
        import numpy

        from .columns import Errors
        self.scenario, self.shown, self.axes, self.zipped = scenario, shown, axes, zipped
        self.shape = (len(axes[0]),) if zipped else tuple(map(len, axes))
        self.size = math.prod(self.shape)
        self.errors = Errors(self.size)
        self.results: dict[str, Any] = {}
        self.gaps: dict[str, Any] = {quantity.name: numpy.zeros(self.size, bool) for quantity in shown}
        self._refuse_values()
        for batch in self._zipped_batches() if zipped else self._combined_batches():
            self._run(batch)

    # Which points there are.

    def _positions(self, place: int) -> tuple[int, ...]:
        """The position on each axis of a point."""
        import numpy
        return (place,) * len(self.axes) if self.zipped else tuple(map(int, numpy.unravel_index(place, self.shape)))

    def _combined_batches(self) -> Iterator[_Batch]:
        import numpy
        for groups in itertools.product(*(axis.groups for axis in self.axes)):
            whole = all(len(positions) == len(axis) for axis, (positions, _) in zip(self.axes, groups))
            places = None if whole else numpy.arange(self.size).reshape(self.shape)[numpy.ix_(*(positions for positions, _ in groups))].reshape(-1)
            fixed = {axis.path: box[0] for axis, (_, box) in zip(self.axes, groups) if box is not None}
            arrays = {}
            for i, (axis, (positions, box)) in enumerate(zip(self.axes, groups)):
                if box is None:
                    across = [1] * len(self.axes)
                    across[i] = len(positions)
                    arrays[axis.path] = (axis.numbers if axis.numeric is None else axis.numbers[positions]).reshape(across)
            yield _Batch(places, tuple(len(positions) for positions, _ in groups), fixed, arrays)

    def _zipped_batches(self) -> Iterator[_Batch]:
        import numpy
        if all(axis.numeric is None for axis in self.axes):
            yield _Batch(None, self.shape, {}, {axis.path: axis.numbers for axis in self.axes})
            return
        alike: dict[Any, list[int]] = {}
        for place in range(self.size):
            if not self.errors.at(place):
                alike.setdefault(tuple((axis.others[place],) if place in axis.others else None for axis in self.axes), []).append(place)
        for boxes, listed in alike.items():
            places = numpy.array(listed)
            fixed = {axis.path: box[0] for axis, box in zip(self.axes, boxes) if box is not None}
            yield _Batch(places, (len(places),), fixed, {axis.path: axis.numbers[places] for axis, box in zip(self.axes, boxes) if box is None})

    def _refuse_values(self) -> None:
        """Points with a value that its input refuses, with the words of the first one that construction would meet."""
        import numpy
        order = list(type(self.scenario).inputs)
        if any(axis.errors for axis in self.axes):
            places = numpy.arange(self.size).reshape(self.shape)
            for i, axis in sorted(enumerate(self.axes), key=lambda at: (len(at[1].path) == 1, order.index(at[1].path[0]) if len(at[1].path) == 1 else 0)):
                for position, words in axis.errors.items():
                    self.errors.put(numpy.ravel(places[position] if self.zipped else places.take(position, axis=i)), words)
            for gaps in self.gaps.values():
                gaps[:] = self.errors.numbers >= 0

    # What they give.

    def _run(self, batch: _Batch) -> None:
        import numpy
        from .arrays import FAILURES, Points, either, is_array
        if not math.prod(batch.shape):
            return
        points = over(self.scenario, batch.fixed, batch.arrays)
        impossible, undecided = refused(points)
        alone = either(impossible, undecided)
        if alone is not False:
            alone = numpy.broadcast_to(alone, batch.shape).reshape(-1)
        for quantity in self.shown:
            try:
                value, fault = points.number(quantity.path) if isinstance(points, Points) else (points.number(quantity.path), False)
            except FAILURES:
                value, fault = None, True
            fault = either(False if fault is False else numpy.broadcast_to(fault, batch.shape).reshape(-1), alone)
            self._keep(quantity, batch, value)
            if fault is not False:
                everywhere = value is None and not is_array(fault)
                self._settle_alone(quantity, batch, numpy.arange(math.prod(batch.shape)) if everywhere or fault is True else numpy.flatnonzero(fault), everywhere)

    def _keep(self, quantity: Shown, batch: _Batch, value: Any) -> None:
        import numpy
        if batch.places is None:
            self.results[quantity.name] = numpy.nan if value is None else value      # broadcast and scaled at the end, in one step
            return
        if value is None:
            return
        held = self._column(quantity, value)
        held[batch.places] = numpy.broadcast_to(value, batch.shape).reshape(-1)

    def _column(self, quantity: Shown, value: Any = None) -> Any:
        """The results of a quantity, one for every point, to write into."""
        import numpy
        held = self.results.get(quantity.name)
        if held is None:
            returns = getattr(quantity.declared, "returns", "")
            empty = {"bool": False, "str": None}.get(returns if returns else "str" if isinstance(value, str) else "", numpy.nan)
            held = numpy.full(self.size, empty, dtype=object if empty is None else None)
        elif getattr(held, "shape", None) != (self.size,) or not held.flags.writeable:
            held = numpy.broadcast_to(held, self.shape).reshape(-1).copy()
        self.results[quantity.name] = held
        return held

    def _settle_alone(self, quantity: Shown, batch: _Batch, chosen: Any, everywhere: bool) -> None:
        """Points that need the words, or the exact value, of a scenario of their own."""
        import numpy
        words = ""
        gaps = self.gaps[quantity.name]
        for index in chosen:
            place = int(index) if batch.places is None else int(batch.places[index])
            if everywhere and words:
                value, said = None, words
            else:
                value, said = self._alone(quantity, place)
                words = said
            if value is None:
                gaps[place] = True
                if said:
                    self.errors.join(place, said)
            else:
                column = self._column(quantity, value)
                if isinstance(value, bool) and column.dtype == float:
                    column = self.results[quantity.name] = numpy.where(numpy.isnan(column), False, column).astype(bool)
                column[place] = value

    def _alone(self, quantity: Shown, place: int) -> tuple[Any, str]:
        """The value at one point, in base units, by constructing it; or what is said in its place."""
        changes = {axis.name: axis.element(position) for axis, position in zip(self.axes, self._positions(place))}
        try:
            made = self.scenario.variant(**changes)
            held = made.at(quantity.path)
            return (None, "") if held is None else (made.number(quantity.path), "")
        except (InputError, MissingInputError) as error:
            return None, str(error)

    # The table.

    def table(self) -> Any:
        from .columns import input_column, quantity_column, tabulated
        columns = [input_column(axis, self._spread(i)) for i, axis in enumerate(self.axes)]
        columns += [quantity_column(quantity.name, quantity.declared, self.results.get(quantity.name), self.gaps[quantity.name], self.shape) for quantity in self.shown]
        return tabulated(f"Sweep of {type(self.scenario).__name__}", [*columns, self.errors.column()], self.size)

    def _spread(self, i: int) -> Any:
        """How values on an axis are laid out over all points."""
        import numpy
        if self.zipped:
            return lambda values: values
        across = [1] * len(self.shape)
        across[i] = self.shape[i]
        return lambda values: numpy.broadcast_to(values.reshape(across), self.shape).reshape(-1)


def over(record: Record, fixed: Mapping[Path, Any], arrays: Mapping[Path, Any]) -> Any:
    """A record's values with some inputs fixed at others and some as arrays: Points, or the record itself where nothing is an array.

    Nothing is checked that holds between inputs: `refused` does that point by point.
    """
    from .arrays import Points
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
            continue      # every point says so by itself
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
    from .arrays import FAILURES, Points, either, evaluate, is_array
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


def _lazily(scenario: Scenario, shown: list[Shown], axes: list[Axis], zipped: bool) -> LazySweep:
    import dask.array as lazy

    from .arrays import FAILURES, either
    from .columns import unit_of
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


def _why(scenario: Scenario, quantity: Shown) -> str:
    """What the scenario itself says where a quantity has no value at any point."""
    try:
        value = scenario.at(quantity.path)
    except (InputError, MissingInputError) as error:
        return str(error)
    return f"{type(scenario).__name__}: {quantity.name} is {'none' if value is None else 'not to be had at any of these points'}"


__all__ = ["LazySweep", "sweep"]

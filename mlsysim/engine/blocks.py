"""Works out a sweep block by block, so that what stands between inputs and results stays small, and gathers its table."""
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy

from .arrays import FAILURES, either, is_array
from .axes import Axis
from .columns import Errors, Shown, blank, input_column, quantity_column, tabulated
from .derivation import MissingInputError
from .inputs import InputError
from .points import Points, over, refused
from .record import Path

MOST_POINTS = 2**17      # the arrays of a block then stay in a processor's own memory


class Batch(NamedTuple):
    """Points that share every value that is no number: where they stand among all points, their shape, and what changes there."""
    places: Any
    shape: tuple[int, ...]
    fixed: dict[Path, Any]
    arrays: dict[Path, Any]

    def blocks(self) -> Iterator[Batch]:
        """The same points in pieces, cut along the first dimension that has several."""
        points = math.prod(self.shape)
        if points <= MOST_POINTS:
            if points:
                yield self
            return
        cut = next(i for i, n in enumerate(self.shape) if n > 1)
        inner = math.prod(self.shape[cut + 1:])
        rows = max(1, MOST_POINTS // inner)
        for start in range(0, self.shape[cut], rows):
            stop = min(start + rows, self.shape[cut])
            piece = (*(slice(None),) * cut, slice(start, stop))
            places = slice(start * inner, stop * inner) if self.places is None else self.places[start * inner:stop * inner]
            yield Batch(places, (*self.shape[:cut], stop - start, *self.shape[cut + 1:]), self.fixed,
                        {path: array if array.shape[cut] == 1 else array[piece] for path, array in self.arrays.items()})


class Blocks:
    """One sweep under way: results by quantity in base units, where they have gaps, and errors by point."""

    def __init__(self, scenario: Any, shown: list[Shown], axes: list[Axis], zipped: bool):
        self.scenario, self.shown, self.axes, self.zipped = scenario, shown, axes, zipped
        self.shape = (len(axes[0]),) if zipped else tuple(map(len, axes))
        self.size = math.prod(self.shape)
        self.errors = Errors(self.size)
        self.results: dict[str, Any] = {quantity.name: blank(quantity.declared, self.size) for quantity in shown}
        self.gaps: dict[str, Any] = {}
        self._refuse_values()
        for batch in self._zipped_batches() if zipped else self._combined_batches():
            for block in batch.blocks():
                self._run(block)

    # Which points there are.

    def _positions(self, place: int) -> tuple[int, ...]:
        """The position on each axis of a point."""
        return (place,) * len(self.axes) if self.zipped else tuple(map(int, numpy.unravel_index(place, self.shape)))

    def _combined_batches(self) -> Iterator[Batch]:
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
            yield Batch(places, tuple(len(positions) for positions, _ in groups), fixed, arrays)

    def _zipped_batches(self) -> Iterator[Batch]:
        if all(axis.numeric is None for axis in self.axes):
            yield Batch(None, self.shape, {}, {axis.path: axis.numbers for axis in self.axes})
            return
        alike: dict[Any, list[int]] = {}
        for place in range(self.size):
            if not self.errors.at(place):
                alike.setdefault(tuple((axis.others[place],) if place in axis.others else None for axis in self.axes), []).append(place)
        for boxes, listed in alike.items():
            places = numpy.array(listed)
            fixed = {axis.path: box[0] for axis, box in zip(self.axes, boxes) if box is not None}
            yield Batch(places, (len(places),), fixed, {axis.path: axis.numbers[places] for axis, box in zip(self.axes, boxes) if box is None})

    def _refuse_values(self) -> None:
        """Points with a value that its input refuses, with the words of the first one that construction would meet."""
        if not any(axis.errors for axis in self.axes):
            return
        order = list(type(self.scenario).inputs)
        places = numpy.arange(self.size).reshape(self.shape)
        for i, axis in sorted(enumerate(self.axes), key=lambda at: (len(at[1].path) == 1, order.index(at[1].path[0]) if len(at[1].path) == 1 else 0)):
            for position, words in axis.errors.items():
                self.errors.put(numpy.ravel(places[position] if self.zipped else places.take(position, axis=i)), words)
        for quantity in self.shown:
            self.gaps[quantity.name] = self.errors.numbers >= 0

    # What they give.

    def _run(self, block: Batch) -> None:
        points: Any
        alone: Any
        try:
            points = over(self.scenario, block.fixed, block.arrays)
            alone = either(*refused(points))
        except InputError:      # no point of this block can be
            points, alone = None, True
        for quantity in self.shown:
            value, fault = self._found(points, quantity)
            if value is not None:
                self._keep(quantity, block, value)
            fault = either(fault, alone)
            if fault is not False:
                self._settle_alone(quantity, block, numpy.flatnonzero(numpy.broadcast_to(fault, block.shape)), everywhere=value is None and not is_array(alone))

    def _found(self, points: Any, quantity: Shown) -> tuple[Any, Any]:
        """A quantity's value at the points of a block, and where it fails."""
        if points is None:
            return None, True
        try:
            return points.number(quantity.path) if isinstance(points, Points) else (points.number(quantity.path), False)
        except FAILURES:
            return None, True

    def _keep(self, quantity: Shown, block: Batch, value: Any) -> None:
        held = self.results[quantity.name]
        places = slice(None) if block.places is None else block.places
        if isinstance(places, slice):
            held[places].reshape(block.shape)[...] = value
        else:
            held[places] = numpy.broadcast_to(value, block.shape).reshape(-1)

    def _settle_alone(self, quantity: Shown, block: Batch, chosen: Any, everywhere: bool) -> None:
        """Points that need the words, or the exact value, of a scenario of their own. Where every point fails alike, the first speaks for all."""
        places = numpy.arange(self.size)[block.places if block.places is not None else slice(None)] if len(chosen) else chosen
        said = ""
        for place in map(int, places[chosen]):
            value = None
            if not (everywhere and said):
                value, said = self._alone(quantity, place)
            if value is not None:
                self.results[quantity.name][place] = value
                continue
            if quantity.name not in self.gaps:
                self.gaps[quantity.name] = numpy.zeros(self.size, bool)
            self.gaps[quantity.name][place] = True
            if said:
                self.errors.join(place, said)

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
        columns = [input_column(axis, self._spread(i)) for i, axis in enumerate(self.axes)]
        columns += [quantity_column(quantity, self.results[quantity.name], self.gaps.get(quantity.name)) for quantity in self.shown]
        return tabulated(f"Sweep of {type(self.scenario).__name__}", [*columns, self.errors.column()], self.size)

    def _spread(self, i: int) -> Callable[[Any], Any]:
        """How values on an axis are laid out over all points, always as a copy."""
        if self.zipped:
            return numpy.array
        across = [1] * len(self.shape)
        across[i] = self.shape[i]
        return lambda values: numpy.array(numpy.broadcast_to(values.reshape(across), self.shape)).reshape(-1)


__all__ = ["Blocks"]

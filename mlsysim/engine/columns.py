"""The columns of a sweep's table: their units and types, and what stands where a point has no value."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from ..units import ONE, scale
from .axes import NUMERIC
from .figures import ladder
from .record import Path, Record
from .tables import Drawn, Grid, shortened

if TYPE_CHECKING:
    from .axes import Axis


class Column(NamedTuple):
    """A column: its heading, its unit, its values, and where they are missing (None: nowhere)."""
    heading: str
    unit: str
    values: Any
    gaps: Any = None


class Shown(NamedTuple):
    """A quantity that a sweep shows."""
    name: str
    path: Path
    declared: Any


def unit_of(declared: Any) -> tuple[str, float]:
    """The unit that a person reads a declared value in, and its size in base units; pure numbers have none."""
    of = declared.unit
    if of is None or of == ONE or getattr(declared, "returns", "Quantity") != "Quantity":
        return "", 1.0
    return ("" if of.dimensionless else unit_name(of)), scale(of)


@functools.lru_cache(maxsize=None)
def unit_name(of: Any) -> str:
    return f"{of:~P}"


def column_unit(declared: Any, values: Any) -> tuple[str, float]:
    """The unit that people would write these values in, and its size in base units."""
    name, size = unit_of(declared)
    largest = _largest(values)
    if not name or not largest:
        return name, size
    steps = ladder(declared.unit)
    return next((step for step in steps if largest >= step[1]), steps[-1])


def _largest(values: Any) -> float:
    """The largest size among the values, those that are none left out."""
    if not numpy.size(values):
        return 0.0
    largest = max(float(numpy.max(values)), -float(numpy.min(values)))
    if math.isfinite(largest):
        return largest
    finite = numpy.abs(values)[numpy.isfinite(values)]
    return float(finite.max()) if finite.size else 0.0


def _headed(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name


def heading_of(name: str, headings: Iterable[str]) -> str:
    """The heading of the column of an input or quantity, with its unit; the name itself where there is no such column."""
    headings = list(headings)
    return name if name in headings else next((heading for heading in headings if heading.startswith(f"{name} (")), name)


def quantity_column(quantity: Shown, results: Any, gaps: Any) -> Column:
    """A quantity at every point. `results` are in base units, one for every point, None where there are none at all."""
    name, declared = quantity.name, quantity.declared
    kind = kind_of(declared)
    if kind == "str":
        results[gaps if gaps is not None else slice(0)] = None
        return Column(name, "", results, gaps)
    if kind == "bool":
        return Column(name, "", results, gaps)
    if gaps is not None:
        results[gaps] = math.nan
    unit, size = column_unit(declared, results)
    if size != 1.0:
        results /= size
    if kind == "int" or getattr(declared, "whole", False):
        return Column(name, "", *_whole(results))
    return Column(_headed(name, unit), unit, results)


def kind_of(declared: Any) -> str:
    """What its values are: bool, str, int or float."""
    kind = getattr(declared, "returns", "") or {"truth": "bool", "option": "str", "count": "int"}.get(declared.kind, "float")
    return "float" if kind == "Quantity" else kind


def blank(declared: Any, size: int) -> Any:
    """Room for the values of a quantity at every point."""
    match kind_of(declared):
        case "bool": return numpy.zeros(size, bool)
        case "str": return numpy.full(size, None, dtype=object)
    return numpy.empty(size)


def input_column(axis: Axis, spread: Callable[[Any], Any]) -> Column:
    """What a swept input was given at every point, a refused value included."""
    declared = axis.declared
    apart = {position: value for position, value in axis.others.items() if value is not None}
    if declared.kind in NUMERIC and not apart and not any(math.isnan(axis.numbers[position]) for position in axis.errors):
        unit, size = (unit_name(axis.unit), scale(axis.unit)) if axis.stated_in_one_unit else column_unit(declared, axis.numbers)
        unit = "" if axis.unit is None or axis.unit.dimensionless else unit
        magnitudes = axis.numbers if size == 1.0 else axis.numbers / size
        values, gaps = _whole(magnitudes) if declared.whole and _are_whole(magnitudes) else (magnitudes, None)
        return Column(_headed(axis.name, unit), unit, spread(values), None if gaps is None else spread(gaps))
    objects = numpy.empty(len(axis), dtype=object)
    for position in range(len(axis)):
        objects[position] = _named(axis.others.get(position, axis.element(position)))
    return Column(axis.name, "", spread(objects))


def _are_whole(magnitudes: Any) -> bool:
    known = magnitudes[~numpy.isnan(magnitudes)]
    return bool((numpy.isfinite(known) & (known == numpy.round(known))).all())


def _named(value: Any) -> Any:
    """A record by its name, anything else as it is."""
    return (getattr(value, "name", "") or repr(value)) if isinstance(value, Record) else value


def _whole(values: Any) -> tuple[Any, Any]:
    """Floats that are whole numbers or NaN as whole numbers, and where there is none."""
    gaps = numpy.isnan(values)
    if not gaps.any():
        gaps = None
    if _largest(values) >= 2.0**63:
        return numpy.array([None if math.isnan(value) else int(value) for value in values], dtype=object), gaps
    return (values if gaps is None else numpy.nan_to_num(values)).astype(numpy.int64), gaps


class Errors:
    """What is wrong at each point that has something wrong: at every point the number of a text, -1 for none."""

    def __init__(self, size: int):
        self.size, self.texts = size, list[str]()
        self._known: dict[str, int] = {}

    @functools.cached_property
    def numbers(self) -> Any:
        return numpy.full(self.size, -1, dtype=numpy.int32)

    def at(self, place: int) -> str:
        return self.texts[number] if self.texts and (number := self.numbers[place]) >= 0 else ""

    def put(self, places: Any, text: str) -> None:
        """Say it where nothing is said yet."""
        held = self.numbers[places]
        self.numbers[places] = numpy.where(held < 0, self._number(text), held)

    def join(self, place: int, text: str) -> None:
        """Say it beside what is said already."""
        before = self.at(place)
        if text not in before:
            text = f"{before}; {text}" if before else text
            self.numbers[place] = self._number(text)

    def _number(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self.texts)
            self.texts.append(text)
        return self._known[text]

    def column(self) -> Column:
        return Column("error", "", (self.numbers if self.texts else numpy.full(self.size, -1, dtype=numpy.int8), self.texts))


def tabulated(title: str, columns: list[Column], size: int) -> Any:
    """The columns as a pandas DataFrame (a SweepFrame) where pandas is installed, otherwise as a SweepTable."""
    try:
        import pandas      # noqa: F401
    except ImportError:
        return SweepTable(title, {column.heading: _listed(column, size) for column in columns}, size)
    from .frames import SweepFrame
    frame = SweepFrame({column.heading: _series(column) for column in columns}, copy=False)
    frame.attrs["units"] = {column.heading: column.unit for column in columns}
    return frame


def _series(column: Column) -> Any:
    import pandas
    if column.heading == "error":
        numbers, texts = column.values
        return pandas.Categorical.from_codes(numbers, dtype=pandas.CategoricalDtype(pandas.Index(texts, dtype=object)), validate=False)
    if column.values.dtype == bool:
        return pandas.arrays.BooleanArray(column.values, _mask(column))
    if column.values.dtype == numpy.int64:
        return pandas.arrays.IntegerArray(column.values, _mask(column))
    return column.values if column.values.dtype != object else pandas.array(column.values, dtype=object)


def _mask(column: Column) -> Any:
    return numpy.zeros(len(column.values), bool) if column.gaps is None else column.gaps


def _listed(column: Column, size: int) -> list[Any]:
    if column.heading == "error":
        numbers, texts = column.values
        return [texts[number] if number >= 0 else None for number in numbers]
    values = column.values.tolist()
    gaps = column.gaps if column.gaps is not None else [isinstance(value, float) and math.isnan(value) for value in values]
    return [None if gap else value for value, gap in zip(values, gaps)]


class SweepTable(Drawn):
    """A sweep's points where pandas is not installed: columns by name, `table["total"]` or `table["total (GB)"]`, with None where a point has no value."""

    def __init__(self, title: str, columns: dict[str, list[Any]], size: int):
        self.title, self.columns, self._size = title, columns, size

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[heading_of(name, self.columns)]

    def __len__(self) -> int:
        return self._size

    def grid(self) -> Grid:
        drawn = {name: column for name, column in self.columns.items() if name != "error" or any(column)}
        words = frozenset(i for i, (name, column) in enumerate(drawn.items()) if name == "error" or any(isinstance(value, str) for value in column))
        rows = (tuple(_cell(column[i]) for column in drawn.values()) for i in range(self._size))
        return Grid(self.title, tuple(drawn), shortened(rows, self._size, len(drawn)), words)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


__all__ = ["Column", "Errors", "Shown", "SweepTable", "blank", "heading_of", "input_column", "quantity_column", "tabulated", "unit_of"]

"""The numbers behind a plot: a sweep's columns in base units, the words for its inputs, and the unit that an axis is in."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ...engine.figures import figure, ladder
from ...engine.inputs import InputError
from ...engine.notation import TEXT, words
from ...engine.scenario import Scenario
from ...engine.sweeping import sweep
from ...units import ONE, scale, unit


class Swept:
    """One swept input: its name in words, the unit its numbers are in, and its values, as numbers (NaN where one is none) and as text."""

    def __init__(self, name: str, heading: str, values: list[Any]):
        self.name, self.unit = name, _unit_in(heading)
        self.words = " ".join(map(words, name.split(".")))
        self.numbers = [_number(value) for value in values]
        self.texts = [_text(value) for value in values]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def label(self) -> str:
        """What stands beneath the axis."""
        return f"{self.words} ({self.unit})" if self.unit else self.words

    @property
    def ordered(self) -> bool:
        """Whether its values are numbers that go up."""
        return all(a < b for a, b in zip(self.numbers, self.numbers[1:])) and not any(map(math.isnan, self.numbers))

    def said(self, position: int) -> str:
        """A value with its name: `batch size 32`, `interval 10 min`."""
        return f"{self.words} {self.texts[position]}" + (f" {self.unit}" if self.unit else "")


class Points:
    """Quantities of a scenario at every combination of values of some inputs. Raises InputError where there is none to be had."""

    def __init__(self, scenario: Scenario, quantities: Iterable[str], inputs: dict[str, Any]):
        self.kind = type(scenario)
        quantities = dict.fromkeys(quantities)
        inputs = {name: values if hasattr(values, "__len__") else list(values) for name, values in inputs.items()}
        table = sweep(scenario, *quantities, **inputs)
        if empty := [name for name, values in inputs.items() if not len(values)]:
            raise InputError(f"{self.kind.__name__}: {empty[0]} has no values to draw; write {empty[0]}=[...]")
        headings = list(table.columns)
        self.columns = {name: _column(headings, name) for name in (*inputs, *quantities)}
        self.table = {name: list(table[heading]) for name, heading in self.columns.items()}
        self.errors = [error if isinstance(error, str) else "" for error in table["error"]]
        self.inputs = []
        apart = len(self.errors)      # how far apart an input's next values stand in its column: the last input's follow one another
        for name, values in inputs.items():
            apart //= len(values)
            self.inputs.append(Swept(name, self.columns[name], self.table[name][:apart * len(values):apart]))
        if all(self.errors):
            raise InputError(self.errors[0])

    def numbers(self, quantity: str) -> list[float]:
        """A quantity at every point in base units, NaN where it has none."""
        size = scale(unit(_unit_in(self.columns[quantity])))
        return [_number(value) * size for value in self.table[quantity]]

    def given(self, name: str) -> list[bool]:
        """Whether an input has a value at every point."""
        return [not _missing(value) for value in self.table[name]]

    def truths(self, quantity: str) -> list[bool | None]:
        """A yes or no at every point, None where there is none."""
        return [None if error or _missing(value) else bool(value) for value, error in zip(self.table[quantity], self.errors)]


def declared_unit(scenario: Scenario, name: str) -> Any:
    return type(scenario).declaration(tuple(name.split("."))).unit or ONE


class Measure:
    """What an axis measures: numbers in base units of a kind, written in the unit that a person would choose for the largest."""

    def __init__(self, of: Any, largest: float):
        self.of = of
        if of == unit("percent"):
            self.name, self.size = "%", 0.01
        elif of.dimensionless:
            self.name, self.size = "", 1.0
        else:
            self.name, self.size = next((step for step in ladder(of) if largest >= step[1]), ladder(of)[-1])

    def labelled(self, said: str) -> str:
        return f"{said} ({self.name})" if self.name else said

    def on_axis(self, number: float) -> float:
        return number / self.size

    def text(self, number: float) -> str:
        """A number as a person writes it: `24.0 GB`."""
        return TEXT.figure(figure(number, self.of))

    def digits(self, number: float) -> str:
        """A number in the axis's own unit, to three digits."""
        shown = self.on_axis(number)
        decimals = max(0, 2 - math.floor(math.log10(abs(shown)))) if shown else 0
        return f"{shown:,.{min(decimals, 3)}f}"


def _column(headings: list[str], name: str) -> str:
    return next(heading for heading in headings if heading == name or heading.startswith(f"{name} ("))


def _unit_in(heading: str) -> str:
    return heading.partition(" (")[2].removesuffix(")")


def _missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or isinstance(value, float) and math.isnan(value)


def _number(value: Any) -> float:
    return math.nan if _missing(value) or isinstance(value, (str, bool)) or not hasattr(value, "__float__") else float(value)


def _text(value: Any) -> str:
    if _missing(value):
        return "none"
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "yes" if value else "no"
    return TEXT.figure(figure(float(value), ONE)) if hasattr(value, "__float__") else str(value)


__all__ = ["Measure", "Points", "Swept", "declared_unit"]

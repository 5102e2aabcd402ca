"""Scenarios side by side: the inputs that differ, and every quantity they share with its ratio to the first scenario's."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..units import ONE
from .declarations import Parametrised
from .derivation import MissingInputError
from .expression import paths
from .figures import figure
from .inputs import Input, InputError
from .notation import TEXT, path_words, words
from .record import Path
from .scenario import Scenario
from .tables import Drawn, Grid
from .writing import figure_text


class Comparison(Drawn):
    """Two or more scenarios side by side; a notebook shows it as a table, a terminal as its text."""

    def __init__(self, scenarios: tuple[Scenario, ...]):
        self.scenarios = scenarios
        self.shared = _shared_quantities(scenarios)
        self._inputs = _shared_inputs(scenarios)

    @property
    def differing(self) -> tuple[str, ...]:
        """The paths of the inputs that are not the same in all."""
        return tuple(".".join(path) for path in self._inputs if self._differs(path))

    @property
    def labels(self) -> tuple[str, ...]:
        """What each scenario is called: by its shelf's name or its title; where that is the title of one before it too, by up to two inputs in which it differs from the first; else numbered."""
        titles = [scenario.title for scenario in self.scenarios]
        plain = [scenario.address.rpartition(".")[2] or (self._change(scenario) if title in titles[:i] else "") or title
                 for i, (scenario, title) in enumerate(zip(self.scenarios, titles))]
        return tuple(f"{label} ({plain[:i + 1].count(label)})" if plain.count(label) > 1 else label for i, label in enumerate(plain))

    def _change(self, scenario: Scenario) -> str:
        """`bytes per value 2 B`: the stated inputs in which a scenario differs from the first; empty where they are more than two."""
        first, changes = self.scenarios[0], list[Path]()
        stated = {*first.given_inputs(), *scenario.given_inputs()}
        for path in self._inputs:
            if path[0] in stated and path[:1] not in changes and _input_text(scenario, path) != _input_text(first, path):
                changes.append(path)
        return ", ".join(f"{path_words(path)} {_input_text(scenario, path)}" for path in changes) if len(changes) <= 2 else ""

    def grid(self) -> Grid:
        first, *others = self.labels
        heads = ("", first, *(head for label in others for head in (label, "to the first")))
        rows = [*self._section("Inputs that differ", [self._input_row(path) for path in self._inputs if self._differs(path)]),
                *self._section("Inputs that are the same", [self._input_row(path) for path in self._inputs if not self._differs(path)])]
        waiting = [name for name in self.shared if all(scenario.waiting_for(name) for scenario in self.scenarios)]
        for heading, names in self._groups():
            rows += self._section(heading, [self._quantity_row(name) for name in names if name not in waiting])
        below = ["≠ marks what differs; the ratio is a value over the first scenario's."]
        if len(kinds := dict.fromkeys(type(scenario).__name__ for scenario in self.scenarios)) > 1:
            below.append(f"Only what {' and '.join(kinds)} have in common is shown.")
        below += self._waiting_words()
        return Grid(f"Comparison of {len(self.scenarios)} scenarios", heads, tuple(rows), frozenset({0}), tuple(below))

    def _section(self, heading: str, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return [(heading,), *rows] if rows else []

    def _differs(self, path: Path) -> bool:
        return len({_identity(scenario, path) for scenario in self.scenarios}) > 1

    def _input_row(self, path: Path) -> tuple[str, ...]:
        first, *others = (_input_text(scenario, path) for scenario in self.scenarios)
        mark = "≠ " if self._differs(path) else "= "
        ratios = [_ratio(*(_number(scenario, path) for scenario in (self.scenarios[0], other))) for other in self.scenarios[1:]]
        return (mark + path_words(path), first, *(cell for pair in zip(others, ratios if self._differs(path) else [""] * len(others)) for cell in pair))

    def _quantity_row(self, name: str) -> tuple[str, ...]:
        cells = [_value_text(scenario, name) for scenario in self.scenarios]
        numbers = [_number(scenario, (name,)) for scenario in self.scenarios]
        beside = [_ratio(numbers[0], number) or ("≠" if cell != cells[0] else "") for number, cell in zip(numbers[1:], cells[1:])]
        mark = "≠ " if len(set(cells)) > 1 or len(set(numbers)) > 1 else "= "
        return (mark + words(name), cells[0], *(cell for pair in zip(cells[1:], beside) for cell in pair))

    def _waiting_words(self) -> list[str]:
        """What waits for what, and where."""
        where: dict[str, list[str]] = {}
        for label, scenario in zip(self.labels, self.scenarios):
            ways: dict[str, list[str]] = {}
            for name in self.shared:
                if waiting := scenario.waiting_for(name):
                    ways.setdefault(" and ".join(" or ".join(map(path_words, group)) for group in waiting), []).append(words(name))
            for way, names in ways.items():
                where.setdefault(f"for {way}: {', '.join(names)}", []).append(label)
        return [f"Waiting in {'all' if len(labels) == len(self.scenarios) else ' and '.join(labels)} {what}." for what, labels in where.items()]

    def _groups(self) -> Iterator[tuple[str, list[str]]]:
        groups = type(self.scenarios[0]).presentation.groups
        for heading, names in groups.items():
            yield heading, [name for name in names if name in self.shared]
        grouped = {name for names in groups.values() for name in names}
        yield "Further quantities" if grouped else "Quantities", [name for name in self.shared if name not in grouped]


def compare(*scenarios: Scenario) -> Comparison:
    """Two or more scenarios side by side: inputs with those that differ marked, and quantities with their ratio to the first one's.

    Scenarios of different classes are compared in the quantities that go by one name and are of one kind in all of them.
    Raises InputError for fewer than two scenarios, for anything that is none, and for classes with no quantity in common.
    """
    for other in scenarios:
        if not isinstance(other, Scenario):
            raise InputError(f"compare takes scenarios, not {type(other).__name__} {other!r}; write compare(scenario, scenario.variant(...))")
    if len(scenarios) < 2:
        raise InputError("compare takes two scenarios or more; write compare(scenario, scenario.variant(...))")
    return Comparison(scenarios)


def _shared_quantities(scenarios: tuple[Scenario, ...]) -> list[str]:
    """The quantities that all classes have under one name and in one kind, in the first one's order."""
    first, *others = (type(scenario) for scenario in scenarios)
    shared = [name for name, declared in first.quantities.items() if not isinstance(declared, Parametrised)
              and all(name in other.quantities and _alike(declared, other.quantities[name]) for other in others)]
    if not shared:
        raise InputError(f"{' and '.join(dict.fromkeys(type(scenario).__name__ for scenario in scenarios))} have no quantity in common to compare")
    return shared


def _alike(a: Any, b: Any) -> bool:
    if isinstance(b, Parametrised) or (a.returns in ("bool", "str")) != (b.returns in ("bool", "str")):
        return False
    if a.returns in ("bool", "str"):
        return bool(a.returns == b.returns)
    return bool((a.unit or ONE).is_compatible_with(b.unit or ONE))


def _shared_inputs(scenarios: tuple[Scenario, ...]) -> list[Path]:
    """The inputs that all classes have, each record followed by those of its fields that formulas use."""
    kinds = [type(scenario) for scenario in scenarios]
    used = dict.fromkeys(path for kind in kinds for d in kind.quantities.values() for path in paths(d.expression) if len(path) > 1)
    found: list[Path] = []
    for name in kinds[0].inputs:
        if all(name in kind.inputs for kind in kinds):
            found.append((name,))
            found += [path for path in used if path[0] == name and _is_input(kinds, path)]
    return [path for path in found if any(scenario.present(path) for scenario in scenarios)]


def _is_input(kinds: list[Any], path: Path) -> bool:
    return all(isinstance(kind.declaration(path), Input) and kind.declaration(path).kind != "record" for kind in kinds)


def _number(scenario: Scenario, path: Path) -> float | None:
    """The number at a path, in base units; None where it has none."""
    try:
        value: Any = scenario.number(path) if scenario.present(path) else None
    except (InputError, MissingInputError):
        return None
    return value if isinstance(value, float) else None


def _identity(scenario: Scenario, path: Path) -> Any:
    if not scenario.present(path):
        return None
    number = _number(scenario, path)
    return number if number is not None else scenario.at(path)


def _input_text(scenario: Scenario, path: Path) -> str:
    if not scenario.present(path):
        return "not given"
    value: Any = scenario.at(path)
    return ", ".join(getattr(row, "name", "") or repr(row) for row in value) if isinstance(value, tuple) else figure_text(scenario, path)


def _value_text(scenario: Scenario, name: str) -> str:
    """A value as text, or what stands in its place."""
    try:
        return figure_text(scenario, (name,))
    except MissingInputError:
        return "waiting"
    except InputError as error:
        return str(error).partition(": ")[2].partition(";")[0]


def _ratio(first: float | None, other: float | None) -> str:
    """How many times the first the other is; empty where that says nothing: beside zero, or below it."""
    return "" if not first or other is None or first < 0 or other < 0 else f"× {TEXT.figure(figure(other / first, ONE))}"


__all__ = ["Comparison", "compare"]

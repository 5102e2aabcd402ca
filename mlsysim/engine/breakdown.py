"""What a breakdown tells, in order: one walk over a scenario, which its text and its HTML both write down."""
from __future__ import annotations

import functools
import re
from collections.abc import Collection
from typing import Any

from ..units import Quantity
from .bar import Bar, bar
from .declarations import Parametrised
from .expression import Nothing, Number, Option, paths
from .figures import as_given
from .inputs import Input, InputError
from .notation import TEXT, Text, path_words, words
from .record import Path, Record, code
from .verdict import Verdict, title
from .waiting import Groups, lacking, ways
from .writing import Worked, branching, equation_in, figure_text, in_both_systems, right_side, sign, value_figure

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def said(path: Path) -> str:
    """How the breakdown calls an input or quantity; the fields of a record stand below the record, so without its name: `memory capacity`."""
    return path_words(path[1:] or path)


class Fact:
    """An input that has a value."""

    def __init__(self, scenario: Any, path: Path, given: Collection[str]):
        self.scenario, self.path = scenario, path
        self.name = said(path)
        self.holder = scenario.at(path[:-1])
        self.declared: Input = type(self.holder).declaration(path[-1:])
        self.stated = self.holder.__dict__["_stored"][path[-1]]
        self.by_default = path[-1] not in given      # its default stands, or its default's formula gives it

    @property
    def within_record(self) -> bool:
        return len(self.path) > 1

    def symbol(self, notation: Text) -> str:
        return sign(type(self.scenario), self.path, notation) if self.declared.symbol else ""

    def value(self, notation: Text) -> str:
        if self.declared.kind == "rows":
            return notation.word(", ".join(getattr(row, "name", "") or repr(row) for row in self.holder.at(self.path[-1:])))
        return figure_text(self.scenario, self.path, notation)

    @property
    def other_system(self) -> str:
        """A number of bytes in the system of units that it was not stated in."""
        if self.declared.kind != "quantity":
            return ""
        size = self.holder.number(self.path[-1:])
        binary = in_both_systems(size, self.declared.unit)
        stated_in_binary = binary and isinstance(self.stated, Quantity) and "iB" in f"{self.stated.units:~P}"
        return TEXT.figure(value_figure(self.declared, size)) if stated_in_binary else binary

    @property
    def note(self) -> str:
        """How it stands to its default, where it has one."""
        declared = self.declared
        if self.by_default or declared.required or declared.default is None:
            return ""
        return f"differs from the default, {default_text(declared)}"

    @property
    def source(self) -> str:
        """The citation of the value: its own, or that of the default which stands."""
        return self.holder.sources.get(self.path[-1], "") or (self.declared.source if self.by_default else "")


def default_text(declared: Input) -> str:
    """A default as a person reads it."""
    value = declared.default
    if isinstance(value, Quantity):
        return TEXT.figure(as_given(value.magnitude, value.u))
    if isinstance(value, (tuple, Record)):
        return code(value) if value else "no rows"
    return TEXT.plain(float(value) if isinstance(value, int) and not isinstance(value, bool) else value)


class Line:
    """A quantity that has a value, or none to give: its equation, its numbers, its value, and what opens beneath them."""

    def __init__(self, scenario: Any, name: str, figures: dict[Any, Any]):
        self.kind: Any = type(scenario)
        self.path, self.name = (name,), words(name)
        self.declared = self.kind.quantities[name]
        self.worked: Worked | None = None
        try:
            self.worked = Worked(scenario, name, figures=figures)
            self.remark = self.worked.words_below_zero()
        except InputError as error:      # arithmetic that has no answer with these inputs: what is wrong stands where the value would
            self.remark = str(error).removeprefix(f"{self.kind.__name__}: ").partition(";")[0]

    def equation(self, notation: Text) -> str:
        """The branch that holds, in symbols: a yes or no without its own name before it, a bare number or word without itself."""
        truth = self.declared.returns == "bool"
        if self.worked is None:
            return (right_side if truth else equation_in)(self.kind, self.path[0], notation)
        if isinstance(self.worked.formula, Number | Option | Nothing):
            return "" if self.declared.symbol == self.name else self.worked.left(notation)
        symbols = self.worked.symbols(notation)
        return symbols if truth else f"{self.worked.left(notation)} = {symbols}"

    def numbers(self, notation: Text) -> str:
        """The same in numbers, with its equals sign, or in brackets for a yes or no; empty where that is the value itself."""
        numbers = self.worked.numbers(notation) if self.worked else ""
        return numbers and (f"({numbers})" if self.declared.returns == "bool" else f"= {numbers}")

    def value(self, notation: Text) -> str:
        """The value with its equals sign, or the word for it: yes, no, none."""
        if self.worked is None:
            return notation.word("no value")
        return f"{'= ' if self.worked.final is not None else ''}{self.worked.value(notation)}"

    @property
    def other_system(self) -> str:
        """Bytes in 1024-based units."""
        return in_both_systems(self.worked.result, self.declared.unit) if self.worked and isinstance(self.worked.result, float) else ""

    @property
    def depends_on(self) -> str:
        """The inputs and quantities that the branch which holds mentions."""
        return depends_words(self.worked.formula if self.worked else self.declared.expression)

    @property
    def varies(self) -> bool:
        """Whether its equation is another for other inputs."""
        return branching(self.kind, self.path[0])

    def rest(self, notation: Text) -> tuple[str, ...]:
        """What the formula is for other inputs: its other branches, or the whole where only a part of it branches."""
        return self.worked.other_branches(notation) if self.worked else ()


class Method:
    """A parametrised quantity: its equation, and how to call it."""

    def __init__(self, scenario: Any, name: str):
        self.kind: Any = type(scenario)
        self.path, self.name = (name,), words(name)
        self.declared = self.kind.quantities[name]
        self.call = call_words(self.declared)

    def equation(self, notation: Text) -> str:
        return equation_in(self.kind, self.path[0], notation)


class Waiting:
    """Quantities that wait for the same inputs."""

    def __init__(self, scenario: Any, lacks: Groups):
        self.scenario, self.lacks, self.names = scenario, lacks, list[str]()

    def said(self, notation: Text) -> str:
        """`Give activations="40 GB" for training total, training copies`"""
        return f"Give {ways(self.scenario, self.lacks, notation)} for {notation.word(', '.join(self.names))}"


class Breakdown:
    """Everything a breakdown tells about one scenario."""

    def __init__(self, scenario: Any):
        kind = type(scenario)
        self.title = title(scenario)
        self.bar: Bar | None = bar(scenario)
        self.verdict = Verdict(scenario, self.bar) if kind.presentation.question else None
        self.warnings: tuple[str, ...] = scenario.warnings
        self.folded = {*kind.presentation.folded, *(heading for heading, name in kind.presentation.folded_without.items() if not scenario.present((name,)))}
        self.facts: list[Fact] = []
        self.defaults: list[Fact] = []
        self.absent: list[str] = []
        self.groups: list[tuple[str, list[Line | Method]]] = []
        self.waiting: list[Waiting] = []
        self._tell_inputs(scenario)
        self._tell_quantities(scenario)
        cited = [*(fact.source for fact in (*self.facts, *self.defaults)), *(line.declared.source for _, lines in self.groups for line in lines)]
        self.sources = {source: i + 1 for i, source in enumerate(dict.fromkeys(s for s in cited if is_citation(s)))}

    def _tell_inputs(self, scenario: Any) -> None:
        """Inputs that were given, each record followed by those of its fields that formulas use; inputs at their defaults; absent ones."""
        kind: Any = type(scenario)
        used = fields_used(kind)
        given: dict[Path, Collection[str]] = {}
        for name in kind.inputs:
            if scenario.present((name,)):
                for path in ((name,), *(path for path in used if path[0] == name and scenario.present(path))):
                    if path[:-1] not in given:
                        given[path[:-1]] = scenario.at(path[:-1]).given_inputs()
                    fact = Fact(scenario, path, given[path[:-1]])
                    (self.defaults if fact.by_default else self.facts).append(fact)
            else:
                self.absent.append(words(name))

    def _tell_quantities(self, scenario: Any) -> None:
        kind = type(scenario)
        figures: dict[Any, Any] = {}
        waiting: dict[Groups, Waiting] = {}
        for heading, names in headed(kind):
            lines: list[Line | Method] = []
            for name in names:
                if lacks := lacking(scenario, (name,)):
                    waiting.setdefault(lacks, Waiting(scenario, lacks)).names.append(words(name))
                elif isinstance(kind.quantities[name], Parametrised):
                    lines.append(Method(scenario, name))
                else:
                    lines.append(Line(scenario, name, figures))
            if lines:
                self.groups.append((heading, lines))
        self.waiting = list(waiting.values())


def headed(kind: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Every quantity under its heading; those that the presentation puts under none stand under the last."""
    groups = kind.presentation.groups
    grouped = {name for names in groups.values() for name in names}
    further = tuple(name for name in kind.quantities if name not in grouped)
    return [*groups.items(), ("Further quantities" if groups else "Quantities", further)]


def call_words(declared: Any) -> str:
    """How to call a parametrised quantity: `activations_at(batch_size=64)`."""
    return f"{declared.name}({', '.join(parameter.how_to_give() for parameter in declared.parameters.values())})"


def depends_words(formula: Any) -> str:
    """The inputs and quantities that a formula mentions: `workload parameters, bytes per value`."""
    return ", ".join(map(said, paths(formula)))


@functools.lru_cache(maxsize=256)
def fields_used(kind: Any) -> tuple[Path, ...]:
    """The inputs inside records that formulas mention, in reading order."""
    used = dict.fromkeys(path for declared in kind.quantities.values() for path in paths(declared.expression) if len(path) > 1)
    return tuple(path for path in used if isinstance(kind.declaration(path), Input))


def is_citation(source: str) -> bool:
    """Whether a source names a work, rather than saying "by definition"."""
    return any(c.isdigit() for c in source)


def short(source: str) -> str:
    """Authors and year: `Rajbhandari et al. 2020`; empty where the year does not stand near the front."""
    found = _YEAR.search(source)
    return source[:found.end()] if found and found.end() <= 40 else ""


__all__ = ["Breakdown", "Fact", "Line", "Method", "Waiting", "call_words", "default_text", "depends_words", "fields_used", "headed", "is_citation", "short"]

"""The steps of a derivation in the order a lecturer tells it, from the tree: what is known, the question, the symbols, the numbers, the value."""
from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from ...engine.breakdown import said
from ...engine.declarations import Parametrised
from ...engine.evaluation import taken
from ...engine.expression import Choose, Constant, Number, Symbol, paths
from ...engine.inputs import Input, InputError, near_name
from ...engine.notation import HTML, LATEX, TEXT, Text, Written, words
from ...engine.record import Path
from ...engine.scenario import Scenario
from ...engine.verdict import Verdict
from ...engine.writing import Worked, equation_in, figure_text, in_both_systems, sign
from ...units import Quantity, unit
from .bars import Growth, growth

NOTATIONS = (TEXT, HTML, LATEX)
KNOWN, QUESTION, SYMBOLS, NUMBERS, VALUE = "known", "question", "symbols", "numbers", "value"


class Step(NamedTuple):
    """One thing said: its kind, its words or mathematics, and the source of them."""
    kind: str
    said: Written
    source: str = ""


@dataclass(frozen=True)
class Scene:
    """What is told about one quantity: what is known of it, a question, and steps to the answer.

    name: the quantity's; "" where the scene is about all of them. growths: the bars beneath it, as they are once the value is known.
    """
    name: str
    title: str
    meaning: str
    steps: tuple[Step, ...]
    growths: tuple[Growth, ...] = ()

    @property
    def opening(self) -> tuple[Step, ...]:
        """What is there from the start: what is known, and the question."""
        return tuple(step for step in self.steps if step.kind in (KNOWN, QUESTION))

    @property
    def reveals(self) -> tuple[Step, ...]:
        """What follows, each on a step of its own."""
        return tuple(step for step in self.steps if step.kind not in (KNOWN, QUESTION))

    @property
    def answer(self) -> Written:
        """What the steps lead to."""
        return self.steps[-1].said

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.source for step in self.steps if step.source))


def plain(text: str) -> Written:
    """Words that are the same in every notation."""
    return Written(text, escape(text, quote=False).replace("$", "<span>$</span>"), LATEX.word(text))


def in_all(write: Any) -> Written:
    """What a function of the notation writes, in every notation."""
    return Written(*(write(notation) for notation in NOTATIONS))


def capitalized(name: str) -> str:
    return name[:1].upper() + name[1:]


# What is told, and in which order.

def order(scenario: Any, name: str, known: Collection[str] = ()) -> tuple[Path, ...]:
    """Everything a value rests on, each once, what comes first told first; branches not taken are left out, and what lies beneath the known."""
    told: dict[Path, None] = {}

    def go(path: Path) -> None:
        if path in told:
            return
        if path[0] not in known:
            for below in beneath(scenario, path):
                go(below)
        told[path] = None

    go((name,))
    return tuple(path for path in told if not is_function(scenario, path) and scenario.present(path))


def beneath(scenario: Any, path: Path) -> tuple[Path, ...]:
    """What a formula mentions: the branch taken of a value's, all of one that takes arguments; nothing where a value is stated."""
    if is_function(scenario, path):
        return paths(type(scenario).declaration(path).expression)
    return paths(taken(type(scenario).declaration(path).expression, scenario)) if is_worked_out(scenario, path) else ()


def is_function(scenario: Any, path: Path) -> bool:
    """Whether a quantity takes arguments, so that it is a formula and no value."""
    return isinstance(type(scenario).declaration(path), Parametrised)


def is_worked_out(scenario: Any, path: Path) -> bool:
    """Whether the scenario's own formula gives the value: not an input that is stated, nor a field of a record."""
    declared = type(scenario).declaration(path)
    if len(path) > 1 or getattr(declared, "expression", None) is None or is_function(scenario, path):
        return False
    return not (isinstance(declared, Input) and scenario._stored[declared.name] is not None)


def is_plain(scenario: Any, path: Path) -> bool:
    """Whether the formula only names another value, so that there is nothing to work out."""
    return isinstance(taken(type(scenario).declaration(path).expression, scenario), Symbol | Number | Constant | Choose)


def question(scenario: Scenario, name: str) -> str:
    """What a lecturer asks before the value: `Optimizer state: how many bytes?`"""
    declared, answer = type(scenario).declaration((name,)), getattr(scenario, name)
    what, of = capitalized(words(name)), declared.unit
    if isinstance(answer, bool):
        return f"{what}: yes or no?"
    if not isinstance(answer, Quantity | int | float):
        return f"{what}: which?"
    if of is None or of.dimensionless:
        return f"{what}: what share?" if of == unit("percent") else f"{what}: how many?"
    if name.startswith("bytes"):
        return f"{what}: how many?"
    if of.dimensionality == unit("byte").dimensionality:
        return f"{what}: how many bytes?"
    if of.dimensionality == unit("second").dimensionality:
        return f"{what}: how long?"
    return f"{what}: how much?"


def scenes(scenario: Scenario, name: str, known: Sequence[str] = (), questions: Mapping[str, str] = {}) -> tuple[Scene, ...]:
    """The walk to one quantity. Raises MissingInputError where it waits for an input, InputError for an unknown name."""
    check_names(scenario, (name, *known, *questions))
    check_value(scenario, name)
    return tuple(_scenes(scenario, name, known, questions))


def check_names(scenario: Scenario, names: Sequence[str]) -> None:
    quantities = type(scenario).quantities
    for name in names:
        if name not in quantities and name not in type(scenario).inputs:
            raise InputError(f"walkthrough: {name!r} is no quantity of {type(scenario).__name__}{near_name(name, quantities)}")


def check_value(scenario: Scenario, name: str) -> None:
    """Whether there is a value to lead to. Raises MissingInputError where it waits, InputError where there is none."""
    declared = type(scenario).declaration((name,))
    if is_function(scenario, (name,)):
        raise InputError(f"walkthrough: {name} takes {', '.join(declared.parameters)}, and only quantities without arguments are told; write scenario.substitution({name!r}, ...)")
    if getattr(scenario, name) is None:
        raise InputError(f"walkthrough: {name} has no value in this scenario")


def _scenes(scenario: Scenario, name: str, known: Sequence[str], questions: Mapping[str, str]) -> Iterator[Scene]:
    told: list[str] = []
    for path in order(scenario, name, known):
        label = ".".join(path)
        told.append(label)
        if path == (name,) or is_told(scenario, path, known):
            growths = growth(scenario, told)
            in_bar = {part.name for one in growths for part in one.parts if part.name not in one.new}      # the bar's key states them already
            stated = [fact for below, fact in facts(scenario, path, known) if words(below[-1]) not in in_bar]
            yield Scene(label, capitalized(words(label)), type(scenario).declaration(path).doc, (*stated, *worked_steps(scenario, label, questions)), growths)
    if last := verdict(scenario, name):
        yield last


def is_told(scenario: Any, path: Path, known: Collection[str]) -> bool:
    """Whether a value is worked out before the audience, and not only stated."""
    return path[0] not in known and is_worked_out(scenario, path) and not is_plain(scenario, path)


def facts(scenario: Any, path: Path, known: Collection[str]) -> list[tuple[Path, Step]]:
    """What a formula rests on that is stated and not worked out: inputs, quantities that only name another, and formulas that take arguments."""
    found: dict[Path, None] = {}

    def go(path: Path) -> None:
        for below in beneath(scenario, path):
            if (is_function(scenario, below) or scenario.present(below)) and not is_told(scenario, below, known) and below not in found:
                if below[0] not in known:
                    go(below)
                found[below] = None

    go(path)
    return [(below, fact(scenario, below)) for below in found]


def fact(scenario: Any, path: Path) -> Step:
    """A known value: an input, or a quantity whose formula only names another; the formula of one that takes arguments."""
    declared, kind = type(scenario).declaration(path), type(scenario)
    if is_function(scenario, path):
        return Step(KNOWN, in_all(lambda n: f"{n.word(words(path[-1]))} {equation_in(kind, path[-1], n)}"), declared.source)
    holder = scenario.at(path[:-1])
    source = holder.sources.get(path[-1], "") or declared.source

    def write(notation: Text) -> str:
        named, symbol = notation.word(said(path)), sign(kind, path, notation) if declared.symbol else ""
        left = f"{named} {symbol}" if symbol not in ("", named) else named
        names = is_worked_out(scenario, path) and isinstance(taken(declared.expression, scenario), Symbol)
        return notation.signs["=="].join([left, *([Worked(scenario, path[0]).symbols(notation)] if names else []), shown(scenario, path, notation)])

    return Step(KNOWN, in_all(write), source)


def shown(scenario: Any, path: Path, notation: Text) -> str:
    """A value as text; rows by their names."""
    found = scenario.at(path)
    return notation.word(", ".join(getattr(row, "name", "") or repr(row) for row in found)) if isinstance(found, tuple) else figure_text(scenario, path, notation)


def worked_steps(scenario: Any, name: str, questions: Mapping[str, str]) -> Iterator[Step]:
    """The question, the formula in symbols, with numbers in it, and the value."""
    declared = type(scenario).declaration((name,))
    yield Step(QUESTION, plain(questions.get(name) or question(scenario, name)))
    if not is_worked_out(scenario, (name,)):
        yield Step(VALUE, in_all(lambda n: sign(type(scenario), (name,), n) + n.signs["=="] + figure_text(scenario, (name,), n)), declared.source)
        return
    worked = Worked(scenario, name)
    yield Step(SYMBOLS, in_all(lambda n: f"{worked.left(n)}{n.signs['==']}{worked.symbols(n)}"), declared.source)
    if worked.numbers(TEXT):
        yield Step(NUMBERS, in_all(lambda n: f"{n.signs['=='].lstrip()}{worked.numbers(n)}"))
    yield Step(VALUE, in_all(lambda n: f"{n.signs['=='].lstrip()}{value(worked, n)}"))


def value(worked: Worked, notation: Text) -> str:
    """A value: of bytes in both systems of units, of less than nothing with the words for that."""
    other = in_both_systems(float(worked.result), worked.declared.unit) if worked.final is not None and worked.declared.unit is not None else ""
    beside = other or worked.words_below_zero()
    return worked.value(notation) + (notation.word(f" ({beside})") if beside else "")


def verdict(scenario: Scenario, name: str) -> Scene | None:
    """The scenario's question and its answer, where the walk led to the quantity that decides it."""
    shown = type(scenario).presentation
    if not shown.answer or name != shown.whole or not shown.capacity or not scenario.present(tuple(shown.capacity.split("."))):
        return None
    full = growth(scenario, None)
    found = Verdict(scenario, full[0].full if full else None)
    return Scene("", "The verdict", "", (Step(QUESTION, plain(shown.question)), Step(VALUE, in_all(lambda n: " ".join(found.said(n)[1:]).strip()))), full)


__all__ = ["KNOWN", "NOTATIONS", "NUMBERS", "QUESTION", "SYMBOLS", "Scene", "Step", "VALUE", "capitalized", "check_names", "check_value", "fact", "facts", "in_all", "is_plain", "is_told", "is_worked_out", "order", "plain",
           "question", "scenes", "shown", "value", "verdict", "worked_steps"]

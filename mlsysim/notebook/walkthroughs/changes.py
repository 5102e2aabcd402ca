"""What changes between two scenarios, told one step at a time: their inputs, then each value before and after, and what stays."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...engine.breakdown import said
from ...engine.comparison import Comparison
from ...engine.figures import figure
from ...engine.inputs import InputError
from ...engine.notation import TEXT, Text, Written, words
from ...engine.record import Path
from ...engine.scenario import Scenario
from ...engine.writing import Worked, figure_text
from ...units import ONE
from .bars import Growth, growth
from .steps import KNOWN, NUMBERS, QUESTION, SYMBOLS, VALUE, Scene, Step, capitalized, check_names, check_value, facts, in_all, is_told, is_worked_out, order, plain, shown, verdict, worked_steps

FIRST, SECOND = "first", "second"
MOST_CHANGES = 6      # changed inputs on one slide, some of them on two lines
MOST_LISTED = 8       # values listed on one


def change_scenes(comparison: Comparison, name: str, known: Sequence[str] = (), questions: Mapping[str, str] = {}) -> tuple[Scene, ...]:
    """The walk to one quantity in two scenarios. Raises InputError for more than two, or a quantity that they do not share; MissingInputError where one waits."""
    if len(comparison.scenarios) != 2:
        raise InputError(f"walkthrough: tells what changes between two scenarios, not {len(comparison.scenarios)}; write walkthrough(compare(a, b))")
    first, second = comparison.scenarios
    check_names(first, (name, *known, *questions))
    if name not in comparison.shared:
        raise InputError(f"walkthrough: {name} is no quantity that both scenarios have; they share {', '.join(comparison.shared)}")
    check_value(first, name)
    check_value(second, name)
    return tuple(_scenes(comparison, name, known, questions))


def _scenes(comparison: Comparison, name: str, known: Sequence[str], questions: Mapping[str, str]) -> Iterator[Scene]:
    first, second = comparison.scenarios
    before, after = order(first, name, known), order(second, name, known)
    told = [path for path in dict.fromkeys((*before, *after))
            if path == (name,) or path in before and is_told(first, path, known) or path in after and is_told(second, path, known)]
    told.sort(key=lambda path: path == (name,))      # what came last in the first may come before the new in the second
    yield from _inputs(comparison)
    for path in told:
        meaning = type(first).declaration(path).doc
        if path not in before:
            yield Scene(path[0], capitalized(words(path[0])), meaning, (*(fact for _, fact in facts(second, path, known)), *_new_steps(second, path[0], questions)))
        elif path in after and _differs(first, second, path):
            yield Scene(path[0], capitalized(words(path[0])), meaning, tuple(_steps(first, second, path[0], questions)))
    if gone := [path for path in told if path not in after]:
        yield from _lists(first, gone, "What falls away", "Which values does the second no longer need?")
    if staying := [path for path in told if path in before and path in after and not _differs(first, second, path)]:
        yield from _lists(first, staying, "What stays", "Which values stay as they were?")
    if name == type(first).presentation.whole and (growths := _growths(first, second)):
        yield Scene("", "Side by side", "", (), growths)
    yield from _verdicts(first, second, name)


def _lists(scenario: Scenario, found: Sequence[Path], title: str, question: str) -> Iterator[Scene]:
    """Values by name, so many to a scene as a slide holds."""
    for start in range(0, len(found), MOST_LISTED):
        yield Scene("", title if not start else title.replace("What", "What else"), "", (Step(QUESTION, plain(question)), Step(VALUE, _listed(scenario, found[start:start + MOST_LISTED]))))


def _listed(scenario: Scenario, found: Sequence[Path]) -> Written:
    return in_all(lambda n: n.word("; ").join(f"{n.word(words(path[0]))} {figure_text(scenario, path, n)}" for path in found))


def _inputs(comparison: Comparison) -> Iterator[Scene]:
    """What is stated otherwise, so many to a scene as a slide holds. A default that follows from others is no change of its own."""
    first, second = comparison.scenarios
    called = [comparison.labels[0], comparison.labels[1] if second.address else "a variant of it"]      # a variant is called by its changes, which are the answer
    labels = [Step(KNOWN, plain(f"{place}: {label}")) for place, label in zip((FIRST, SECOND), called)]
    differing: list[Path] = [tuple(path.split(".")) for path in comparison.differing]
    changes = [Step(VALUE, in_all(lambda n, path=path: f"{n.word(said(path))}: {_input(first, path, n)} → {_input(second, path, n)}"))
               for path in differing if not all(is_worked_out(scenario, path) for scenario in (first, second))]
    yield Scene("", "What is changed", "", (*labels, Step(QUESTION, plain("Which inputs differ?")), *(changes[:MOST_CHANGES] or [Step(VALUE, plain("none"))])))
    for start in range(MOST_CHANGES, len(changes), MOST_CHANGES):
        yield Scene("", "What else is changed", "", (Step(QUESTION, plain("Which other inputs differ?")), *changes[start:start + MOST_CHANGES]))


def _input(scenario: Any, path: Path, notation: Text) -> str:
    return shown(scenario, path, notation) if scenario.present(path) else notation.word("not given")


def _new_steps(second: Scenario, name: str, questions: Mapping[str, str]) -> Iterator[Step]:
    """A value that only the second scenario rests on."""
    asked, *rest = worked_steps(second, name, questions)
    yield asked if name in questions else Step(QUESTION, plain(f"New in the second. {asked.said}"))
    yield from rest


def _steps(first: Scenario, second: Scenario, name: str, questions: Mapping[str, str]) -> Iterator[Step]:
    """A value in both: the question whether it changes, the formula or formulas, the numbers of each, the change."""
    pair = [(place, Worked(scenario, name)) for place, scenario in ((FIRST, first), (SECOND, second))]
    what = capitalized(words(name))
    (_, before), (_, after) = pair
    yield Step(QUESTION, plain(questions.get(name) or (f"{what}: {before.value(TEXT)} so far. More, less, or the same?" if before.final is not None else f"{what}: {before.value(TEXT)} so far. And now?")))
    if before.symbols(TEXT) == after.symbols(TEXT):
        yield Step(SYMBOLS, in_all(lambda n: f"{before.left(n)}{n.signs['==']}{before.symbols(n)}"), before.declared.source)
    else:
        for place, worked in pair:
            yield Step(SYMBOLS, in_all(lambda n, place=place, worked=worked: f"{n.word(f'{place}: ')}{worked.left(n)}{n.signs['==']}{worked.symbols(n)}"), worked.declared.source)
    for place, worked in pair:
        if worked.numbers(TEXT):
            yield Step(NUMBERS, in_all(lambda n, place=place, worked=worked: f"{n.word(f'{place}: ')}{worked.numbers(n)}{n.signs['==']}{worked.value(n)}"))
    yield Step(VALUE, in_all(lambda n: f"{before.value(n)} → {after.value(n)}{_times(before, after, n)}"))


def _times(before: Worked, after: Worked, notation: Text) -> str:
    """`, × 0.5`: by how much a value is multiplied."""
    if before.final is None or after.final is None or not before.result:
        return ""
    return f",{notation.signs['*']}{notation.figure(figure(after.result / before.result, ONE))}"


def _differs(first: Scenario, second: Scenario, path: Path) -> bool:
    present = [scenario.present(path) for scenario in (first, second)]
    return present[0] != present[1] or all(present) and first.number(path) != second.number(path)


def _growths(first: Scenario, second: Scenario) -> tuple[Growth, ...]:
    """Both bars, whole, on one scale."""
    whole = [growth(scenario, None) for scenario in (first, second)]
    if not all(whole):
        return ()
    scale = max(one[0].scale for one in whole)
    return tuple(growth(scenario, None, label, scale)[0] for scenario, label in ((first, FIRST), (second, SECOND)))


def _verdicts(first: Scenario, second: Scenario, name: str) -> Iterator[Scene]:
    found = [(place, scene) for place, scenario in ((FIRST, first), (SECOND, second)) if (scene := verdict(scenario, name))]
    if len(found) == 2:
        answers = [Step(VALUE, in_all(lambda n, place=place, scene=scene: f"{n.word(f'{place}: ')}{_in(scene.answer, n)}")) for place, scene in found]
        yield Scene("", "The verdict", "", (found[0][1].opening[-1], *answers))


def _in(line: Any, notation: Text) -> str:
    return {"Html": line.html, "Latex": line.latex}.get(type(notation).__name__, str(line))


__all__ = ["change_scenes"]

"""A scenario's title, and the answer to its question in a sentence, with the figures that decide it."""
from __future__ import annotations

import string
from typing import Any

from ..units import unit
from .bar import Bar
from .figures import figure
from .notation import Text, path_words, words
from .record import Path
from .writing import figure_text


class _Title(string.Formatter):
    def __init__(self, scenario: Any):
        self.scenario = scenario

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        if not self.scenario.present(tuple(field_name.split("."))):
            raise LookupError(field_name)
        return self.scenario.figure_text(field_name), field_name


def title(scenario: Any) -> str:
    """What a scenario is, in a few words: its presentation's title, without the pieces in square brackets that mention what is absent."""
    filled, outside = "", True
    for piece in type(scenario).presentation.title.replace("]", "[").split("["):
        try:
            filled += _Title(scenario).format(piece)
        except LookupError as error:
            filled += f"(no {path_words(tuple(str(error.args[0]).split('.')))})" if outside else ""
        outside = not outside
    return filled or class_words(type(scenario))


def class_words(kind: type) -> str:
    """`TrainingStateFitScenario` as `Training state fit`."""
    name = kind.__name__.removesuffix("Scenario") or kind.__name__
    return "".join(f" {c.lower()}" if i and c.isupper() and not name[i - 1].isupper() else c for i, c in enumerate(name)).replace("_", " ")


class Verdict:
    """The question, and its answer with the figures that decide it."""

    def __init__(self, scenario: Any, drawn: Bar | None):
        shown = type(scenario).presentation
        self.scenario, self.bar, self.question, self.answer, self.whole = scenario, drawn, shown.question, shown.answer, words(shown.whole)
        self.waits = tuple(dict.fromkeys(group for name in (shown.answer, shown.whole, shown.capacity) if name for group in _waits(scenario, name)))

    def said(self, notation: Text) -> tuple[str, str, str]:
        """The question, the answer in a word or two, and what decides it."""
        question, drawn, word = notation.word(self.question), self.bar, notation.word
        if self.waits:
            lacking = " and ".join(" or ".join(map(path_words, group)) for group in self.waits)
            ways = " and ".join(" or ".join(notation.code(self.scenario.how_to_give(path)) for path in group) for group in self.waits)
            so_far = f" {word(self.whole.capitalize())}: {drawn.amount_in_both(drawn.whole, notation)}." if drawn else ""
            return question, f"It waits for {word(lacking)}:", f"give {ways}.{so_far}"
        value = getattr(self.scenario, self.answer) if self.answer else None
        answer = word("Yes" if value else "No") if isinstance(value, bool) else figure_text(self.scenario, (self.answer,), notation) if self.answer else ""
        if drawn is None or drawn.capacity is None:
            return question, f"{answer}.", ""
        share = notation.figure(figure(drawn.whole / drawn.capacity, unit("percent")))
        held = f"{drawn.amount_in_both(drawn.whole, notation)} of {drawn.amount_in_both(drawn.capacity, notation)}, {share}"
        return question, f"{answer}:", held + (f"; short by {drawn.amount_in_both(-drawn.free, notation)}." if drawn.free < 0 else ".")


def _waits(scenario: Any, name: str) -> tuple[tuple[Path, ...], ...]:
    """What a quantity waits for, or the absent input that a path runs through."""
    path: Path = tuple(name.split("."))
    if len(path) == 1 and name in type(scenario).quantities:
        return tuple(scenario.waiting_for(name))
    return next(((((*path[:i],),),) for i in range(1, len(path) + 1) if not scenario.present(path[:i])), ())


__all__ = ["Verdict", "class_words", "title"]

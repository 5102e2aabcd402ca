"""A scenario's title, and the answer to its question in a sentence, with the figures that decide it."""
from __future__ import annotations

import string
from typing import Any

from ..units import unit
from .bar import Bar
from .figures import figure
from .inputs import InputError
from .notation import Text, path_words, words
from .waiting import lacking, ways
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
        self.waits = tuple(dict.fromkeys(group for name in (shown.answer, shown.whole, shown.capacity) if name for group in lacking(scenario, tuple(name.split(".")))))

    def said(self, notation: Text) -> tuple[str, str, str]:
        """The question, the answer in a word or two, and what decides it."""
        question, drawn, word = notation.word(self.question), self.bar, notation.word
        if self.waits:
            missing = " and ".join(" or ".join(map(path_words, group)) for group in self.waits)
            so_far = f" {word(self.whole.capitalize())}: {drawn.amount_in_both(drawn.whole, notation)}." if drawn else ""
            return question, f"It waits for {word(missing)}:", f"give {ways(self.scenario, self.waits, notation)}.{so_far}"
        try:
            value = getattr(self.scenario, self.answer) if self.answer else None
        except InputError as error:      # arithmetic that has no answer with these inputs
            return question, word("It has no answer:"), word(f"{error}.")
        answer = word("Yes" if value else "No") if isinstance(value, bool) else figure_text(self.scenario, (self.answer,), notation) if self.answer else ""
        if drawn is None or drawn.capacity is None:
            return question, f"{answer}.", ""
        share = notation.figure(figure(drawn.whole / drawn.capacity, unit("percent")))
        held = f"{drawn.amount_in_both(drawn.whole, notation)} of {drawn.amount_in_both(drawn.capacity, notation)}, {share}"
        return question, f"{answer}:", held + (f"; short by {drawn.amount_in_both(-drawn.free, notation)}." if drawn.free < 0 else ".")


__all__ = ["Verdict", "class_words", "title"]

"""Sentences and questions whose every number is computed: what a notebook says around its scenarios."""
from __future__ import annotations

import re
import string
from html import escape
from typing import Any

from ..engine.figures import figure
from ..engine.record import Record
from ..units import ONE, Quantity

UNBROKEN = "\u00a0"
_FIRST = tuple("0123456789-−")
_IGNORE_MATHS = 'class="mathjax_ignore tex2jax_ignore"'


class Said:
    """A paragraph: plain text, and the same as HTML. `**bold**` and `` `code` `` are understood."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text.replace("**", "").replace("`", "").replace(UNBROKEN, " ")

    def _repr_html_(self) -> str:
        return f'<p {_IGNORE_MATHS} style="max-width:46em">{_marked(self.text)}</p>'


class Question:
    """A question with a hint and an answer that stay folded until a reader opens them."""

    def __init__(self, text: str, hint: str, answer: str):
        self.text, self.hint, self.answer = text, hint, answer

    def __repr__(self) -> str:
        folded = [("Hint", self.hint), ("Answer", self.answer)]
        return "\n".join([repr(Said(self.text)), *(f"{name}: {Said(text)!r}" for name, text in folded if text)])

    def _repr_html_(self) -> str:
        folded = "".join(f'<details style="margin:4px 0 4px 1em"><summary style="cursor:pointer">{name}</summary><p style="margin:4px 0 4px 1em">{_marked(text)}</p></details>'
                         for name, text in (("Hint", self.hint), ("Answer", self.answer)) if text)
        return (f'<div {_IGNORE_MATHS} style="max-width:46em;border-left:4px solid #0072b2;padding-left:12px"><p style="margin:0 0 4px 0">{_marked(self.text)}</p>{folded}</div>')


def say(text: str, **values: Any) -> Said:
    """A paragraph with computed numbers: `say("Adam adds {s.optimizer_state}.", s=scenario)`.

    `{s.total}` is a quantity of a scenario as a breakdown shows it, `{x}` a number or quantity given by name. Raises KeyError or
    AttributeError for an unknown name.
    """
    return Said(_Numbers(values).format(text))


def ask(text: str, *, hint: str = "", answer: str = "", **values: Any) -> Question:
    """A question with a folded hint and a folded answer, whose numbers are computed as in `say`."""
    numbers = _Numbers(values)
    return Question(numbers.format(text), numbers.format(hint), numbers.format(answer))


class _Numbers(string.Formatter):
    """Fills braces with figures as a breakdown shows them."""

    def __init__(self, values: dict[str, Any]):
        self.values = values

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        first, _, path = field_name.partition(".")
        value = self.values[first]
        text = value.figure_text(path) if path and hasattr(value, "figure_text") else shown(getattr(value, path) if path else value)
        return _unbroken(text), field_name


def shown(value: Any) -> str:
    """A number or quantity as a breakdown shows it."""
    from ..engine.notation import TEXT
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return TEXT.plain(value)
    if isinstance(value, Quantity):
        base = value.to_base_units()
        return TEXT.figure(figure(float(base.magnitude), value.units))
    if isinstance(value, Record):
        return str(getattr(value, "name", "")) or repr(value)
    return TEXT.figure(figure(float(value), ONE))


def _unbroken(text: str) -> str:
    """A figure whose number and unit stay on one line; names may break."""
    return text.replace(" ", UNBROKEN) if text[:1] in _FIRST else text


def _marked(text: str) -> str:
    """Escaped text with bold and code marked up, and no dollar sign that a page could take for maths."""
    safe = escape(text).replace("$", "<span>$</span>")
    safe = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", safe)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", safe)


__all__ = ["Question", "Said", "ask", "say", "shown"]

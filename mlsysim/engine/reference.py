"""The reference card of a class: the parts that a documentation page has, as text and as HTML from the same walk."""
from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..units import unit
from .breakdown import call_words, default_text, headed, is_citation
from .declarations import Condition, Derived, Parametrised
from .display import HEADING, ROOT, sources_html
from .expression import paths
from .inputs import Input
from .notation import HTML, TEXT, Text, path_words, words
from .writing import equation_in, formula_in, sign

ROWS = '<div style="display:grid;grid-template-columns:28% 71%;gap:.6em 1%">'
PRE = '<pre style="white-space:pre-wrap;word-break:normal;margin:.3em 0">'
KINDS = {"Quantity": "quantity", "float": "number", "int": "whole number", "bool": "yes or no", "str": "word"}


class Entry(NamedTuple):
    """A line of the card: what it names, what stands beside the name, the paragraphs that are said of it."""
    name: str
    beside: Callable[[Text], str]
    said: Callable[[Text], list[str]]


class Reference:
    """The reference card of a scenario class."""

    def __init__(self, kind: Any):
        self.kind = kind
        cited = [*kind.about.references, *(declared.source for declared in (*kind.inputs.values(), *kind.quantities.values(), *kind.conditions.values()))]
        self.sources = {source: i + 1 for i, source in enumerate(dict.fromkeys(s for s in cited if s in kind.about.references or is_citation(s)))}

    @property
    def purpose(self) -> list[str]:
        """The paragraphs of the class's docstring."""
        return [" ".join(paragraph.split()) for paragraph in inspect.cleandoc(self.kind.__doc__ or "").split("\n\n") if paragraph.strip()]

    @property
    def call(self) -> str:
        """The call that makes an object, with every input that it needs."""
        needed = [declared.how_to_give() for declared in self.kind.inputs.values() if declared.required]
        return f"{self.kind.__name__}({', '.join([*needed, '...'] if len(needed) < len(self.kind.inputs) else needed)})"

    def sections(self) -> Iterator[tuple[str, list[Entry]]]:
        """Headings with their entries, in order; those without an entry are left out."""
        kind = self.kind
        plain = {heading: [n for n in names if not isinstance(kind.quantities[n], Parametrised)] for heading, names in headed(kind)}
        found = [("Inputs", [input_entry(kind, declared, self.cited) for declared in kind.inputs.values()])]
        found += [(f"Attributes: {heading[:1].lower()}{heading[1:]}", [quantity_entry(kind, kind.quantities[n], self.cited) for n in names]) for heading, names in plain.items()]
        found += [("Methods", [quantity_entry(kind, d, self.cited) for d in kind.quantities.values() if isinstance(d, Parametrised)]),
                  ("Refused when an object is made, unless", [condition_entry(kind, c, self.cited) for c in kind.conditions.values() if c.fatal]),
                  ("Warned of, where", [condition_entry(kind, c, self.cited) for c in kind.conditions.values() if not c.fatal])]
        return ((heading, entries) for heading, entries in found if entries)

    @property
    def lists(self) -> list[tuple[str, tuple[str, ...]]]:
        about = self.kind.about
        return [(heading, lines) for heading, lines in (("Assumptions", about.assumptions), ("Exclusions", about.exclusions)) if lines]

    def cited(self, source: str) -> str:
        return f"Source: [{self.sources[source]}]" if source in self.sources else f"Source: {source}" if source else ""

    def __str__(self) -> str:
        return "\n".join(self._text())

    __repr__ = __str__

    def _text(self) -> Iterator[str]:
        yield self.kind.__name__
        for paragraph in (*self.purpose, self.call):
            yield from ("", paragraph)
        for heading, entries in self.sections():
            yield from ("", heading)
            for entry in entries:
                yield from _entry_text(entry)
        for heading, lines in self.lists:
            yield from ("", heading, *(f"  {line}" for line in lines))
        if self.sources:
            yield from ("", "References", *(f"  [{number}] {source}" for source, number in self.sources.items()))
        if self.kind.about.example:
            yield from ("", "Example", *(f"  {line}" for line in self.kind.about.example.splitlines()))

    def _repr_html_(self) -> str:
        return f"{ROOT}{''.join(self._html())}</div>"

    def _html(self) -> Iterator[str]:
        yield f'<div style="font-size:120%;font-weight:600">{HTML.word(self.kind.__name__)}</div>'
        yield from (f'<div style="margin:.4em 0">{HTML.word(paragraph)}</div>' for paragraph in self.purpose)
        yield f"{PRE}{HTML.word(self.call)}</pre>"
        for heading, entries in self.sections():
            yield f"{HEADING}{HTML.word(heading)}</b></div>{ROWS}{''.join(map(_entry_html, entries))}</div>"
        for heading, lines in self.lists:
            yield f"{HEADING}{heading}</b></div>" + "".join(f"<div>{HTML.word(line)}</div>" for line in lines)
        if self.sources:
            yield f"{HEADING}References</b></div>{sources_html(self.sources)}"
        if self.kind.about.example:
            yield f"{HEADING}Example</b></div>{PRE}{HTML.word(self.kind.about.example)}</pre>"


def reference(kind: Any) -> Reference:
    """The reference card of a scenario class."""
    return Reference(kind)


def declaration_text(declared: Any) -> str:
    """One declaration, read on its class, as text."""
    return "\n".join(_entry_text(_entry(declared))).replace("\n    ", "\n  ").strip()


def declaration_html(declared: Any) -> str:
    """One declaration, read on its class, as HTML."""
    return f"{ROOT}{ROWS}{_entry_html(_entry(declared))}</div></div>"


def _entry(declared: Any) -> Entry:
    def cited(source: str) -> str:
        return f"Source: {source}" if source else ""
    made = input_entry if isinstance(declared, Input) else quantity_entry
    return made(declared.home, declared, cited)


def input_entry(kind: Any, declared: Input, cited: Callable[[str], str]) -> Entry:
    """Symbol, type and unit, limits, default, meaning, source."""
    def beside(notation: Text) -> str:
        symbol = sign(kind, (declared.name,), notation) if declared.symbol else ""
        return ", ".join(filter(None, [symbol, notation.word(declared.type_name), notation.word(limits(declared))]))

    def said(notation: Text) -> list[str]:
        default = equation_in(kind, declared.name, notation) if declared.expression is not None else "" if declared.required else notation.word(default_text(declared))
        standing = f"{notation.word('Default: ')}{default}." if default else notation.word("Required.")
        return sentences(notation.word(declared.doc), standing, f"{notation.word('Write ')}{notation.code(declared.how_to_give())}.", notation.word(cited(declared.source)))
    return Entry(declared.name, beside, said)


def sentences(meaning: str, *facts: str) -> list[str]:
    """The meaning, then in a paragraph of its own what else there is to say."""
    return [paragraph for paragraph in (meaning, " ".join(filter(None, facts))) if paragraph]


def limits(declared: Input) -> str:
    """The limits of a number in words, without the one that all have: not to be negative."""
    if declared.kind not in ("quantity", "count", "number"):
        return ""
    return ", ".join(said.removeprefix("must be ") for _, _, said in declared.bounds() if said != "must not be negative")


def quantity_entry(kind: Any, declared: Derived[Any], cited: Callable[[str], str]) -> Entry:
    """Equation, type and unit, meaning, arguments, what it depends on, what it may wait for, source."""
    parameters = declared.parameters.items()

    def said(notation: Text) -> list[str]:
        word = notation.word
        arguments = [f"Argument {name}: {', '.join(filter(None, [p.type_name, limits(p)]))}. {p.doc}".rstrip() for name, p in parameters]
        call = f"{word('Call ')}{notation.code(call_words(declared))}." if parameters else ""
        needed = sorted(map(path_words, kind.may_need(declared.name)))
        waits = f"May wait for {', '.join(needed)}." if needed else ""
        return sentences(word(declared.doc), word(f"A {type_words(declared)}."), *map(word, arguments), call, word(depends(declared.expression)), word(waits), word(cited(declared.source)))
    name = f"{declared.name}({', '.join(declared.parameters)})" if parameters else declared.name
    return Entry(name, lambda notation: equation_in(kind, declared.name, notation), said)


def type_words(declared: Derived[Any]) -> str:
    """`quantity in GB`; `number, shown in percent`; `whole number, or none`"""
    name = KINDS[declared.returns]
    if declared.returns == "Quantity":
        name += f" in {declared.unit}"
    elif declared.unit == unit("percent"):
        name += ", shown in percent"
    return f"{name}, or none" if declared.may_be_nothing else name


def depends(formula: Any) -> str:
    found = ", ".join(map(path_words, paths(formula)))
    return f"Depends on {found}." if found else ""


def condition_entry(kind: Any, condition: Condition, cited: Callable[[str], str]) -> Entry:
    """The condition in symbols, its reason, the message."""
    message = re.sub(r"\{([^}]*)\}", lambda found: f"‹{path_words(tuple(found[1].split('.')))}›", condition.message)
    return Entry(words(condition.name.lstrip("_")), lambda notation: formula_in(kind, condition.expression, notation),
                 lambda notation: sentences(notation.word(condition.doc), notation.word(f"Message: {message}"), notation.word(cited(condition.source))))


def _entry_text(entry: Entry) -> Iterator[str]:
    yield f"  {entry.name}  {entry.beside(TEXT)}".rstrip()
    yield from (f"      {line}" for line in entry.said(TEXT))


def _entry_html(entry: Entry) -> str:
    name = HTML.word(entry.name).replace("_", "_<wbr>")
    return f"<b>{name} </b><span>{'<br>'.join([entry.beside(HTML), *entry.said(HTML)])}<br></span>"


__all__ = ["Reference", "declaration_html", "declaration_text", "reference"]

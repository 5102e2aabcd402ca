"""The breakdown a notebook shows: one telling of a scenario, written as text and as HTML that keeps its shape in any front end."""
from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .bar import bar_html
from .breakdown import Breakdown, Fact, Line, Method, depends_words, short
from .notation import HTML, HTML_LINE, TEXT, Text
from .verdict import title

# JupyterLab strips what it does not know from a notebook that is not trusted: no style element, no svg, no theme colours, no aria.
# So: inline styles, a border where a fill says something, no colour for text, and lines that read right with every tag gone.
ROOT = '<div class="mathjax_ignore tex2jax_ignore" style="max-width:64em;line-height:1.5;overflow-wrap:break-word">'
HEADING = '<div style="border-bottom:1px solid;margin:1.4em 0 .3em"><b>'
FOLDED = '<details><summary style="border-bottom:1px solid;margin:1.3em 0 .3em"><b>'
INPUTS = '<div style="display:grid;width:97%;grid-template-columns:19% 25% 54%;gap:0 1%;padding-left:1.1em">'
COLUMNS = "display:inline-grid;width:97%;grid-template:auto/19% 25% 26% 15% 11%;gap:1%"
SOURCES = '<div style="display:grid;grid-template-columns:2.4em auto">'
OPENED = '<p style="margin:0 1.2em 6px">'
INDENT = "\u2003"


def breakdown_text(scenario: Any) -> str:
    """The breakdown as lines of text."""
    return "\n".join(_text(Breakdown(scenario)))


def breakdown_html(scenario: Any) -> str:
    """The breakdown as HTML."""
    return ROOT + "".join(_html(Breakdown(scenario))) + "</div>"


# As text.

def _text(told: Breakdown) -> Iterator[str]:
    yield told.title
    if told.verdict:
        yield " ".join(told.verdict.said(TEXT)).rstrip()
    yield from (f"Warning: {warning}" for warning in told.warnings)
    if told.bar:
        yield from ("", told.bar.text(), "   ".join(told.bar.sentences(TEXT)))
    yield from _section("Inputs", _text_inputs(told))
    for heading, lines in told.groups:
        yield from _section(heading, ((line.name, _text_line(told, line)) for line in lines))
    if told.waiting:
        yield from ("", "Waiting for an input", *(f"  {waiting.said(TEXT)}" for waiting in told.waiting))
    if told.sources:
        yield from _section("Sources", ((f"[{number}]", source) for source, number in told.sources.items()))


def _section(heading: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    rows = list(pairs)
    width = max((len(name) for name, _ in rows if len(name) < 34), default=0)
    yield from ("", heading)
    yield from (f"  {name:<{width}}  {rest}" for name, rest in rows)


def _text_inputs(told: Breakdown) -> Iterator[tuple[str, str]]:
    for fact in told.facts:
        symbol, other, note = fact.symbol(TEXT), fact.other_system, fact.note
        yield INDENT * fact.within_record + fact.name, _spaced(symbol and f"{symbol} =", fact.value(TEXT), other and f"({other})", note and f"({note})", _cited(told, fact.source))
    if told.defaults:
        yield "at their defaults", ", ".join(_default(told, fact, TEXT) for fact in told.defaults)
    if told.absent:
        yield "not given", ", ".join(told.absent)


def _default(told: Breakdown, fact: Fact, notation: Text) -> str:
    """`sequence length s = 2,048 [3]`"""
    symbol = fact.symbol(notation)
    return _spaced(notation.word(fact.name), symbol and f"{symbol} =", fact.value(notation), notation.word(_cited(told, fact.source)))


def _cited(told: Breakdown, source: str) -> str:
    """`[3]`; nothing for words that cite no work."""
    return f"[{told.sources[source]}]" if source in told.sources else ""


def _text_line(told: Breakdown, line: Line | Method) -> str:
    source = _cited(told, line.declared.source)
    if isinstance(line, Method):
        return _spaced(line.equation(TEXT), f"call {line.call}", source)
    numbers, other = line.numbers(TEXT), line.other_system
    return _spaced(line.equation(TEXT), numbers, line.value(TEXT), other and f"({other})", line.remark and f"({line.remark})", source)


def _spaced(*pieces: str) -> str:
    return " ".join(filter(None, pieces))


# As HTML.

def _html(told: Breakdown) -> Iterator[str]:
    yield f'<div style="font-size:120%;font-weight:600">{HTML.word(told.title)}</div>'
    if told.verdict:
        question, answer, figures = told.verdict.said(HTML)
        yield f"<div>{question} <b>{answer}</b> {figures}</div>"
    for warning in told.warnings:
        yield f'<div style="border-left:4px solid #D55E00;padding-left:.6em;margin:.5em 0"><b>Warning:</b> {HTML.word(warning)}</div>'
    if told.bar:
        yield bar_html(told.bar)
    yield f"{HEADING}Inputs</b></div>{INPUTS}{''.join(_html_inputs(told))}</div>"
    for heading, lines in told.groups:
        rows = "".join(_html_line(told, line) for line in lines)
        yield f"{FOLDED}{HTML.word(heading)}</b></summary>{rows}</details>" if heading in told.folded else f"{HEADING}{HTML.word(heading)}</b></div>{rows}"
    if told.waiting:
        yield f"{HEADING}Waiting for an input</b></div>"
        yield from (f"<div>{waiting.said(HTML)}</div>" for waiting in told.waiting)
    if told.sources:
        yield f"{FOLDED}Sources</b></summary>{sources_html(told.sources)}</details>"


def _html_inputs(told: Breakdown) -> Iterator[str]:
    """Three cells each: the name as bare text, the value, the meaning with a break, which starts a line where the grid is stripped."""
    for fact in told.facts:
        symbol, other, note = fact.symbol(HTML), fact.other_system, fact.note
        value = _spaced(symbol and f"{symbol} =", f"<b>{fact.value(HTML)}</b>", other and f"({other})", note and f"({HTML.word(note)})")
        yield f"{INDENT * fact.within_record}{HTML.word(fact.name)} <span>{value} </span><span>{_spaced(HTML.word(fact.declared.doc), HTML.word(_cited(told, fact.source)))}<br></span>"
    if told.defaults:
        yield f'at their defaults <span style="grid-column:2/4">{", ".join(_default(told, fact, HTML) for fact in told.defaults)}<br></span>'
    if told.absent:
        yield f'not given <span style="grid-column:2/4">{HTML.word(", ".join(told.absent))}<br></span>'


def sources_html(sources: Mapping[str, int]) -> str:
    """Citations with their numbers."""
    return SOURCES + "".join(f"[{number}] <span>{HTML.word(source)}<br></span>" for source, number in sources.items()) + "</div>"


def _html_line(told: Breakdown, line: Line | Method) -> str:
    """A row of five cells, which opens. Bare text is a cell of its own; a fraction asks for one common baseline."""
    name, equation, source = HTML.word(line.name), line.equation(HTML), line.declared.source
    columns = f"{COLUMNS};align-items:baseline" if "inline-block" in equation else COLUMNS
    opened = _opened(line)
    if source:
        opened += f"<br>Source: {_spaced(HTML.word(short(source)), _cited(told, source)) or HTML.word(source)}"
    if isinstance(line, Method):
        cells = f'{name} <span>{equation} </span><span style="grid-column:3/6">call {HTML.code(line.call)}</span>'
    else:
        numbers, other = line.numbers(HTML_LINE), line.other_system
        if not numbers or "<" in numbers:
            numbers = f"<span>{numbers}</span>"
        cells = f'{name} <span>{equation} </span>{numbers} <b style=text-align:right>{line.value(HTML)} </b>{other and f"({other})"}'
        if line.remark:
            cells += f' <span style="grid-column:2/5;text-align:right">({HTML.word(line.remark)})</span>'
    return f'<details><summary><span style="{columns}">{cells}</span></summary>{OPENED}{opened}</p></details>'


def _opened(line: Line | Method) -> str:
    """What a row opens to: meaning, what it depends on, the branches that do not hold."""
    if isinstance(line, Line) and line.varies:
        return "<br>".join([_meaning(line.kind, line.path[0], line.depends_on), *line.rest(HTML)])
    return _meaning(line.kind, line.path[0])


@functools.lru_cache(maxsize=4096)
def _meaning(kind: Any, name: str, depends_on: str | None = None) -> str:
    declared = kind.quantities[name]
    depends = depends_words(declared.expression) if depends_on is None else depends_on
    return "<br>".join(filter(None, [HTML.word(declared.doc), depends and f"Depends on {HTML.word(depends)}"]))


__all__ = ["HEADING", "ROOT", "breakdown_html", "breakdown_text", "sources_html", "title"]

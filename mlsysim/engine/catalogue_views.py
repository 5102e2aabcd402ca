"""How catalogue entries show themselves, a group as a table and one entry as a card, in HTML and as text from the same cells."""
from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from ..units import Quantity
from .declarations import Parametrised
from .derivation import Derivation, MissingInputError
from .notation import words
from .record import Record
from .writing import figure_text

CELL = "padding:2px 8px;"
CARD = ("fact", "value", "source")
FOLLOWING = ("what follows", "value", "equation")
WORDS = ("entry", "name", "group", "names", "fact", "source", "what follows", "equation")


def citations(record: Record) -> dict[str, str]:
    """The citation of each fact of a record and of the records it holds, by path: `{"memory.capacity": "NVIDIA A100 datasheet"}`."""
    found = dict(record.sources)
    for name, declared in type(record).inputs.items():
        if declared.kind == "record" and (held := record.at(name)) is not None and not held.address:
            found |= {f"{name}.{inner}": source for inner, source in citations(held).items()}
    return found


def table_html(title: str, columns: Sequence[str], records: Sequence[Record]) -> str:
    """The entries as an HTML table that reads the same with its styles stripped."""
    return rows_html(title, _heads(columns), _rows(columns, records))


def table_text(title: str, columns: Sequence[str], records: Sequence[Record]) -> str:
    """The entries as aligned text."""
    return rows_text(title, _heads(columns), _rows(columns, records))


def card_html(record: Record) -> str:
    """One entry: its facts with their citations, and what follows from them with its equation."""
    following = _following(record)
    below = f"<details><summary>What follows from these facts</summary>{rows_html('', FOLLOWING, following)}</details>" if following else ""
    return f'<div class="mathjax_ignore tex2jax_ignore">{rows_html(_card_title(record), CARD, _facts(record))}{below}</div>'


def card_text(record: Record) -> str:
    """One entry as aligned text."""
    following = _following(record)
    return "\n".join([rows_text(_card_title(record), CARD, _facts(record)), *([rows_text("", FOLLOWING, following)] if following else [])])


def _card_title(record: Record) -> str:
    return f"{record.at('name')} ({record.address})" if record.address else str(record.at("name"))


def _facts(record: Record, before: str = "") -> list[list[str]]:
    """Every stated fact with its citation, those of the records it holds in its place."""
    rows = []
    for name, value in record.given_inputs().items():
        if isinstance(value, Record) and not value.address:
            rows += _facts(value, f"{before}{words(name)}: ")
        elif name != "name":
            rows.append([before + words(name), _cell(record, name), record.sources.get(name, "")])
    return rows


def _following(record: Record) -> list[list[str]]:
    """Every derived quantity that has a value and is no more than nothing."""
    if not isinstance(record, Derivation):
        return []
    kind = type(record)
    cells = {name: _cell(record, name) for name, declared in kind.quantities.items() if not isinstance(declared, Parametrised)}
    return [[words(name), cell, kind.equation(name)] for name, cell in cells.items() if cell not in ("", "0")]


def rows_html(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells as an HTML table; the first column names its row."""
    caption = f'<caption style="text-align:left;padding:4px 10px"><b>{escape(title)}</b></caption>' if title else ""
    styles = [f"{CELL}text-align:{_side(head)}" for head in heads]
    head = "".join(f'<th scope="col" style="{style}">{escape(cell)}</th>' for cell, style in zip(heads, styles))
    body = "".join(f'<tr><th scope="row" style="{styles[0]}">{escape(first)}</th>' + "".join(f'<td style="{style}">{_markup(cell)}</td>' for cell, style in zip(cells, styles[1:])) + "</tr>"
                   for first, *cells in rows)
    return f'<div style="overflow-x:auto"><table style="border-collapse:collapse">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _markup(cell: str) -> str:
    """An equation in its own HTML, any other cell escaped."""
    return getattr(cell, "html", None) or escape(cell)


def rows_text(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same cells as aligned text."""
    every = [list(heads), *rows]
    widths = [max(map(len, column)) for column in zip(*every)]
    lines = ["  ".join(cell.ljust(width) if _side(head) == "left" else cell.rjust(width) for cell, width, head in zip(row, widths, heads)).rstrip() for row in every]
    return "\n".join([title, *lines])


def _side(head: str) -> str:
    """Words stand left, numbers right."""
    return "left" if head in WORDS else "right"


def _heads(columns: Sequence[str]) -> list[str]:
    return ["entry", "name", *(words(column) for column in columns)]


def _rows(columns: Sequence[str], records: Sequence[Record]) -> list[list[str]]:
    return [[record.address.rpartition(".")[2], str(record.at("name")), *(_cell(record, column) for column in columns)] for record in records]


def _cell(record: Record, column: str) -> str:
    """A fact as it was stated, a count in full; empty where there is none."""
    try:
        value: Any = record.at(column)
    except MissingInputError:
        return ""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return "; ".join(", ".join(_cell(row, name) for name in type(row).inputs) for row in value)
    if isinstance(value, Quantity) and value.dimensionless or isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value if isinstance(value, int | float) else value.m_as(''):,.0f}"
    return figure_text(record, tuple(column.split(".")))


__all__ = ["card_html", "card_text", "citations", "rows_html", "rows_text", "table_html", "table_text"]

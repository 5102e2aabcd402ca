"""How a group of catalogue entries shows itself as a table, in HTML and as text from the same cells."""
from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..units import Quantity
from .derivation import MissingInputError
from .inputs import Input
from .record import Record
from .writing import figure_text

CELL = "padding:2px 10px;border-bottom:1px solid #999;"


def table_html(title: str, columns: Sequence[str], records: Sequence[Record]) -> str:
    """The entries as an HTML table that reads the same with its styles stripped."""
    heads = "".join(f'<th scope="col" style="{CELL}text-align:{"left" if i < 2 else "right"}">{escape(head)}</th>' for i, head in enumerate(_heads(columns)))
    rows = []
    for address, name, *cells in _rows(columns, records):
        shown = "".join(f'<td style="{CELL}text-align:right">{escape(cell)}</td>' for cell in cells)
        rows.append(f'<tr><th scope="row" style="{CELL}text-align:left"><code>{escape(address)}</code></th><td style="{CELL}text-align:left">{escape(name)}</td>{shown}</tr>')
    return (f'<div style="overflow-x:auto"><table style="border-collapse:collapse"><caption style="text-align:left;padding:4px 10px"><b>{escape(title)}</b></caption>'
            f'<thead><tr>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>')


def table_text(title: str, columns: Sequence[str], records: Sequence[Record]) -> str:
    """The entries as aligned text."""
    rows = [_heads(columns), *_rows(columns, records)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows]
    return "\n".join([title, *lines])


def _heads(columns: Sequence[str]) -> list[str]:
    return ["entry", "name", *(column.rpartition(".")[2].replace("_", " ") for column in columns)]


def _rows(columns: Sequence[str], records: Sequence[Record]) -> list[list[str]]:
    return [[record.address.rpartition(".")[2], str(record.at("name")), *(_cell(record, column) for column in columns)] for record in records]


def _cell(record: Record, column: str) -> str:
    """A fact as it was stated, a count in full; empty where there is none."""
    try:
        value = record.at(column)
    except MissingInputError:
        return ""
    if value is None:
        return ""
    if isinstance(value, Quantity) and value.dimensionless or isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value if isinstance(value, int | float) else value.m_as(''):,.0f}"
    return figure_text(record, tuple(column.split(".")))


__all__ = ["table_html", "table_text"]

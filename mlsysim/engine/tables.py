"""How a small table is drawn: as aligned text, and as HTML that any notebook keeps."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

LEFT = ' style="text-align:left"'
MOST_ROWS = 60


@dataclass(frozen=True)
class Grid:
    """Cells under heads. A row of one cell is a heading inside the table; `words` are the columns that hold words, which stand left."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[int] = frozenset({0})
    below: tuple[str, ...] = ()

    def text(self) -> str:
        """The table as aligned text."""
        full = [row for row in (self.heads, *self.rows) if len(row) == len(self.heads)]
        widths = [max(map(len, column)) for column in zip(*full)]

        def line(row: Sequence[str]) -> str:
            if len(row) < len(self.heads):
                return "\n" + "".join(row)
            return "  ".join(cell.ljust(width) if i in self.words else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
        return "\n".join([*([self.title] if self.title else []), *map(line, (self.heads, *self.rows)), *self.below])

    def html(self) -> str:
        """The table as HTML whose cells say the same."""
        sides = [LEFT if i in self.words else "" for i in range(len(self.heads))]
        caption = f'<caption style="text-align:left"><b>{kept(self.title)}</b></caption>' if self.title else ""
        head = "".join(f'<th scope="col"{side}>{kept(cell)}</th>' for cell, side in zip(self.heads, sides))
        body = "".join(f'<tr style="text-align:right;border-bottom:1px solid #999">{self._cells(row, sides)}</tr>' for row in self.rows)
        notes = "".join(f"<div>{kept(note)}</div>" for note in self.below)
        return (f'<div class="mathjax_ignore tex2jax_ignore" style="overflow-x:auto"><table cellpadding="3" style="border-collapse:collapse">{caption}'
                f'<thead><tr style="text-align:right">{head}</tr></thead><tbody>{body}</tbody></table>{notes}</div>')

    def _cells(self, row: Sequence[str], sides: Sequence[str]) -> str:
        if len(row) < len(sides):
            return f'<th colspan="{len(sides)}" style="text-align:left;padding-top:.8em">{kept("".join(row))}</th>'
        first, *others = row
        style = "text-align:left;font-weight:normal" if sides[0] else "font-weight:normal"
        return f'<th scope="row" style="{style}">{kept(first)}</th>' + "".join(f"<td{side}>{kept(cell)}</td>" for cell, side in zip(others, sides[1:]))


class Drawn:
    """Base of results that a notebook shows as a table, and a terminal as its text."""

    def grid(self) -> Grid:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.grid().text()

    def _repr_html_(self) -> str:
        return self.grid().html()


def kept(text: str) -> str:
    """Text inside HTML; a dollar sign would start mathematics in some notebooks."""
    return escape(text, quote=False).replace("$", "<span>$</span>")


def shortened(rows: Iterable[tuple[str, ...]], count: int, columns: int) -> tuple[tuple[str, ...], ...]:
    """The first rows of a long table, and how many more there are."""
    taken = [row for row, _ in zip(rows, range(MOST_ROWS))]
    if count > MOST_ROWS:
        taken.append((f"… and {count - MOST_ROWS:,} more", *[""] * (columns - 1)))
    return tuple(taken)


__all__ = ["Drawn", "Grid", "shortened"]

"""The ledger as a table: for each tensor its operation, shape, width, bytes and reason, with both kinds of kernels side by side."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...evaluation import scalar
from ...expression import Expression, Symbol
from ...figures import figure
from ...notation import HTML, TEXT, Text, words, write
from ...writing import sign
from ...scenario_parts.activation_ledger.rows import SavedTensor, tensor_of

SECTIONS = ("One layer's normalizations", "One layer's attention", "One layer's feed-forward block", "Before the layers", "Behind the layers", "Cast weights")
BAR = 12


@dataclass(frozen=True)
class Row:
    """One tensor of a ledger. sizes: its sides in numbers; width, size: bytes of a value and of all; other_size: bytes with the other kernels."""
    declared: SavedTensor[Any]
    sides: tuple[Expression, ...]
    sizes: tuple[float, ...]
    width: float
    size: float
    other_size: float
    share: float


def rows(ledger: Any, names: tuple[str, ...]) -> list[Row]:
    """The rows of those names that hold something, with these kernels or the others. Raises Absent where one waits for an input."""
    other = ledger.variant(kernels="cpu" if ledger.kernels == "gpu" else "gpu")
    total = sum(ledger.number((name,)) for name in names)
    found = []
    for name in names:
        declared = type(ledger).quantities[name]
        size, other_size = ledger.number((name,)), other.number((name,))
        holder = ledger if size else other
        made = tensor_of(declared, holder)
        if made is not None and (size or other_size):
            found.append(Row(declared, made.shape, tuple(scalar(side)(holder) for side in made.shape), scalar(made.width)(holder), size, other_size, size / total if total else 0.0))
    return found


class Ledger:
    """The rows of a scenario as a table, in text and in HTML. Reading it raises MissingInputError where the architecture is not known."""

    def __init__(self, scenario: Any):
        self.scenario = scenario
        scenario.activations      # raises in words where an input is absent
        self.sections = [(heading, found) for heading in SECTIONS if (found := rows(scenario, type(scenario).presentation.groups[heading]))]

    @property
    def kernels(self) -> tuple[str, str]:
        """The kernels of the scenario, and the others."""
        return self.scenario.kernels, "cpu" if self.scenario.kernels == "gpu" else "gpu"

    def _sides(self, row: Row, notation: Text) -> str:
        def leaf(e: Expression) -> str:
            if not isinstance(e, Symbol):
                raise TypeError(f"the side of a tensor is arithmetic of quantities, not {e!r}")
            return sign(type(self.scenario), e.path, notation)
        return ", ".join(write(side, notation, leaf) for side in row.sides)

    def _cells(self, row: Row, notation: Text) -> Iterator[str]:
        amount = lambda size: notation.figure(figure(size, row.declared.unit))      # noqa: E731
        yield notation.word(row.declared.operation)
        yield notation.word(row.declared.tensor)
        yield self._sides(row, notation)
        yield notation.word(" × ".join(f"{size:,.10g}" for size in row.sizes))
        yield amount(row.width)
        yield amount(row.size)
        yield amount(row.other_size) if row.other_size != row.size else notation.word("same")

    @property
    def headings(self) -> tuple[str, ...]:
        mine, other = self.kernels
        return ("operation", "what is kept", "shape", "in numbers", "width", f"{mine} kernels", f"{other} kernels")

    def __str__(self) -> str:
        told = [(heading, [tuple(self._cells(row, TEXT)) for row in found], found) for heading, found in self.sections]
        widths = [max(len(cells[i]) for cells in [self.headings, *(c for _, lines, _ in told for c in lines)]) for i in range(len(self.headings))]
        lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(self.headings, widths)).rstrip()]
        for heading, cells_of, found in told:
            lines += ["", heading]
            for cells, row in zip(cells_of, found):
                bar = "█" * round(BAR * row.share)
                lines.append("  ".join([*(f"{c:<{w}}" for c, w in zip(cells[:5], widths)), *(f"{c:>{w}}" for c, w in zip(cells[5:], widths[5:])), f"{bar:<{BAR}}", row.declared.doc]))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f'<th style="text-align:{"right" if i > 3 else "left"};padding:0 .6em">{HTML.word(heading)} </th>' for i, heading in enumerate(self.headings))
        body = []
        for heading, found in self.sections:
            body.append(f'<tr><th colspan="8" style="text-align:left;border-bottom:1px solid;padding:.8em .6em 0">{HTML.word(heading)} </th></tr>')
            for row in found:
                cells = "".join(f'<td style="text-align:{"right" if i > 3 else "left"};padding:0 .6em">{cell} </td>' for i, cell in enumerate(self._cells(row, HTML)))
                bar = f'<div style="background-color:#56B4E9;border:1px solid;height:.7em;width:{max(row.share, 0.005) * 10:.2f}em"></div>' if row.size else ""
                body.append(f'<tr>{cells}<td style="text-align:left">{bar}</td></tr>'
                            f'<tr><td></td><td colspan="7" style="text-align:left;padding:0 .6em .3em;font-size:90%">{HTML.word(row.declared.doc)} '
                            f'Source: {HTML.word(row.declared.source)}.</td></tr>')
        return (f'<div class="mathjax_ignore tex2jax_ignore" style="line-height:1.4"><table style="border-collapse:collapse"><thead><tr>{head}<th style="text-align:left">share </th></tr></thead>'
                f'<tbody>{"".join(body)}</tbody></table></div>')

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Each row as plain data, for a table of one's own: pandas.DataFrame(scenario.ledger)."""
        for heading, found in self.sections:
            for row in found:
                yield {"section": heading, "name": words(row.declared.name), "operation": row.declared.operation, "tensor": row.declared.tensor, "shape": self._sides(row, TEXT),
                       "sizes": row.sizes, "width": row.width, self.kernels[0]: row.size, self.kernels[1]: row.other_size, "why": row.declared.doc, "source": row.declared.source}


__all__ = ["Ledger", "Row", "rows"]

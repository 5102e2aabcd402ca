"""Comparisons one under another, as text and as a notebook shows them."""
from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .comparison import Comparison

HEADINGS = ("", "predicted", "measured", "prediction off by")
STYLES = ('style="text-align:left;padding:0 .6em"', *3 * ('style="text-align:right;padding:0 .6em"',))


class SideBySide:
    """A table of what was predicted and what was measured, in bytes."""

    def __init__(self, comparisons: tuple[Comparison, ...]):
        self.comparisons = comparisons

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.comparisons)

    @property
    def _lines(self) -> list[tuple[str, ...]]:
        return [(of.what, f"{of.predicted:,.0f} B", f"{of.measured:,} B", _off(of)) for of in self.comparisons]

    def __repr__(self) -> str:
        lines = [HEADINGS, *self._lines]
        first, *others = (max(map(len, column)) for column in zip(*lines))
        return "\n".join("  ".join([f"{line[0]:<{first}}", *(f"{cell:>{width}}" for cell, width in zip(line[1:], others))]) for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col" {style}>{heading} </th>' for heading, style in zip(HEADINGS, STYLES))
        body = "".join("<tr>" + "".join(f"<td {style}>{escape(cell)} </td>" for cell, style in zip(line, STYLES)) + "</tr>" for line in self._lines)
        return f'<table class="mathjax_ignore tex2jax_ignore" style="border-collapse:collapse"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _off(of: Comparison) -> str:
    """How far the prediction is off, in bytes and as a share of what was measured."""
    if of.predicted == of.measured:
        return "nothing"
    share = f"{of.error:+.3%}" if abs(of.error) >= 5e-6 else "less than 0.001%"
    return f"{of.predicted - of.measured:+,.0f} B ({share})".replace("-", "−")


def side_by_side(*comparisons: Comparison) -> SideBySide:
    """A table of comparisons: `side_by_side(compare_block(one), compare_block(other))`."""
    return SideBySide(comparisons)


__all__ = ["SideBySide", "side_by_side"]

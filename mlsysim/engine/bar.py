"""A bar of parts against a capacity: what each part is, how long it is drawn, and where the capacity's wall stands."""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from .figures import figure
from .inputs import InputError
from .notation import HTML, Text, words
from .record import Path
from .writing import in_both_systems

# Okabe and Ito 2008, Color Universal Design, "Color set for color-blind readers"; ordered so that neighbours also differ in lightness.
FILLS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#D55E00")
CHARACTERS = 64


@dataclass(frozen=True)
class Part:
    """One part: its letter, its name, its size in base units, and the colour it has wherever it is drawn."""
    mark: str
    name: str
    size: float
    fill: str


@dataclass(frozen=True)
class Bar:
    """Parts that make up a whole, and the capacity they are held against (None where none is known), in base units."""
    parts: tuple[Part, ...]
    whole: float
    capacity: float | None
    unit: Any

    @property
    def scale(self) -> float:
        """What the full length stands for."""
        return max(self.whole, self.capacity or 0.0)

    @property
    def free(self) -> float:
        """What the capacity leaves; negative where the whole exceeds it."""
        return (self.capacity or self.whole) - self.whole

    def amount(self, size: float, notation: Text) -> str:
        return notation.figure(figure(size, self.unit))

    def amount_in_both(self, size: float, notation: Text) -> str:
        """`85.9 GB (80 GiB)`."""
        other = in_both_systems(size, self.unit)
        return self.amount(size, notation) + (f" ({notation.word(other)})" if other else "")

    def sentences(self, notation: Text) -> list[str]:
        """What the bar shows, said: each part with its letter, then what is free or over."""
        said = [f"{part.mark} {notation.word(part.name)} {self.amount(part.size, notation)}" for part in self.parts]
        if self.capacity is not None:
            said.append(f"free {self.amount(self.free, notation)}" if self.free >= 0 else f"over capacity by {self.amount(-self.free, notation)}")
        return said

    def pieces(self) -> list[tuple[Part, float, bool]]:
        """Each part's length as a share of the bar, cut in two at the wall; and whether the piece lies beyond it."""
        found, start = [], 0.0
        wall = self.capacity if self.capacity is not None and self.free < 0 else self.scale
        for part in self.parts:
            within = min(max(wall - start, 0.0), part.size)
            found += [(part, length / self.scale, beyond) for length, beyond in ((within, False), (part.size - within, True)) if length > 0]
            start += part.size
        return found

    def text(self) -> str:
        """The bar in letters: a letter for each part, a dot for what is free, a stroke for the wall."""
        cells, start = "", 0.0
        for part in self.parts:
            start += part.size
            cells += part.mark * (round(CHARACTERS * start / self.scale) - len(cells))
        cells += "·" * (CHARACTERS - len(cells))
        if self.capacity is not None and self.free < 0:
            wall = round(CHARACTERS * self.capacity / self.scale)
            cells = f"{cells[:wall]}|{cells[wall:]}"
        return f"[{cells}]"


def bar_html(drawn: Bar) -> str:
    """The bar as HTML: each part a filled piece with its letter, the wall a thick stroke, and a key that says it all in words."""
    fills = {part.mark: f"background:{part.fill};color:#000" for part in drawn.parts}
    pieces = drawn.pieces()
    lengths = [length for _, length, _ in pieces]
    cells, lettered, walled = [], set[str](), False
    for part, length, beyond in pieces:
        wall = ";border-left:3px solid" if beyond and not walled else ""
        walled = walled or beyond
        letter = part.mark if length > 0.03 and length == max(other for p, other, _ in pieces if p is part) and part.mark not in lettered else ""
        lettered.add(letter)
        cells.append(f'<span style="{fills[part.mark]}{wall};border-right:1px solid">{letter} </span>')
    if drawn.free > 0:
        lengths.append(drawn.free / drawn.scale)
        cells.append(f"<span>{'free' if lengths[-1] > 0.08 else ''}</span>")
    key = [f'<span style="{fills[part.mark]};border:1px solid;padding:0 .4em">{part.mark}</span> {said.removeprefix(part.mark + " ")}' for part, said in zip(drawn.parts, drawn.sentences(HTML))]
    key += drawn.sentences(HTML)[len(drawn.parts):]
    entries = "".join(f"<span>{entry} </span>" for entry in key)
    columns = " ".join(f"{length:.2%}" for length in lengths)
    above, below = _labels(drawn)
    return (f'<div style="margin:.8em 0 .3em">{above}<div style="display:grid;grid-template-columns:{columns};border:1px solid;text-align:center;line-height:2.2">'
            f'{"".join(cells)}</div>{below}</div><div style="display:flex;flex-wrap:wrap;gap:0 1.6em">{entries}</div>')


def _labels(drawn: Bar) -> tuple[str, str]:
    """The capacity's label: below the bar's end, or above the wall where the parts run past it."""
    if drawn.capacity is None:
        return "", f'<div style="text-align:right">total {drawn.amount_in_both(drawn.whole, HTML)}</div>'
    label, share = f"capacity {drawn.amount_in_both(drawn.capacity, HTML)}", drawn.capacity / drawn.scale
    if drawn.free >= 0:
        return "", f'<div style="text-align:right">{label}</div>'
    place = f"width:{share:.2%};text-align:right;border-right:3px solid;padding-right:.4em;box-sizing:border-box" if share > 0.5 else f"margin-left:{share:.2%};border-left:3px solid;padding-left:.4em"
    return f'<div style="{place}">{label}</div>', f'<div style="text-align:right">total {drawn.amount_in_both(drawn.whole, HTML)}</div>'


def bar(scenario: Any) -> Bar | None:
    """The bar that a scenario's presentation asks for; None where its whole waits or it names none."""
    shown = type(scenario).presentation
    if not shown.parts or not (whole := base(scenario, shown.whole)):
        return None
    sizes = [(name, size, fill) for name, fill in zip(shown.parts, itertools.cycle(FILLS)) if (size := base(scenario, name))]
    parts = tuple(Part(chr(ord("A") + i), words(name), size, fill) for i, (name, size, fill) in enumerate(sizes))
    return Bar(parts, whole, base(scenario, shown.capacity), type(scenario).declaration((shown.whole,)).unit)


def base(scenario: Any, name: str) -> float | None:
    """A value in base units; None where it is absent, waits, or arithmetic has no answer."""
    path: Path = tuple(name.split("."))
    try:
        return float(scenario.number(path)) if name and scenario.present(path) else None
    except InputError:
        return None


__all__ = ["Bar", "FILLS", "Part", "bar", "bar_html", "base"]

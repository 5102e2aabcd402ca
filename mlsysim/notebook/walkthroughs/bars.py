"""The bar that grows with a derivation: the parts told so far, in their colours, on a scale that stays."""
from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from ...engine.bar import CHARACTERS, FILLS, Bar, Part, bar
from ...engine.evaluation import taken
from ...engine.expression import Symbol
from ...engine.notation import HTML, TEXT, Text, words

LETTERED = 0.03       # the least share of the bar in which a letter stands
LABEL_ROOM = 0.4      # the least share that leaves room for the capacity's label on the left of its mark


@dataclass(frozen=True)
class Growth:
    """A bar with some of its parts, of which the last came with the newest step. label: whose bar it is, where there are several."""
    full: Bar
    parts: tuple[Part, ...]
    new: frozenset[str]
    scale: float
    label: str = ""

    @property
    def size(self) -> float:
        return sum(part.size for part in self.parts)

    @property
    def tells(self) -> bool:
        """Whether it shows what the slide before did not, or all there is."""
        return bool(self.new) or len(self.parts) == len(self.full.parts)

    def said(self, notation: Text) -> list[str]:
        """Each part with its letter, then what is left or lacking."""
        found = [f"{part.mark} {notation.word(part.name)} {self.full.amount(part.size, notation)}" for part in self.parts]
        return found + ([rest] if (rest := self.rest(notation)) else [])

    def rest(self, notation: Text) -> str:
        if self.full.capacity is None:
            return ""
        left = self.full.capacity - self.size
        return f"free {self.full.amount(left, notation)}" if left >= 0 else f"over capacity by {self.full.amount(-left, notation)}"

    def text(self) -> str:
        """The bar in letters, a dot for what is not filled."""
        cells, start = "", 0.0
        for part in self.parts:
            start += part.size
            cells += part.mark * (round(CHARACTERS * start / self.scale) - len(cells))
        prefix = f"{self.label}: " if self.label else ""
        return f"{prefix}[{cells.ljust(CHARACTERS, '·')}]  {', '.join(self.said(TEXT))}"

    def html(self, revealed: bool = True, fragment: str = "") -> str:
        """The bar with its key. Before the newest step is revealed its parts are left out, unless they are a fragment of a slide."""
        shown = [part for part in self.parts if revealed or fragment or part.name not in self.new]
        grid = " ".join(f"{part.size / self.scale:.2%}" for part in shown)
        cells = "".join(f'<span{self._fragment(part, fragment)} style="background:{part.fill};color:#000;border-right:1px solid #000">'
                        f'{part.mark if part.size / self.scale > LETTERED else ""} </span>' for part in shown)
        entries = [f'<span{self._fragment(part, fragment)}><span style="background:{part.fill};color:#000;border:1px solid #000;padding:0 .4em">{part.mark}</span> '
                   f'{HTML.word(part.name)} {self.full.amount(part.size, HTML)} </span>' for part in shown]
        if (revealed or fragment) and (rest := self.rest(HTML)):
            entries.append(f"<span{fragment}>{rest}</span>")
        label = f"<div>{escape(self.label)}</div>" if self.label else ""
        return (f'<div class="mlsysim-bar" style="margin:.6em 0 0">{label}{self._wall()}<div style="display:grid;grid-template-columns:{grid or "auto"};border:1px solid;text-align:center;'
                f'line-height:1.8;min-height:1.8em">{cells}</div><div style="display:flex;flex-wrap:wrap;gap:.2em 1.4em;margin-top:.3em">{"".join(entries)}</div></div>')

    def _fragment(self, part: Part, fragment: str) -> str:
        return fragment if part.name in self.new else ""

    def _wall(self) -> str:
        """Where the capacity ends, marked above the bar."""
        if self.full.capacity is None:
            return ""
        share, label = self.full.capacity / self.scale, f"capacity {self.full.amount_in_both(self.full.capacity, HTML)}"
        if share >= LABEL_ROOM:
            return f'<div style="width:{share:.2%};text-align:right;border-right:4px solid;padding-right:.4em;box-sizing:border-box">{label}</div>'
        return f'<div style="margin-left:{share:.2%};border-left:4px solid;padding-left:.4em">{label}</div>'


def growth(scenario: Any, told: Sequence[str] | None, label: str = "", scale: float = 0.0) -> tuple[Growth, ...]:
    """The scenario's bar once these quantities are told, the newest last; all of it for None. Empty where it has no bar, where no part of it is told, and past its whole."""
    full = bar(scenario)
    if full is None or told is not None and type(scenario).presentation.whole in told[:-1]:      # what follows from the whole is not in the bar
        return ()
    shown = type(scenario).presentation
    if label:      # beside another bar, which may lack a part, a part keeps its place's letter and colour
        places = [words(name) for name in shown.parts]
        full = replace(full, parts=tuple(replace(part, mark=chr(ord("A") + places.index(part.name)), fill=FILLS[places.index(part.name) % len(FILLS)]) for part in full.parts))
    everything = [stands_for(scenario, name) for name in shown.parts]
    if told is None:
        parts, before = _parts(scenario, full, everything), _parts(scenario, full, everything)
    else:
        parts, before = _parts(scenario, full, [*told, *everything] if shown.whole in told else told), _parts(scenario, full, told[:-1])
    new = frozenset(part.name for part in parts if part not in before)
    return (Growth(full, tuple(parts), new, scale or full.scale, label),) if parts else ()


def _parts(scenario: Any, full: Bar, told: Collection[str]) -> list[Part]:
    """The parts of the bar that are told, in the order of telling."""
    told = list(dict.fromkeys(told))
    named = {stands_for(scenario, name): words(name) for name in type(scenario).presentation.parts}
    parts = {part.name: part for part in full.parts}
    return [replace(parts[named[one]], name=words(one)) for one in told if named.get(one) in parts]


def stands_for(scenario: Any, name: str) -> str:
    """The quantity that a part is in the end: one whose formula here only names another is that other."""
    declared = type(scenario).declaration((name,))
    while (expression := getattr(declared, "expression", None)) is not None and isinstance(formula := taken(expression, scenario), Symbol) and len(formula.path) == 1:
        name, declared = formula.path[0], type(scenario).declaration(formula.path)
    return name


__all__ = ["Growth", "growth", "stands_for"]

"""The index of symbols and units, with the notebooks that use them, written from the declarations and the notebooks' cells."""
from __future__ import annotations

import io
import math
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from mlsysim import Scenarios
from mlsysim.engine import scenario_types, solver
from mlsysim.engine.figures import ladder
from mlsysim.engine.notation import HTML, SUPERSCRIPTS, TEXT, words
from mlsysim.engine.record import Record
from mlsysim.engine.scenario import Scenario
from mlsysim.engine.writing import sign
from mlsysim.units import DEFINITIONS, ONE, unit, units

from .chapters import chapter_number
from .differences import read_aloud
from .files import (
    GENERATED,
    INDEX,
    REPOSITORY,
    beside_chapters,
    code_cells,
    read,
    saved_form,
)

FILE = REPOSITORY / "notebooks" / f"{INDEX}.ipynb"
NAME = re.compile(r"[A-Za-z_]\w*")
BINARY = re.findall(r"= (\wi)-$", DEFINITIONS, re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A symbol of one class: how it is written, what it stands for."""

    kind: Any
    name: str

    @property
    def declared(self) -> Any:
        return self.kind.declaration((self.name,))

    @property
    def written(self) -> str:
        return sign(self.kind, (self.name,), HTML)

    @property
    def has_symbol(self) -> bool:
        """Whether equations write it by a symbol, and not by its name."""
        symbol = self.declared.symbol
        return bool(symbol) and symbol != words(self.name)

    @property
    def unit(self) -> str:
        measured = self.declared.unit
        return "" if measured is None or measured == ONE else f"{measured:~P}"


def kinds() -> list[Any]:
    """Every class whose inputs and quantities readers meet: the scenarios, then the records within them."""
    found: list[Any] = [getattr(scenario_types, name) for name in scenario_types.__all__]
    for kind in found:      # grows while it is walked
        found += [inner for declared in kind.inputs.values() if (inner := declared.record_type) and inner not in found]
    return sorted(found, key=lambda kind: (not issubclass(kind, Scenario), len(kind.__mro__), kind.__name__))      # a plain class before those made of more parts


def entries() -> list[Entry]:
    """Every symbol, in the order of an index; one that several classes share by inheritance stands once, under the first."""
    seen: dict[tuple[str, int], Entry] = {}
    for kind in kinds():
        for name in (*kind.inputs, *getattr(kind, "quantities", {})):
            entry = Entry(kind, name)
            if entry.has_symbol:
                seen.setdefault((name, id(entry.declared)), entry)

    def place(entry: Entry) -> tuple[Any, ...]:
        base, _, index = entry.declared.symbol.partition("_")
        return base.casefold(), base, index.casefold(), index, entry.kind.__name__, entry.name

    return sorted(seen.values(), key=place)


# What a notebook uses.

@dataclass(frozen=True)
class Use:
    """What a notebook's code speaks of, and what its cells show."""

    file: Path
    names: frozenset[str]
    kinds: frozenset[Any]
    shown: str

    def speaks_of(self, entry: Entry) -> bool:
        return entry.name in self.names and entry.kind in self.kinds


def _spoken(notebook: NotebookNode) -> Iterator[str]:
    """The names in a notebook's code, those within its texts included: `say("{s.total}")` speaks of total."""
    for _, cell in code_cells(notebook):
        source = TransformerManager().transform_cell(cell.source)
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.NAME, tokenize.STRING):
                yield from NAME.findall(token.string)


def _with_records(kind: Any) -> Iterator[Any]:
    """The class, those it inherits from, and those of the records within it."""
    for base in kind.__mro__:
        if isinstance(base, type) and issubclass(base, Record) and base.inputs:
            yield base
    for declared in kind.inputs.values():
        if declared.record_type is not None:
            yield from _with_records(declared.record_type)


@cache
def _makers() -> dict[str, Any]:
    """The class of the object that each name in a reader's code stands for."""
    made: dict[str, Any] = {name: type(getattr(Scenarios, name)) for name in Scenarios}
    made |= {kind.__name__: kind for kind in kinds()}
    return made | {name: getattr(scenario_types, getattr(solver, name).solve.__annotations__["return"].partition(" | ")[0]) for name in solver.__all__}


@cache
def uses() -> list[Use]:
    """What the notebooks use, in their order."""
    found = []
    for file in beside_chapters():
        if file != FILE:
            notebook = read(file)
            names = frozenset(_spoken(notebook))
            spoken_of = frozenset(kind for name, made in _makers().items() if name in names for kind in _with_records(made))
            found.append(Use(file, names, spoken_of, "\n".join(_shown(notebook))))
    return found


def _shown(notebook: NotebookNode) -> Iterator[str]:
    for _, cell in code_cells(notebook):
        yield cell.source
        for output in cell.outputs:
            data = output.get("data", {})
            yield output.get("text", "") or (read_aloud(data["text/html"]) if "text/html" in data else data.get("text/plain", ""))


def _links(using: list[Use]) -> str:
    return ", ".join(f"[{chapter_number(use.file) or use.file.stem.replace('_', ' ')}]({use.file.name})" for use in using)


# Units.

def spellings() -> set[str]:
    """Every unit that a display or a declaration may write: those defined, the multiples that displays climb through, those declared."""
    defined = [f"{unit(name):~P}" for line in DEFINITIONS.split("\n") if (name := line.partition(" = ")[0]) and not name.endswith("-")]
    climbed = [step for of in ("byte", "byte/second", "flop", "flop/second", "second", "joule", "watt") for step, _ in ladder(unit(of))]
    return {*defined, *climbed, *(f"{prefix}B" for prefix in BINARY), *(entry.unit for entry in entries())} - {"", f"{unit('count'):~P}"}


def size(short: str) -> str:
    """What one of a unit is in base units; empty for a base unit."""
    based = units.Quantity(1, short).to_base_units()
    factor, base = float(based.magnitude), f"{based.units:~P}"
    if factor == 1:
        return base if base != short else ""
    power = round(math.log10(factor))
    if factor == float(f"1e{power}"):
        return f"{TEXT.ten_to(power)} {base}".strip()
    if factor > 1 and (power := round(math.log2(factor))) and factor == 2**power and not power % 10:
        return f"2{str(power).translate(SUPERSCRIPTS)} {base} = {factor:,.0f} {base}"
    return f"{factor:,g} {base}".strip() if factor > 1e-3 else ""


def _kind_and_size(short: str) -> tuple[str, float]:
    based = units.Quantity(1, short).to_base_units()
    return f"{based.units:~P}", float(based.magnitude)


def _shows(use: Use, short: str) -> bool:
    """Whether the notebook shows a number in that unit."""
    return re.search(rf"\d[ \u00a0]?{re.escape(short)}(?![\w/])", use.shown) is not None


# The notebook.

def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def index() -> NotebookNode:
    """The index as a notebook of text cells."""
    texts = [
        ("# Index of symbols and units\n\n**You will be able to answer:** what a symbol in an equation stands for, and which notebooks use it.\n\n"
         "The same letter means different things in different scenarios, so each line also names the class it belongs to. "
         "A notebook is listed where its code speaks of the quantity, or, below, where a number is shown in the unit."),
    ]
    for letter, those in groupby(entries(), key=lambda entry: entry.declared.symbol[0].upper()):
        rows = [_row(e.written, f"`{e.name}`", escape(e.declared.doc, quote=False), e.unit, f"`{e.kind.__name__}`", _links([use for use in uses() if use.speaks_of(e)]))
                for e in those]
        texts.append("\n".join([f"## {letter}", "", "| symbol | in code | what it is | unit | of | notebooks |", "|:--|:--|:--|:--|:--|:--|", *rows]))
    declared = {entry.unit for entry in entries()}
    using = {short: [use for use in uses() if _shows(use, short)] for short in spellings()}
    rows = [_row(short, f"{unit(short):P}", size(short), _links(using[short])) for short in sorted(using, key=_kind_and_size) if using[short] or short in declared]
    texts.append("\n".join(["## Units", "", "| unit | name | is | notebooks |", "|:--|:--|:--|:--|", *rows]))
    return new_notebook(cells=list(map(new_markdown_cell, texts)), metadata={GENERATED: "python -m tests.notebooks regenerate"})


def written() -> str:
    """The index as it is saved."""
    return saved_form(index())

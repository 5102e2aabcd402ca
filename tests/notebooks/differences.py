"""What differs between a notebook's outputs before and after, in words a person can read."""
from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from html import unescape

from nbformat import NotebookNode

from .files import LIVE, PICTURES, code_cells, picture_name, with_names_for_pictures

LINE_ENDS = re.compile(r"</?(?:p|div|tr|li|ul|ol|table|caption|summary|details|h\d)\b[^<>]*>|<br\s*/?>")
CELL_ENDS = re.compile(r"</t[hd]>")
TAG = re.compile(r"<[^>]+>")
LONGEST = 1000      # of a line


def differences(before: NotebookNode, after: NotebookNode) -> list[str]:
    """One text for each code cell whose outputs differ, its first line the cell's number."""
    earlier = {number: cell for number, cell in code_cells(before)}
    found = []
    for number, cell in code_cells(after):
        old = earlier.get(number)
        if old is None or old.execution_count is None:
            found.append(f"cell {number}: run for the first time")
        elif lines := list(compared(old, cell)):
            found.append("\n".join([f"cell {number}: {cell.source.strip().splitlines()[0][:LONGEST]}", *(f"  {line}" for line in lines)]))
    return found


def compared(before: NotebookNode, after: NotebookNode) -> Iterator[str]:
    """The lines that tell how a cell's outputs differ: of HTML what a reader sees, or else the markup; of pictures only that."""
    if before.execution_count != after.execution_count:
        yield f"run as number {after.execution_count}, was {before.execution_count}"
    old, new = (dict(_pieces(cell)) for cell in (before, after))
    for what in dict.fromkeys([*old, *new]):
        if what not in old or what not in new:
            yield f"{what}: {'gone' if what in old else 'new'}"
            yield from _listed("-+"[what in new], (new.get(what) or old[what]), what)
        elif old[what] != new[what]:
            yield f"{what}:"
            yield from _changes(old[what], new[what], what)


def _pieces(cell: NotebookNode) -> Iterator[tuple[str, str]]:
    """Each piece of the cell's outputs under a name: which output, and of what kind."""
    for position, output in enumerate(cell.outputs, 1):
        where = f"output {position}, " if len(cell.outputs) > 1 else ""
        if output.output_type == "stream":
            yield f"{where}{output.name}", output.text
        elif output.output_type == "error":
            yield f"{where}error", f"{output.ename}: {output.evalue}"
        else:
            for kind, data in output.data.items():
                if kind != LIVE:
                    yield f"{where}{kind}", picture_name(data) if kind in PICTURES else with_names_for_pictures(str(data))


def read_aloud(html: str) -> str:
    """HTML as the lines of text that a reader sees."""
    lines = TAG.sub("", CELL_ENDS.sub("  ", LINE_ENDS.sub("\n", html.replace("\n", " "))))
    return "\n".join(filter(None, (" ".join(unescape(line).split()) for line in lines.splitlines())))


def _lines(text: str, what: str) -> list[str]:
    return (read_aloud(text) if what.endswith("text/html") else text).splitlines()


def _listed(mark: str, text: str, what: str) -> Iterator[str]:
    yield from (f"{mark} {line[:LONGEST]}" for line in _lines(text, what))


def _changes(old: str, new: str, what: str) -> Iterator[str]:
    before, after = _lines(old, what), _lines(new, what)
    if before == after:
        yield "(reads the same; its markup differs)"
        before, after = (re.sub(r"(?=<)", "\n", text).splitlines() for text in (old, new))
    for line in difflib.unified_diff(before, after, n=0, lineterm=""):
        if not line.startswith(("---", "+++", "@@")):
            yield f"{line[0]} {line[1:][:LONGEST]}"

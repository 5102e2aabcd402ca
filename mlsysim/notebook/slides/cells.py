"""What becomes of a saved notebook's cells on slides: code goes, questions open step by step, a walkthrough becomes a slide for each scene."""
from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from ..walkthroughs.cells import slide_cell
from ..walkthroughs.telling import SCENE, SOURCES

SHOWN = "show-code"      # the tag of a cell whose code an audience is to see
STEPS = ("Hint", "Answer")
PIECES = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
DISPLAYED = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
IN_LINE = re.compile(r"(?<![\\$])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\d$])")


def slide_cells(cells: list[Any]) -> list[Any]:
    """The cells of a deck, made of copies."""
    return [made for cell in cells for made in _made(cell)]


def _made(cell: Any) -> Iterator[Any]:
    from copy import deepcopy
    cell = deepcopy(cell)
    if cell.cell_type == "markdown":
        cell.source = with_mathematics(cell.source)
        yield cell
    elif cell.cell_type == "code":
        cell.metadata["shown"] = SHOWN in cell.metadata.get("tags", [])
        if not cell.outputs and not cell.metadata["shown"]:
            return
        for output in cell.outputs:
            _settle(output)
        walks = [output.data["text/html"] for output in cell.outputs if SCENE in output.get("data", {}).get("text/html", "")]
        yield from (made for walk in walks for made in scene_cells(walk)) if walks else _with_notes(cell)


def _settle(output: Any) -> None:
    """One form of an output, which a browser shows without help."""
    data = output.get("data", {})
    if "text/html" not in data and "text/latex" in data:
        data["text/html"] = f"<p>{_mathematics(data['text/latex'].strip().strip('$'), 'block')}</p>"
    if "text/html" in data:
        output.data = type(data)({"text/html": data["text/html"]})


def _with_notes(cell: Any) -> Iterator[Any]:
    """A cell whose folded hints and answers are steps; the words and numbers of a figure are for the speaker."""
    from bs4 import BeautifulSoup
    said: list[str] = []
    for output in cell.outputs:
        html = output.get("data", {}).get("text/html", "")
        if "<details" not in html:
            continue
        page = BeautifulSoup(html, "html.parser")
        for folded in page.find_all("details"):
            summary = folded.find("summary")
            name = summary.get_text().strip() if summary else ""
            if summary and name in STEPS:
                summary.name, summary.attrs = "b", {}
                summary.string = f"{name}: "
                folded.name, folded.attrs = "div", {"class": "fragment"}
                for paragraph in folded.find_all("p"):
                    paragraph.name, paragraph.attrs = "span", {}
            elif page.find("img"):
                said.append(" ".join(folded.p.get_text().split()) if folded.p else name)
                folded.decompose()
        output.data["text/html"] = str(page)
    yield cell
    if said:
        yield slide_cell("\n\n".join(said), "notes")


def scene_cells(walk: str) -> Iterator[Any]:
    """A slide for each scene of a walkthrough's saved output, its steps and sources as notes."""
    from bs4 import BeautifulSoup
    for scene in BeautifulSoup(walk, "html.parser").select(f".{SCENE}"):
        said = [" ".join(line.get_text().split()) for line in scene.select("p.fragment")]
        if folded := scene.select_one(f".{SOURCES}"):
            said += [" ".join(source.get_text().split()) for source in folded.find_all("p")]
            folded.decompose()
        yield slide_cell(str(scene).replace("\n", " "), "slide")
        yield slide_cell("\n".join(f"- {escape(line, quote=False)}" for line in said), "notes")


# Mathematics.

def with_mathematics(source: str) -> str:
    """Markdown whose LaTeX has become MathML, which browsers show by themselves; code stays."""
    pieces = PIECES.split(source)
    for index in range(0, len(pieces), 2):
        pieces[index] = IN_LINE.sub(lambda match: _mathematics(match[1], "inline"), DISPLAYED.sub(lambda match: _mathematics(match[1], "block"), pieces[index]))
    return "".join(pieces)


def _mathematics(latex: str, display: str) -> str:
    from latex2mathml.converter import convert
    return str(convert(latex.strip(), display=display)).replace("\n", " ")


__all__ = ["SHOWN", "scene_cells", "slide_cells", "with_mathematics"]

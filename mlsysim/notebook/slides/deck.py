"""A deck of slides in a folder of its own: the page, and all that it needs."""
from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cells import slide_cells

TEMPLATE = Path(__file__).parent / "template"
# Where sphinx-revealjs, which carries it, keeps reveal.js 5.
REVEAL = {"reveal.js": "dist/reveal.js", "reveal.css": "dist/reveal.css", "notes.js": "plugin/notes/notes.js", "reveal-LICENSE.txt": "LICENSE"}
NEEDS = {"nbconvert": "nbconvert", "bs4": "beautifulsoup4", "latex2mathml": "latex2mathml", "sphinx_revealjs": "sphinx-revealjs"}


class SlidesError(ValueError):
    """Slides cannot be made: says what is wrong and what to do."""


def make_deck(notebook: Path, folder: Path) -> Path:
    """Write the slides of a notebook, as it was last saved with its outputs, into a folder, and return the page to open.

    Raises SlidesError for a notebook that is not there or is none, that has no slides, was not run, or shows what is elsewhere,
    for a folder in which something else has its page, and where a package is missing.
    """
    if lacking := [package for module, package in NEEDS.items() if importlib.util.find_spec(module) is None]:
        raise SlidesError(f"slides need {', '.join(lacking)}; write pip install 'mlsysim-kit[slides]'")
    read = _read(notebook)
    page = folder / "index.html"
    if folder.exists() and not folder.is_dir():
        raise SlidesError(f"{folder}: is a file; name a folder that the slides may have for themselves")
    if page.is_file() and f"assets/{next(iter(REVEAL))}" not in page.read_text(encoding="utf-8", errors="replace"):
        raise SlidesError(f"{page}: is a page of something else; name a folder that the slides may have for themselves")
    written = _page(read, notebook)
    if outside := _outside(written):
        raise SlidesError(f"{notebook}: shows {', '.join(outside)}, which slides without a network cannot; put pictures into the notebook's folder and name them from there")
    folder.mkdir(parents=True, exist_ok=True)
    page.write_text(written, encoding="utf-8")
    assets = folder / "assets"
    assets.mkdir(exist_ok=True)
    for name, file in _assets():
        shutil.copyfile(file, assets / name)
    return page


def _read(notebook: Path) -> Any:
    import nbformat
    if not notebook.is_file():
        raise SlidesError(f"{notebook}: there is no such notebook")
    try:
        read = nbformat.read(notebook, as_version=4)
    except (ValueError, nbformat.ValidationError):
        raise SlidesError(f"{notebook}: is not a notebook; name a file that JupyterLab opens as one") from None
    if not any(cell.metadata.get("slideshow", {}).get("slide_type") == "slide" for cell in read.cells):
        raise SlidesError(f"{notebook}: no cell begins a slide; set the Slide Type of some cells to Slide, in JupyterLab's property inspector")
    if any(cell.cell_type == "code" and cell.source.strip() and cell.execution_count is None for cell in read.cells):
        raise SlidesError(f"{notebook}: some cells were not run; run all and save, since slides show the saved outputs")
    read.cells = slide_cells(read.cells)
    for number, cell in enumerate(read.cells):      # new cells are given names by chance
        cell.id = f"cell-{number}"
    read.metadata["title"] = next((line.lstrip("# ") for cell in read.cells if cell.cell_type == "markdown" for line in cell.source.splitlines() if line.startswith("# ")), notebook.stem)
    return read


def _page(read: Any, notebook: Path) -> str:
    from nbconvert import SlidesExporter
    exporter = SlidesExporter(template_name=TEMPLATE.name, extra_template_basedirs=[str(TEMPLATE.parent)], exclude_input_prompt=True, exclude_output_prompt=True, embed_images=True)
    written, _ = exporter.from_notebook_node(read, resources={"metadata": {"name": notebook.stem, "path": str(notebook.parent)}})
    return str(written)


def _outside(page: str) -> list[str]:
    """What a page shows that is neither in it nor among its assets."""
    from bs4 import BeautifulSoup
    shown = [str(element["src"]) for element in BeautifulSoup(page, "html.parser").select("[src]")]
    return [source for source in shown if not source.startswith(("data:", "assets/"))]


def _assets() -> Iterator[tuple[str, Path]]:
    yield "slides.css", TEMPLATE / "slides.css"
    carrier = importlib.util.find_spec("sphinx_revealjs")
    assert carrier is not None and carrier.submodule_search_locations
    for name, place in REVEAL.items():
        yield name, Path(carrier.submodule_search_locations[0]) / "_static" / "revealjs" / place


__all__ = ["SlidesError", "make_deck"]

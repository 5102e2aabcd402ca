"""Where the notebooks are, and the one form in which they are saved."""
from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("notebooks", "solutions")
START = "start_here"
INDEX = "index_of_symbols"

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"}
KEPT_OF_A_CELL = ("tags", "slideshow", "nbgrader", "deletable", "editable", "jupyter")      # jupyter: code that gives an answer away is folded
LIVE = "application/vnd.jupyter.widget-view+json"
PICTURES = ("image/png", "image/jpeg")
IN_HTML = re.compile(r"data:image/(?:png|jpeg);base64,([A-Za-z0-9+/=]+)")
GENERATED = "generated"


def notebooks() -> list[Path]:
    """All notebooks that are saved with their outputs, in a reader's order: the start first, then the chapters, then the index."""
    found = [file for folder in FOLDERS for file in (REPOSITORY / folder).rglob("*.ipynb") if ".ipynb_checkpoints" not in file.parts]
    return sorted(found, key=lambda file: (FOLDERS.index(named(file).partition("/")[0]), file.stem != START, file.stem == INDEX, named(file)))


def beside_chapters() -> list[Path]:
    """The notebooks that a reader opens beside the book, the start and the index among them: those in no folder within notebooks/."""
    return [file for file in notebooks() if file.parent == REPOSITORY / "notebooks"]


def named(file: Path) -> str:
    """The notebook's path in the repository; of a notebook elsewhere, its whole path."""
    return file.relative_to(REPOSITORY).as_posix() if file.is_relative_to(REPOSITORY) else file.as_posix()


def read(file: Path) -> NotebookNode:
    return nbformat.read(file, as_version=4)


def code_cells(notebook: NotebookNode) -> list[tuple[int, NotebookNode]]:
    """The cells that hold code, each with its number, counted from 1 with text cells included."""
    return [(number, cell) for number, cell in enumerate(notebook.cells, 1) if cell.cell_type == "code" and cell.source.strip()]


def is_generated(notebook: NotebookNode) -> bool:
    """Whether a command writes the notebook from the rest of the repository."""
    return GENERATED in notebook.metadata


def is_measured(file: Path) -> bool:
    """Whether running the notebook needs the extra `measure`."""
    return file.parent == REPOSITORY / "notebooks" / "measured"


def saved_form(notebook: NotebookNode, before: NotebookNode | None = None) -> str:
    """The notebook as it is saved: what running it again changes, though nothing else has changed, is left out.

    Cells are identified by what they say. Widgets are saved as what they show where nothing runs. Of pictures that show
    the same, pixel by pixel, those of `before`, the notebook that was run, are kept.
    """
    cells, taken = [], set[str]()
    for number, cell in enumerate(notebook.cells):
        kept = NotebookNode(cell_type=cell.cell_type, id=_identity(cell, taken), source=_ended(cell.source),
                            metadata={name: cell.metadata[name] for name in KEPT_OF_A_CELL if name in cell.metadata})
        if cell.get("attachments"):
            kept.attachments = cell.attachments
        if cell.cell_type == "code":
            kept.execution_count = cell.execution_count
            kept.outputs = _joined(map(_saved, cell.outputs))
            if before is not None:
                _keep_pictures(kept.outputs, before.cells[number].outputs)
        cells.append(kept)
    metadata: dict[str, Any] = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    if is_generated(notebook):
        metadata[GENERATED] = notebook.metadata[GENERATED]
    made = NotebookNode(cells=cells, metadata=nbformat.from_dict(metadata), nbformat=4, nbformat_minor=5)
    nbformat.validate(made)
    return nbformat.writes(made) + "\n"


def _identity(cell: NotebookNode, taken: set[str]) -> str:
    """A cell's id: the same for the same text, whatever tool made the notebook."""
    first = hashlib.sha256(f"{cell.cell_type}\n{_ended(cell.source)}".encode()).hexdigest()[:8]
    identity, count = first, 1
    while identity in taken:
        count += 1
        identity = f"{first}-{count}"
    taken.add(identity)
    return identity


def _ended(source: str) -> str:
    """A cell's text without the blanks and empty lines that no reader sees."""
    return re.sub(r"[ \t]+$", "", source, flags=re.MULTILINE).rstrip("\n")


def _saved(output: NotebookNode) -> NotebookNode:
    kept = nbformat.from_dict(dict(output))
    if "data" in kept and len(kept.data) > 1:
        kept.data.pop(LIVE, None)
    return kept


def _joined(outputs: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Outputs in which what one stream wrote piece by piece is one output."""
    joined: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and joined and joined[-1].output_type == "stream" and joined[-1].name == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def _keep_pictures(outputs: list[NotebookNode], before: list[NotebookNode]) -> None:
    for output, earlier in zip(outputs, before, strict=False):
        for kind, data in output.get("data", {}).items():
            old = earlier.get("data", {}).get(kind)
            if old is None:
                continue
            if kind in PICTURES and picture_name(data) == picture_name(old):
                output.data[kind] = old
            if kind == "text/html" and with_names_for_pictures(data) == with_names_for_pictures(old):
                output.data[kind] = old


def picture_name(encoded: str) -> str:
    """A name for what a picture, as notebooks hold it, shows: the same for the same pixels."""
    from PIL import Image

    shown = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    return f"picture-{hashlib.sha256(f'{shown.size}'.encode() + shown.tobytes()).hexdigest()[:8]}"


def with_names_for_pictures(html: str) -> str:
    """HTML in which each picture is only named."""
    return IN_HTML.sub(lambda match: picture_name(match[1]), html)

"""What each notebook is beside the textbook: its chapter, what it answers, its exercise; and the table of them in the README."""
from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from nbformat import NotebookNode

from .files import INDEX, REPOSITORY, START, beside_chapters, named, read

README = REPOSITORY / "README.md"
BEGIN, END = "<!-- notebooks: written by python -m tests.notebooks -->", "<!-- /notebooks -->"
CHAPTER_FILE = re.compile(r"(?P<volume>\d)-(?P<chapter>\d\d)_[a-z0-9_]+")
TITLE = re.compile(r"\A# (?:(?P<number>\d+\.\d+) )?(?P<title>[^:\n]+)(?:: (?P<subject>[^\n]+))?$", re.MULTILINE)
ANSWERS = re.compile(r"^\*\*You will be able to answer:\*\* (?P<text>.+?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)


class NotebookHeadError(ValueError):
    """A notebook does not begin as it should: says where, what is wrong and what to write instead."""


@dataclass(frozen=True)
class Head:
    """What a notebook's first cell says of it.

    `# 1.8 Model Training` names the chapter, `# 1.8 Model Training: its memory` also a subject, and a paragraph
    `**You will be able to answer:** which part fills the device first` what a reader gets.
    """

    file: Path
    number: str
    title: str
    answers: str

    @property
    def name(self) -> str:
        return f"{self.number} {self.title}".strip()

    @property
    def exercise(self) -> Path | None:
        """The exercise of the same name, in `exercises/`."""
        return next(iter(sorted((REPOSITORY / "exercises").rglob(self.file.name))), None)


def chapter_number(file: Path) -> str:
    """The chapter that a notebook's file name says it is for, such as 1.8; empty for one that goes with none."""
    stem = CHAPTER_FILE.fullmatch(file.stem)
    return f"{int(stem['volume'])}.{int(stem['chapter'])}" if stem else ""


def head(file: Path, notebook: NotebookNode | None = None) -> Head:
    """What a notebook says of itself. Raises NotebookHeadError."""
    cells = (notebook or read(file)).cells
    where, text = named(file), cells[0].source if cells and cells[0].cell_type == "markdown" else ""
    number = chapter_number(file)
    if not number and file.stem not in (START, INDEX):
        raise NotebookHeadError(f"{where}: a notebook is called by volume, chapter and title, as in 1-08_model_training.ipynb")
    title, answers = TITLE.search(text), ANSWERS.search(text)
    if title is None or (title["number"] or "") != number:
        raise NotebookHeadError(f"{where}: its first cell must begin with its title; write `# {number} Title of the Chapter`".replace("#  ", "# "))
    if answers is None:
        raise NotebookHeadError(f"{where}: its first cell must say what it is for; write a paragraph `**You will be able to answer:** which part fills the device first`")
    return Head(file, number, title["title"], " ".join(answers["text"].split()))


def launch_link(file: Path) -> str:
    """The address at which Binder opens the notebook in JupyterLab. Owner, repository and version stand in pyproject.toml."""
    binder = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mlsysim"]["binder"]
    return f"https://mybinder.org/v2/gh/{binder['repository']}/{binder['version']}?urlpath={quote(f'lab/tree/{named(file)}')}"


def table() -> str:
    """The README's table of notebooks, in Markdown."""
    rows = ["| chapter | notebook | you will be able to answer | live | exercise |", "|---|---|---|---|---|"]
    for found in map(head, beside_chapters()):
        exercise = f"[{found.exercise.stem}]({named(found.exercise)})" if found.exercise else ""
        chapter = found.name if found.number else ""
        rows.append(f"| {chapter} | [{found.file.stem}]({named(found.file)}) | {found.answers} | [Binder]({launch_link(found.file)}) | {exercise} |")
    return "\n".join(rows)


def readme_in_step(text: str) -> str:
    """The README with the table of the notebooks as they are now. Raises ValueError where its place is not marked."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: the table of notebooks has no place; write the lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"

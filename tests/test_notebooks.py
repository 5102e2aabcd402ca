"""Every notebook as it is saved: whole, run in order, the same on every run, and with no number in its prose that code could compute."""
from __future__ import annotations

import pytest
from nbformat import NotebookNode

from tests.notebooks import chapters, symbols
from tests.notebooks.files import (
    REPOSITORY,
    beside_chapters,
    code_cells,
    is_generated,
    named,
    notebooks,
    read,
    saved_form,
)
from tests.notebooks.guards import faults
from tests.notebooks.typed_numbers import typed_in

REGENERATE = "python -m tests.notebooks regenerate"
ALL = {named(file): read(file) for file in notebooks()}
CHAPTERS = [named(file) for file in beside_chapters()]
# An exercise states what to compute with, so numbers are typed in it.
WRITTEN_BY_HAND = [name for name in ALL if name.startswith("notebooks/") and not is_generated(ALL[name])]


@pytest.fixture
def notebook(request: pytest.FixtureRequest) -> NotebookNode:
    return ALL[request.param]


every_notebook = pytest.mark.parametrize("notebook", ALL, indirect=True)


@every_notebook
def test_every_code_cell_was_run_once_in_order(notebook: NotebookNode) -> None:
    """nbval compares nothing in a cell without a count."""
    cells = [cell for _, cell in code_cells(notebook)]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [cell for cell in notebook.cells if cell.cell_type == "code" and not cell.source.strip()]


@every_notebook
def test_saved_outputs_hold_nothing_fleeting_and_no_error(notebook: NotebookNode) -> None:
    assert not [f"cell {number}: {fault}" for number, cell in code_cells(notebook) for fault in faults(cell)]


@pytest.mark.parametrize("name", ALL)
def test_the_notebook_is_in_the_form_in_which_it_is_saved(name: str) -> None:
    as_saved = (REPOSITORY / name).read_text(encoding="utf-8") == saved_form(ALL[name])
    assert as_saved, f"run {REGENERATE} {name}"


@pytest.mark.parametrize("notebook", WRITTEN_BY_HAND, indirect=True)
def test_no_number_is_typed_in_prose(notebook: NotebookNode) -> None:
    assert not [f"cell {number}: {typed}" for number, cell in enumerate(notebook.cells, 1) for typed in typed_in(cell)]


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_notebook_says_what_it_is(name: str) -> None:
    chapters.head(REPOSITORY / name)


def test_the_index_of_symbols_is_in_step() -> None:
    in_step = symbols.FILE.is_file() and symbols.FILE.read_text(encoding="utf-8") == symbols.written()
    assert in_step, f"run {REGENERATE}"


def test_the_readme_lists_the_notebooks() -> None:
    readme = chapters.README.read_text(encoding="utf-8")
    in_step = readme == chapters.readme_in_step(readme)
    assert in_step, f"run {REGENERATE}"
    assert "mybinder.org" not in readme.replace(chapters.table(), ""), "launch links are written by the table alone"

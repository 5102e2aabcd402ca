"""A walkthrough as a lecturer meets it in JupyterLab: by keyboard, in letters for the last row, in the light and the dark theme."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Page

from mlsysim import Scenarios
from mlsysim.notebook import walkthrough
from tests.browser.notebook import NotebookPage

Open = Callable[..., NotebookPage]

CODE = """\
from mlsysim import Scenarios
from mlsysim.notebook import walkthrough
walkthrough(Scenarios.Gpt2Fp32AdamOnH100, "total", seconds=0.2)"""
WALK = ".mlsysim-walkthrough"
SMALLEST = f"""() => [...document.querySelectorAll('{WALK} *')].filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(e => parseFloat(getComputedStyle(e).fontSize))"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    file = tmp_path / "walk.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(CODE)]), file)
    return file


def said(page: Page) -> str:
    return page.locator(f"{WALK}-scene").inner_text()


def place(page: Page) -> int:
    return int(page.locator(WALK).get_by_text("step ").inner_text().split()[1])


def wait_for(page: Page, step: int) -> None:
    page.locator(WALK).get_by_text(f"step {step} of").wait_for(timeout=10_000)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_walk_goes_on_and_back_by_keyboard(open_in_lab: Open, notebook: Path, theme: str) -> None:
    expected = walkthrough(Scenarios.Gpt2Fp32AdamOnH100, "total")
    opened = open_in_lab(notebook, theme=theme, trusted=True)
    opened.run_all()
    page = opened.page
    wait_for(page, 1)
    page.get_by_role("button", name="Next").focus()

    answer = str(expected.scenes[0].answer).replace("\N{NO-BREAK SPACE}", " ")
    assert "Weights: how many bytes?" in said(page)
    for step, key in ((2, "ArrowRight"), (3, "PageDown"), (4, "Enter")):
        assert answer not in said(page).replace("\N{NO-BREAK SPACE}", " ")
        page.keyboard.press(key)
        wait_for(page, step)
    assert answer in said(page).replace("\N{NO-BREAK SPACE}", " ")
    page.keyboard.press("ArrowLeft")
    wait_for(page, 3)
    assert answer not in said(page).replace("\N{NO-BREAK SPACE}", " ")

    for control in (page.get_by_role("button", name="Next"), page.get_by_role("combobox", name="Jump to")):
        control.focus()
        for key in ("m", "d", "d"):      # of JupyterLab: make text of the cell, delete it
            page.keyboard.press(key)
        assert page.locator(WALK).is_visible()
    page.get_by_role("combobox", name="Jump to").select_option(label=f"{len(expected.scenes)}. The verdict")
    wait_for(page, expected.length - 1)
    page.get_by_role("button", name="Play").click()      # on to the end, and there it stops
    wait_for(page, expected.length)
    assert expected.scenes[-1].answer.replace("\N{NO-BREAK SPACE}", " ") in said(page).replace("\N{NO-BREAK SPACE}", " ")
    page.get_by_role("button", name="Play").wait_for()

    assert min(page.evaluate(SMALLEST)) >= 24
    assert opened.faint_texts() == []
    assert opened.overflowing() == []
    assert opened.errors() == []
    assert opened.outside_requests == []

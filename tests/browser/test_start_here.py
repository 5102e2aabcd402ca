"""The start notebook as its reader sees it: in JupyterLab before and after running, in both themes, and as a page of HTML."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Browser

from tests.browser.chromium import new_page
from tests.browser.jupyter import REPOSITORY
from tests.browser.notebook import HEIGHT, WIDTH, NotebookPage, visible_text

START = REPOSITORY / "notebooks" / "start_here.ipynb"
NARROW = 1000
SAID = ("24.0 GB", "optimizer state")

themes = pytest.mark.parametrize("theme", ["light", "dark"])


def check(opened: NotebookPage) -> None:
    said = opened.text()
    assert all(words in said for words in SAID)
    assert opened.errors() == []
    assert opened.outside_requests == []
    opened.unfold()
    assert opened.overflowing() == []
    assert opened.faint_texts() == []


@themes
def test_the_saved_breakdown_is_shown_before_the_notebook_is_trusted(
    open_in_lab: Callable[..., NotebookPage], theme: str,
) -> None:
    check(open_in_lab(START, theme=theme))


@themes
def test_running_the_notebook_shows_the_same_breakdown(open_in_lab: Callable[..., NotebookPage], theme: str) -> None:
    opened = open_in_lab(START, theme=theme, trusted=True)
    cell = next(i for i, cell in enumerate(nbformat.read(START, as_version=4).cells) if cell.source == "scenario")
    saved = opened.text(cell)
    opened.run_all()
    assert opened.text(cell) == saved
    check(opened)


def test_the_breakdown_fits_a_narrow_window(open_in_lab: Callable[..., NotebookPage]) -> None:
    check(open_in_lab(START, width=NARROW))


@themes
def test_the_exported_page_shows_the_breakdown(browser: Browser, tmp_path: Path, theme: str) -> None:
    page_text, _ = HTMLExporter(theme=theme).from_filename(str(START))
    with new_page(browser, width=WIDTH, height=HEIGHT, theme=theme) as (page, _):
        page.set_content(page_text)
        said = visible_text(page.locator("body"))
        assert all(words in said for words in SAID)
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 1

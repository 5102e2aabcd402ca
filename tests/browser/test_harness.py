"""The eyes of the other tests here: each notices what it is there to notice."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.browser import chromium
from tests.browser.notebook import NotebookPage

SAVED = (
    '<div style="width:40px"><svg width="9" height="9"></svg>in sight<details><summary>fold</summary>folded away</details>'
    '<span style="color:#777;opacity:.5">faint</span></div>'
)
FRESH = '<div style="width:3000px">wide</div><img src="https://example.invalid/picture.png">'


def notebook(folder: Path) -> Path:
    """One cell whose saved output is not what running it gives, and one that fails."""
    saved = new_output("execute_result", {"text/html": SAVED, "text/plain": "saved"}, execution_count=1)
    cells = [
        new_code_cell(f"from IPython.display import HTML\nHTML({FRESH!r})", execution_count=1, outputs=[saved]),
        new_code_cell("1 / 0", execution_count=2),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    file = folder / "harness.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), file)
    return file


@pytest.mark.parametrize("trusted", [False, True])
def test_saved_outputs_are_cleaned_unless_the_notebook_is_trusted(
    open_in_lab: Callable[..., NotebookPage], tmp_path: Path, trusted: bool,
) -> None:
    opened = open_in_lab(notebook(tmp_path), trusted=trusted)
    assert ("<svg" in opened.html()) is trusted
    assert "in sight" in opened.text(0) and "folded away" not in opened.text()
    assert opened.overflowing() == []
    assert [faint.partition(" ")[0] for faint in opened.faint_texts()] == ["faint"]
    opened.unfold()
    assert "folded away" in opened.text()


def test_running_shows_errors_overflow_and_outside_requests(
    open_in_lab: Callable[..., NotebookPage], tmp_path: Path,
) -> None:
    opened = open_in_lab(notebook(tmp_path), theme="dark")
    assert opened.errors() == [] and opened.outside_requests == []
    opened.run_all()
    assert "in sight" not in opened.text() and "wide" in opened.text(0)
    assert "ZeroDivisionError" in "".join(opened.errors())
    (wide,) = opened.overflowing()
    assert wide.startswith("div by") and wide.endswith("px: wide")
    assert set(opened.outside_requests) == {"https://example.invalid/picture.png"}


def test_a_missing_browser_is_an_error_that_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class WithoutBrowser:
        class chromium:
            executable_path = "/nowhere/chromium"

    monkeypatch.setenv("PATH", "")
    with pytest.raises(chromium.ChromiumNotFound, match="apt-get install chromium.*playwright install chromium"):
        chromium.chromium_path(WithoutBrowser)  # type: ignore[arg-type]

"""Every notebook beside the book as its reader meets it: read before it is trusted, run, each exploration moved by keyboard and read back, in both themes."""

import ast
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
from playwright.sync_api import Locator, Page

from mlsysim.notebook import Panel
from tests.browser.notebook import NotebookPage
from tests.notebooks.files import beside_chapters, code_cells, is_generated, read

Open = Callable[..., NotebookPage]

NOTEBOOKS = [file for file in beside_chapters() if not is_generated(read(file))]
CONTROLS = {"slider", "spinbutton", "combobox", "checkbox", "button", "textbox"}
REPAINT_SECONDS = 15
CHANGE_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
# What the panel's pieces say, and what the package's own HTML says in the same browser.
READ = """([panel, expected]) => {
    const said = html => { const box = document.createElement('div'); box.innerHTML = html; return box.textContent.replace(/\\s+/g, ' ').trim(); };
    return [[...panel.querySelectorAll('.widget-html-content')].map(piece => said(piece.innerHTML)).filter(Boolean), expected.map(said).filter(Boolean)];
}"""


@dataclass(frozen=True)
class Move:
    """A key pressed on a control of an exploration, and what the package says then."""

    role: str
    name: str
    key: str
    pieces: list[str]


def pieces(panel: Any) -> list[str]:
    """The HTML that a panel shows, top to bottom."""
    def within(widget: Any) -> Iterator[str]:
        if isinstance(widget, ipywidgets.HTML):
            yield widget.value
        for child in getattr(widget, "children", ()):
            yield from within(child)
    return list(within(panel))


def explorations(file: Path) -> Iterator[Any]:
    """The panels that a notebook's cells show, made by running the cells here."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for _, cell in code_cells(read(file)):
        tree = ast.parse(cell.source)
        shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, file.name, "exec"), names)
        if isinstance(shown, ast.Expr):
            value = eval(compile(ast.Expression(shown.value), file.name, "eval"), names)
            if isinstance(value, Panel):
                yield value


def move(panel: Any) -> Move:
    """Move the first slider of a panel, or its first menu where it has none, to the next place."""
    listed = [widget for control in panel.controls.values() for widget in control.widgets]
    sliders = [widget for widget in listed if isinstance(widget, ipywidgets.SelectionSlider) and not widget.disabled]
    widget = (sliders or [widget for widget in listed if isinstance(widget, ipywidgets.Dropdown)])[0]
    step = 1 if widget.index + 1 < len(widget.options) else -1
    before = pieces(panel)
    widget.index += step
    assert pieces(panel) != before
    keys = ("ArrowRight", "ArrowLeft") if sliders else ("ArrowDown", "ArrowUp")
    return Move("slider" if sliders else "combobox", widget.description, keys[step < 0], pieces(panel))


def use_theme(page: Page, theme: str) -> None:
    page.evaluate(CHANGE_THEME, {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}[theme])
    page.wait_for_selector(f"body[data-jp-theme-light='{'false' if theme == 'dark' else 'true'}']", state="attached")


def controls(panel: Locator) -> list[tuple[str, str]]:
    """Role and name of each control in the browser's accessibility tree."""
    page = panel.page
    client = page.context.new_cdp_session(page)
    panel.evaluate("panel => { window.examined = panel }")
    root = client.send("Runtime.evaluate", {"expression": "window.examined"})["result"]["objectId"]
    numbers: set[int] = set()

    def collect(node: dict[str, Any]) -> None:
        numbers.add(node["backendNodeId"])
        for child in node.get("children", []):
            collect(child)
    collect(client.send("DOM.describeNode", {"objectId": root, "depth": -1})["node"])
    return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in client.send("Accessibility.getFullAXTree")["nodes"]
            if not node["ignored"] and node["role"]["value"] in CONTROLS and node.get("backendDOMNodeId") in numbers]


def check_legible(opened: NotebookPage) -> None:
    for theme in ("light", "dark"):
        use_theme(opened.page, theme)
        assert opened.faint_texts() == [], theme
    assert opened.errors() == [] and opened.outside_requests == []
    assert [told for told in opened.overflowing() if told.partition("px: ")[2].strip()] == []      # empty boxes within an equation may


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_and_answers_the_keyboard(open_in_lab: Open, file: Path) -> None:
    with ThreadPoolExecutor(1) as apart:      # no event loop runs there, so plots are drawn at once
        moves = apart.submit(lambda: [move(panel) for panel in explorations(file)]).result()
    assert moves, "a notebook beside the book has an exploration"
    opened = open_in_lab(file)
    assert "Run this cell to move:" in opened.text()      # saved, and not trusted
    check_legible(opened)

    opened.run_all()
    panels = opened.page.locator(".mlsysim-panel")
    assert panels.count() == len(moves)
    for number, moved in enumerate(moves):
        panel = panels.nth(number)
        panel.scroll_into_view_if_needed()
        handle = panel.get_by_role(moved.role, name=moved.name, exact=True)      # type: ignore[arg-type]
        handle.wait_for()
        found = controls(panel)
        assert found and all(name for _, name in found), found
        assert {name for role, name in found if role == "slider"} <= {name for role, name in found if role == "spinbutton"}
        handle.focus()
        opened.page.keyboard.press(moved.key)
        deadline = time.monotonic() + REPAINT_SECONDS
        while True:
            shown, computed = opened.page.evaluate(READ, [panel.element_handle(), moved.pieces])
            if shown == computed or time.monotonic() > deadline:
                break
            opened.page.wait_for_timeout(50)
        assert shown == computed
    check_legible(opened)

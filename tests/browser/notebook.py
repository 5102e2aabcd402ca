"""One notebook as a person sees it in JupyterLab: run it, read its outputs, photograph them."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page

from tests.browser.chromium import new_page
from tests.browser.jupyter import JupyterServer

WIDTH, HEIGHT = 1400, 1000
PIECE = 1400
RUN_SECONDS = 120

PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
KERNEL_IS_IDLE = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.sessionContext;
    return Boolean(session?.isReady) && session.session?.kernel?.status === 'idle';
}"""
RUN_ALL = """async (seconds) => {
    const late = new Promise((_, refuse) => setTimeout(() => refuse(new Error(`still running after ${seconds} s`)), seconds * 1000));
    await Promise.race([window.jupyterapp.commands.execute('notebook:run-all-cells'), late]);
}"""
SETTLED = """() => new Promise(resolve => {
    let previous = -1, calm = 0;
    const look = () => {
        const height = [...document.querySelectorAll('.jp-Cell')].reduce((sum, cell) => sum + cell.offsetHeight, 0);
        calm = height === previous ? calm + 1 : 0;
        previous = height;
        calm >= 5 ? resolve(true) : setTimeout(look, 50);
    };
    document.fonts.ready.then(look);
})"""
OVERFLOWING = """output => {
    const edge = output.getBoundingClientRect().right;
    const excess = element => Math.max(
        element.getBoundingClientRect().right - edge, element.clientWidth && element.scrollWidth - element.clientWidth);
    return [output, ...output.querySelectorAll('*')]
        .filter(element => !element.closest('.noUi-target'))      // a slider's handle stands over its track's ends by design
        .filter(element => element.checkVisibility() && element.getClientRects().length && excess(element) > 1)
        .filter((element, _, all) => !all.some(other => other !== element && element.contains(other)))
        .map(element => `${element.tagName.toLowerCase()} by ${Math.round(excess(element))} px: ${element.textContent}`);
}"""
# The contrast of WCAG 2.2, "relative luminance" and "contrast ratio", between each text and the colours painted behind it.
CONTRASTS = """output => {
    const channels = colour => colour.startsWith('color(srgb')
        ? colour.match(/[\\d.e-]+/g).map(Number).map((x, i) => i < 3 ? 255 * x : x)
        : colour.match(/[\\d.]+/g).map(Number);
    const over = ([r, g, b, alpha = 1], below, opacity = 1) =>
        [r, g, b].map((x, i) => x * alpha * opacity + below[i] * (1 - alpha * opacity));
    const ground = element => element
        ? over(channels(getComputedStyle(element).backgroundColor), ground(element.parentElement)) : [255, 255, 255];
    const opacity = element => element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
    const luminance = colour => colour.map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
        .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
    const found = [];
    const texts = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
        if (!text || !element.checkVisibility()) continue;
        const behind = ground(element);
        const [dark, light] = [behind, over(channels(getComputedStyle(element).color), behind, opacity(element))]
            .map(luminance).sort((a, b) => a - b);
        found.push([(light + 0.05) / (dark + 0.05), text]);
    }
    return found;
}"""


def visible_text(place: Locator) -> str:
    return place.inner_text().replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


@dataclass(frozen=True)
class NotebookPage:
    """A notebook open in JupyterLab. Cells are counted from 0, text cells included."""

    page: Page
    outside_requests: list[str]

    def wait_until_idle(self) -> None:
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=RUN_SECONDS * 1000)

    def run_all(self) -> None:
        """Run every cell and wait until the outputs stand still."""
        self.wait_until_idle()
        self.page.evaluate(RUN_ALL, RUN_SECONDS)
        self.wait_until_idle()
        self.settle()

    def settle(self) -> None:
        self.page.evaluate(SETTLED)

    def cells(self) -> Locator:
        return self.page.locator(f"{PANEL} .jp-Notebook .jp-Cell")

    def outputs(self, cell: int | None = None) -> list[Locator]:
        """The outputs of one cell, or of the whole notebook, top to bottom."""
        where = self.cells() if cell is None else self.cells().nth(cell)
        return where.locator(".jp-OutputArea-output").all()

    def text(self, cell: int | None = None) -> str:
        """What the outputs say to a reader, no-break spaces as spaces; text that is folded away is not in it."""
        return "\n".join(map(visible_text, self.outputs(cell)))

    def html(self, cell: int | None = None) -> str:
        return "\n".join(output.inner_html() for output in self.outputs(cell))

    def errors(self) -> list[str]:
        """What the outputs that are tracebacks or were written to stderr say."""
        return [
            output.inner_text()
            for output in self.cells().locator(
                "[data-mime-type='application/vnd.jupyter.error'], [data-mime-type='application/vnd.jupyter.stderr']").all()
        ]

    def overflowing(self, cell: int | None = None) -> list[str]:
        """The innermost things in the outputs that pass the right edge of their output, or of their own box, and by how much."""
        return [found for output in self.outputs(cell) for found in output.evaluate(OVERFLOWING)]

    def faint_texts(self, least: float = 4.5, cell: int | None = None) -> list[str]:
        """Texts in the outputs whose contrast is below the least, which is by default that of WCAG 2.2, criterion 1.4.3, level AA."""
        return [
            f"{text} ({contrast:.1f})"
            for output in self.outputs(cell) for contrast, text in output.evaluate(CONTRASTS) if contrast < least
        ]

    def unfold(self) -> None:
        """Open every `details` element in the outputs."""
        self.cells().locator(".jp-OutputArea-output details").evaluate_all("all => all.forEach(one => one.open = true)")
        self.settle()

    def photograph(self, file: Path) -> None:
        """Write a picture of the whole notebook, however long."""
        self._show_whole()
        self.page.locator(f"{PANEL} .jp-Notebook").screenshot(path=file)

    def photograph_output(self, output: Locator, file: Path) -> list[Path]:
        """Write pictures of one output, from top to bottom: the file, or where it is tall FILE-1, FILE-2 and so on."""
        self._show_whole()
        box = output.bounding_box()
        assert box is not None, "the output is not shown"
        if box["height"] <= PIECE:
            output.screenshot(path=file)
            return [file]
        pieces = []
        for number in range(math.ceil(box["height"] / PIECE)):
            top = box["y"] + number * PIECE
            pieces.append(file.with_stem(f"{file.stem}-{number + 1}"))
            height = min(PIECE, box["y"] + box["height"] - top)
            self.page.screenshot(path=pieces[-1], clip={"x": box["x"], "y": top, "width": box["width"], "height": height})
        return pieces

    def _show_whole(self) -> None:
        """Make the window as tall as the notebook, so that nothing is scrolled out of sight."""
        height = self.page.evaluate("""() => {
            const notebook = document.querySelector('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook');
            const outer = notebook.querySelector('.jp-WindowedPanel-outer') ?? notebook;
            return window.innerHeight - outer.clientHeight + outer.scrollHeight;
        }""")
        self.page.set_viewport_size({"width": self.page.viewport_size["width"], "height": max(HEIGHT, height)})
        self.settle()


@contextmanager
def open_notebook(
    browser: Browser, server: JupyterServer, notebook: Path, *,
    theme: str = "light", trusted: bool = False, width: int = WIDTH,
) -> Iterator[NotebookPage]:
    """Open a copy of a notebook in JupyterLab, as it was saved: nothing is run yet."""
    server.use_theme(theme)
    address = server.add(notebook, trusted=trusted)
    with new_page(browser, width=width, height=HEIGHT, theme=theme) as (page, outside):
        page.goto(address)
        page.wait_for_selector(f"{PANEL} .jp-Notebook .jp-Cell", timeout=60_000)
        page.wait_for_selector(f"body[data-jp-theme-light='{'false' if theme == 'dark' else 'true'}']", state="attached", timeout=60_000)
        opened = NotebookPage(page, outside)
        opened.wait_until_idle()
        opened.settle()
        yield opened
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

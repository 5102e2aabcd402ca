"""A deck of slides in Chromium with the network cut: step through it, read it, measure it; and pictures of every slide, for a look.

    python -m tests.browser.deck NOTEBOOK OUT_DIR [--theme light|dark] [--every-step]
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page

from mlsysim.notebook.slides.deck import make_deck
from tests.browser.chromium import chromium
from tests.browser.notebook import CONTRASTS, visible_text

WIDTH, HEIGHT = 1280, 720
MOST_STEPS = 400
# Letters of the package's plots, in pixels of their pictures: 10 points at 192 dots for an inch.
PLOT_LETTERS = 10 * 192 / 72

READY = "() => window.Reveal?.isReady()"
PLACE = "() => { const {h, v, f} = Reveal.getIndices(); return [h, v ?? 0, f ?? -1]; }"
HAS_MORE = "() => !Reveal.isLastSlide() || Reveal.availableFragments().next"
OVERFLOWING = """() => {
    const slide = Reveal.getCurrentSlide(), edge = slide.getBoundingClientRect(), number = document.querySelector('.slide-number').getBoundingClientRect();
    const beyond = box => Math.max(box.right - edge.right, box.bottom - edge.bottom, edge.left - box.left, edge.top - box.top,
        box.right > number.left && box.bottom > number.top ? 2 : 0);
    return [...slide.querySelectorAll('*')].filter(e => e.checkVisibility({visibilityProperty: true}) && !e.closest('aside') && e.getClientRects().length)
        .filter(e => !e.childElementCount || e.matches('img, table, pre'))
        .filter(e => beyond(e.getBoundingClientRect()) > 1 || e.scrollWidth - e.clientWidth > 1 && e.clientWidth)
        .map(e => `${e.tagName.toLowerCase()}: ${e.textContent.slice(0, 60)}`);
}"""
SMALLEST = """letters => {
    const found = [], scale = Reveal.getScale();
    for (const place of [Reveal.getCurrentSlide(), document.querySelector('.slide-number')]) {
        const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const element = texts.currentNode.parentElement, text = texts.currentNode.data.trim();
            if (text && element.checkVisibility({visibilityProperty: true}) && !element.closest('aside, script, style')) found.push([parseFloat(getComputedStyle(element).fontSize) * scale, text]);
        }
        for (const image of place.querySelectorAll('img'))
            found.push([letters * scale * Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight), image.alt]);
    }
    return found;
}"""


@dataclass(frozen=True)
class Deck:
    """Slides open in a browser, at one step of one of them."""

    page: Page
    asked: list[str]

    def steps(self) -> Iterator[tuple[int, int, int]]:
        """Step to the end by keyboard; each place is given while it is shown."""
        yield self.place()
        for _ in range(MOST_STEPS):
            if not self.page.evaluate(HAS_MORE):
                return
            before = self.place()
            self.page.keyboard.press("ArrowRight")
            assert self.place() != before, f"the arrow key does not lead on from {before}"
            yield self.place()
        raise AssertionError(f"no end after {MOST_STEPS} steps")

    def place(self) -> tuple[int, int, int]:
        """The slide, its place below that, and the step of it."""
        return tuple(self.page.evaluate(PLACE))

    def at_the_end_of_a_slide(self) -> bool:
        return not self.page.evaluate("() => Reveal.availableFragments().next")

    def text(self) -> str:
        """What an audience reads at this step."""
        return visible_text(self.page.locator("section.present").last)

    def overflowing(self) -> list[str]:
        return self.page.evaluate(OVERFLOWING)

    def small_texts(self, least: float = 24) -> list[str]:
        return [f"{size:.1f} px: {text}" for size, text in self.page.evaluate(SMALLEST, PLOT_LETTERS) if size < least - 0.01]

    def faint_texts(self, least: float = 4.5) -> list[str]:
        return [f"{contrast:.2f}: {text}" for contrast, text in self.page.locator("section.present").last.evaluate(CONTRASTS) if contrast < least]


@contextmanager
def open_deck(browser: Browser, page: Path, *, theme: str = "light") -> Iterator[Deck]:
    """Open a deck from its folder, offline. `asked` lists all that it wanted beyond the folder."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="dark" if theme == "dark" else "light", offline=True)
    asked: list[str] = []
    context.on("request", lambda request: None if request.url.startswith((page.parent.as_uri(), "data:")) else asked.append(request.url))
    context.on("weberror", lambda error: asked.append(str(error.error)))
    try:
        opened = context.new_page()
        opened.goto(page.as_uri())
        opened.wait_for_function(READY)
        yield Deck(opened, asked)
    finally:
        context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    parser.add_argument("folder", type=Path, metavar="OUT_DIR", help="where the deck and the pictures go")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--every-step", action="store_true", help="a picture of every step, not only of every slide's last")
    options = parser.parse_args()
    with chromium() as browser, open_deck(browser, make_deck(options.notebook, options.folder), theme=options.theme) as deck:
        for slide, below, step in deck.steps():
            if deck.at_the_end_of_a_slide():
                for subject in ("overflowing", "small_texts", "faint_texts"):
                    if found := getattr(deck, subject)():
                        print(f"slide {slide + 1}: {subject}: {found}")
            if deck.at_the_end_of_a_slide() or options.every_step:
                deck.page.screenshot(path=options.folder / f"{options.notebook.stem}-{options.theme}-{slide + 1:02}-{step + 1}.png")
        print(f"{slide + 1} slides; asked of the network: {deck.asked or 'nothing'}")


if __name__ == "__main__":
    main()

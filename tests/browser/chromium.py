"""A headless Chromium that reaches loopback only, and notes whatever it asked of other hosts."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Playwright, Route, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
NOT_FOUND = (
    "No Chromium was found, and these tests look at notebooks in a real browser. "
    "Install it: `apt-get install chromium` on Debian and Ubuntu, or, on any system, `playwright install chromium` "
    "from the virtual environment that runs the tests."
)


class ChromiumNotFound(RuntimeError):
    """No Chromium on PATH, and none of Playwright's own."""


def chromium_path(playwright: Playwright) -> str:
    for name in NAMES:
        if path := shutil.which(name):
            return path
    if Path(playwright.chromium.executable_path).exists():
        return playwright.chromium.executable_path
    raise ChromiumNotFound(NOT_FOUND)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A running browser, closed with whatever it showed at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(playwright), args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def new_page(browser: Browser, *, width: int, height: int, theme: str = "light") -> Iterator[tuple[Page, list[str]]]:
    """A page of its own without history, and the list of addresses outside this machine that it asked for."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if theme == "dark" else "light")
    outside: list[str] = []

    def stop_outside(route: Route) -> None:
        outside.append(route.request.url)
        route.abort()

    context.route(lambda address: not is_local(address), stop_outside)
    try:
        yield context.new_page(), outside
    finally:
        context.close()


def is_local(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme not in ("http", "https", "ws", "wss") or parts.hostname in ("127.0.0.1", "localhost", "::1")

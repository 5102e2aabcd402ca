"""JupyterLab and Chromium for the tests of this folder, started once for all of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.chromium import ChromiumNotFound, chromium
from tests.browser.jupyter import JupyterServer
from tests.browser.notebook import NotebookPage, open_notebook


# Both end with this folder's last test: Playwright holds an event loop, which must be gone when nbval runs its notebooks.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with ExitStack() as stack:
        try:
            running = stack.enter_context(chromium())
        except ChromiumNotFound as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        yield running


@pytest.fixture(scope="package")
def jupyter_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    server = JupyterServer(tmp_path_factory.mktemp("jupyter"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def open_in_lab(browser: Browser, jupyter_server: JupyterServer) -> Iterator[Callable[..., NotebookPage]]:
    """`open_in_lab(notebook, theme="dark", trusted=True)` opens a copy of the notebook, closed after the test."""
    with ExitStack() as pages:
        def open_one(notebook: Path, **options: object) -> NotebookPage:
            return pages.enter_context(open_notebook(browser, jupyter_server, notebook, **options))

        yield open_one

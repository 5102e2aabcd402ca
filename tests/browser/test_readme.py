"""The README's first command, run as it stands there, leads to the start notebook."""

import re
import shlex
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.chromium import new_page
from tests.browser.jupyter import REPOSITORY, JupyterServer
from tests.browser.notebook import HEIGHT, PANEL, WIDTH, visible_text


def test_the_first_command_opens_the_start_notebook(browser: Browser, tmp_path: Path) -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^python3 .*&& (\.venv/bin/jupyter lab .*)$", readme, re.M)
    program, *arguments = shlex.split(command)
    shutil.copytree(REPOSITORY / "notebooks", tmp_path / "clone" / "notebooks")
    server = JupyterServer(tmp_path / "jupyter")
    server.run([str(Path(sys.executable).parent / Path(program).name), *arguments, "--no-browser"], tmp_path / "clone")
    try:
        with new_page(browser, width=WIDTH, height=HEIGHT) as (page, _):
            page.goto(f"{server.address}?token={server.token}")
            page.wait_for_selector(f"{PANEL} .jp-OutputArea-output", timeout=60_000)
            assert page.url.endswith("/notebooks/start_here.ipynb")
            assert "24.0 GB" in visible_text(page.locator(f"{PANEL} .jp-Notebook"))
    finally:
        server.stop()

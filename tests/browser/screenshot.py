"""Pictures of a notebook in JupyterLab, or of a page of HTML, for a look while drawing.

    python -m tests.browser.screenshot NOTEBOOK OUT_DIR [--theme light|dark] [--untrusted] [--unfold] [--width 1400]
    python -m tests.browser.screenshot --html FILE OUT_DIR

The first writes NAME-THEME.png and one NAME-THEME-output-N.png for each output, in pieces where
it is tall; it also says what overflows, is too faint, or failed. The second writes FILE in a light and a dark window;
a notebook given to it is converted by nbconvert in both themes.
"""

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser.chromium import chromium, new_page
from tests.browser.jupyter import JupyterServer
from tests.browser.notebook import HEIGHT, WIDTH, open_notebook

PAGE = "<!doctype html><meta charset=utf-8><body style='font-family:system-ui,sans-serif;font-size:14px'>{}"
PAPER = {
    "light": "html,body{background:#fff;color:rgba(0,0,0,.87)}",
    "dark": "html,body{background:#111;color:rgba(255,255,255,.87)}",
}


def photograph_notebook(
    browser: Browser, notebook: Path, folder: Path, *, theme: str, untrusted: bool, unfold: bool, width: int,
) -> list[Path]:
    name = f"{notebook.stem}-{theme}" + ("-untrusted" if untrusted else "")
    with tempfile.TemporaryDirectory() as place:
        server = JupyterServer(Path(place))
        server.start()
        try:
            with open_notebook(browser, server, notebook, theme=theme, width=width) as opened:
                if not untrusted:
                    opened.run_all()
                if unfold:
                    opened.unfold()
                written = [folder / f"{name}.png"]
                opened.photograph(written[0])
                for number, output in enumerate(opened.outputs()):
                    written += opened.photograph_output(output, folder / f"{name}-output-{number}.png")
                for subject in ("overflowing", "faint_texts", "errors"):
                    print(f"{subject}: {getattr(opened, subject)() or 'none'}")
                print(f"outside requests: {opened.outside_requests or 'none'}")
        finally:
            server.stop()
    return written


def photograph_page(browser: Browser, file: Path, folder: Path, *, unfold: bool, width: int) -> list[Path]:
    written = []
    for theme in ("light", "dark"):
        text = convert(file, theme) if file.suffix == ".ipynb" else file.read_text(encoding="utf-8")
        with new_page(browser, width=width, height=HEIGHT, theme=theme) as (page, outside):
            if "<body" in text:
                page.set_content(text)
            else:
                page.set_content(PAGE.format(text))
                page.add_style_tag(content=PAPER[theme])
            if unfold:
                page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
            written.append(folder / f"{file.stem}-{theme}-page.png")
            page.screenshot(path=written[-1], full_page=True)
            print(f"{theme}: outside requests: {outside or 'none'}")
    return written


def convert(notebook: Path, theme: str) -> str:
    """The notebook as `nbconvert --to html` writes it."""
    from nbconvert import HTMLExporter

    return HTMLExporter(theme=theme).from_filename(str(notebook))[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="NOTEBOOK", help="a notebook, or with --html a page")
    parser.add_argument("folder", type=Path, metavar="OUT_DIR", help="where the pictures go")
    parser.add_argument("--html", action="store_true", help="show the file as a page of its own, without JupyterLab")
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument("--untrusted", action="store_true", help="show the saved outputs, without running")
    parser.add_argument("--unfold", action="store_true", help="open what is folded away")
    parser.add_argument("--width", type=int, default=WIDTH, help="of the window, in pixels")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if options.html:
            written = photograph_page(browser, options.file, options.folder, unfold=options.unfold, width=options.width)
        else:
            written = photograph_notebook(
                browser, options.file, options.folder, theme=options.theme,
                untrusted=options.untrusted, unfold=options.unfold, width=options.width)
    print(*written, sep="\n")


if __name__ == "__main__":
    main()

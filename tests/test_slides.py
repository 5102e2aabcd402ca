"""Slides: what becomes of a notebook's cells, and that a deck's folder holds all that its page asks for."""
from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from mlsysim import Scenarios
from mlsysim.notebook import ask, walkthrough
from mlsysim.notebook.slides.cells import slide_cells, with_mathematics
from mlsysim.notebook.slides.deck import SlidesError, make_deck

REPOSITORY = Path(__file__).resolve().parents[1]
FP32 = Scenarios.Gpt2Fp32AdamOnH100


def shown(html: str, **metadata: object) -> NotebookNode:
    """A code cell that was run and shows this."""
    return new_code_cell("show()", execution_count=1, metadata=metadata, outputs=[new_output("execute_result", {"text/html": html, "text/plain": ""}, execution_count=1)])


def deck(folder: Path, *cells: NotebookNode) -> BeautifulSoup:
    """The page of a deck whose first slide begins with a heading."""
    heading = new_markdown_cell("# Memory", metadata={"slideshow": {"slide_type": "slide"}})
    nbformat.write(new_notebook(cells=[heading, *cells]), folder / "lecture.ipynb")
    return BeautifulSoup(make_deck(folder / "lecture.ipynb", folder / "slides").read_text(encoding="utf-8"), "html.parser")


# Cells.

def test_a_walkthrough_becomes_a_slide_for_each_scene() -> None:
    walk = walkthrough(FP32, "total")
    cells = slide_cells([shown(walk.html())])
    assert [cell.metadata.slideshow.slide_type for cell in cells] == ["slide", "notes"] * len(walk.scenes)
    for scene, slide, notes in zip(walk.scenes, cells[::2], cells[1::2]):
        assert scene.title in slide.source and slide.source.count('<p class="fragment"') == len(scene.reveals)
        assert "Sources" not in slide.source and all(source in notes.source for source in scene.sources)


def test_hint_and_answer_are_steps() -> None:
    (cell,) = slide_cells([shown(ask("How much?", hint="Count.", answer="{s.total}.", s=FP32)._repr_html_())])
    page = BeautifulSoup(cell.outputs[0].data["text/html"], "html.parser")
    assert [step.get_text().replace("\N{NO-BREAK SPACE}", " ") for step in page.select(".fragment")] == ["Hint: Count.", "Answer: 24.0 GB."]
    assert not page.find("details")


def test_the_words_of_a_figure_are_for_the_speaker() -> None:
    figure, notes = slide_cells([shown('<img src="data:image/png;base64,AA==" alt="It grows."><details><summary>In words</summary><p>It grows.</p></details>')])
    assert "<details" not in figure.outputs[0].data["text/html"]
    assert (notes.metadata.slideshow.slide_type, notes.source) == ("notes", "It grows.")


def test_code_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    page = deck(tmp_path, shown("<p>hidden</p>"), shown("<p>seen</p>", tags=["show-code"]))
    assert page.get_text().count("show()") == 1


def test_the_notebook_s_own_cells_are_left_as_they_were() -> None:
    cell = shown(walkthrough(FP32, "total").html())
    before = nbformat.writes(new_notebook(cells=[cell]))
    slide_cells([cell])
    assert nbformat.writes(new_notebook(cells=[cell])) == before


@pytest.mark.parametrize("source", ["It costs $5 and $6.", "`$x$`", "```\n$x$\n```", r"\$x\$"])
def test_dollars_that_are_not_mathematics_stay(source: str) -> None:
    assert with_mathematics(source) == source


@pytest.mark.parametrize("name", list(type(FP32).quantities))
def test_every_equation_is_shown_without_a_typesetter(name: str) -> None:
    equation = type(FP32).equation(name)
    made = BeautifulSoup(with_mathematics(f"So ${equation.latex}$."), "html.parser")
    assert made.find("math") is not None and "\\" not in made.get_text() and made.get_text().endswith(".")


def test_an_equation_as_a_cell_s_value_is_shown(tmp_path: Path) -> None:
    equation = type(FP32).equation("optimizer_state")
    cell = new_code_cell("equation", execution_count=1, outputs=[new_output("execute_result", {"text/latex": equation._repr_latex_(), "text/plain": str(equation)}, execution_count=1)])
    assert deck(tmp_path, cell).find("math").get_text() == "Mopt=P×bopt"


# The folder.

def test_the_folder_holds_all_that_the_page_asks_for(tmp_path: Path) -> None:
    page = deck(tmp_path, shown(walkthrough(FP32, "total").html()))
    asked = [element.get("src") or element.get("href") for element in page.select("script[src], link[href], img[src]")]
    assert asked and all((tmp_path / "slides" / place).is_file() for place in asked)
    for style in (tmp_path / "slides" / "assets").glob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(?!data:)|@import", style.read_text(encoding="utf-8"))
    assert page.title.get_text() == "Memory"


@pytest.mark.parametrize("source", ["![A dot](pictures/dot.png)", '<img src="pictures/dot.png" alt="A dot">'])
def test_pictures_beside_the_notebook_go_into_the_page(tmp_path: Path, source: str) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "dot.png").write_bytes(b"A picture.")
    (picture,) = deck(tmp_path, new_markdown_cell(source)).select("img")
    assert (picture["src"], picture["alt"]) == ("data:image/png;base64,QSBwaWN0dXJlLg==", "A dot")


@pytest.mark.parametrize("place", ["missing.png", "https://example.org/dot.png"])
def test_a_picture_that_is_elsewhere_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(SlidesError, match=f"lecture.ipynb: shows {place}, which slides without a network cannot"):
        deck(tmp_path, new_markdown_cell(f"![A dot]({place})"))
    assert not (tmp_path / "slides").exists()


def test_a_deck_may_be_made_anew_in_its_folder(tmp_path: Path) -> None:
    walk = walkthrough(FP32, "total").html()
    assert str(deck(tmp_path, shown(walk))) == str(deck(tmp_path, shown(walk)))


def test_a_lecture_in_ten_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own lines, and then its command."""
    page = (REPOSITORY / "notebooks" / "lectures" / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    command = re.findall(r"```sh\npython -m (.*?)\n```", page)[0].split()
    assert len([line for line in lines.splitlines() if line.strip()]) <= 10
    monkeypatch.chdir(tmp_path)
    exec(lines, {})
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module(command[0], run_name="__main__")
    slides = BeautifulSoup((tmp_path / "my_lecture" / "index.html").read_text(encoding="utf-8"), "html.parser").select(".slides > section > section")
    assert slides[0].get_text().strip().startswith("My lecture")
    assert "How many bytes does Adam add?" in slides[4].get_text() and len(slides) > 10


def test_the_first_page_s_command_makes_slides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (command,) = re.findall(r"^\S+python -m (mlsysim\.notebook\.slides .*)$", (REPOSITORY / "README.md").read_text(encoding="utf-8"), re.M)
    module, lecture, folder = command.split()
    monkeypatch.setattr(sys, "argv", [module, str(REPOSITORY / lecture), str(tmp_path / folder)])
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module(module, run_name="__main__")
    assert (tmp_path / folder / "index.html").is_file()


@pytest.mark.parametrize(("cells", "message"), [
    ([new_markdown_cell("text")], "no cell begins a slide; set the Slide Type"),
    ([new_markdown_cell("# A", metadata={"slideshow": {"slide_type": "slide"}}), new_code_cell("1")], "some cells were not run; run all and save"),
])  # fmt: skip
def test_errors_say_what_to_do(tmp_path: Path, cells: list[NotebookNode], message: str) -> None:
    nbformat.write(new_notebook(cells=cells), tmp_path / "lecture.ipynb")
    with pytest.raises(SlidesError, match=message):
        make_deck(tmp_path / "lecture.ipynb", tmp_path / "slides")


def test_a_notebook_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SlidesError, match="there is no such notebook"):
        make_deck(tmp_path / "lecture.ipynb", tmp_path / "slides")


@pytest.mark.parametrize("text", ["Not a notebook.", "{}"])
def test_a_file_that_is_no_notebook(tmp_path: Path, text: str) -> None:
    (tmp_path / "lecture.ipynb").write_text(text, encoding="utf-8")
    with pytest.raises(SlidesError, match="lecture.ipynb: is not a notebook"):
        make_deck(tmp_path / "lecture.ipynb", tmp_path / "slides")


@pytest.mark.parametrize(("place", "message"), [("slides/index.html", "index.html: is a page of something else"), ("slides", "slides: is a file")])
def test_what_is_there_already_is_left_as_it_is(tmp_path: Path, place: str, message: str) -> None:
    there = tmp_path / place
    there.parent.mkdir(exist_ok=True)
    there.write_text("<p>Mine</p>", encoding="utf-8")
    with pytest.raises(SlidesError, match=message):
        deck(tmp_path)
    assert there.read_text(encoding="utf-8") == "<p>Mine</p>"


def test_a_missing_package_is_named_with_what_installs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsysim.notebook.slides.deck.NEEDS", {"nbconvert": "nbconvert", "a_module_that_nobody_has": "some-package"})
    with pytest.raises(SlidesError, match=r"slides need some-package; .*\[slides\]"):
        deck(tmp_path)

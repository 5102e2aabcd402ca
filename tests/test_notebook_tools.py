"""The tools around the notebooks: what is taken for a typed number or a fleeting output, the form notebooks are saved in, how differences read."""
from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import pytest
from nbformat import NotebookNode, reads, write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from tests.notebooks import chapters, symbols
from tests.notebooks.__main__ import renew
from tests.notebooks.differences import differences
from tests.notebooks.execution import NotebookFailed
from tests.notebooks.files import LIVE, read, saved_form
from tests.notebooks.guards import faults
from tests.notebooks.typed_numbers import ALLOWED, typed_in, typed_numbers

# What a digit may be part of, by the rule that allows it.
GOOD = {
    "a heading's number": ["# 1.8 Model Training: what a step must remember"],
    "the number of a list's item": ["1. Guess.\n2. Look."],
    "a place in a text": ["See chapters 1.5 and 1.8, section 3.1.", "Question 2 asks more."],
    "an address": ["[the textbook](https://example.org/1.8)", "<https://example.org/2>", "[1.8]: https://example.org".replace("1.8", "book")],
    "a publication's identifier": ["arXiv:2205.05198, and doi:10.1016/j.future.2004.11.016."],
    "a publication's year": ["Korthikanti et al. 2023 counted it.", "(Daly, 2006)", "Kingma and Ba 2015 say so.", "Adam (2015)"],
    "a number format": ["FP32 and bf16, a 4-bit base, int8"],
    "a term": ["ZeRO-3 with 1F1B on HBM3"],
    "a family of models": ["GPT-2, Llama 2, Llama 3.1"],
}
BAD = [
    ("Adam adds 24 GB", "24"), ("16 bytes a parameter", "16"), ("about 2× more", "2×"), ("80 %", "80"), ("¾ of it", "¾"), ("12h²", "12h²"),
    ("sixteen bytes each", "sixteen bytes"), ("seven billion weights", "billion"), ("it took ten days", "ten days"),
    ("$12 h^2$", "$12"), ("`24 GB`", "24"), ("`16`", "16"), ("```\n24 GB\n```", "24"),
    ("a context of 2048 tokens", "2048"), ("It holds 2000 bytes", "2000"), ("Holds 2000 bytes", "2000"), ("chapter 4 GB", "4"),
    ("GPT-25", "GPT-25"), ("ZeRO-4", "ZeRO-4"), ("an H1000", "H1000"), ("an H100 with 80.5", "80.5"), ("Llama 2 70.5", "70.5"), ("3-bit", "3-bit"),
]  # fmt: skip


@pytest.mark.parametrize("rule", ALLOWED)
def test_what_the_rule_allows_is_no_typed_number(rule: str) -> None:
    assert all(typed_numbers(text) == [] for text in GOOD[rule])
    assert any(ALLOWED[rule].search(text) for text in GOOD[rule])


@pytest.mark.parametrize("text", [
    "Llama 2 7B on two H100s", "NVIDIA H100", "`Scenarios.Gpt2Fp32AdamOnH100`", "`explore(scenario, batch_size=(1, 256))`",
    "```python\nscenario.variant(batch_size=64)\n```", "<div style='margin:4px'>one byte, two copies</div>", "It takes {at_64.total}.",
])  # fmt: skip
def test_names_of_the_catalogue_and_code_are_no_typed_numbers(text: str) -> None:
    assert typed_numbers(text) == []


@pytest.mark.parametrize(("text", "typed"), BAD)
def test_a_typed_number_is_found(text: str, typed: str) -> None:
    assert typed in typed_numbers(text)


@pytest.mark.parametrize(("source", "typed"), [
    ('say("Adam adds 12 GB to it.", s=scenario)', ["12"]),
    ('say(f"Adam adds {x} and 12 GB.")', ["12"]),
    ('ask("How much is it?", answer="It is 12 GB.")', ["12"]),
    ('explore(scenario, activations=("1 GB", "80 GB"))  # up to 80 GB', ["80"]),
    ('class Mine(Scenario):\n    """Always 16 bytes wide."""', ["16"]),
    ('scenario.variant(batch_size=64, activations="40 GB")', []),
    ('say("Adam adds {s.optimizer_state} at {s.variant_2}.", s=scenario)', []),
    ("%matplotlib inline\nx = 3", []),
])  # fmt: skip
def test_prose_in_code_is_read_too(source: str, typed: list[str]) -> None:
    assert typed_in(new_code_cell(source)) == typed


@pytest.mark.parametrize(("text", "what"), [
    ("<Thing object at 0x7f3a5c0d1e80>", "an address"), ("5f0e6a4e-9c1d-4f57-8a4b-2f9a5d1c7e33", "a uuid"), ("5f0e6a4e9c1d4f578a4b2f9a5d1c7e33", "a uuid"),
    ("2026-11-30T20:20:41", "a time"), ("20:20:41", "a time"), ("Wall time: 3 ms", "a time"), ("/opt/kernels/x.py", "a path"), ("ipykernel_12/3.py", "a path"),
    ("VBox(children=(HTML(value=''),))", "a widget's bare repr"),
])  # fmt: skip
def test_a_fleeting_output_is_found(text: str, what: str) -> None:
    for output in (new_output("stream", text=text), new_output("execute_result", {"text/html": text}, execution_count=1)):
        assert what in {fault.partition(":")[0] for fault in faults(new_code_cell(outputs=[output]))}


def test_outputs_of_every_day_are_not_fleeting() -> None:
    said = "M_opt = 1.5 × 10⁹ × 8 B = 12.0 GB, 27.9 %, https://example.org/home/2, ratio 3:1, 24 h"
    assert faults(new_code_cell(outputs=[new_output("stream", text=said)])) == []


@pytest.mark.parametrize("output", [new_output("error", ename="ValueError", evalue="no", traceback=[]), new_output("stream", name="stderr", text="careful")])
def test_an_error_in_the_outputs_is_found(output: NotebookNode) -> None:
    assert len(faults(new_code_cell(outputs=[output]))) == 1


# Running and saving.

def kept_in(folder: Path, *sources: str) -> Path:
    file = folder / "1-08_model_training.ipynb"
    write(new_notebook(cells=[new_markdown_cell("# 1.8 Model Training"), *map(new_code_cell, sources)]), file)
    return file


def test_running_twice_saves_the_same_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = kept_in(tmp_path, "print('one')\nprint('two')  ", "import ipywidgets\nipywidgets.IntSlider()", "from mlsysim import Scenarios\nprint(Scenarios.Gpt2Fp32AdamOnH100.figure_text('total'))")
    assert not renew(file, write=True)
    saved = file.read_text(encoding="utf-8")
    assert renew(file, write=True) and file.read_text(encoding="utf-8") == saved
    notebook = read(file)
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2, 3]
    assert LIVE not in saved and "model_id" not in saved and "iopub" not in saved
    assert "24.0 GB" in saved
    assert capsys.readouterr().out.count("run for the first time") == 3


def test_a_notebook_of_the_same_cells_is_the_same_file() -> None:
    one, other = (new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("x = 1"), new_code_cell("x = 1")]) for _ in "ab")
    other.cells[1].metadata["execution"] = {"iopub.busy": "2026-11-30T20:20:41"}
    other.metadata["widgets"] = {"state": {}}
    assert [cell.id for cell in one.cells] != [cell.id for cell in other.cells]
    assert saved_form(one) == saved_form(other)
    identities = [cell.id for cell in reads(saved_form(one), as_version=4).cells]
    assert len(set(identities)) == 3


def picture(colour: str, **options: object) -> str:
    file = io.BytesIO()
    Image.new("RGB", (3, 2), colour).save(file, "PNG", **options)
    return base64.b64encode(file.getvalue()).decode()


@pytest.mark.parametrize(("kind", "around"), [("image/png", "{}"), ("text/html", '<img src="data:image/png;base64,{}">')])
@pytest.mark.parametrize(("colour", "kept"), [("red", True), ("blue", False)])
def test_a_picture_is_saved_anew_only_where_it_shows_something_else(kind: str, around: str, colour: str, kept: bool) -> None:
    def notebook(shown: str) -> NotebookNode:
        return new_notebook(cells=[new_code_cell("draw()", execution_count=1, outputs=[new_output("display_data", {kind: around.format(shown)})])])

    before, after = picture("red"), picture(colour, compress_level=0)
    assert before != after
    assert (before in saved_form(notebook(after), notebook(before))) is kept
    assert bool(differences(notebook(before), notebook(after))) is not kept


def test_a_failing_cell_is_named_and_nothing_is_saved(tmp_path: Path) -> None:
    file = kept_in(tmp_path, "1 / 0")
    before = file.read_text(encoding="utf-8")
    with pytest.raises(NotebookFailed, match=r"1-08_model_training.ipynb[\s\S]*ZeroDivisionError"):
        renew(file, write=True)
    assert file.read_text(encoding="utf-8") == before


def test_what_differs_is_told_in_the_words_a_reader_sees() -> None:
    def notebook(shown: str, *, text: str = "x") -> NotebookNode:
        page = f"<table><tr><th>total</th>{shown}</tr><tr><td>same</td></tr></table>"
        outputs = [new_output("stream", text=text), new_output("execute_result", {"text/html": page, "text/plain": "a table"}, execution_count=1)]
        return new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell("scenario\n", execution_count=1, outputs=outputs), new_code_cell("3", execution_count=2)])

    before = notebook("<td>24.0&nbsp;GB</td>")
    assert differences(before, notebook("<td>24.0&nbsp;GB</td>")) == []
    (told,) = differences(before, notebook("<td>25.0&nbsp;GB</td>", text="y"))
    assert told.splitlines() == ["cell 2: scenario", "  output 1, stdout:", "  - x", "  + y", "  output 2, text/html:", "  - total 24.0 GB", "  + total 25.0 GB"]
    (told,) = differences(before, notebook("<td class='x'>24.0&nbsp;GB</td>"))
    assert told.splitlines()[1:] == ["  output 2, text/html:", "  (reads the same; its markup differs)", "  - <td>24.0&nbsp;GB", "  + <td class='x'>24.0&nbsp;GB"]


# What is written from the notebooks.

@pytest.mark.parametrize(("name", "text", "words"), [
    ("model_training.ipynb", "# Model Training\n\n**You will be able to answer:** it", "called by volume, chapter and title"),
    ("1-08_model_training.ipynb", "# Model Training\n\n**You will be able to answer:** it", re.escape("write `# 1.8 Title")),
    ("1-08_model_training.ipynb", "# 1.8 Model Training", "paragraph `[*][*]You will"),
])  # fmt: skip
def test_a_notebook_that_does_not_say_what_it_is_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(chapters.NotebookHeadError, match=words):
        chapters.head(tmp_path / name, new_notebook(cells=[new_markdown_cell(text)]))


def test_the_head_of_a_notebook() -> None:
    text = "# 1.8 Model Training: its memory\n\n**You will be able to answer:** which part\nfills the device first\n\nMore."
    found = chapters.head(Path("1-08_model_training.ipynb"), new_notebook(cells=[new_markdown_cell(text)]))
    assert (found.name, found.answers) == ("1.8 Model Training", "which part fills the device first")


def test_the_index_holds_every_symbol_of_every_scenario_and_record() -> None:
    text = "\n".join(cell.source for cell in symbols.index().cells)
    for line in ("| <i>M</i><sub>opt</sub> | `optimizer_state` |", "| `Memory` |", "| `AdaptedMatrix` |", "| GiB | gibibyte | 2³⁰ B = 1,073,741,824 B |"):
        assert line in text
    assert len(symbols.entries()) == text.count("\n| <i>")

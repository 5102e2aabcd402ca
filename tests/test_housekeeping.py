"""The repository around the package: what it may hold, what its notebooks were saved with, what its README promises."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
TOP_LEVEL = {"pyproject.toml", "mlsysim", "notebooks", "exercises", "solutions", "tests", "binder", "README.md", "LICENSE"}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home|Users|farm|tmp)/|[A-Z]:\\Users\\")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
UUID = re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b")


def tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    return [file for name in listing.split("\0") if name and (file := REPOSITORY / name).is_file()]


def saved_text(cell: dict) -> str:  # type: ignore[type-arg]
    """Every text that the cell's saved outputs show."""
    shown: list[str] = []
    for output in cell["outputs"]:
        shown.extend("".join(output.get("text", "")))
        shown.extend("".join(data) for kind, data in output.get("data", {}).items() if kind.startswith("text/"))
        shown.extend(output.get("traceback", []))
    return "".join(shown)


NOTEBOOKS = [file.relative_to(REPOSITORY).as_posix() for file in tracked("notebooks/*.ipynb", "solutions/*.ipynb")]


def code_cells(notebook: str) -> list[dict]:  # type: ignore[type-arg]
    cells = json.loads((REPOSITORY / notebook).read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]


def test_the_top_level_holds_what_a_reader_expects() -> None:
    names = {file.relative_to(REPOSITORY).parts[0] for file in tracked()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_nothing_names_a_path_of_some_machine() -> None:
    named = []
    for file in tracked():
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        named += [f"{file.relative_to(REPOSITORY)}: {found.group()}" for found in MACHINE_PATH.finditer(text)]
    assert not named


def test_the_start_notebook_is_there() -> None:
    assert "notebooks/start_here.ipynb" in NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_code_cell_was_run(notebook: str) -> None:
    """nbval compares nothing in a cell without a count."""
    never_run = ["".join(cell["source"]) for cell in code_cells(notebook) if cell["execution_count"] is None]
    assert not never_run


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_saved_outputs_are_the_same_on_every_run(notebook: str) -> None:
    for cell in code_cells(notebook):
        text = saved_text(cell)
        assert not ADDRESS.findall(text), "".join(cell["source"])
        assert not UUID.findall(text), "".join(cell["source"])


def readme_commands() -> list[str]:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return [line for block in re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S) for line in block.splitlines() if line]


def test_ci_runs_the_test_command_of_the_readme() -> None:
    tests = [command for command in readme_commands() if command.endswith("pytest")]
    assert len(tests) == 1
    assert (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == tests[0]


def test_the_commands_of_the_readme_name_what_exists() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    commands = "\n".join(readme_commands())
    extras = set(re.findall(r"\.\[(\w+)\]", commands))
    notebooks = set(re.findall(r"notebooks/\w+\.ipynb", commands))
    assert extras >= {"notebook", "test"} and extras <= project["optional-dependencies"].keys()
    assert notebooks == {"notebooks/start_here.ipynb"} and notebooks <= set(NOTEBOOKS)


def test_the_wheel_holds_the_whole_package(tmp_path: Path) -> None:
    build = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=REPOSITORY, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    (wheel,) = tmp_path.glob("mlsysim_kit-*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("mlsysim/")}
    kept = {file.relative_to(REPOSITORY).as_posix() for file in tracked("mlsysim")}
    assert "mlsysim/py.typed" in kept
    assert any(name.endswith(".json") for name in kept)
    assert kept <= packed

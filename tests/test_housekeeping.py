"""The repository around the package: what it may hold, what its README promises."""

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


def tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    return [file for name in listing.split("\0") if name and (file := REPOSITORY / name).is_file()]


NOTEBOOKS = [file.relative_to(REPOSITORY).as_posix() for file in tracked("notebooks/*.ipynb", "solutions/*.ipynb")]


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


def readme_commands() -> list[str]:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return [line for block in re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S) for line in block.splitlines() if line]


def test_ci_runs_the_test_command_of_the_readme() -> None:
    tests = [command for command in readme_commands() if command.endswith("pytest")]
    assert len(tests) == 1
    assert (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-2:] == [tests[0], ".venv/bin/python -m tests.long"]


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

"""The type checker passes the package, knows what a reader's lines are, and catches a reader's slips."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
READER = "tests/typing/reader.py"
SAID = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): (?P<words>(?:error|note): .*)")
LINES = (REPOSITORY / READER).read_text(encoding="utf-8").splitlines()
EXPECTED = {number: line.partition("#: ")[2] for number, line in enumerate(LINES, 1) if "#: " in line}


Said = list[tuple[str, int, str]]


@pytest.fixture(scope="module")
def said() -> Said:
    """What mypy says of the package and of the reader's lines: file, line, words."""
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "mlsysim", READER], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 1, run.stdout + run.stderr     # it found the reader's slips, and did not break down
    matches = filter(None, map(SAID.fullmatch, run.stdout.splitlines()))
    return [(Path(match["file"]).as_posix(), int(match["line"]), match["words"]) for match in matches]


def test_the_package_passes(said: Said) -> None:
    assert not [one for one in said if one[0] != READER]


@pytest.mark.parametrize("line", EXPECTED, ids=lambda line: LINES[line - 1].partition("  #:")[0])
def test_a_readers_line_is_understood(said: Said, line: int) -> None:
    words = [words for file, number, words in said if (file, number) == (READER, line)]
    assert any(EXPECTED[line] in one for one in words), words


def test_nothing_is_held_against_the_other_lines(said: Said) -> None:
    assert not [one for one in said if one[0] == READER and one[1] not in EXPECTED and one[2].startswith("error")]

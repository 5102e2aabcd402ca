"""The breaks that `python -m tests.mutations` makes: each can still be made, and one that no test notices is told."""
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.mutations.__main__ import REPOSITORY, MutationError, check, mutate
from tests.mutations.breaks import MUTATIONS, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.what)
def test_a_break_can_be_made(mutation: Mutation, tmp_path: Path) -> None:
    text = (REPOSITORY / mutation.file).read_text(encoding="utf-8")
    copy = tmp_path / mutation.file
    copy.parent.mkdir(parents=True)
    copy.write_text(text, encoding="utf-8")
    mutate(tmp_path, mutation)
    assert copy.read_text(encoding="utf-8") != text
    assert mutation.tests and all((REPOSITORY / test.partition("::")[0]).is_file() for test in mutation.tests)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of one function and its test."""
    (tmp_path / "sums.py").write_text("def twice(x):\n    return x + x\n\ndef half(x):\n    return x / 2\n")
    (tmp_path / "test_sums.py").write_text("from sums import twice\n\ndef test_twice():\n    assert twice(3) == 6, 'not twice'\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def made(old: str, new: str) -> Mutation:
    return Mutation(f"{new} for {old}", "sums.py", old, new, ("test_sums.py",))


def test_each_break_is_told_and_one_that_no_test_notices_fails(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(repository, [made("x + x", "x * x"), made("x / 2", "x / 3")]) == 1
    said = capsys.readouterr().out
    assert "noticed by test_sums.py::test_twice" in said and "not twice" in said
    assert "PASSED UNNOTICED by test_sums.py" in said and "1 of 2 breaks noticed" in said
    assert (repository / "sums.py").read_text().startswith("def twice(x):\n    return x + x")


def test_tests_that_fail_without_a_break_notice_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "sums.py").write_text("def twice(x):\n    return 7\n")
    assert check(repository, [made("return 7", "return 8")]) == 1
    assert "test_twice fails without any break" in capsys.readouterr().out


def test_a_break_whose_place_has_gone_is_an_error(repository: Path) -> None:
    with pytest.raises(MutationError, match="stands 0 times in sums.py"):
        mutate(repository, made("x - x", "x"))

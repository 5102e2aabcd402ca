"""Published numbers: every row of the topics the kit speaks of is met, or is one of the few it has no words for."""
from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from tests.oracles.__main__ import main
from tests.oracles.judgement import TOPICS, judge, not_expressed
from tests.oracles.rows import FACTS, Row, read

ROWS = [row for row in read() if row.topic.partition(" ")[0] in TOPICS]
EQUAL = [row for row in ROWS if row.check == "equal"]
# Kinds of rows that are not about the memory of one accelerator; see judgement.NOT_EXPRESSED for each one's reason.
WITHOUT_WORDS = re.compile(r"ZERO-32-.*|ZERO-COMM-.*|KOR-flop-.*|KOR-APPB|DS-z3-none-gpu|DS-t5large-case1")
HOST = re.compile(r"offload|cpu|host", re.IGNORECASE)


def ids(rows: list[Row]) -> list:
    return [pytest.param(row, id=f"{row.id} ({row.source.partition(',')[0]})") for row in rows]


def row(**changes: object) -> Row:
    return dataclasses.replace(next(r for r in EQUAL if r.id == "ZERO-T1-7.5B-s1-N64"), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", ids(EQUAL))
def test_a_published_number_is_met(row: Row) -> None:
    verdict = judge(row)
    assert verdict.state in ("met", "not expressed"), f"{row.quantity}: {verdict.state}, {verdict.why}"


def test_few_rows_have_no_words() -> None:
    left_out = [row for row in EQUAL if not_expressed(row)]
    assert left_out
    for row in left_out:
        assert WITHOUT_WORDS.fullmatch(row.id) or row.id.startswith("DS-") and HOST.search(f"{row.inputs} {row.quantity}"), row.id


def test_every_topic_has_rows() -> None:
    assert {row.topic.partition(" ")[0] for row in EQUAL} == set(TOPICS) == {"1", "2", "3", "4", "7", "8"}


def test_a_wrong_number_is_missed() -> None:
    assert judge(row()).state == "met"
    assert judge(row(value=row().value * 1.01)).state == "missed"


def test_a_row_of_unknown_shape_is_not_passed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    strange = row(id="ZERO-X", quantity="shoe size")
    assert judge(strange).state == "not tried"
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([dataclasses.asdict(strange)]), encoding="utf-8")
    assert main(file) == 1
    assert "ZERO-X" in capsys.readouterr().out


def test_the_table_counts_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(FACTS) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines() if re.match(r"\d+ ", line)]
    assert sum(sum(map(int, line[-4:])) for line in table) == len(EQUAL)
    assert all(line[-3:-1] == ["0", "0"] for line in table)


@pytest.mark.parametrize("name, ours", [
    ("DS-z2-none-gpu", 11.28),      # the page still prints an older formula, 4P + 16P/N; the code at that commit has 2P + 18P/N
])
def test_a_stale_number_is_not_reproduced(name: str, ours: float) -> None:
    trap = next(r for r in ROWS if r.id == name)
    assert trap.check == "trap"
    verdict = judge(trap)
    assert verdict.state == "missed"
    assert verdict.compared[0][0] == pytest.approx(ours * 2**30, rel=1e-3)

"""Runs that fitted or ran out of memory, and measured peaks: the figures that the kit reaches are held, reached targets and missed ones alike."""
from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.outcomes.judgement import Score, median_error, outcome, peak
from tests.outcomes.runs import facts, inputs, rows, scenario

REPOSITORY = Path(__file__).resolve().parents[1]
WRONG = {"DS-SQUAD-V100-16-6", "DS-SQUAD-V100-16-8", "LITC-32", "OOM-nanogpt61", "OOM-caikit139-7"}
TOO_CLOSE = {"LIT-119", "OOM-hf2784", "OOM-nshepperd52-2"}


@cache
def score() -> Score:
    return Score(tuple(outcome(id) for id in facts()["outcomes"]))


def test_every_row_is_stated_or_left_out_with_a_reason() -> None:
    published = {id for id, row in rows().items() if row.check in ("fits", "oom")}
    assert set(facts()["outcomes"]) | set(facts()["not_stated"]) == published
    assert not set(facts()["outcomes"]) & set(facts()["not_stated"])
    assert all(facts()["not_stated"].values()) and all(entry["why"] or "recipe" in entry for entry in facts()["outcomes"].values())


def test_no_run_has_a_context_or_a_reserve_of_its_own() -> None:
    shared = {"context", "context_least", "context_most", "reserve", "reserve_least", "reserve_most", "quantization_scale", "prefetched_layers"}
    assert all(shared.isdisjoint(inputs(entry)) for kind in ("outcomes", "peaks", "largest_batches") for entry in facts()[kind].values())


@pytest.mark.parametrize("name, stated", [("context_least", "low"), ("context", "middle"), ("context_most", "high")])
def test_the_context_is_the_committed_one(name: str, stated: str) -> None:
    any_run = scenario(inputs(facts()["outcomes"]["OOM-hf2784"]))
    assert getattr(any_run, name).m_as("GiB") == float(facts()["constants"]["context"][stated].split()[0])


@pytest.mark.parametrize("id", facts()["outcomes"])
def test_a_run_ends_as_it_was_said(id: str) -> None:
    found = outcome(id)
    assert found.said == ("too close to call" if id in TOO_CLOSE else found.happened) or id in WRONG
    assert found.right == (id not in WRONG | TOO_CLOSE)


def test_the_runs_that_fitted_are_recalled() -> None:
    assert score().recall("fits") == 1


def test_the_runs_that_ran_out_are_recalled_as_far_as_they_are() -> None:
    assert score().recall("does not fit") == pytest.approx(18 / 26)      # short of four in five
    assert score().recall("does not fit", called=True) == pytest.approx(18 / 23)


def test_few_runs_are_too_close_to_call() -> None:
    assert score().too_close <= 0.15


def test_half_of_the_measured_peaks_are_met_within_a_tenth() -> None:
    assert median_error([peak(id) for id in facts()["peaks"]]) <= 0.10


def test_the_table_is_printed() -> None:
    run = subprocess.run([sys.executable, "-m", "tests.outcomes"], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert all(id in run.stdout for id in (*facts()["outcomes"], *facts()["not_stated"], *facts()["peaks"], *facts()["largest_batches"]))

"""Each run's verdict beside what happened, each peak beside its measurement, each largest batch beside the published one, and the shares of them that are right."""
from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from mlsysim import Scenario
from mlsysim.engine.notation import words
from mlsysim.engine.scenario_parts.fitting import largest_terms
from mlsysim.engine.solving import NoSolutionError, solve_for

from .runs import facts, inputs, rows, scenario

SAID = {"fits": "fits", "does_not_fit": "does not fit", "too_close_to_call": "too close to call"}
HAPPENED = {"fits": "fits", "oom": "does not fit"}
PEAKS = {"allocated": "peak_allocated", "reserved": "peak_reserved", "occupied": "peak_occupied"}


@dataclass(frozen=True)
class Outcome:
    """A run, what was said of it and what happened. margin: what the likeliest peak leaves of the usable memory, as a share of it."""

    id: str
    said: str
    happened: str
    peak: float
    usable: float
    margin: float
    reason: str

    @property
    def right(self) -> bool:
        """Whether the verdict is what happened; too close to call never is."""
        return self.said == self.happened


@dataclass(frozen=True)
class Peak:
    """A measured peak and the predicted one, in bytes."""

    id: str
    of: str
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """How far the prediction is off, as a share of the measurement."""
        return self.predicted / self.measured - 1


def size(step: Scenario, name: str) -> float:
    """A quantity of a scenario in bytes."""
    return float(getattr(step, name).m_as("byte"))


def reason(step: Scenario) -> str:
    """The moment that peaks, and the largest term in it."""
    way = largest_terms(step, "peak_allocated")
    return " › ".join(f"{words(name)} {step.figure_text(name)}" for name in (way[0], way[-1])[: len(way)])


def outcome(id: str) -> Outcome:
    """The verdict on a run."""
    given = inputs(facts()["outcomes"][id])
    inference = given.pop("inference", False)
    step: Any = scenario(given)
    usable, happened = size(step, "usable_memory"), HAPPENED[rows()[id].check]
    if inference:      # its weights are a lower bound
        peak = size(step, "weights") + size(step, "context")
        return Outcome(id, "does not fit" if peak > usable else "too close to call", happened, peak, usable, 1 - peak / usable, f"weights alone {step.figure_text('weights')}")
    peak = size(step, "peak_occupied")
    return Outcome(id, SAID[step.outcome], happened, peak, usable, 1 - peak / usable, reason(step))


def peak(id: str) -> Peak:
    """The prediction of a measured peak."""
    entry = facts()["peaks"][id]
    return Peak(id, entry["of"], size(scenario(inputs(entry)), PEAKS[entry["of"]]), rows()[id].expected)


def largest_batch(id: str) -> tuple[int, int]:
    """The largest batch that fits, predicted and published."""
    try:
        found = solve_for(scenario({**facts()["largest_batches"][id]["inputs"], "microbatch": 1}), "batch_size", largest=True, fits=True)
    except NoSolutionError:
        found = 0
    return int(found), int(rows()[id].value)


@dataclass(frozen=True)
class Score:
    """How many verdicts are right. Shares are of all stated runs; `called` ones leave out what was too close to call."""

    outcomes: tuple[Outcome, ...]

    def recall(self, happened: str, *, called: bool = False) -> float:
        """The share of the runs that ended so of which it was said."""
        of = [o for o in self.outcomes if o.happened == happened and not (called and o.said == "too close to call")]
        return sum(o.right for o in of) / len(of)

    @property
    def too_close(self) -> float:
        """The share of runs that were too close to call."""
        return sum(o.said == "too close to call" for o in self.outcomes) / len(self.outcomes)


def median_error(peaks: list[Peak]) -> float:
    """The median of the peaks' absolute errors."""
    return statistics.median(abs(p.error) for p in peaks)


__all__ = ["Outcome", "Peak", "Score", "largest_batch", "median_error", "outcome", "peak"]

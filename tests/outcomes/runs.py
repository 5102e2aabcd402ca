"""The assumed inputs of `facts/outcomes.json` as scenarios."""
from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from mlsysim import Hardware, Models, Scenario, Workload
from mlsysim.engine.scenario_types import ImageTrainingStepScenario, TrainingStepScenario
from mlsysim.models import ResNet
from tests.oracles.rows import Row, read

FACTS = Path(__file__).resolve().parents[1] / "facts" / "outcomes.json"


@cache
def facts() -> dict[str, Any]:
    """What the runs were taken to have been."""
    found: dict[str, Any] = json.loads(FACTS.read_text(encoding="utf-8"))
    return found


@cache
def rows() -> dict[str, Row]:
    """All published rows by id."""
    return {row.id: row for row in read()}


def inputs(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry's inputs, with those of its recipe where it has none of its own."""
    recipe = facts()["recipes"][entry["recipe"]]["inputs"] if "recipe" in entry else {}
    return {**recipe, **entry["inputs"]}


def scenario(given: dict[str, Any]) -> Scenario:
    """The training step of assumed inputs; a microbatch, ranks and accumulation steps make the batch."""
    given = dict(given)
    named = given.pop("workload")
    workload = Workload(**named) if isinstance(named, dict) else Models.find(named)
    hardware = Hardware.find(given.pop("hardware")) if "hardware" in given else None
    if isinstance(workload, ResNet):
        return ImageTrainingStepScenario(workload=workload, hardware=hardware, **given)
    given["batch_size"] = given.pop("microbatch") * given.get("dp_size", 1) * given.get("gradient_accumulation_steps", 1)
    return TrainingStepScenario(workload=workload, hardware=hardware, **given)


__all__ = ["facts", "inputs", "rows", "scenario"]

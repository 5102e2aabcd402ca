"""Weights, gradients, optimizer state and checkpoints from tensor shapes, against what PyTorch was measured to keep and to write."""

import json
from pathlib import Path
from typing import Any

import pytest

from mlsysim.engine.scenario_types import ParameterMatrix, ParameterVector, StoredStateScenario

from .measure.cases import OPTIMIZERS, stored

MEASURED: dict[str, Any] = json.loads((Path(__file__).with_name("facts") / "measured_activations.json").read_text())["stored"]
EXACT = {"weights": "weights", "gradients": "gradients", "optimizer state": "optimizer_state", "checkpoint tensors": "checkpoint_tensors"}


def predicted(fact: dict[str, Any]) -> StoredStateScenario:
    matrices = tuple(ParameterMatrix(name=f"{m} x {n}", out_dim=m, in_dim=n, count=count) for m, n, count in fact["matrices"])
    vectors = tuple(ParameterVector(name=f"{length}", length=length, count=count) for length, count in fact["vectors"])
    return StoredStateScenario(matrices=matrices, vectors=vectors, precision=fact["precision"], optimizer=fact["optimizer"])


@pytest.mark.parametrize("name", MEASURED)
def test_it_is_what_was_measured(name: str) -> None:
    """To the byte in memory, and within a hundredth on disk."""
    fact = MEASURED[name]
    state = predicted(fact)
    for what, quantity in EXACT.items():
        assert getattr(state, quantity).m_as("byte") == fact["measured"][what], what
    assert state.checkpoint_file.m_as("byte") == pytest.approx(fact["measured"]["checkpoint file"], rel=0.01)


def test_every_measurement_has_its_case() -> None:
    assert [name for name, _, _ in stored()] == list(MEASURED)
    assert {fact["optimizer"] for fact in MEASURED.values()} == set(OPTIMIZERS) and {fact["precision"] for fact in MEASURED.values()} == {"fp32", "bf16"}


@pytest.mark.parametrize("name, step, optimizer", [case for case in stored() if case[2] == "sgd"], ids=lambda value: value if isinstance(value, str) else "")
def test_the_tensors_add_up_to_the_architecture(name: str, step: Any, optimizer: str) -> None:
    """A workload's count by formula is that of the model which was built from it."""
    assert predicted(MEASURED[name]).parameters == step.workload.counted_parameters

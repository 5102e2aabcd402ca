"""Rows of the ZeRO paper: model states by stage and ranks, and the largest model that fits."""
from __future__ import annotations

from mlsysim.engine.scenario_types import TrainingMemoryScenario
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.engine.solving import solve_for
from mlsysim.models import Workload

from .rows import Row


def run(row: Row, **recipe: object) -> TrainingMemoryScenario:
    """The run that a row describes: Adam in mixed precision, K bytes of optimizer state a parameter."""
    inputs = row.inputs
    made = TrainingMemoryModel().solve(
        Workload(name=row.id, parameters=inputs.get("params", 1e9)), None, batch_size=1, zero_stage=inputs.get("stage", 0),
        dp_size=inputs.get("N_d", 1), tp_size=inputs.get("mp", 1), **recipe)      # type: ignore[arg-type]
    assert made.optimizer_bytes_per_parameter.m_as("byte") == inputs.get("K", 12)
    return made


def answer(row: Row) -> float | None:
    if row.quantity.startswith("largest model"):
        largest = solve_for(run(row), "workload.parameters", model_state=f"{row.inputs['device_memory_GB']} GB")
        return float(largest.m_as("parameter"))
    if "params" not in row.inputs:
        return None
    if "model state" in row.quantity.replace("-", " "):
        return float(run(row).model_state.m_as("byte"))
    if "optimizer" in row.quantity:
        return float(run(row).optimizer_state.m_as("byte"))
    if "gradients" in row.quantity:
        return float(run(row).gradients.m_as("byte"))
    if "parameters" in row.quantity:
        return float(run(row).weights.m_as("byte"))
    if "buffer" in row.quantity:      # one flat buffer for all gradients, in fp32
        return float(run(row, gradient_precision="fp32", communication_buffer_fraction=1.0).communication_buffers.m_as("byte"))
    return None

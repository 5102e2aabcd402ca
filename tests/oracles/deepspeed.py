"""Rows of DeepSpeed: its estimate of model states, and its documents on optimizer state."""
from __future__ import annotations

import re

from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.models import Models, Workload

from . import zero
from .rows import Row


def estimate(row: Row) -> float:
    """Model states on one rank as DeepSpeed's estimator counts them: fp16 weights and gradients, and an fp32 gradient copy beside Adam's state."""
    of = row.inputs
    ranks = of.get("gpus") or of["nodes"] * of["gpus_per_node"]
    stage = int(re.search(r"ZeRO-(\d)", of["options"]).group(1))      # type: ignore[union-attr]
    made = TrainingMemoryModel().solve(Workload(name=of["model"], parameters=of["params"]), None, batch_size=ranks, dp_size=ranks, zero_stage=stage, fp32_gradient_copy=True)
    return float(made.model_state.m_as("byte"))


def of_hidden_matrices(optimizer: str) -> float:
    """Bytes that an optimizer keeps for a parameter in a layer's matrix, by what it keeps beyond Adam's two fp32 values for the other parameters."""
    made = TrainingMemoryModel().solve(Models.find("gpt2-xl"), None, batch_size=1, optimizer=optimizer)
    hidden = made.hidden_matrix_share * made.updated_parameters.m_as("parameter")
    others = made.updated_parameters.m_as("parameter") - hidden
    return float((made.moments.m_as("byte") - 8 * others) / hidden)


def answer(row: Row) -> float | None:
    of, quantity = row.inputs, row.quantity
    if "2-D hidden parameter" in quantity:
        return of_hidden_matrices(of["optimizer"])
    if "options" in of and "per GPU" in quantity:
        return estimate(row)
    if "params" in of and "optimizer state" in quantity.lower():
        return float(zero.run(row).optimizer_state.m_as("byte"))
    return None

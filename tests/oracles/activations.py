"""Rows of Korthikanti et al.: activations of one layer by variant, of the first stage, and around the layers."""
from __future__ import annotations

from mlsysim.engine.scenario_types import TrainingMemoryScenario
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.models import Workload

from .rows import Row


def run(row: Row, variant: str) -> TrainingMemoryScenario:
    """The run of a row under one of the paper's variants, such as `TP+SP+selective`, with as many microbatches as fill the pipeline."""
    inputs = row.inputs
    words = variant.replace("+", " ").split()
    stages, microbatches = inputs.get("p", 1), 2 * inputs.get("p", 1)
    model = Workload(name=row.id, layers=inputs.get("L", stages), hidden_dim=inputs["h"], heads=inputs["a"], vocabulary=inputs.get("V"))
    return TrainingMemoryModel().solve(
        model, None, batch_size=inputs.get("b", 1) * microbatches, seq_len=inputs["s"], gradient_accumulation_steps=microbatches, pp_size=stages,
        interleaved_chunks=inputs.get("v") or 1, tp_size=inputs.get("t", 1) if "t=1" not in words else 1, sequence_parallel="SP" in words,
        activation_checkpointing="full" if words[0] == "full" else "selective" if "selective" in words else "none")


def layer(row: Row, variant: str) -> float:
    return float(run(row, variant).layer_activations.m_as("byte"))


def answer(row: Row) -> float | None:
    inputs, quantity = row.inputs, row.quantity
    if "numerator" in inputs:
        return layer(row, inputs["numerator"]) / layer(row, inputs["denominator"])
    if "saved by selective" in quantity:
        return 1 - layer(row, "selective") / layer(row, "none")
    if quantity == "5as/h":
        return float(run(row, "none").attention_core_activations.m_as("byte")) / (inputs["s"] * inputs.get("b", 1) * inputs["h"])
    if "ONE transformer layer" in quantity:
        return layer(row, inputs["variant"])
    if quantity.startswith("first-stage activations"):
        return float(run(row, inputs["variant"]).activations.m_as("byte"))
    if quantity.startswith("embedding"):
        around = run(row, inputs.get("variant", "TP+SP+selective"))
        return float((around.embedding_activations + around.output_activations).m_as("byte"))
    return None

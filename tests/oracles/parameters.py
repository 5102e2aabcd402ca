"""Rows of parameter counts: a model by its catalogue name, or by the architecture that the row states."""
from __future__ import annotations

from typing import Any

from mlsysim.engine.catalogue import UnknownEntryError
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.models import Models, Workload

from .rows import Row

FIELDS = {"L": "layers", "h": "hidden_dim", "a": "heads", "kv": "kv_heads", "ffn": "feedforward_dim", "vocab": "vocabulary", "ctx": "context_length", "tied": "tied_embeddings",
          "experts": "experts", "topk": "experts_per_token", "head_dim": "head_dim", "type": "token_types", "pos": "context_length", "pooler": "pooler", "classes": "classes"}


def stated(row: Row, kind: type[Workload]) -> dict[str, Any]:
    """The row's own architecture facts, by field of that kind of workload."""
    return {field: row.inputs[key] for key, field in FIELDS.items() if key in row.inputs and field in kind.inputs}


def style(row: Row) -> dict[str, Any]:
    """What a row leaves unsaid, by what it does say: segments are BERT's, ALiBi is BLOOM's, a learned context GPT-2's, the rest is Llama's."""
    of = row.inputs
    if "type" in of or "pooler" in of:
        return {"embedding_norm": True, "final_norm": False}
    if of.get("alibi"):
        return {"positions": "alibi", "embedding_norm": True}
    if "ctx" in of:
        return {}
    return {"positions": "rotary", "norm": "rmsnorm", "linear_biases": "none", "gated_mlp": True}


def model(row: Row, name: str) -> Workload:
    """The catalogue's entry with the row's own facts in place of its, or a workload of the row's facts alone. A stated total gives way to the count."""
    try:
        entry = Models.find(name)
    except UnknownEntryError:
        return Workload(name=name, **style(row), **stated(row, Workload))
    return entry.variant(parameters=None, **stated(row, type(entry)))


def answer(row: Row) -> float | None:
    name = row.inputs.get("model") or row.id.partition("-")[2].removesuffix("-active")
    of = model(row, name)
    if row.id.endswith("-active") or "active" in row.quantity:
        return float(of.counted_active_parameters.m_as("parameter"))
    if row.quantity == "parameters":
        return float(of.counted_parameters.m_as("parameter"))
    if row.quantity.endswith("bytes") and "dtype" in row.inputs:
        return float(TrainingMemoryModel().solve(of, None, batch_size=1, precision=row.inputs["dtype"]).weights.m_as("byte"))
    return None

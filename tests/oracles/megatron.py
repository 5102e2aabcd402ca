"""Rows of Megatron-LM: its memory script, run, and its table of bytes per parameter."""
from __future__ import annotations

import re

from mlsysim.engine.scenario_types import TrainingMemoryScenario
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.models import Workload

from .rows import Row


def run(row: Row, feedforward: int) -> TrainingMemoryScenario:
    """The run that the script's arguments describe, with one of its feed-forward widths: bf16 weights with fp32 gradients."""
    of = row.inputs
    model = Workload(
        name=row.id, layers=of["num_layers"], hidden_dim=of["hidden_size"], heads=of["num_attention_heads"],
        kv_heads=of["num_query_groups"] if of.get("group_query_attention") else None, head_dim=of.get("kv_channels"),
        feedforward_dim=feedforward, gated_mlp=of.get("swiglu", False), vocabulary=of["padded_vocab_size"],
        tied_embeddings=not of.get("untie_embeddings_and_output_weights", False), positions="none", linear_biases="none",
        norm={"RMSNorm": "rmsnorm"}.get(of.get("normalization"), "layernorm"), experts=of.get("num_experts"), experts_per_token=of.get("moe_router_topk"),
        shared_feedforward_dim=of.get("moe_shared_expert_intermediate_size"))
    tensor, pipeline, experts = of["tensor_model_parallel_size"], of["pipeline_model_parallel_size"], of.get("expert_model_parallel_size", 1)
    data = of["world_size"] // (tensor * pipeline * experts)
    microbatches = of.get("num_microbatches") or pipeline
    return TrainingMemoryModel().solve(
        model, None, batch_size=of["micro_batch_size"] * data * experts * microbatches, seq_len=of["seq_length"], precision="bf16", gradient_precision="fp32",
        activation_checkpointing=of["recompute_granularity"], tp_size=tensor, pp_size=pipeline, dp_size=data, ep_size=experts,
        zero_stage=1 if of.get("use_distributed_optimizer") else 0, gradient_accumulation_steps=microbatches,
        interleaved_chunks=of.get("virtual_pipeline_model_parallel_size") or 1, sequence_parallel=of["sequence_parallel"], activation_model="megatron")


def bytes_per_parameter(precision: str, ranks: int, distributed: bool) -> float:
    """A recipe such as `fp16 params, fp16 grads`, over some data-parallel ranks. A 16-bit gradient has an fp32 copy in the optimizer."""
    formats = re.findall(r"\b(?:fp|bf|tf)\d+\b", precision)
    weights, gradients = formats[0], formats[-1]
    made = TrainingMemoryModel().solve(Workload(name=precision, parameters=1e9), None, batch_size=ranks, precision=weights, gradient_precision=gradients,
                                       fp32_gradient_copy=gradients != "fp32", dp_size=ranks, zero_stage=1 if distributed else 0)
    return float(made.bytes_per_dense_parameter.m_as("byte"))


def answer(row: Row) -> float | list[tuple[float, float]] | None:
    if "num_layers" in row.inputs and row.quantity.startswith("weights+gradients+optimizer"):
        return float(run(row, row.inputs["moe_ffn_hidden_size" if row.inputs.get("num_experts") else "ffn_hidden_size"]).most_loaded_state.m_as("byte"))
    if "num_layers" in row.inputs and row.quantity.startswith("activations"):
        of = run(row, row.inputs["ffn_hidden_size"])      # the script counts activations by the dense width, experts or not
        return float((of.activations + of.embedding_activations + of.output_activations).m_as("byte"))
    if "bytes per parameter" in row.quantity and isinstance(row.value, str):      # a term in d, the number of ranks
        kept, shared = map(float, re.fullmatch(r"(\d+)\+(\d+)/d", row.value).groups())      # type: ignore[union-attr]
        return [(bytes_per_parameter(row.inputs["precision"], d, True), kept + shared / d) for d in (1, 2, 8, 64, 1000)]
    if "bytes per parameter" in row.quantity:
        return bytes_per_parameter(row.inputs["precision"], 8, False)
    return None

"""Language models of transformers, built from a workload's architecture with random weights, nothing downloaded; and how their code keeps activations."""
from __future__ import annotations

from typing import Any

from ..engine.scenario_definitions.activation_ledger import ActivationLedgerScenario
from ..models import Workload
from .libraries import library

ATTENTION = {"fused": "sdpa", "eager": "eager"}
NONLINEARITY = {"gelu": "gelu", "gelu_new": "gelu_new", "silu": "silu", "relu": "relu"}


class NotBuiltHere(ValueError):
    """A workload's architecture is none that this tool builds."""


def family(workload: Workload) -> str:
    """The transformers model type that has a workload's architecture. Raises NotBuiltHere."""
    is_gpt2 = workload.positions == "learned" and workload.norm == "layernorm" and workload.linear_biases == "all" and not workload.gated_mlp and workload.tied_embeddings
    is_llama = workload.positions == "rotary" and workload.norm == "rmsnorm" and workload.gated_mlp
    if is_gpt2:
        return "gpt2"
    if is_llama and workload.qk_norm and workload.linear_biases == "none":
        return "qwen3"
    if is_llama and not workload.qk_norm and workload.linear_biases in ("none", "qkv"):
        return "llama" if workload.linear_biases == "none" else "qwen2"
    raise NotBuiltHere(f"{workload.name}: this tool builds models as GPT-2 (learned positions, layernorm, biases, no gate, tied embeddings) and as Llama, Qwen2 and Qwen3 "
                       "(rotary positions, rmsnorm, gated); write a workload of such an architecture")


def as_transformers_runs(scenario: ActivationLedgerScenario) -> ActivationLedgerScenario:
    """The scenario with what transformers' own code decides: on a CPU, its compositions, its mask, its softmax, its fp32 logits."""
    if family(scenario.workload) == "gpt2":
        return scenario.variant(kernels="cpu", activation_function="gelu_new", joint_projection=True, causal_mask="added", softmax_in_fp32=False, logits_in_fp32=True)
    return scenario.variant(kernels="cpu", activation_function="silu", joint_projection=False, causal_mask="added", softmax_in_fp32=True, logits_in_fp32=True, rmsnorm_code="transformers",
                            hidden_dropout=False, embedding_dropout=False)


def config(scenario: ActivationLedgerScenario) -> Any:
    """The configuration of a transformers model that a scenario describes. Raises NotBuiltHere, MeasureExtraMissing."""
    transformers = library("transformers")
    of, kind = scenario.workload, family(scenario.workload)
    implementation = ATTENTION[scenario.attention]
    if kind == "gpt2":
        return transformers.GPT2Config(
            n_layer=of.layers, n_embd=of.hidden_dim, n_head=of.heads, n_inner=of.feedforward_dim, vocab_size=of.vocabulary, n_positions=of.learned_positions,
            attn_pdrop=0.1 * scenario.attention_dropout, resid_pdrop=0.1 * scenario.hidden_dropout, embd_pdrop=0.1 * scenario.embedding_dropout,
            bos_token_id=None, eos_token_id=None, attn_implementation=implementation)
    named = {"llama": transformers.LlamaConfig, "qwen2": transformers.Qwen2Config, "qwen3": transformers.Qwen3Config}[kind]
    return named(
        num_hidden_layers=of.layers, hidden_size=of.hidden_dim, num_attention_heads=of.heads, num_key_value_heads=of.kv_heads, head_dim=of.head_dim, intermediate_size=of.feedforward_dim,
        vocab_size=of.vocabulary, max_position_embeddings=max(scenario.seq_len or 0, of.context_length or 0), tie_word_embeddings=of.tied_embeddings,
        attention_dropout=0.1 * scenario.attention_dropout, bos_token_id=None, eos_token_id=None, pad_token_id=None, attn_implementation=implementation)


def model(scenario: ActivationLedgerScenario) -> Any:
    """The model itself, with random weights, in training mode, in the scenario's number format. Raises NotBuiltHere, MeasureExtraMissing."""
    torch, transformers = library("torch"), library("transformers")
    made = transformers.AutoModelForCausalLM.from_config(config(scenario))
    return made.to(getattr(torch, {"bf16": "bfloat16", "fp16": "float16"}.get(scenario.precision, "float32"))).train()


__all__ = ["NotBuiltHere", "as_transformers_runs", "config", "family", "model"]

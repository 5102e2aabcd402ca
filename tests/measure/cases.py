"""What is predicted and measured: each case a scenario by name, made without PyTorch, so that committed measurements can be held against predictions anywhere."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlsysim.engine.scenario_types import ActivationLedgerScenario
from mlsysim.models import Models, Workload

from .shapes import GPT_SHAPES, LLAMA_SHAPES, GptShape, LlamaShape

SMALL_LLAMA = Workload(name="small Llama", layers=4, hidden_dim=256, heads=8, kv_heads=2, feedforward_dim=704, gated_mlp=True, vocabulary=4000, context_length=512, tied_embeddings=False,
                       positions="rotary", norm="rmsnorm", linear_biases="none")
GPT2_SMALL = Models.Language.GPT2_Small
FEW_LAYERS = GPT2_SMALL.variant(name="GPT-2 of two layers", layers=2, vocabulary=5000, parameters=None)
OPTIMIZERS = ("sgd", "sgd_momentum", "adam", "adamw", "adafactor", "adafactor_transformers")


def gpt(shape: GptShape, **options: Any) -> ActivationLedgerScenario:
    """A block with layer normalization, GELU and biases."""
    workload = Workload(name="GPT-style block", layers=1, hidden_dim=shape.hidden_dim, heads=shape.heads, feedforward_dim=shape.feedforward_dim)
    return ActivationLedgerScenario(workload=workload, seq_len=shape.sequence_length, microbatch=shape.microbatch_size, kernels="cpu", **options)


def llama(shape: LlamaShape, **options: Any) -> ActivationLedgerScenario:
    """A block with root-mean-square normalization, a gate, grouped queries and rotary positions."""
    workload = Workload(name="Llama-style block", layers=1, hidden_dim=shape.hidden_dim, heads=shape.heads, kv_heads=shape.kv_heads, head_dim=shape.head_dim,
                        feedforward_dim=shape.feedforward_dim, gated_mlp=True, positions="rotary", norm="rmsnorm", linear_biases="none", tied_embeddings=False)
    return ActivationLedgerScenario(workload=workload, seq_len=shape.sequence_length, microbatch=shape.microbatch_size, kernels="cpu", **options)


def blocks() -> Iterator[tuple[str, ActivationLedgerScenario]]:
    """Every block that is measured, by the name its measurement has."""
    for attention in ("fused", "eager"):
        for number, shape in enumerate(GPT_SHAPES):
            for precision in ("bf16", "fp32", "autocast"):
                for dropout in (False, True):
                    name = f"gpt {number} {precision} {attention}{' dropout' if dropout else ''}"
                    yield name, gpt(shape, precision=precision, attention=attention, attention_dropout=dropout, hidden_dropout=dropout)
        for number, shape in enumerate(LLAMA_SHAPES):
            for precision in ("bf16", "fp32"):
                for code in ("fused", "composite", "transformers"):
                    yield f"llama {number} {precision} {attention} {code} norm", llama(shape, precision=precision, attention=attention, rmsnorm_code=code)


def models() -> Iterator[tuple[str, ActivationLedgerScenario]]:
    """Every whole transformers model that is measured with its loss. GPT-2 has its own dropout; both run with the cache that transformers leaves on."""
    for attention in ("fused", "eager"):
        for precision in ("bf16", "fp32", "autocast"):
            shared: dict[str, Any] = {"seq_len": 128, "precision": precision, "attention": attention, "key_value_cache": True, "kernels": "cpu"}
            yield (f"GPT-2 small {precision} {attention}",
                   ActivationLedgerScenario(workload=GPT2_SMALL, microbatch=1, attention_dropout=True, hidden_dropout=True, embedding_dropout=True, **shared))
            yield f"GPT-2 small {precision} {attention} without dropout", ActivationLedgerScenario(workload=GPT2_SMALL, microbatch=2, **shared)
            yield f"small Llama {precision} {attention}", ActivationLedgerScenario(workload=SMALL_LLAMA, microbatch=2, **shared)


def stored() -> Iterator[tuple[str, ActivationLedgerScenario, str]]:
    """Every model that is stepped with an optimizer and saved to disk."""
    for workload in (FEW_LAYERS, SMALL_LLAMA):
        for precision in ("fp32", "bf16"):
            for optimizer in OPTIMIZERS:
                yield f"{workload.name} {precision} {optimizer}", ActivationLedgerScenario(workload=workload, seq_len=32, precision=precision, kernels="cpu"), optimizer

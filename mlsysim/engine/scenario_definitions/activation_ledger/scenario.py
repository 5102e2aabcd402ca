"""The activation ledger of a transformer: every tensor that a training step keeps for its backward pass, added up."""
from __future__ import annotations

from typing import Any

from ...scenario import About, Presentation, Scenario
from ...scenario_parts.activation_ledger.inputs import KORTHIKANTI, TRANSFORMERS
from ...scenario_parts.activation_ledger.recomputation import CHECKPOINTS
from ...scenario_parts.activation_ledger.totals import LedgerTotals


class ActivationLedgerScenario(LedgerTotals, Scenario):
    """What a transformer saves for the backward pass of one microbatch on one rank, tensor by tensor.

    Each row is one tensor: the operation that keeps it, its shape, the width of its values and why the gradient needs it. Rows follow
    from the architecture, from the number formats, and from whose code and kernels run. `ledger` shows them as a table.
    """

    @property
    def ledger(self) -> Any:
        """The rows as a table: text, and HTML in a notebook, with both kinds of kernels side by side."""
        from .table import Ledger
        return Ledger(self)

    presentation = Presentation(
        title="Activations of {workload.name}",
        question="What does one layer keep for its backward pass?",
        parts=("norm_inputs", "norm_statistics", "norm_results", "projection_input", "query_key_norm_inputs", "query_key_norm_statistics", "query_key_norm_results", "queries", "keys", "values",
               "projection_left_over", "filled_mask", "attention_weights", "attention_weight_mask", "used_attention_weights", "softmax_denominators", "attention_result", "attention_output_mask",
               "feedforward_input", "nonlinearity_input", "gelu_tangent", "gelu_half", "gelu_factor", "gate_factors", "feedforward_result", "adapter_inputs",
               "adapter_masks", "adapter_results", "feedforward_output_mask"),
        whole="whole_layer_activations",
        groups={
            "One layer's normalizations": ("norm_inputs", "norm_statistics", "norm_results"),
            "One layer's attention": ("projection_input", "query_key_norm_inputs", "query_key_norm_statistics", "query_key_norm_results", "queries", "keys", "values", "projection_left_over",
                                      "filled_mask", "attention_weights", "attention_weight_mask", "used_attention_weights", "softmax_denominators", "attention_result", "attention_output_mask"),
            "One layer's feed-forward block": ("feedforward_input", "nonlinearity_input", "gelu_tangent", "gelu_half", "gelu_factor", "gate_factors", "feedforward_result",
                                               "adapter_inputs", "adapter_masks", "adapter_results", "feedforward_output_mask"),
            "One layer": ("normalization_activations", "attention_core_activations", "attention_activations", "feedforward_activations", "whole_layer_activations", "small_buffers",
                          "layer_without_small_buffers", "layer_input", "alternate_results", "layer_activations"),
            "Before the layers": ("token_numbers", "position_numbers", "segment_numbers", "rotary_tables", "embedding_norm_input", "embedding_norm_statistics", "embedding_norm_result",
                                  "embedding_mask"),
            "Behind the layers": ("final_norm_input", "final_norm_statistics", "final_norm_result", "head_input", "head_weight_gradient", "log_probabilities", "labels"),
            "Cast weights": ("attention_weight_copies", "feedforward_weight_copies", "head_weight_copy"),
            "The whole model, one microbatch": ("stored_activations", "embedding_activations", "output_activations", "weight_copies", "activations", "live_activations", "loss_buffers",
                                                "peak_activations"),
            "What recomputation costs": ("matrix_operations", "core_operations", "step_operations", "recomputed_operations", "recomputation_share", "core_to_matrices"),
            "Widths, shares and choices": ("compute_width", "residual_width", "sequence_shards"),
        })
    about = About(
        assumptions=("A storage that several tensors share is counted once; parameters are not counted.",
                     "A linear layer's bias saves nothing: its gradient is a sum of gradients.",
                     "Residual additions, scaling by a number, added masks and ALiBi's added biases save nothing.",
                     "Fused attention's own result and the output projection's input are one tensor.",
                     "With tensor parallelism each rank divides what the matrices divide; with sequence parallelism also what stands between them."),
        exclusions=("Gradients and temporaries of the backward pass, the loss's apart; workspaces of kernels; the allocator's reserve.",
                    "Experts; layers of unlike shape; the attention bias of T5's relative positions.",
                    "Fused normalization, gating or rotary kernels that save less than PyTorch's own operations.",
                    "A few bytes for each operation: seeds of random numbers, the loss's total weight."),
        references=(KORTHIKANTI, CHECKPOINTS, TRANSFORMERS),
        example=">>> from mlsysim import Workload\n"
                ">>> from mlsysim.engine.scenario_types import ActivationLedgerScenario\n"
                ">>> block = Workload(name=\"a small GPT\", layers=1, hidden_dim=256, heads=8, vocabulary=1000, context_length=256)\n"
                ">>> step = ActivationLedgerScenario(workload=block, microbatch=2, attention=\"eager\", kernels=\"cpu\")\n"
                ">>> print(step.substitution(\"attention_weights\"))\n"
                "M_soft = 256 × 256 × 2 × 8 × 2 B = 2.10 MB\n")


__all__ = ["ActivationLedgerScenario"]

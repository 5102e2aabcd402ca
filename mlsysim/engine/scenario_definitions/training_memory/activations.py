"""The activations that one rank saves for the backward pass, of the transformer's layers and of what stands before and after them."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived, requires
from ...expression import all_of, any_of, case, choose, maximum, minimum
from ...inputs import given
from ...scenario_parts.training_state.formats import BYTES, MIXED_PRECISION
from ...scenario_parts.training_state.layout import KORTHIKANTI, MEGATRON_SCRIPT
from .totals import MemoryTotals


class Activations(MemoryTotals):
    """The activations of one rank, beside its state."""

    activation_checkpointing: str = given(
        default="selective", choices=("none", "selective", "full"), source=f"{KORTHIKANTI}, section 5",
        doc="What is computed again in the backward pass: nothing, the attention core (softmax, its dropout and the attention over values), or every layer from its input.")
    activation_model: str = given(default="korthikanti", choices=("korthikanti", "megatron"), source=MEGATRON_SCRIPT,
                                  doc="Whose count of a layer's activations: the paper's 34 bytes for each element of the layer's input, or the 18 + 4f/h of Megatron-LM's script, "
                                      "which looks at the feed-forward width.")

    @derived("κ", "byte", source=f"{KORTHIKANTI}, section 4, which counts 16-bit activations")
    def counted_byte(self: Any) -> Quantity:
        """What one of the bytes that the literature counts for 16-bit activations is at this width."""
        return self.activation_width / 2

    # One microbatch in one layer.

    @derived("A_linear", "GB", source=f"{KORTHIKANTI}, equations 2 and 4, table 2")
    def linear_activations(self: Any) -> Quantity:
        """One microbatch in one layer: inputs of its matrices, normalizations, nonlinearity, and dropout masks, the attention core apart."""
        elements = self.seq_len * self.microbatch * self.workload.hidden_dim
        return case((self.sequence_parallel, self.counted_byte * elements * 34 / self.tp_size), otherwise=self.counted_byte * elements * (10 + 24 / self.tp_size))

    @derived("A_core", "GB", source=f"{KORTHIKANTI}, equation 1, table 2")
    def attention_core_activations(self: Any) -> Quantity:
        """One microbatch in one layer: scores, softmax, dropout and attention over values, a square of the sequence for each head."""
        return 5 * self.counted_byte * self.workload.heads * self.seq_len ** 2 * self.microbatch / self.tp_size

    @derived("A_whole", "GB", source=f"{KORTHIKANTI}, table 2")
    def whole_layer_activations(self: Any) -> Quantity:
        """One microbatch in one layer, if nothing is computed again."""
        return self.linear_activations + self.attention_core_activations

    @derived("A_layer", "GB", source=f"{KORTHIKANTI}, table 2; {MEGATRON_SCRIPT}, compute_activation_memory")
    def layer_activations(self: Any) -> Quantity:
        """What is saved of one microbatch in one layer."""
        elements = self.seq_len * self.microbatch * self.workload.hidden_dim
        return case(
            (self.activation_model == "megatron", self.counted_byte * elements * (18 + 4 * self.workload.feedforward_dim / self.workload.hidden_dim) / self.tp_size),
            (self.activation_checkpointing == "full", 2 * self.counted_byte * elements),
            (self.activation_checkpointing == "selective", self.linear_activations),
            otherwise=self.whole_layer_activations)

    # All of a rank.

    @derived("M_act", "GB", source=f"{KORTHIKANTI}, section 4.2.3")
    def activations(self: Any) -> Quantity:
        """Saved activations of the transformer layers on the first pipeline stage, which holds the most microbatches at once."""
        return self.layer_activations * self.layers_per_stage * self.microbatches_in_flight

    @derived("A_embedding", "GB", source=f"{KORTHIKANTI}, section 4.3; {MEGATRON_SCRIPT}, compute_activation_memory")
    def embedding_activations(self: Any) -> Quantity:
        """Outside total_memory, beside the layers: the dropout mask after the embedding, and in Megatron-LM's count the token numbers that enter it."""
        mask = self.seq_len * self.microbatch * self.workload.hidden_dim
        microbatches = minimum(self.gradient_accumulation_steps, self.pp_size)
        return case(
            (self.activation_model == "megatron", self.counted_byte * (8 * self.seq_len * self.microbatch + mask) * self.microbatches_in_flight / self.tp_size),
            (self.sequence_parallel, self.counted_byte * mask * microbatches / self.tp_size),
            otherwise=self.counted_byte * mask * microbatches)

    @derived("A_output", "GB", source=f"{KORTHIKANTI}, section 4.3")
    def output_activations(self: Any) -> Quantity:
        """Outside total_memory, beside the layers: inputs of the last normalization and of the output layer, and fp32 logits; on the first stage only where it is the last too."""
        tokens = self.seq_len * self.microbatch
        shared = case((self.sequence_parallel, self.tp_size), otherwise=1)
        return case((self.pp_size == 1, 2 * self.activation_width * tokens * self.workload.hidden_dim / shared + choose("fp32", BYTES) * tokens * self.workload.vocabulary / self.tp_size),
                    otherwise=0)

    @requires("Megatron-LM's count is that of selective recomputation with sequence parallelism; write activation_model=\"korthikanti\", or activation_checkpointing=\"selective\" and "
              "sequence_parallel=True", source=MEGATRON_SCRIPT)
    def megatron_counts_one_recipe(self: Any) -> bool:
        """The script's formula stands for one recipe."""
        return any_of(self.activation_model != "megatron", all_of(self.activation_checkpointing == "selective", any_of(self.sequence_parallel, self.tp_size == 1)))


__all__ = ["Activations"]

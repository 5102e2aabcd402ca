"""A ledger's rows added up over the whole model: what is saved as the forward pass ends, and the most that is held at once."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import maximum
from .inputs import KORTHIKANTI
from .recomputation import CHECKPOINTS, Recomputation


class LedgerTotals(Recomputation):
    """The sums of all rows, for one microbatch."""

    @derived("M_emb", "byte", source=f"{KORTHIKANTI}, section 4.3")
    def embedding_activations(self: Any) -> Quantity:
        """What stands before the layers, and what they share."""
        return (self.token_numbers + self.position_numbers + self.segment_numbers + self.rotary_tables + self.embedding_norm_input + self.embedding_norm_statistics
                + self.embedding_norm_result + self.embedding_mask)

    @derived("M_output", "byte", source=f"{KORTHIKANTI}, section 4.3")
    def output_activations(self: Any) -> Quantity:
        """What stands behind the layers: last normalization, output layer, loss."""
        return (self.final_norm_input + self.final_norm_statistics + self.final_norm_result + self.head_input + self.head_weight_gradient + self.log_probabilities + self.labels)

    @derived("M_cast", "byte", source="PyTorch 2.13, aten/src/ATen/autocast_mode.cpp, cached_cast")
    def weight_copies(self: Any) -> Quantity:
        """16-bit copies of the weights that autocast keeps until its region ends, once for all microbatches."""
        return self.workload.layers * (self.attention_weight_copies + self.feedforward_weight_copies) + self.head_weight_copy

    @derived("M_act", "byte", source=f"{KORTHIKANTI}, section 4")
    def activations(self: Any) -> Quantity:
        """All that is saved as the forward pass ends."""
        return self.stored_activations + self.embedding_activations + self.output_activations + self.weight_copies

    @derived("M_peak", "byte", source=CHECKPOINTS)
    def peak_activations(self: Any) -> Quantity:
        """The most that is held at once: at the loss, with its buffers, or as the last layers are computed again, when the loss is done with."""
        return self.stored_activations + self.embedding_activations + self.weight_copies + maximum(self.output_activations + self.loss_buffers, self.live_activations)


__all__ = ["LedgerTotals"]

"""What recomputation leaves of the ledger, what is alive while it works, and the operations it costs."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived, requires, warns
from ...expression import Table, all_of, any_of, case, ceil, choose, minimum
from ...inputs import given
from .inputs import KORTHIKANTI
from .output import OutputRows
from .rows import tensor

CHECKPOINTS = "Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost, arXiv:1604.06174, section 4"
ALTERNATE = "PyTorch, torchtitan at b5bcd76c, torchtitan/distributed/activation_checkpoint.py, selective by operation"
OPERATIONS = Table("operations", "flop", {"multiply_add": 2}, source=f"{KORTHIKANTI}, appendix A: one multiplication and one addition")


class Recomputation(OutputRows):
    """A layer's rows added up, and what of them is kept, dropped and computed again."""

    activation_checkpointing: str = given(
        default="none", choices=("none", "selective", "alternate", "full"), source=f"{KORTHIKANTI}, section 5",
        doc="What is computed again in the backward pass: nothing, the attention core (softmax, its dropout and the attention over values), all but the results of every second matrix and of fused attention, or every layer from a kept input.")
    layers_per_checkpoint: int = given("k", default=1, positive=True, doc="Layers that are computed again together from one kept input, where every layer is.", source=CHECKPOINTS)

    # One layer, one microbatch.

    @derived("A_norms", "byte", source=f"{KORTHIKANTI}, section 4.1")
    def normalization_activations(self: Any) -> Quantity:
        """A layer's normalizations, those of queries and keys included."""
        return (self.norm_inputs + self.norm_statistics + self.norm_results + self.query_key_norm_inputs + self.query_key_norm_statistics + self.query_key_norm_results)

    @derived("A_core", "byte", source=f"{KORTHIKANTI}, section 5")
    def attention_core_activations(self: Any) -> Quantity:
        """What grows with the square of the sequence, and selective recomputation drops."""
        return self.filled_mask + self.attention_weights + self.attention_weight_mask + self.used_attention_weights

    @derived("A_attention", "byte", source=f"{KORTHIKANTI}, section 4.1")
    def attention_activations(self: Any) -> Quantity:
        """A layer's attention without its core."""
        return (self.projection_input + self.queries + self.keys + self.values + self.projection_left_over + self.softmax_denominators + self.attention_result
                + self.attention_output_mask)

    @derived("A_ff", "byte", source=f"{KORTHIKANTI}, section 4.1")
    def feedforward_activations(self: Any) -> Quantity:
        """A layer's feed-forward block."""
        return (self.feedforward_input + self.nonlinearity_input + self.gelu_tangent + self.gelu_half + self.gelu_factor + self.gate_factors + self.feedforward_result
                + self.adapter_inputs + self.adapter_masks + self.adapter_results + self.feedforward_output_mask)

    @derived("A_whole", "byte", source=f"{KORTHIKANTI}, section 4.1")
    def whole_layer_activations(self: Any) -> Quantity:
        """All that one layer saves of one microbatch if nothing is computed again."""
        return self.normalization_activations + self.attention_core_activations + self.attention_activations + self.feedforward_activations

    @derived("A_small", "byte", source=f"{KORTHIKANTI}, section 4")
    def small_buffers(self: Any) -> Quantity:
        """The part that the published sbh(34 + 5as/h) leaves out as small: statistics of normalizations, softmax denominators, the causal mask."""
        return self.norm_statistics + self.query_key_norm_statistics + self.softmax_denominators + self.filled_mask

    @derived("A_published", "byte", source=f"{KORTHIKANTI}, equation 2, table 2")
    def layer_without_small_buffers(self: Any) -> Quantity:
        """What the published count looks at: for that paper's layer it is sbh(34 + 5as/h)."""
        return self.whole_layer_activations - self.small_buffers

    @derived("A_input", "byte", source=f"{KORTHIKANTI}, section 5, whose closed form keeps 2sbh; {CHECKPOINTS}")
    def layer_input(self: Any) -> Quantity:
        """A layer's input, from which it can be computed again; with sequence parallelism each rank keeps its share of it, which the published 2sbh does not divide."""
        return tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.residual_width)

    @derived("A_alternate", "byte", source=ALTERNATE)
    def alternate_results(self: Any) -> Quantity:
        """A layer's input, the results of its first, third, fifth and seventh matrix product, and of fused attention, all else computed again."""
        of = self.workload
        separate = (self.heads_per_rank + self.kv_heads_per_rank) * of.head_dim + self.feedforward_per_rank + case((of.gated_mlp, of.hidden_dim), otherwise=0)
        joint = (self.heads_per_rank + 2 * self.kv_heads_per_rank) * of.head_dim + self.feedforward_per_rank
        products = case((self.joint_projection, joint), otherwise=separate)
        return self.layer_input + tensor(self.seq_len, self.microbatch, products, width=self.compute_width) + case(
            (self.keeps_attention_weights, 0), otherwise=self.attention_result + self.softmax_denominators)

    @derived("A_layer", "byte", source=f"{KORTHIKANTI}, section 5; {CHECKPOINTS}")
    def layer_activations(self: Any) -> Quantity:
        """What stays of one microbatch in one layer until its backward pass, averaged over layers where several share a kept input."""
        return case((self.activation_checkpointing == "full", self.layer_input * self.kept_inputs / self.workload.layers),
                    (self.activation_checkpointing == "selective", self.whole_layer_activations - self.attention_core_activations),
                    (self.activation_checkpointing == "alternate", self.alternate_results),
                    otherwise=self.whole_layer_activations)

    # All layers, one microbatch.

    @derived("n_inputs", source=CHECKPOINTS)
    def kept_inputs(self: Any) -> int:
        """Layers whose input is kept, where every layer is computed again."""
        return ceil(self.workload.layers / self.layers_per_checkpoint)

    @derived("M_layers", "byte", source=CHECKPOINTS)
    def stored_activations(self: Any) -> Quantity:
        """What stays of one microbatch in all layers until the backward pass."""
        return self.workload.layers * self.layer_activations

    @derived("M_live", "byte", source=CHECKPOINTS)
    def live_activations(self: Any) -> Quantity:
        """What is alive for a moment as layers are computed again: the attention core of one, or all of those that share a kept input, which their first normalization keeps as it is."""
        kept_as_it_is = case((self.norm_input_width == self.residual_width, self.layer_input), otherwise=0)
        return case((self.activation_checkpointing == "full", minimum(self.layers_per_checkpoint, self.workload.layers) * self.whole_layer_activations - kept_as_it_is),
                    (self.activation_checkpointing == "selective", self.attention_core_activations),
                    (self.activation_checkpointing == "alternate", self.whole_layer_activations - kept_as_it_is), otherwise=0)

    # What it costs.

    @derived("n_weights", source=f"{KORTHIKANTI}, appendix A")
    def matrix_elements_per_layer(self: Any) -> int:
        """Elements of a layer's matrices, biases left out."""
        return (2 * self.workload.hidden_dim * (self.workload.heads + self.workload.kv_heads) * self.workload.head_dim
                + self.workload.matrices_per_feedforward * self.workload.hidden_dim * self.workload.feedforward_dim)

    @derived("C_matrices", "flop", source=f"{KORTHIKANTI}, appendix A")
    def matrix_operations(self: Any) -> Quantity:
        """Operations of one rank in a layer's matrices, forward, for one microbatch."""
        return choose("multiply_add", OPERATIONS) * self.seq_len * self.microbatch * self.matrix_elements_per_layer / self.tp_size

    @derived("C_core", "flop", source=f"{KORTHIKANTI}, appendix A")
    def core_operations(self: Any) -> Quantity:
        """Operations of one rank in a layer's scores and attention over values, forward, counted without the causal mask."""
        return 2 * choose("multiply_add", OPERATIONS) * self.seq_len * self.seq_len * self.microbatch * self.heads_per_rank * self.workload.head_dim

    @derived("C_step", "flop", source=f"{KORTHIKANTI}, appendix A: the backward pass takes twice the forward pass")
    def step_operations(self: Any) -> Quantity:
        """Operations of one rank for one microbatch, forward and backward, nothing computed again."""
        head = choose("multiply_add", OPERATIONS) * self.seq_len * self.microbatch * self.workload.hidden_dim * self.vocabulary_per_rank
        return 3 * (self.workload.layers * (self.matrix_operations + self.core_operations) + head)

    @derived("C_again", "flop", source=f"{KORTHIKANTI}, section 5")
    def recomputed_operations(self: Any) -> Quantity:
        """Operations of one rank that recomputation adds for one microbatch."""
        return case((self.activation_checkpointing == "full", self.workload.layers * (self.matrix_operations + self.core_operations)),
                    (self.activation_checkpointing == "selective", self.workload.layers * self.core_operations),
                    (self.activation_checkpointing == "alternate", self.workload.layers * self.matrix_operations / 2), otherwise=0)

    @derived("φ_again", "percent", source=f"{KORTHIKANTI}, section 5")
    def recomputation_share(self: Any) -> float:
        """Operations that recomputation adds, as a share of a step without it."""
        return self.recomputed_operations / self.step_operations

    @derived("φ_core", "percent", source=f"{KORTHIKANTI}, section 5, where it is s/6h")
    def core_to_matrices(self: Any) -> float:
        """The attention core's operations as a share of the matrices': what selective recomputation adds to a forward pass."""
        return self.core_operations / self.matrix_operations

    @warns("Selective recomputation drops the attention core, and fused attention keeps none: it stores as much as activation_checkpointing=\"none\".", source=f"{KORTHIKANTI}, section 5")
    def selective_drops_nothing(self: Any) -> bool:
        """Fused attention computes its core again by itself."""
        return all_of(self.activation_checkpointing == "selective", self.attention == "fused")

    @requires("layers_per_checkpoint={layers_per_checkpoint} goes with activation_checkpointing=\"full\"; write that, or leave it out", source=CHECKPOINTS)
    def groups_are_recomputed(self: Any) -> bool:
        """Layers share a kept input only where all are computed again."""
        return any_of(self.layers_per_checkpoint == 1, self.activation_checkpointing == "full")


__all__ = ["CHECKPOINTS", "Recomputation"]

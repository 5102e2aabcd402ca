"""What the feed-forward block keeps: the input of its first matrices, what its nonlinearity and gate need, the input of its last matrix."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import all_of, any_of, case, choose, not_
from .attention import AttentionRows
from .inputs import ADAPTERS, AUTOCAST, AUTOGRAD, KORTHIKANTI, MEASURED, TRANSFORMERS
from .rows import WIDTHS, saved, tensor

NEW_GELU = f"{TRANSFORMERS}, activations.py, NewGELUActivation; {MEASURED}"
GATED = "Shazeer 2020, arXiv:2002.05202, section 2"


class FeedforwardRows(AttentionRows):
    """The rows of a layer's feed-forward block."""

    @derived("n_casts,ff", source=f"{AUTOCAST}; {MEASURED}")
    def feedforward_input_copies(self: Any) -> int:
        """Copies of the input: autocast casts it anew for each matrix that reads it, and a layer with one normalization shares it with attention."""
        return case((all_of(self.casts, self.workload.gated_mlp), 2), (all_of(self.workload.norms_per_layer == 1, not_(self.casts)), 0), otherwise=1)

    @derived("β_gelu", "byte", source=AUTOCAST)
    def composed_gelu_width(self: Any) -> Quantity:
        """Bytes of a value inside gelu_new: autocast on a GPU computes its power, and all that follows from it, in fp32."""
        return case((self.casts_up_on_gpu, choose("fp32", WIDTHS)), otherwise=self.compute_width)

    @saved("first feed-forward matrix", "input", "M_ff", source=f"{KORTHIKANTI}, section 4.1; {AUTOGRAD}, linear")
    def feedforward_input(self: Any) -> Quantity:
        """The weight gradient of a matrix product needs its input; a gate's matrix shares it."""
        return case((self.keeps_matrix_inputs, tensor(self.feedforward_input_copies, self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.compute_width)), otherwise=0)

    @saved("nonlinearity", "input", "M_slope", source=f"{KORTHIKANTI}, section 4.1; {AUTOGRAD}, gelu, silu, pow")
    def nonlinearity_input(self: Any) -> Quantity:
        """The slope at a value needs the value; relu's is known from its result, which the next operation keeps."""
        return case((self.activation_function == "relu", 0), (self.activation_function == "gelu_new", tensor(self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.composed_gelu_width)),
                    otherwise=tensor(self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.compute_width))

    @saved("gelu_new", "hyperbolic tangent", "M_tanh", source=NEW_GELU)
    def gelu_tangent(self: Any) -> Quantity:
        """The slope of a hyperbolic tangent is computed from its result."""
        return case((self.activation_function == "gelu_new", tensor(self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.composed_gelu_width)), otherwise=0)

    @saved("composed gelu", "half the input", "M_half", source=NEW_GELU)
    def gelu_half(self: Any) -> Quantity:
        """The last product keeps its first factor."""
        return case((any_of(self.activation_function == "gelu_new", self.activation_function == "gelu_erf"), tensor(self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.compute_width)), otherwise=0)

    @saved("composed gelu", "one plus the inner function", "M_one", source=NEW_GELU)
    def gelu_factor(self: Any) -> Quantity:
        """The last product keeps its second factor."""
        return case((any_of(self.activation_function == "gelu_new", self.activation_function == "gelu_erf"), tensor(self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.composed_gelu_width)), otherwise=0)

    @saved("gate", "both factors", "M_gate", source=f"{GATED}; {AUTOGRAD}, mul")
    def gate_factors(self: Any) -> Quantity:
        """The gradient of each factor of a product needs the other."""
        return case((self.workload.gated_mlp, tensor(2, self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.compute_width)), otherwise=0)

    @saved("last feed-forward matrix", "input", "M_ff,out", source=f"{KORTHIKANTI}, section 4.1; {AUTOGRAD}, linear")
    def feedforward_result(self: Any) -> Quantity:
        """The weight gradient of a matrix product needs its input."""
        return case((self.keeps_matrix_inputs, tensor(self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.compute_width)), otherwise=0)

    # Adapters.

    @derived("n_adapted", source=f"{ADAPTERS}, section 4.2")
    def adapted_matrices(self: Any) -> int:
        """A layer's matrices that have adapters."""
        return case((self.adapted == "none", 0), (self.adapted == "queries_values", 2), otherwise=4 + self.workload.matrices_per_feedforward)

    @derived("h_adapted", source=f"{ADAPTERS}, appendix D: dropout before the adapter")
    def dropped_width(self: Any) -> float:
        """Values of a token in the inputs that adapters drop from; matrices in one share an input."""
        shared = case((self.joint_projection, 1), otherwise=0)
        of = self.workload
        every = (3 - 2 * shared) * of.hidden_dim + self.heads_per_rank * of.head_dim + (of.matrices_per_feedforward - 1) * of.hidden_dim + self.feedforward_per_rank
        return case((not_(self.adapter_dropout), 0), (self.adapted == "none", 0), (self.adapted == "queries_values", (2 - shared) * of.hidden_dim), otherwise=every)

    @saved("dropout before adapters", "adapters' inputs", "M_adapted", source=f"{ADAPTERS}, section 4.1; {AUTOGRAD}, linear")
    def adapter_inputs(self: Any) -> Quantity:
        """The gradient of an adapter's first matrix needs its input."""
        return case((self.dropped_width > 0, tensor(self.seq_len, self.microbatch, self.dropped_width, width=self.compute_width)), otherwise=0)

    @saved("dropout before adapters", "mask", "M_drop,adapted", source=f"{AUTOGRAD}, native_dropout; {MEASURED}")
    def adapter_masks(self: Any) -> Quantity:
        """The gradient is dropped where the value was."""
        return case((self.dropped_width > 0, tensor(self.seq_len, self.microbatch, self.dropped_width, width=self.hidden_mask_width)), otherwise=0)

    @saved("adapters", "what stands between their two matrices", "M_low", source=f"{ADAPTERS}, section 4.1; {AUTOGRAD}, linear")
    def adapter_results(self: Any) -> Quantity:
        """The gradient of an adapter's second matrix needs its input."""
        return case((self.adapted_matrices > 0, tensor(self.adapted_matrices, self.seq_len, self.microbatch, self.adapter_rank, width=self.compute_width)), otherwise=0)

    @saved("dropout behind the feed-forward block", "mask", "M_drop,ff", source=f"{KORTHIKANTI}, section 4.1; {MEASURED}")
    def feedforward_output_mask(self: Any) -> Quantity:
        """The gradient is dropped where the value was."""
        return case((self.hidden_dropout, tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.hidden_mask_width)), otherwise=0)

    @saved("cast of weights", "16-bit feed-forward matrices", "M_cast,ff", source=f"{AUTOCAST}; {MEASURED}")
    def feedforward_weight_copies(self: Any) -> Quantity:
        """Under autocast the gradient of an input needs the cast weights; all microbatches of a step in one autocast region share them."""
        return case((self.casts, tensor(self.workload.matrices_per_feedforward, self.workload.hidden_dim, self.feedforward_per_rank, width=self.compute_width)), otherwise=0)


__all__ = ["FeedforwardRows"]

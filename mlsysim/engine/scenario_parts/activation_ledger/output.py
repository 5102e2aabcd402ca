"""What stands behind the layers keeps: the last normalization, the output layer and the loss; and what the loss holds for a moment."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import all_of, any_of, case, ceil, choose, not_
from ...inputs import given
from .embedding import EmbeddingRows
from .inputs import AUTOCAST, AUTOGRAD, KORTHIKANTI, MEASURED, TRANSFORMERS
from .normalization import COMPOSITE, ONE_OPERATION
from .rows import WIDTHS, saved, tensor

LOSS = f"{AUTOGRAD}, _log_softmax and nll_loss_forward"
LIGER = "Hsu et al. 2024, Liger Kernel, arXiv:2410.10989, section 3.2"


class OutputRows(EmbeddingRows):
    """The rows of the output layer and the loss."""

    cross_entropy: str = given(default="whole", choices=("whole", "chunked", "fused"), source=LIGER,
                               doc="How output layer and loss run: over all tokens at once; in chunks of tokens, each computed again in the backward pass; or fused, in chunks whose gradients "
                                   "are computed with the loss.")
    loss_chunks: int | None = given("n_chunks", default=lambda self: ceil(self.workload.vocabulary / self.workload.hidden_dim), positive=True, example="8", source=LIGER,
                                    doc="Chunks of a chunked or fused loss; where none are stated, so many that a chunk's logits are no larger than the output layer's input.")
    logits_in_fp32: bool = given(default=True, doc="Whether the logits are cast to fp32 before the loss, as transformers does.", source=f"{TRANSFORMERS}, loss/loss_utils.py, ForCausalLMLoss")

    output_rows: int | None = given("n_out", default=lambda self: self.workload.vocabulary, example="1000", source=f"{TRANSFORMERS}, models/bert",
                                    doc="What the output layer gives for a token: the vocabulary where none is stated, two for the span of an answer, none where a classifier reads one token.")
    logits_held: bool = given(default=True, doc="Whether the training loop still holds the model's output, logits included, as it calls backward, as loss = model(...).loss does not.",
                              source=MEASURED)

    @saved("last normalization", "input", "M_last", source=f"{KORTHIKANTI}, section 4.3; {ONE_OPERATION}")
    def final_norm_input(self: Any) -> Quantity:
        """The gradient of a normalization needs the values it normalized."""
        return case((self.workload.final_norm, tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.norm_input_width)), otherwise=0)

    @saved("last normalization", "statistics", "M_last,stat", source=ONE_OPERATION)
    def final_norm_statistics(self: Any) -> Quantity:
        """Each token's statistics."""
        return case((self.workload.final_norm, tensor(self.tokens_outside, self.microbatch, self.statistics_per_token, width=self.norm_statistic_width)), otherwise=0)

    @saved("last normalization", "result before scaling", "M_last,scaled", source=COMPOSITE)
    def final_norm_result(self: Any) -> Quantity:
        """Where the scale is a product of its own, its gradient needs the other factor."""
        return case((all_of(self.workload.final_norm, self.norm_is_composite), tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.norm_result_width)),
                    otherwise=0)

    @saved("output layer", "input, or its gradient", "M_head", source=f"{KORTHIKANTI}, section 4.3; {LIGER}")
    def head_input(self: Any) -> Quantity:
        """The weight gradient needs the input; a fused loss keeps the input's finished gradient in its place."""
        return case((all_of(self.output_rows > 0, not_(self.frozen_matrices)), tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.compute_width)), otherwise=0)

    @saved("output layer", "gradient of its weights", "M_head,grad", source=LIGER)
    def head_weight_gradient(self: Any) -> Quantity:
        """A fused loss has the weight gradient before the backward pass begins, and keeps it."""
        return case((self.cross_entropy == "fused", tensor(self.vocabulary_per_rank, self.workload.hidden_dim, width=self.residual_width)), otherwise=0)

    @saved("cross-entropy", "log-probabilities", "M_logp", source=f"{KORTHIKANTI}, section 4.3; {LOSS}")
    def log_probabilities(self: Any) -> Quantity:
        """The gradient of a logit is its probability, less one at the true token."""
        return case((self.cross_entropy == "whole", tensor(self.seq_len, self.microbatch, self.vocabulary_per_rank, width=self.loss_width)), otherwise=0)

    @saved("cross-entropy", "labels", "M_labels", source=LOSS)
    def labels(self: Any) -> Quantity:
        """The gradient needs to know the true token."""
        return tensor(self.seq_len, self.microbatch, width=choose("int64", WIDTHS))

    @saved("cast of weights", "16-bit output layer", "M_cast,head", source=f"{AUTOCAST}; {MEASURED}")
    def head_weight_copy(self: Any) -> Quantity:
        """Under autocast the gradient of the input needs the cast weights."""
        return case((self.casts, tensor(self.vocabulary_per_rank, self.workload.hidden_dim, width=self.compute_width)), otherwise=0)

    @derived("V_rank", source="Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053, section 3")
    def vocabulary_per_rank(self: Any) -> float:
        """Rows of the output layer on one rank."""
        return self.output_rows / self.tp_size

    @derived("β_loss", "byte", source=f"{TRANSFORMERS}, loss/loss_utils.py, ForCausalLMLoss; {AUTOCAST}")
    def loss_width(self: Any) -> Quantity:
        """Bytes of a value inside the loss."""
        return case((any_of(self.logits_in_fp32, self.casts_up_on_gpu), choose("fp32", WIDTHS)), otherwise=self.compute_width)

    # For a moment.

    @derived("n_loss", source=LIGER)
    def tokens_in_the_loss(self: Any) -> int:
        """Tokens whose logits exist at once."""
        return case((self.cross_entropy == "whole", self.seq_len * self.microbatch), otherwise=ceil(self.seq_len * self.microbatch / self.loss_chunks))

    @derived("β_logit", "byte", source=f"{LOSS}; {LIGER}; {MEASURED}")
    def bytes_held_per_logit(self: Any) -> Quantity:
        """What the loss holds for each logit as its backward pass begins, beside what is saved: the logit where the loop holds it, and the gradients of the log-probability and of the logit.

        Chunks hold their log-probabilities too and let go of their logits; a fused loss turns logits into gradients in place.
        """
        held = case((self.logits_held, self.compute_width), otherwise=0)
        return case((self.cross_entropy == "whole", held + 2 * self.loss_width), (self.cross_entropy == "chunked", 3 * self.loss_width), otherwise=self.compute_width)

    @derived("M_loss", "byte", source=f"{LOSS}; {LIGER}; {MEASURED}")
    def loss_buffers(self: Any) -> Quantity:
        """What the loss holds for a moment, beside what is saved."""
        return self.tokens_in_the_loss * self.vocabulary_per_rank * self.bytes_held_per_logit


__all__ = ["LIGER", "LOSS", "OutputRows"]

"""What stands before the layers keeps: token numbers, position tables, the normalization and dropout of the embeddings."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...expression import all_of, case, choose
from .feedforward import FeedforwardRows
from .inputs import AUTOGRAD, KORTHIKANTI, MEASURED, TRANSFORMERS
from .normalization import COMPOSITE, ONE_OPERATION
from .rows import WIDTHS, saved, tensor


class EmbeddingRows(FeedforwardRows):
    """The rows of the embeddings, and of what all layers share."""

    @saved("token embedding", "token numbers", "M_tokens", source=f"{AUTOGRAD}, embedding")
    def token_numbers(self: Any) -> Quantity:
        """The gradient of a row of the embedding goes to the row that was read."""
        return tensor(self.seq_len, self.microbatch, width=choose("int64", WIDTHS))

    @saved("position embedding", "position numbers", "M_positions", source=f"{AUTOGRAD}, embedding")
    def position_numbers(self: Any) -> Quantity:
        """The gradient of a row of the embedding goes to the row that was read; all sequences share the positions."""
        return case((self.workload.positions == "learned", tensor(self.seq_len, width=choose("int64", WIDTHS))), otherwise=0)

    @saved("segment embedding", "segment numbers", "M_segments", source=f"{AUTOGRAD}, embedding")
    def segment_numbers(self: Any) -> Quantity:
        """The gradient of a row of the embedding goes to the row that was read."""
        return case((self.workload.token_types > 0, tensor(self.seq_len, self.microbatch, width=choose("int64", WIDTHS))), otherwise=0)

    @saved("rotary positions", "cosines and sines", "M_rotary", source=f"Su et al. 2021, RoFormer, arXiv:2104.09864, section 3.4.2; {TRANSFORMERS}, models/llama/modeling_llama.py")
    def rotary_tables(self: Any) -> Quantity:
        """Turning a gradient back needs the angles; all layers, heads and sequences share them."""
        return case((self.workload.positions == "rotary", tensor(2, self.seq_len, self.workload.head_dim, width=self.residual_width)), otherwise=0)

    @saved("normalization of the embeddings", "input", "M_emb,norm", source=ONE_OPERATION)
    def embedding_norm_input(self: Any) -> Quantity:
        """The gradient of a normalization needs the values it normalized."""
        return case((self.workload.embedding_norm, tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.norm_input_width)), otherwise=0)

    @saved("normalization of the embeddings", "statistics", "M_emb,stat", source=ONE_OPERATION)
    def embedding_norm_statistics(self: Any) -> Quantity:
        """Each token's statistics."""
        return case((self.workload.embedding_norm, tensor(self.tokens_outside, self.microbatch, self.statistics_per_token, width=self.norm_statistic_width)), otherwise=0)

    @saved("normalization of the embeddings", "result before scaling", "M_emb,scaled", source=COMPOSITE)
    def embedding_norm_result(self: Any) -> Quantity:
        """Where the scale is a product of its own, its gradient needs the other factor."""
        return case((all_of(self.workload.embedding_norm, self.norm_is_composite),
                     tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.norm_result_width)), otherwise=0)

    @saved("dropout of the embeddings", "mask", "M_drop,emb", source=f"{KORTHIKANTI}, section 4.3; {MEASURED}")
    def embedding_mask(self: Any) -> Quantity:
        """The gradient is dropped where the value was."""
        return case((self.embedding_dropout, tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.residual_mask_width)), otherwise=0)


__all__ = ["EmbeddingRows"]

"""What attention keeps: the input of its projections, queries, keys and values, the attention core, the input of the output projection."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import all_of, any_of, case, choose, not_
from .inputs import AUTOCAST, AUTOGRAD, KORTHIKANTI, MEASURED, TRANSFORMERS
from .normalization import COMPOSITE, ONE_OPERATION, NormalizationRows
from .rows import WIDTHS, saved, tensor

FLASH = "Dao et al. 2022, FlashAttention, arXiv:2205.14135, section 3.1"
GROUPED = "Ainslie et al. 2023, arXiv:2305.13245, section 2.2"
VIEWS = f"PyTorch 2.13 documentation, Tensor Views; {MEASURED}"


class AttentionRows(NormalizationRows):
    """The rows of a layer's attention, from the input of its first matrix to the dropout behind its last."""

    @derived("composed", source=f"PyTorch 2.13, aten/src/ATen/native/transformers/attention.cpp; {MEASURED}")
    def attention_is_composed(self: Any) -> bool:
        """Whether fused attention falls back on operations one by one: CPU kernels have no dropout of their own, and compute these in fp32."""
        return all_of(self.attention == "fused", self.kernels == "cpu", self.attention_dropout)

    @derived("weights held", source=FLASH)
    def keeps_attention_weights(self: Any) -> bool:
        """Whether the attention weights of a whole sequence are ever held."""
        return any_of(self.attention == "eager", self.attention_is_composed)

    @derived("β_core", "byte", source=MEASURED)
    def core_width(self: Any) -> Quantity:
        """Bytes of a value in the attention core."""
        return case((self.attention_is_composed, choose("fp32", WIDTHS)), otherwise=self.compute_width)

    @derived("β_soft", "byte", source=AUTOCAST)
    def softmax_width(self: Any) -> Quantity:
        """Bytes of an attention weight as the softmax gives it: under autocast an added fp32 mask raises the scores to fp32."""
        return case((any_of(self.softmax_in_fp32, self.casts_up_on_gpu, all_of(self.casts, self.attention == "eager", self.causal_mask == "added")), choose("fp32", WIDTHS)),
                    otherwise=self.core_width)

    @derived("β_mask,core", "byte", source=f"{AUTOGRAD}, native_dropout; {MEASURED}")
    def core_mask_width(self: Any) -> Quantity:
        """Bytes of a value in the dropout mask of the attention weights. CPU kernels keep it in the weights' format, which is the queries' after a softmax in fp32."""
        queries_in_fp32 = any_of(self.workload.positions == "rotary", all_of(self.workload.qk_norm, self.workload.norm == "rmsnorm", self.rmsnorm_code != "composite"))
        return case((self.kernels == "gpu", choose("bool", WIDTHS)), (all_of(self.casts, self.softmax_in_fp32, queries_in_fp32), choose("fp32", WIDTHS)), otherwise=self.core_width)

    @derived("n_kv", source=GROUPED)
    def kv_heads_kept(self: Any) -> float:
        """Key and value heads that the core keeps on one rank: matrix products one by one need them repeated for every query head."""
        return case((self.keeps_attention_weights, self.heads_per_rank), otherwise=self.kv_heads_per_rank)

    @derived("n_casts", source=f"{AUTOCAST}; {MEASURED}")
    def attention_input_copies(self: Any) -> int:
        """Copies of the input: autocast casts it anew for each matrix that reads it."""
        return case((all_of(self.casts, not_(self.joint_projection)), 3), otherwise=1)

    @derived("β_qk", "byte", source=f"{COMPOSITE}; {AUTOCAST}")
    def query_key_norm_width(self: Any) -> Quantity:
        """Bytes of a value of the queries and keys that their normalization keeps."""
        return case((any_of(self.norm_is_composite, all_of(self.casts_up_on_gpu, self.workload.norm == "layernorm")), choose("fp32", WIDTHS)), otherwise=self.compute_width)

    # Before the core.

    @saved("query, key, value projections", "input", "M_in", source=f"{KORTHIKANTI}, section 4.1; {AUTOGRAD}, linear")
    def projection_input(self: Any) -> Quantity:
        """The weight gradient of a matrix product needs its input; the three projections share one."""
        return case((any_of(self.keeps_matrix_inputs, all_of(self.adapted != "none", not_(self.adapter_dropout))),
                     tensor(self.attention_input_copies, self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.compute_width)), otherwise=0)

    @saved("query and key normalization", "input", "M_qk", source=ONE_OPERATION)
    def query_key_norm_inputs(self: Any) -> Quantity:
        """Where heads normalize their queries and keys, the gradient needs the values before."""
        return case((self.workload.qk_norm, tensor(self.seq_len, self.microbatch, self.heads_per_rank + self.kv_heads_per_rank, self.workload.head_dim, width=self.query_key_norm_width)),
                    otherwise=0)

    @saved("query and key normalization", "statistics", "M_qk,stat", source=ONE_OPERATION)
    def query_key_norm_statistics(self: Any) -> Quantity:
        """The statistics of each token's heads."""
        return case((self.workload.qk_norm, tensor(self.seq_len, self.microbatch, self.heads_per_rank + self.kv_heads_per_rank, self.statistics_per_token, width=self.norm_statistic_width)),
                    otherwise=0)

    @saved("query and key normalization", "result before scaling", "M_qk,scaled", source=COMPOSITE)
    def query_key_norm_results(self: Any) -> Quantity:
        """Where the scale is a product of its own, its gradient needs the other factor."""
        width = case((self.rmsnorm_code == "transformers", self.compute_width), otherwise=choose("fp32", WIDTHS))
        return case((all_of(self.workload.qk_norm, self.norm_is_composite),
                     tensor(self.seq_len, self.microbatch, self.heads_per_rank + self.kv_heads_per_rank, self.workload.head_dim, width=width)), otherwise=0)

    @saved("attention core", "queries", "M_q", source=f"{KORTHIKANTI}, section 4.1")
    def queries(self: Any) -> Quantity:
        """The gradient of the keys needs the queries."""
        return tensor(self.seq_len, self.microbatch, self.heads_per_rank, self.workload.head_dim, width=self.core_width)

    @saved("attention core", "keys", "M_k", source=f"{KORTHIKANTI}, section 4.1; {GROUPED}")
    def keys(self: Any) -> Quantity:
        """The gradient of the queries needs the keys."""
        return tensor(self.seq_len, self.microbatch, self.kv_heads_kept, self.workload.head_dim, width=self.core_width)

    @saved("attention core", "values", "M_v", source=f"{KORTHIKANTI}, section 4.1; {GROUPED}")
    def values(self: Any) -> Quantity:
        """The gradient of the attention weights needs the values."""
        return tensor(self.seq_len, self.microbatch, self.kv_heads_kept, self.workload.head_dim, width=self.core_width)

    # What stays of a joint projection when not all three are views of it.

    @derived("read in place", source=VIEWS)
    def projection_is_viewed(self: Any) -> bool:
        """Whether the core reads the joint projection's result in place: eager products copy it first unless the microbatch is one sequence."""
        return all_of(self.joint_projection, any_of(self.attention == "fused", self.microbatch == 1))

    @derived("qk kept before", source=VIEWS)
    def norm_inputs_are_viewed(self: Any) -> bool:
        """Whether queries and keys are kept as the joint projection gave them, by a normalization that does not cast them."""
        return all_of(self.joint_projection, self.workload.qk_norm, self.query_key_norm_width == self.compute_width)

    @derived("q viewed", source=VIEWS)
    def queries_are_viewed(self: Any) -> bool:
        """Whether the queries that are kept, before or after their normalization, are a view of the joint projection."""
        return any_of(self.norm_inputs_are_viewed, all_of(self.projection_is_viewed, self.workload.positions != "rotary", not_(self.workload.qk_norm), not_(self.attention_is_composed)))

    @derived("k viewed", source=VIEWS)
    def keys_are_viewed(self: Any) -> bool:
        """Whether the keys that are kept, before or after their normalization, are a view of the joint projection."""
        return any_of(self.norm_inputs_are_viewed, all_of(self.queries_are_viewed, not_(self.key_value_cache), self.kv_heads_kept == self.kv_heads_per_rank))

    @derived("v viewed", source=VIEWS)
    def values_are_viewed(self: Any) -> bool:
        """Whether the kept values are a view of the joint projection: neither cached, nor repeated, nor cast."""
        return all_of(self.projection_is_viewed, not_(self.key_value_cache), self.kv_heads_kept == self.kv_heads_per_rank,
                      any_of(not_(self.attention_is_composed), all_of(self.microbatch == 1, self.compute_width == self.core_width)))

    @derived("n_left", source=VIEWS)
    def heads_left_over(self: Any) -> float:
        """Heads of the joint projection's result that nothing reads any more, held because a view of the others keeps the whole of it."""
        return case((any_of(self.queries_are_viewed, self.keys_are_viewed, self.values_are_viewed),
                     case((self.queries_are_viewed, 0), otherwise=self.heads_per_rank) + case((self.keys_are_viewed, 0), otherwise=self.kv_heads_per_rank)
                     + case((self.values_are_viewed, 0), otherwise=self.kv_heads_per_rank)), otherwise=0)

    @saved("joint projection", "rest of its result", "M_left", source=f"{VIEWS}; {TRANSFORMERS}, models/gpt2/modeling_gpt2.py, GPT2Attention")
    def projection_left_over(self: Any) -> Quantity:
        """No gradient needs it: a view of its neighbor keeps the whole result alive."""
        return tensor(self.seq_len, self.microbatch, self.heads_left_over, self.workload.head_dim, width=self.compute_width)

    # The core.

    @saved("causal mask", "mask", "M_causal", source=f"{AUTOGRAD}, masked_fill")
    def filled_mask(self: Any) -> Quantity:
        """Filling in the scores of later tokens keeps the mask, whose places get no gradient."""
        return case((all_of(self.attention == "eager", self.causal_mask == "filled"), tensor(self.seq_len, self.seq_len, width=choose("bool", WIDTHS))), otherwise=0)

    @saved("softmax", "attention weights", "M_soft", source=f"{KORTHIKANTI}, section 4.1; {AUTOGRAD}, _softmax")
    def attention_weights(self: Any) -> Quantity:
        """The gradient of a softmax is computed from its result."""
        return case((self.keeps_attention_weights, tensor(self.seq_len, self.seq_len, self.microbatch, self.heads_per_rank, width=self.softmax_width)), otherwise=0)

    @saved("dropout of attention weights", "mask", "M_drop,soft", source=f"{KORTHIKANTI}, section 4.1; {MEASURED}")
    def attention_weight_mask(self: Any) -> Quantity:
        """The gradient is dropped where the value was."""
        return case((all_of(self.keeps_attention_weights, self.attention_dropout),
                     tensor(self.seq_len, self.seq_len, self.microbatch, self.heads_per_rank, width=self.core_mask_width)), otherwise=0)

    @saved("attention over values", "attention weights as used", "M_used", source=f"{KORTHIKANTI}, section 4.1")
    def used_attention_weights(self: Any) -> Quantity:
        """The gradient of the values needs the weights they were added up with, a tensor of its own after dropout or a cast."""
        return case((all_of(self.keeps_attention_weights, any_of(self.attention_dropout, self.softmax_width != self.core_width)),
                     tensor(self.seq_len, self.seq_len, self.microbatch, self.heads_per_rank, width=self.core_width)), otherwise=0)

    @saved("fused attention", "log of each softmax's denominator", "M_lse", source=FLASH)
    def softmax_denominators(self: Any) -> Quantity:
        """From it the backward pass computes the attention weights again, a block at a time."""
        return case((self.keeps_attention_weights, 0), otherwise=tensor(self.seq_len, self.microbatch, self.heads_per_rank, width=choose("fp32", WIDTHS)))

    # After the core.

    @saved("output projection", "input", "M_out", source=f"{KORTHIKANTI}, section 4.1; {AUTOGRAD}, linear")
    def attention_result(self: Any) -> Quantity:
        """The weight gradient needs the input; fused attention keeps its result too, and it is this same tensor."""
        return case((any_of(self.keeps_matrix_inputs, not_(self.keeps_attention_weights)),
                     tensor(self.seq_len, self.microbatch, self.heads_per_rank, self.workload.head_dim, width=self.compute_width)), otherwise=0)

    @saved("dropout behind attention", "mask", "M_drop,att", source=f"{KORTHIKANTI}, section 4.1; {MEASURED}")
    def attention_output_mask(self: Any) -> Quantity:
        """The gradient is dropped where the value was."""
        return case((self.hidden_dropout, tensor(self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.hidden_mask_width)), otherwise=0)

    @saved("cast of weights", "16-bit attention matrices", "M_cast,att", source=f"{AUTOCAST}; {MEASURED}")
    def attention_weight_copies(self: Any) -> Quantity:
        """Under autocast the gradient of an input needs the cast weights; all microbatches of a step in one autocast region share them."""
        return case((self.casts, tensor(2, self.heads_per_rank + self.kv_heads_per_rank, self.workload.head_dim, self.workload.hidden_dim, width=self.compute_width)), otherwise=0)


__all__ = ["AttentionRows"]

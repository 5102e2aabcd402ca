"""What the normalizations of a layer keep: their inputs, the statistics of each token, and, where they are composed of several operations, a result between."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import all_of, case, choose, not_
from .inputs import AUTOGRAD, KORTHIKANTI, MEASURED, TRANSFORMERS, LedgerInputs
from .rows import WIDTHS, saved, tensor

ONE_OPERATION = f"{AUTOGRAD}, native_layer_norm and _fused_rms_norm"
COMPOSITE = f"{TRANSFORMERS}, models/llama/modeling_llama.py, LlamaRMSNorm; {MEASURED}"


class NormalizationRows(LedgerInputs):
    """The rows of a layer's normalizations, before attention and before the feed-forward block."""

    @derived("composite norm", source=COMPOSITE)
    def norm_is_composite(self: Any) -> bool:
        """Whether a normalization is several operations that each keep what they need."""
        return all_of(self.workload.norm == "rmsnorm", self.rmsnorm_code != "fused")

    @derived("β_norm", "byte", source=COMPOSITE)
    def norm_input_width(self: Any) -> Quantity:
        """Bytes of a value of the input that a normalization keeps; composed ones first cast it to fp32, and keep that copy."""
        return case((self.norm_is_composite, choose("fp32", WIDTHS)), otherwise=self.residual_width)

    @derived("β_stat", "byte", source=f"{ONE_OPERATION}; {MEASURED}")
    def norm_statistic_width(self: Any) -> Quantity:
        """Bytes of one statistic: fp32, but for layer normalization on a CPU, which keeps it in the format of its input."""
        return case((all_of(self.kernels == "cpu", self.workload.norm == "layernorm"), self.residual_width), otherwise=choose("fp32", WIDTHS))

    @derived("β_scaled", "byte", source=COMPOSITE)
    def norm_result_width(self: Any) -> Quantity:
        """Bytes of a value of the result between that a composed normalization keeps: PyTorch scales it in fp32, transformers in the input's format."""
        return case((self.rmsnorm_code == "transformers", self.residual_width), otherwise=choose("fp32", WIDTHS))

    @derived("n_stat", source="Ba et al. 2016, arXiv:1607.06450, section 3; Zhang and Sennrich 2019, arXiv:1910.07467, section 4")
    def statistics_per_token(self: Any) -> int:
        """Statistics of a token: its mean and deviation, or its root mean square alone."""
        return self.workload.vectors_per_norm

    @saved("normalization", "input", "M_norm", source=f"{KORTHIKANTI}, section 4.1; {ONE_OPERATION}")
    def norm_inputs(self: Any) -> Quantity:
        """The gradient of a normalization needs the values it normalized."""
        return tensor(self.workload.norms_per_layer, self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.norm_input_width)

    @saved("normalization", "statistics", "M_stat", source=ONE_OPERATION)
    def norm_statistics(self: Any) -> Quantity:
        """Each token's statistics, kept so that the backward pass does not reduce over the token again."""
        return tensor(self.workload.norms_per_layer, self.tokens_outside, self.microbatch, self.statistics_per_token, width=self.norm_statistic_width)

    @saved("normalization", "result before scaling", "M_scaled", source=COMPOSITE)
    def norm_results(self: Any) -> Quantity:
        """Where the scale is a product of its own, its gradient needs the other factor."""
        return case((all_of(self.norm_is_composite, not_(self.frozen_matrices)),
                     tensor(self.workload.norms_per_layer, self.tokens_outside, self.microbatch, self.workload.hidden_dim, width=self.norm_result_width)), otherwise=0)


__all__ = ["COMPOSITE", "NormalizationRows", "ONE_OPERATION"]

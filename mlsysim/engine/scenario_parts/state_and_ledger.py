"""A rank's state and its activation ledger in one: the format that weights are stored in, the one that a step computes in, and adapters."""
from __future__ import annotations

from typing import Any

from ...units import Quantity
from ..declarations import derived, requires
from ..expression import all_of, any_of, case, choose, not_
from ..inputs import given
from .activation_ledger.inputs import ADAPTERS, AUTOCAST
from .activation_ledger.rows import WIDTHS
from .activation_ledger.totals import LedgerTotals
from .training_state.formats import FORMAT_ALIASES
from .training_state.state import ModelState

FSDP = "Zhao et al. 2023, PyTorch FSDP, arXiv:2304.11277"
QLORA = "Dettmers et al. 2023, QLoRA, arXiv:2305.14314"


class StateAndLedger(ModelState, LedgerTotals):
    """A rank's state and its ledger in one: the stored weights' format decides the state, the computing format the ledger."""

    compute_precision: str | None = given(
        choices=("fp32", "bf16", "fp16", "autocast"), aliases={**FORMAT_ALIASES, "mixed": "autocast"}, source=f"{AUTOCAST}; {FSDP}, section 4.4",
        default=lambda self: case((any_of(self.precision == "fp32", self.precision == "tf32"), "fp32"), (self.precision == "fp16", "fp16"), otherwise="bf16"),
        doc="What a step computes in, where that is not its weights' own format: autocast, or the 16 bits in which sharded fp32 weights are gathered.")
    trainable_fraction: float = given("φ_train", maximum=1, default=lambda self: case((self.frozen_matrices, 0), otherwise=1),
                                      doc="Share of the parameters that are trained, adapters apart: none where all are frozen, otherwise all where none is stated.")
    quantization_scale: Quantity = given("β_scale", "byte", default="0.0625 byte", doc="What a 4-bit weight's block adds to it: an fp32 scale for each 64 weights.", source=f"{QLORA}, section 3")

    @derived("β", "byte", source=AUTOCAST)
    def compute_width(self: Any) -> Quantity:
        """Bytes of a value that goes into or comes out of a matrix product."""
        return case((self.compute_precision == "fp32", choose("fp32", WIDTHS)), otherwise=choose("bf16", WIDTHS))

    @derived("β_x", "byte", source=AUTOCAST)
    def residual_width(self: Any) -> Quantity:
        """Bytes of a value in the residual stream, which autocast leaves in fp32."""
        return case((self.casts, choose("fp32", WIDTHS)), otherwise=self.compute_width)

    @derived("autocast", source=AUTOCAST)
    def casts(self: Any) -> bool:
        """Whether every matrix product casts its inputs and weights first."""
        return self.compute_precision == "autocast"

    @derived("fp32 on gpu", source=AUTOCAST)
    def casts_up_on_gpu(self: Any) -> bool:
        """Whether softmax and powers are computed in fp32, as autocast does on a GPU and not on a CPU."""
        return all_of(self.casts, self.kernels == "gpu")

    @derived("quantized", source=f"{QLORA}, section 3")
    def weights_are_quantized(self: Any) -> bool:
        """Whether the layers' weights are frozen ones of few bits, which each product first turns back into 16."""
        return any_of(self.precision == "nf4", self.precision == "int4", self.precision == "int8")

    @derived("P_adapters", "parameter", source=f"{ADAPTERS}, section 4.1")
    def adapter_parameters(self: Any) -> Quantity:
        """Parameters of the adapters: a matrix in and a matrix out of the rank, beside each adapted matrix."""
        of = self.workload
        queries_values = 2 * of.hidden_dim + (of.heads + of.kv_heads) * of.head_dim
        rest = 2 * of.hidden_dim + (of.heads + of.kv_heads) * of.head_dim + of.matrices_per_feedforward * (of.hidden_dim + of.feedforward_dim)
        return of.layers * self.adapter_rank * case((self.adapted == "none", 0), (self.adapted == "queries_values", queries_values), otherwise=queries_values + rest)

    @requires("{precision} weights are computed with in 16 bits; write compute_precision=\"bf16\" or \"fp16\"", source=AUTOCAST)
    def autocast_needs_full_precision(self: Any) -> bool:
        """Autocast is for fp32 weights."""
        return any_of(not_(self.casts), self.precision == "fp32", self.precision == "tf32")


__all__ = ["FSDP", "QLORA", "StateAndLedger"]

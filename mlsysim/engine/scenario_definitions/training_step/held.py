"""What one rank holds through a whole step: weights, gradients, optimizer state, adapters; and what of it is offloaded to the host."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived, requires
from ...expression import all_of, any_of, case, choose, not_
from ...inputs import given
from ...scenario_parts.activation_ledger.inputs import ADAPTERS
from ...scenario_parts.activation_ledger.rows import WIDTHS
from ...scenario_parts.state_and_ledger import FSDP, QLORA, StateAndLedger
from ...scenario_parts.training_state.layout import ZERO

OFFLOAD = "Ren et al. 2021, ZeRO-Offload, arXiv:2101.06840, section 4"
INFINITY = "Rajbhandari et al. 2021, ZeRO-Infinity, arXiv:2104.07857, section 5"
ZEROING = "PyTorch 2.0 release notes, optimizer.zero_grad: gradients are set to None where they were filled with zeros before"


class HeldState(StateAndLedger):
    """The state of a rank, on the device and on the host."""

    offload_optimizer: bool = given(default=False, doc="Whether optimizer state and gradients stay in the host's memory, where the update is computed.", source=OFFLOAD)
    offload_parameters: bool = given(default=False, doc="Whether weights stay in the host's memory and come to the device layer by layer.", source=INFINITY)
    unsharded_gradient_accumulation: bool = given(default=False, source=f"{FSDP}, section 5: accumulation without communication",
                                                  doc="Whether accumulation steps keep whole gradients on each rank, as no_sync does, rather than dividing them after each.")
    gradients_zeroed_in_place: bool = given(default=False, doc="Whether gradients stay between steps, filled with zeros, rather than being let go.", source=ZEROING)

    @derived("M_w", "GB", source=f"{ZERO}, section 3.1; {QLORA}, section 3")
    def weights(self: Any) -> Quantity:
        """The weights that stay on one rank; of quantized ones the layers, with their scales, beside 16-bit embeddings."""
        scale = case((any_of(self.precision == "nf4", self.precision == "int4"), self.quantization_scale), otherwise=0)
        in_layers = (self.weight_width + scale) * self.workload.layer_parameters + choose("bf16", WIDTHS) * self.workload.embedding_parameters
        return case((self.weights_are_quantized, in_layers * self.held_parameters / self.workload.parameters), otherwise=self.weight_width * self.held_parameters)

    @derived("M_adapters", "GB", source=f"{ADAPTERS}, section 4.2")
    def adapter_state(self: Any) -> Quantity:
        """Weights and optimizer state of the adapters."""
        return self.adapter_parameters * (self.compute_width / self.weight_shards + self.optimizer_bytes_per_parameter / self.optimizer_shards)

    @derived("M_grad,adapters", "GB", source=f"{ADAPTERS}, section 4.2")
    def adapter_gradients(self: Any) -> Quantity:
        """Gradients of the adapters."""
        return self.adapter_parameters * self.compute_width / self.gradient_shards

    @derived("M_grad,all", "GB", source=f"{ZERO}, section 5.2; {OFFLOAD}")
    def gradients_at_update(self: Any) -> Quantity:
        """The gradients that one rank holds as the backward pass ends; an offloaded optimizer takes them to the host as they come."""
        return case((self.offload_optimizer, 0), otherwise=self.gradients + self.adapter_gradients)

    @derived("M_grad,early", "GB", source=f"{ZEROING}; {FSDP}, section 5")
    def gradients_at_loss(self: Any) -> Quantity:
        """The gradients that one rank holds already as the last backward pass of a step begins: those of earlier microbatches, or zeros."""
        whole = self.compute_width * (self.trainable_fraction * self.parameters_per_rank + self.adapter_parameters)
        return case((all_of(self.unsharded_gradient_accumulation, self.gradient_accumulation_steps > 1, self.gradient_shards > 1), whole),
                    (any_of(self.gradient_accumulation_steps > 1, self.gradients_zeroed_in_place), self.gradients_at_update), otherwise=0)

    @derived("M_held", "GB", source=f"{ZERO}, section 3.1; {OFFLOAD}; {INFINITY}")
    def held_state(self: Any) -> Quantity:
        """What stays on the device through the whole step, gradients apart."""
        return (case((self.offload_parameters, 0), otherwise=self.weights) + case((self.offload_optimizer, 0), otherwise=self.optimizer_state) + self.adapter_state)

    @derived("M_host", "GB", source=f"{OFFLOAD}; {INFINITY}")
    def host_memory(self: Any) -> Quantity:
        """What one rank keeps in the host's memory."""
        return (case((self.offload_parameters, self.weights), otherwise=0) + case((self.offload_optimizer, self.optimizer_state + self.gradients), otherwise=0))

    @requires("weights leave the device only where ranks divide them; write zero_stage=3, or offload_parameters=False", source=INFINITY)
    def offloaded_parameters_are_sharded(self: Any) -> bool:
        """Parameters are offloaded under ZeRO stage 3."""
        return any_of(not_(self.offload_parameters), self.zero_stage == 3)


__all__ = ["HeldState", "INFINITY", "OFFLOAD"]

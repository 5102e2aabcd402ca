"""All that one rank holds against the accelerator's memory, whichever way its activations are counted."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived, warns
from ...derivation import MissingInputError
from ...expression import all_of, case, choose, maximum
from ...inputs import given
from ...scenario_parts.training_state.formats import BYTES, MIXED_PRECISION
from ...scenario_parts.training_state.layout import PIPELINE, ZERO
from ...scenario_parts.training_state.state import ModelState

DEFINITION = "by definition"
PARTS = ("weights", "gradients", "optimizer_state", "activations", "communication_buffers")


class MemoryTotals(ModelState):
    """The parts of a rank's memory added up. A class that inherits it counts `activations`, and what comes on top at the peak."""

    communication_buffer_fraction: float = given("φ_buffer", default=0.05, doc="Buffers in which gradients are exchanged, as a share of the gradients on a rank.", source="a convention: buckets of some per cent")

    @derived("β_act", "byte", source=MIXED_PRECISION)
    def activation_width(self: Any) -> Quantity:
        """Bytes of a stored activation: a weight's, and never fewer than 16 bits."""
        return maximum(choose(self.precision, BYTES), choose("bf16", BYTES))

    @derived("M_act", "GB", source="each way of counting gives its own")
    def activations(self: Any) -> Quantity:
        """Saved activations: none where a class counts none."""
        return 0 * self.weights

    @derived("M_boundary", "GB", source=f"{PIPELINE}, section 2.2: a stage receives one tensor of its layers' width and sends another")
    def boundary_tensors(self: Any) -> Quantity:
        """The tensors that a pipeline stage receives and sends for a microbatch; none without a pipeline."""
        return case((self.pp_size > 1, 2 * self.activation_width * self.seq_len * self.microbatch * self.workload.hidden_dim), otherwise=0)

    @derived("M_comm", "GB", source="Li et al. 2020, PyTorch Distributed, arXiv:2006.15704, section 3.2.3: gradients travel in buckets")
    def communication_buffers(self: Any) -> Quantity:
        """Buffers for exchanging gradients, and in a pipeline the tensors at the stage's boundaries."""
        return self.communication_buffer_fraction * self.gradients + self.boundary_tensors

    @derived("M", "GB", source="the sum of its parts")
    def total_memory(self: Any) -> Quantity:
        """All that one accelerator holds through a step: weights, gradients, optimizer state, activations and communication buffers."""
        return self.weights + self.gradients + self.optimizer_state + self.activations + self.communication_buffers

    @derived("M_available", "GB", source="the device's nominal memory")
    def available_memory(self: Any) -> Quantity:
        """Memory of the accelerator."""
        return self.hardware.memory.capacity

    @derived("feasible", source=DEFINITION)
    def feasible(self: Any) -> bool:
        """Whether the accelerator holds it all."""
        return self.total_memory <= self.available_memory

    @derived("fits", source=DEFINITION)
    def fits(self: Any) -> bool:
        """Whether the accelerator holds it all, by the name that other scenarios answer to."""
        return self.feasible

    @derived("u", "percent", source=DEFINITION)
    def memory_utilization(self: Any) -> float:
        """The share of the accelerator's memory that is used; more than all where it does not fit."""
        return self.total_memory / self.available_memory

    @derived("M_short", "GB", source=DEFINITION)
    def shortfall(self: Any) -> Quantity:
        """How far the total exceeds the accelerator's memory; zero where it fits."""
        return maximum(self.total_memory - self.available_memory, 0)

    @derived("M_free", "GB", source=DEFINITION, below_zero="none, short by {shortfall}")
    def free_memory(self: Any) -> Quantity:
        """Memory that the accelerator has to spare."""
        return self.available_memory - self.total_memory

    @derived("M_gathered", "GB", source=f"{ZERO}, section 5.3")
    def gathered_layer(self: Any) -> Quantity:
        """A layer whose weights ZeRO stage 3 brings together while it is computed; none where ranks keep whole layers."""
        layer = (self.workload.layer_parameters + self.workload.expert_parameters / self.ep_size) / self.workload.layers / self.tp_size
        return case((self.weight_shards > 1, self.weight_width * layer), otherwise=0)

    @derived("M_peak", "GB", source=DEFINITION)
    def peak_memory(self: Any) -> Quantity:
        """The total with what comes and goes within a step."""
        return self.total_memory + self.gathered_layer

    @warns("The total of {total_memory} fits, and the peak of {peak_memory}, with what comes and goes within a step, exceeds the {available_memory} of {hardware}.")
    def only_the_peak_exceeds(self: Any) -> bool:
        """What fits on the average may fail at its peak."""
        return all_of(self.total_memory <= self.available_memory, self.peak_memory > self.available_memory)

    @property
    def parallelism(self) -> dict[str, int]:
        """Sizes of data, tensor, pipeline and expert parallelism."""
        return {"dp": self.dp_size, "tp": self.tp_size, "pp": self.pp_size, "ep": self.ep_size}

    @property
    def constraint_trace(self) -> list[str]:
        """How it came to fit or not, in order: the layout, what each part leaves of the memory, the verdict, the warnings."""
        said = self.figure_text
        sizes = " × ".join(f"{name} {size}" for name, size in self.parallelism.items())
        lines = [f"world size {said('world_size')}: {sizes}"]
        lines += [f"{name.replace('_', ' ')}: {self._said_or_waiting(name)}" for name in PARTS]
        try:
            verdict = f"fits, {said('free_memory')} to spare" if self.feasible else f"does not fit, {said('shortfall')} too much"
            lines.append(f"total {said('total_memory')} of {said('available_memory')}: {verdict}")
        except MissingInputError as waiting:
            lines.append(f"feasible: waits, {waiting}")
        return lines + list(self.warnings)

    def _said_or_waiting(self, name: str) -> str:
        try:
            return str(self.figure_text(name))
        except MissingInputError as waiting:
            return f"waits, {waiting}"


__all__ = ["DEFINITION", "MemoryTotals", "PARTS"]

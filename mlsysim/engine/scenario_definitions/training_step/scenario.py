"""The peak of a training step against an accelerator's memory: its moments, the context and the allocator's reserve, and the verdict."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import case, choose, is_given, maximum
from ...inputs import given
from ...scenario import About, Presentation, Scenario
from ...scenario_parts.activation_ledger.inputs import ADAPTERS, AUTOCAST, KORTHIKANTI
from ...scenario_parts.activation_ledger.recomputation import CHECKPOINTS
from ...scenario_parts.training_state.layout import ZERO
from .formats import FSDP, QLORA
from .held import INFINITY, OFFLOAD
from .passing import BUCKETS, LOADING, PassingBuffers

DEFINITION = "by definition"
CONTEXT = ("Bekman, Machine Learning Engineering Open Book, training/performance/README.md: 0.90, 0.92 and 1.78 GiB; Hugging Face, transformers documentation, model_memory_anatomy: "
           "1343 MiB; tests/facts/outcomes.json, constants")
RESERVE = "reserved over allocated memory in seven out-of-memory messages of PyTorch, tests/facts/outcomes.json, constants"


class TrainingStepScenario(PassingBuffers, Scenario):
    """The most memory that one accelerator needs at any moment of a training step, and whether it has it.

    State that stays, the activation ledger, the loss, gathered layers, buckets and the update's own buffers are added up for the moments at
    which memory peaks: as the backward pass begins, as it ends, at the update, and where a checkpoint is loaded. The context and the
    allocator's reserve come on top, as ranges that others measured; a peak that fits at one end of them and not at the other is too close to call.
    """

    context: Quantity = given("M_context", "GiB", default="1.12 GiB", doc="What the driver's context and loaded kernels take before any tensor: the median of four measurements.", source=CONTEXT)
    context_least: Quantity = given("M_context,least", "GiB", default="0.90 GiB", doc="The least that was measured of it.", source=CONTEXT)
    context_most: Quantity = given("M_context,most", "GiB", default="1.78 GiB", doc="The most that was measured of it.", source=CONTEXT)
    reserve: float = given("φ_reserve", default=0.0044, doc="What the allocator reserves beyond what it hands out, as a share of that: the median.", source=RESERVE)
    reserve_least: float = given("φ_reserve,least", default=0.001, doc="The least that was seen of it.", source=RESERVE)
    reserve_most: float = given("φ_reserve,most", default=0.045, doc="The most that was seen of it.", source=RESERVE)

    # The moments.

    @derived("M_backward", "GB", source=f"{KORTHIKANTI}, section 4; {ZERO}, section 3")
    def memory_at_loss(self: Any) -> Quantity:
        """As the backward pass begins: all activations, the loss, and gradients only if they stay between steps or microbatches."""
        return (self.held_state + self.gradients_at_loss + self.activations_at_loss + self.gathered_weights + self.undivided_gradients + self.communication_buckets + self.gradient_buckets
                + self.dequantized_matrix)

    @derived("M_backward,end", "GB", source=f"{KORTHIKANTI}, section 4; {ZERO}, section 3")
    def memory_at_first_layer(self: Any) -> Quantity:
        """As the backward pass ends: all gradients, and one layer's activations."""
        return (self.held_state + maximum(self.gradients_at_update, self.gradients_at_loss) + self.activations_of_first_layer + self.gathered_weights + self.undivided_gradients
                + self.communication_buckets + self.gradient_buckets + self.dequantized_matrix)

    @derived("M_update", "GB", source=f"{ZERO}, section 3.2")
    def memory_at_update(self: Any) -> Quantity:
        """As the optimizer works: all gradients, and its own buffers."""
        return self.held_state + self.gradients_at_update + self.gradient_casts + self.update_temporaries + self.communication_buckets + self.gradient_buckets

    @derived("M_load", "GB", source=LOADING)
    def memory_at_loading(self: Any) -> Quantity:
        """As a checkpoint is loaded: what stays of the weights, and all of them where they are gathered."""
        return self.weights + case((self.gathers_whole_model_to_load, self.weight_width * self.parameters_per_rank), otherwise=0)

    @derived("M_peak,step", "GB", source=DEFINITION)
    def peak_allocated(self: Any) -> Quantity:
        """The most that tensors take at any of these moments."""
        return maximum(self.memory_at_loss, self.memory_at_first_layer, self.memory_at_update, self.memory_at_loading)

    # Against the device.

    @derived("M_reserved", "GB", source=RESERVE)
    def peak_reserved(self: Any) -> Quantity:
        """The most that the allocator takes from the device."""
        return self.peak_allocated * (1 + self.reserve)

    @derived("M", "GB", source=DEFINITION)
    def peak_occupied(self: Any) -> Quantity:
        """The most that is taken of the device's memory, context included."""
        return self.peak_reserved + self.context

    @derived("M_least", "GB", source=f"{CONTEXT}; {RESERVE}")
    def least_occupied(self: Any) -> Quantity:
        """The peak with the least context and reserve that were measured."""
        return self.peak_allocated * (1 + self.reserve_least) + self.context_least

    @derived("M_most", "GB", source=f"{CONTEXT}; {RESERVE}")
    def most_occupied(self: Any) -> Quantity:
        """The peak with the most context and reserve that were measured."""
        return self.peak_allocated * (1 + self.reserve_most) + self.context_most

    @derived("M_usable", "GB", source="what the framework reports, else what the driver shows, else the nominal capacity")
    def usable_memory(self: Any) -> Quantity:
        """What the device gives in all, context included."""
        of = self.hardware.memory
        return case((is_given(of.framework_visible), of.framework_visible), (is_given(of.driver_visible), of.driver_visible), otherwise=of.capacity)

    @derived("M_margin", "GB", source=DEFINITION, below_zero="none")
    def margin(self: Any) -> Quantity:
        """What is left of the device's memory at the peak."""
        return self.usable_memory - self.peak_occupied

    @derived("fits", source=DEFINITION)
    def fits(self: Any) -> bool:
        """Whether the peak is within the device's memory, with the context and reserve that are likeliest."""
        return self.peak_occupied <= self.usable_memory

    @derived("surely fits", source=DEFINITION)
    def fits_with_most(self: Any) -> bool:
        """Whether it is even with the most context and reserve."""
        return self.most_occupied <= self.usable_memory

    @derived("may fit", source=DEFINITION)
    def fits_with_least(self: Any) -> bool:
        """Whether it is with the least context and reserve."""
        return self.least_occupied <= self.usable_memory

    @derived("outcome", source=DEFINITION)
    def outcome(self: Any) -> str:
        """Fits, does not fit, or too close to call: within the range of what context and reserve were measured to be."""
        return case((self.fits_with_most, "fits"), (self.fits_with_least, "too_close_to_call"), otherwise="does_not_fit")

    presentation = Presentation(
        title="A training step of {workload.name}[ on {hardware.name}]: one rank of {world_size}",
        question="Does the peak of a step fit?",
        answer="fits",
        whole="peak_occupied",
        capacity="usable_memory",
        groups={
            "Against the device": ("peak_allocated", "peak_reserved", "peak_occupied", "usable_memory", "margin", "fits", "outcome", "least_occupied", "most_occupied", "fits_with_most", "fits_with_least"),
            "The moments of a step": ("memory_at_loss", "memory_at_first_layer", "memory_at_update", "memory_at_loading"),
            "What stays": ("weights", "optimizer_state", "adapter_state", "held_state", "gradients", "adapter_gradients", "gradients_at_loss", "gradients_at_update", "host_memory"),
            "Activations and loss": ("whole_layer_activations", "layer_activations", "held_activations", "embedding_activations", "output_activations", "weight_copies", "loss_buffers", "live_activations",
                                     "backward_temporaries", "activations_at_loss", "activations_of_first_layer"),
            "What comes and goes": ("gathered_layer", "gathered_weights", "undivided_gradients", "communication_buckets", "gradient_buckets", "dequantized_matrix", "gradient_casts", "update_temporaries"),
        })
    about = About(
        assumptions=("The moments that peak are the beginning and the end of the last microbatch's backward pass, the update, and the loading of a checkpoint; between them gradients grow about as "
                     "activations shrink.",
                     "Gradients are let go between steps, as PyTorch does since 2.0, unless they accumulate or gradients_zeroed_in_place says otherwise.",
                     "Ranks that divide weights gather them layer by layer, in the format of computing; what stands outside the layers stays gathered.",
                     "With adapters all other weights are frozen. Quantized weights are those of the layers; embeddings and output layer stand in 16 bits.",
                     "The context and the allocator's reserve are what others measured, the same for every run."),
        exclusions=("Workspaces of kernels and of libraries that communicate; fragmentation beyond the measured reserve.",
                    "Compilers that choose what is saved.", "What other processes hold on the device.", "Experts; layers of unlike shape; encoders with decoders."),
        references=(ZERO, KORTHIKANTI, CHECKPOINTS, FSDP, BUCKETS, OFFLOAD, INFINITY, ADAPTERS, QLORA, AUTOCAST),
        example=">>> from mlsysim import Hardware, Models\n"
                ">>> from mlsysim.engine.scenario_types import TrainingStepScenario\n"
                ">>> step = TrainingStepScenario(workload=Models.Language.find(\"gpt2\"), hardware=Hardware.Cloud.H100, batch_size=8, seq_len=1024, precision=\"fp32\")\n"
                ">>> print(step.outcome)\n"
                "fits\n")


__all__ = ["TrainingStepScenario"]

"""The peak of a training step against an accelerator's memory: its moments, the context and the allocator's reserve, and the verdict."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import case, maximum
from ...scenario import About, Presentation, Scenario
from ...scenario_parts.activation_ledger.inputs import ADAPTERS, AUTOCAST, KORTHIKANTI
from ...scenario_parts.activation_ledger.recomputation import CHECKPOINTS
from ...scenario_parts.device_memory import DeviceMemory
from ...scenario_parts.state_and_ledger import FSDP, QLORA
from ...scenario_parts.training_state.layout import ZERO
from .held import INFINITY, OFFLOAD
from .passing import BUCKETS, LOADING, PassingBuffers

DEFINITION = "by definition"


class TrainingStepScenario(DeviceMemory, PassingBuffers, Scenario):
    """The most memory that one accelerator needs at any moment of a training step, and whether it has it.

    State that stays, the activation ledger, the loss, gathered layers, buckets and the update's own buffers are added up for the moments at
    which memory peaks: as the backward pass begins, as it ends, at the update, and where a checkpoint is loaded. The context and the
    allocator's reserve come on top, as ranges that others measured; a peak that fits at one end of them and not at the other is too close to call.
    """

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

    @property
    def verdict(self) -> Any:
        """The outcome with its margin, the largest term, and the changes that would make it fit, the gentlest first: text, and HTML in a notebook."""
        from ...scenario_parts.fitting import FitVerdict
        from .changes import changes
        return FitVerdict(self, tuple(changes(self)) if self.outcome != "fits" else ())

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

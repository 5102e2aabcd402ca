"""Training memory of one accelerator with its activations counted by the ledger, tensor by tensor, in place of the published closed form."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...inputs import given
from ...scenario import About, Presentation, Scenario
from ...scenario_parts.activation_ledger.inputs import KORTHIKANTI, TRANSFORMERS
from ...scenario_parts.activation_ledger.recomputation import CHECKPOINTS
from ...scenario_parts.state_and_ledger import StateAndLedger
from ...scenario_parts.training_state.layout import ZERO
from .scenario import TrainingMemoryScenario
from .totals import DEFINITION, PARTS, MemoryTotals

CLOSED_FORM = TrainingMemoryScenario.presentation


class LedgerTrainingMemoryScenario(StateAndLedger, MemoryTotals, Scenario):
    """Whether one accelerator of a training run holds its weights, gradients, optimizer state, activations and communication buffers, with the activations of the ledger.

    `variant` sets what the ledger looks at beyond the closed form: attention, dropout, kernels, the loss. `TrainingStepScenario` adds up the
    moments of a step, the context and the allocator's reserve as well.
    """

    activation_model: str = given(default="ledger", choices=("ledger",), doc="Whose count of activations: the ledger's.", source=KORTHIKANTI)

    @derived("M_act", "GB", source=f"{KORTHIKANTI}, section 4.2.3; {CHECKPOINTS}")
    def activations(self: Any) -> Quantity:
        """Saved activations of the transformer layers on the first pipeline stage, which holds the most microbatches at once, and the weights that autocast keeps cast."""
        return self.layer_activations * self.layers_per_stage * self.microbatches_in_flight + self.weight_copies / self.pp_size

    @derived("M_peak,all", "GB", source=DEFINITION)
    def peak_memory(self: Any) -> Quantity:
        """The total with what comes and goes within a step."""
        return self.total_memory + self.gathered_layer + self.live_activations

    presentation = Presentation(
        title=CLOSED_FORM.title, question=CLOSED_FORM.question, answer=CLOSED_FORM.answer, parts=PARTS, whole=CLOSED_FORM.whole, capacity=CLOSED_FORM.capacity,
        groups={**CLOSED_FORM.groups,
                "Activations": ("activation_width", "normalization_activations", "attention_activations", "attention_core_activations", "feedforward_activations", "whole_layer_activations",
                                "layer_activations", "weight_copies", "activations", "embedding_activations", "output_activations", "loss_buffers"),
                "The peak within a step": ("gathered_layer", "live_activations", "peak_memory")},
        folded=CLOSED_FORM.folded)
    about = About(
        assumptions=("Activations are those of the ledger, tensor by tensor; all else is as in the closed form's scenario.",),
        exclusions=("Workspaces of kernels, the allocator's reserve and fragmentation, the CUDA context, and a margin for safety.",
                    "Activations before and after the layers: embedding_activations and output_activations stand apart, outside total_memory.", "Experts."),
        references=(KORTHIKANTI, CHECKPOINTS, TRANSFORMERS, ZERO),
        example=">>> from mlsysim import Hardware, Models\n"
                ">>> from mlsysim.engine.solver import TrainingMemoryModel\n"
                ">>> run = TrainingMemoryModel().solve(Models.Language.Llama3_8B, Hardware.Cloud.H100, batch_size=8, dp_size=8, zero_stage=1, activation_model=\"ledger\")\n"
                ">>> type(run).__name__\n"
                "'LedgerTrainingMemoryScenario'\n")


__all__ = ["LedgerTrainingMemoryScenario"]

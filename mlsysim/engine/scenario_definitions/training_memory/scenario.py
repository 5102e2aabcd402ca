"""Training memory of one accelerator: all its parts against the device, and how they are presented."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import case
from ...scenario import About, Presentation, Scenario
from ...scenario_parts.training_state.formats import FP8_TRAINING, MIXED_PRECISION
from ...scenario_parts.training_state.layout import EXPERTS, KORTHIKANTI, MEGATRON, MEGATRON_SCRIPT, PIPELINE, ZERO
from ...scenario_parts.training_state.optimizers import ADAFACTOR, BLOCKWISE, MUON
from ...scenario_parts.training_state.state import DISTRIBUTED_OPTIMIZER
from .activations import Activations
from .totals import DEFINITION, PARTS


class TrainingMemoryScenario(Activations, Scenario):
    """Whether one accelerator of a training run holds its weights, gradients, optimizer state, activations and communication buffers.

    Model parallelism divides the parameters first, ZeRO then shares what data-parallel ranks would hold in common. Activations
    follow from the architecture, the layout and what is computed again, by the published closed form. A model given by its parameter count alone has
    weights, gradients and optimizer state; the rest waits for its architecture.
    """

    # What comes and goes within a step.

    @derived("M_live", "GB", source=f"{KORTHIKANTI}, section 5")
    def recomputed_layer(self: Any) -> Quantity:
        """The activations of the layer that full recomputation is just computing again; none with less recomputation."""
        return case((self.activation_checkpointing == "full", self.whole_layer_activations), otherwise=0)

    @derived("M_peak", "GB", source=DEFINITION)
    def peak_memory(self: Any) -> Quantity:
        """The total with what comes and goes within a step."""
        return self.total_memory + self.gathered_layer + self.recomputed_layer

    presentation = Presentation(
        title="Training {workload.name}[ on {hardware.name}]: one rank of {world_size}",
        question="Does one accelerator hold its part of the training?",
        answer="feasible",
        parts=PARTS,
        whole="total_memory",
        capacity="hardware.memory.capacity",
        groups={
            "How model and batch are divided": ("world_size", "data_parallel_ranks", "microbatch", "rounded_batch_size", "layers_per_stage", "microbatches_in_flight",
                                                "dense_parameters_per_rank", "expert_parameters_per_rank", "parameters_per_rank"),
            "What ZeRO divides further": ("weight_shards", "gradient_shards", "optimizer_shards", "expert_weight_shards", "expert_gradient_shards", "expert_optimizer_shards",
                                          "held_parameters", "gradient_parameters", "updated_parameters"),
            "What one parameter costs": ("weight_width", "gradient_width", "master_width", "gradient_copy_width", "kept_value_width", "kept_values_per_parameter",
                                         "optimizer_bytes_per_parameter", "bytes_per_dense_parameter", "bytes_per_expert_parameter"),
            "Weights, gradients and optimizer state": ("weights", "gradients", "master_copy", "gradient_copy", "moments", "optimizer_state", "model_state"),
            "Activations": ("activation_width", "counted_byte", "linear_activations", "attention_core_activations", "whole_layer_activations", "layer_activations", "activations",
                            "embedding_activations", "output_activations"),
            "Communication": ("boundary_tensors", "communication_buffers"),
            "All of it against the accelerator's memory": ("total_memory", "available_memory", "feasible", "fits", "memory_utilization", "free_memory", "shortfall"),
            "The peak within a step": ("gathered_layer", "recomputed_layer", "peak_memory"),
            "The fullest pipeline stage": ("most_loaded_dense_parameters", "most_loaded_expert_parameters", "most_loaded_parameters", "most_loaded_state"),
            "Matrix shapes, for optimizers that look at them": ("vector_parameters_per_layer", "hidden_matrix_parameters", "hidden_matrix_share", "matrix_sums_per_layer", "matrix_sums"),
        },
        folded=("What ZeRO divides further", "What one parameter costs", "The fullest pipeline stage", "Matrix shapes, for optimizers that look at them"))
    about = About(
        assumptions=(
            "Parameters are divided evenly over tensor, pipeline and expert parallelism; the fullest stage stands beside, with its embedding.",
            "A gradient has the width of its weight unless gradient_precision says otherwise; fp8 weights have 16-bit gradients and activations.",
            "The optimizer updates an fp32 master copy wherever trained weights are narrower than fp32, unless master_weights says otherwise.",
            "Only trained parameters have gradients and optimizer state. A step still saves the activations of all layers.",
            "Activations count one byte for each dropout mask element and two for any other; at fp32 all of them double, masks included.",
            "What Adafactor and Muon keep is counted from the shapes of the whole model's matrices, and divided like the parameters. Adafactor keeps no first moment.",
            "A pipeline runs 1F1B, its chunks interleaved where there are several, and the first stage is the one shown.",
            "Experts save the activations of one dense feed-forward block: those of further experts for the same token are not added.",
        ),
        exclusions=(
            "Workspaces of kernels, the allocator's reserve and fragmentation, the CUDA context, and a margin for safety.",
            "Activations before and after the layers: embedding_activations and output_activations stand apart, outside total_memory.",
            "Scales and zero points of quantized frozen weights.",
            "Host memory: nothing is offloaded.",
        ),
        references=(MEGATRON, ZERO, KORTHIKANTI, PIPELINE, EXPERTS, MIXED_PRECISION, DISTRIBUTED_OPTIMIZER, MEGATRON_SCRIPT, FP8_TRAINING, ADAFACTOR, MUON, BLOCKWISE),
        example=">>> from mlsysim import Hardware, Models\n"
                ">>> from mlsysim.engine.solver import TrainingMemoryModel\n"
                ">>> run = TrainingMemoryModel().solve(Models.Language.Llama3_8B, Hardware.Cloud.H100, batch_size=8, dp_size=8, zero_stage=1)\n"
                ">>> print(run.substitution(\"master_copy\"))\n"
                "M_master = 4 B × 1.00375 × 10⁹ = 4.01 GB\n"
                ">>> run.feasible\n"
                "True\n")


__all__ = ["TrainingMemoryScenario"]

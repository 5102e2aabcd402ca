"""Training memory of one accelerator: all its parts against the device, and how they are presented."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived, warns
from ...derivation import MissingInputError
from ...expression import all_of, case, maximum
from ...inputs import given
from ...scenario import About, Presentation, Scenario
from .activations import Activations
from ...scenario_parts.training_state.formats import FP8_TRAINING, MIXED_PRECISION
from ...scenario_parts.training_state.layout import EXPERTS, KORTHIKANTI, MEGATRON, MEGATRON_SCRIPT, PIPELINE, ZERO
from ...scenario_parts.training_state.optimizers import ADAFACTOR, BLOCKWISE, MUON
from ...scenario_parts.training_state.state import DISTRIBUTED_OPTIMIZER

DEFINITION = "by definition"
PARTS = ("weights", "gradients", "optimizer_state", "activations", "communication_buffers")


class TrainingMemoryScenario(Activations, Scenario):
    """Whether one accelerator of a training run holds its weights, gradients, optimizer state, activations and communication buffers.

    Model parallelism divides the parameters first, ZeRO then shares what data-parallel ranks would hold in common. Activations
    follow from the architecture, the layout and what is computed again. A model given by its parameter count alone has
    weights, gradients and optimizer state; the rest waits for its architecture.
    """

    communication_buffer_fraction: float = given("φ_buffer", default=0.05, doc="Buffers in which gradients are exchanged, as a share of the gradients on a rank.", source="a convention: buckets of some per cent")

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

    # What comes and goes within a step.

    @derived("M_gathered", "GB", source=f"{ZERO}, section 5.3")
    def gathered_layer(self: Any) -> Quantity:
        """A layer whose weights ZeRO stage 3 brings together while it is computed; none where ranks keep whole layers."""
        layer = (self.workload.layer_parameters + self.workload.expert_parameters / self.ep_size) / self.workload.layers / self.tp_size
        return case((self.weight_shards > 1, self.weight_width * layer), otherwise=0)

    @derived("M_live", "GB", source=f"{KORTHIKANTI}, section 5")
    def recomputed_layer(self: Any) -> Quantity:
        """The activations of the layer that full recomputation is just computing again; none with less recomputation."""
        return case((self.activation_checkpointing == "full", self.whole_layer_activations), otherwise=0)

    @derived("M_peak", "GB", source=DEFINITION)
    def peak_memory(self: Any) -> Quantity:
        """The total with what comes and goes within a step."""
        return self.total_memory + self.gathered_layer + self.recomputed_layer

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
            "All of it against the accelerator's memory": ("total_memory", "available_memory", "feasible", "memory_utilization", "free_memory", "shortfall"),
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

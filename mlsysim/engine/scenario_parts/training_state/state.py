"""What one rank keeps for the parameters it trains: weights, gradients, and all that belongs to the optimizer."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived, requires, warns
from ...expression import all_of, any_of, case, choose, not_
from ...inputs import given
from .formats import BYTES, FORMAT_ALIASES, FP8_TRAINING, GRADIENT_FORMATS, MIXED_PRECISION, STATE_FORMATS
from .layout import MEGATRON_SCRIPT, ZERO
from .matrix_shapes import MatrixShapes
from .optimizers import ADAFACTOR, BLOCKWISE, KEPT_VALUES, MUON, OPTIMIZER_ALIASES

DISTRIBUTED_OPTIMIZER = "NVIDIA, Megatron-LM at d98e8a64, docs/user-guide/features/dist_optimizer.md"


class ModelState(MatrixShapes):
    """The part of the training state that one rank of a layout holds."""

    precision: str = given(default="fp16", choices=tuple(BYTES), aliases=FORMAT_ALIASES,
                           doc="Number format of the weights. fp8 stores weights in one byte, gradients and activations in 16 bits; int8, int4 and nf4 hold frozen weights only.",
                           source=FP8_TRAINING)
    optimizer: str = given(default="adam", choices=tuple(KEPT_VALUES), aliases=OPTIMIZER_ALIASES, doc="The optimizer, which decides what is kept for a parameter.")
    trainable_fraction: float = given("φ_train", default=1.0, maximum=1, doc="Share of the parameters that are trained; the others have neither gradient nor optimizer state.")
    gradient_precision: str | None = given(
        choices=GRADIENT_FORMATS, aliases=FORMAT_ALIASES, source=MIXED_PRECISION, doc="Number format of the gradients: the weights' own where none is stated, 16 bits for fp8 weights.",
        default=lambda self: case((any_of(self.precision == "fp32", self.precision == "tf32"), "fp32"), (self.precision == "fp16", "fp16"), otherwise="bf16"))
    master_weights: bool | None = given(
        source=MIXED_PRECISION, doc="Whether the optimizer updates an fp32 copy of the weights: where none is stated, yes for trained weights narrower than fp32.",
        default=lambda self: all_of(any_of(self.precision == "bf16", self.precision == "fp16", self.precision == "fp8"), self.optimizer != "none"))
    fp32_gradient_copy: bool = given(default=False, doc="Whether the optimizer also keeps its gradients in fp32, beside 16-bit ones.", source=DISTRIBUTED_OPTIMIZER)
    optimizer_state_precision: str | None = given(
        choices=STATE_FORMATS, aliases=FORMAT_ALIASES, doc="Number format of what the optimizer keeps: int8 for 8-bit Adam, otherwise fp32 where none is stated.",
        default=lambda self: case((self.optimizer == "adam_8bit", "int8"), otherwise="fp32"))
    quantization_block: int = given("n_block", default=2048, positive=True, doc="Values of an 8-bit optimizer state that share one fp32 scale; later bitsandbytes takes 256.", source=BLOCKWISE)

    # Bytes of each value.

    @derived("β_w", "byte", source="the entry of the table of number formats")
    def weight_width(self: Any) -> Quantity:
        """Bytes of a stored weight."""
        return choose(self.precision, BYTES)

    @derived("β_grad", "byte", source=MIXED_PRECISION)
    def gradient_width(self: Any) -> Quantity:
        """Bytes of a stored gradient."""
        return choose(self.gradient_precision, BYTES)

    @derived("β_master", "byte", source=MIXED_PRECISION)
    def master_width(self: Any) -> Quantity:
        """Bytes of a trained parameter's master copy; zero where the recipe keeps none."""
        return case((self.master_weights, choose("fp32", BYTES)), otherwise=0)

    @derived("β_copy", "byte", source=DISTRIBUTED_OPTIMIZER)
    def gradient_copy_width(self: Any) -> Quantity:
        """Bytes of a trained parameter's fp32 gradient beside its 16-bit one; zero where the recipe keeps none."""
        return case((self.fp32_gradient_copy, choose("fp32", BYTES)), otherwise=0)

    @derived("β_kept", "byte", source=BLOCKWISE)
    def kept_value_width(self: Any) -> Quantity:
        """Bytes of a value that the optimizer keeps; quantized ones share an fp32 scale in blocks."""
        return choose(self.optimizer_state_precision, BYTES) + case((self.optimizer_state_precision == "int8", choose("fp32", BYTES) / self.quantization_block), otherwise=0)

    @derived("n_kept", "", source="the optimizer's entry in the table of kept values")
    def kept_values_per_parameter(self: Any) -> float:
        """Values that the optimizer keeps for a trained parameter, on the average of all."""
        of = self.workload
        return case(
            (self.optimizer == "muon", choose("muon", KEPT_VALUES) * self.hidden_matrix_share + choose("adam", KEPT_VALUES) * (1 - self.hidden_matrix_share)),
            (self.optimizer == "adafactor", (self.matrix_sums + choose("adafactor", KEPT_VALUES) * (of.layers * self.vector_parameters_per_layer + of.final_norm_parameters))
             / of.counted_parameters),
            otherwise=choose(self.optimizer, KEPT_VALUES))

    # What one rank holds.

    @derived("P_held", "parameter", source=f"{ZERO}, section 5.3")
    def held_parameters(self: Any) -> Quantity:
        """Parameters whose weights stay on one rank."""
        return self.dense_parameters_per_rank / self.weight_shards + self.expert_parameters_per_rank / self.expert_weight_shards

    @derived("P_grad", "parameter", source=f"{ZERO}, section 5.2")
    def gradient_parameters(self: Any) -> Quantity:
        """Trained parameters whose gradients one rank keeps until the update."""
        return self.trainable_fraction * (self.dense_parameters_per_rank / self.gradient_shards + self.expert_parameters_per_rank / self.expert_gradient_shards)

    @derived("P_updated", "parameter", source=f"{ZERO}, section 5.1")
    def updated_parameters(self: Any) -> Quantity:
        """Trained parameters whose update is one rank's part."""
        return self.trainable_fraction * (self.dense_parameters_per_rank / self.optimizer_shards + self.expert_parameters_per_rank / self.expert_optimizer_shards)

    @derived("M_w", "GB", source=f"{ZERO}, section 3.1")
    def weights(self: Any) -> Quantity:
        """The weights that stay on one rank."""
        return self.weight_width * self.held_parameters

    @derived("M_grad", "GB", source=f"{ZERO}, section 3.1")
    def gradients(self: Any) -> Quantity:
        """The gradients that one rank keeps until the update."""
        return self.gradient_width * self.gradient_parameters

    @derived("M_master", "GB", source=MIXED_PRECISION)
    def master_copy(self: Any) -> Quantity:
        """The fp32 copy of the weights that the optimizer updates."""
        return self.master_width * self.updated_parameters

    @derived("M_copy", "GB", source=DISTRIBUTED_OPTIMIZER)
    def gradient_copy(self: Any) -> Quantity:
        """The fp32 gradients that the optimizer keeps beside 16-bit ones."""
        return self.gradient_copy_width * self.updated_parameters

    @derived("M_kept", "GB", source=f"{ZERO}, section 3.1")
    def moments(self: Any) -> Quantity:
        """The optimizer's own memory: Adam's moments, a momentum, Adafactor's sums."""
        return self.kept_values_per_parameter * self.kept_value_width * self.updated_parameters

    @derived("M_opt", "GB", source=f"{ZERO}, section 3.1")
    def optimizer_state(self: Any) -> Quantity:
        """All that belongs to the optimizer on one rank: master copy, fp32 gradient copy and its own memory."""
        return self.master_copy + self.gradient_copy + self.moments

    @derived("M_state", "GB", source=f"{ZERO}, section 3.1")
    def model_state(self: Any) -> Quantity:
        """Weights, gradients and optimizer state of one rank, divided evenly over stages."""
        return self.weights + self.gradients + self.optimizer_state

    # The same for one parameter, and for the fullest stage.

    @derived("β_opt", "byte", source=f"{ZERO}, section 3.1")
    def optimizer_bytes_per_parameter(self: Any) -> Quantity:
        """Bytes that belong to the optimizer for a trained parameter, before ZeRO."""
        return self.master_width + self.gradient_copy_width + self.kept_values_per_parameter * self.kept_value_width

    @derived("β_dense", "byte", source=DISTRIBUTED_OPTIMIZER)
    def bytes_per_dense_parameter(self: Any) -> Quantity:
        """Bytes of state that one rank holds for each dense parameter model parallelism leaves it."""
        return self.weight_width / self.weight_shards + self.trainable_fraction * (
            self.gradient_width / self.gradient_shards + self.optimizer_bytes_per_parameter / self.optimizer_shards)

    @derived("β_experts", "byte", source=DISTRIBUTED_OPTIMIZER)
    def bytes_per_expert_parameter(self: Any) -> Quantity:
        """Bytes of state that one rank holds for each parameter in experts model parallelism leaves it."""
        return self.weight_width / self.expert_weight_shards + self.trainable_fraction * (
            self.gradient_width / self.expert_gradient_shards + self.optimizer_bytes_per_parameter / self.expert_optimizer_shards)

    @derived("M_state,full", "GB", source=f"{MEGATRON_SCRIPT}, compute_weight_and_optimizer_memory")
    def most_loaded_state(self: Any) -> Quantity:
        """Weights, gradients and optimizer state of a rank in the fullest pipeline stage, embedding included."""
        return self.bytes_per_dense_parameter * self.most_loaded_dense_parameters + self.bytes_per_expert_parameter * self.most_loaded_expert_parameters

    # Recipes that cannot be.

    @requires("{precision} holds frozen weights only, and trainable_fraction={trainable_fraction} of them would be trained; write precision=\"bf16\", or trainable_fraction=0 "
              "(TrainingStateFitScenario trains adapters on a frozen base)", source="Dettmers et al. 2023, QLoRA, arXiv:2305.14314, section 3")
    def quantized_weights_are_frozen(self: Any) -> bool:
        """An integer step of a quantized weight is too coarse to train."""
        return any_of(self.trainable_fraction == 0, not_(any_of(self.precision == "int8", self.precision == "int4", self.precision == "nf4")))

    @requires("{precision} weights are their own master copy; leave master_weights out, or write precision=\"bf16\"", source=MIXED_PRECISION)
    def full_precision_needs_no_master_copy(self: Any) -> bool:
        """An fp32 weight has no wider copy to keep."""
        return any_of(not_(self.master_weights), self.weight_width < choose("fp32", BYTES))

    @requires("{gradient_precision} gradients are in fp32 already; leave fp32_gradient_copy out, or write gradient_precision=\"bf16\"", source=DISTRIBUTED_OPTIMIZER)
    def full_precision_gradients_need_no_copy(self: Any) -> bool:
        """An fp32 gradient has no wider copy to keep."""
        return any_of(not_(self.fp32_gradient_copy), self.gradient_width < choose("fp32", BYTES))

    @requires("8-bit Adam keeps its moments in int8, not in {optimizer_state_precision}; write optimizer=\"adam\", or leave optimizer_state_precision out", source=BLOCKWISE)
    def eight_bit_adam_is_quantized(self: Any) -> bool:
        """8-bit Adam is Adam with quantized moments."""
        return any_of(self.optimizer != "adam_8bit", self.optimizer_state_precision == "int8")

    @warns("fp8 stores each weight in one byte here, gradients and activations in 16 bits, and the optimizer updates an fp32 master copy; a recipe that keeps 16-bit "
           "weights and only multiplies in fp8 is precision=\"bf16\".", source=FP8_TRAINING)
    def fp8_is_a_way_of_storing(self: Any) -> bool:
        """fp8 training comes in two kinds."""
        return self.precision == "fp8"


__all__ = ["ModelState"]

"""What training holds in memory for every parameter, in full or with low-rank adapters, against one device."""
from __future__ import annotations

from ...hardware import HardwareNode
from ...models import Workload
from ...units import Quantity
from ..declarations import derived, parametrised, requires, warns
from ..expression import all_of, any_of, case, floor, is_given, maximum, not_, total_of
from ..inputs import Given, given
from ..record import Record
from ..scenario import About, Presentation, Scenario

ZERO = "Rajbhandari et al. 2020, ZeRO, arXiv:1910.02054, section 3.1"
LORA = "Hu et al. 2021, LoRA, arXiv:2106.09685, section 4.1"
QLORA = "Dettmers et al. 2023, QLoRA, arXiv:2305.14314, section 3"
ADAM = "Kingma and Ba 2015, Adam, arXiv:1412.6980, algorithm 1"
MIXED = "Micikevicius et al. 2018, Mixed Precision Training, arXiv:1710.03740, section 3.1"
KORTHIKANTI = "Korthikanti et al. 2023, arXiv:2205.05198, section 4"
DEFINITION = "by definition"


class AdaptedMatrix(Record):
    """A weight matrix of one layer that carries an adapter."""

    name: str = given(doc="Which matrix, such as \"q\".", example="\"q\"")
    in_dim: int = given("d_in", positive=True, example="4096", doc="Width of its input.")
    out_dim: int = given("d_out", positive=True, example="1024", doc="Width of its output.")


class TrainingStateFitScenario(Scenario):
    """Whether the weights, gradients and optimizer state that training keeps for every parameter fit in one device's memory.

    The recipe is stated in bytes per parameter. Trained with low-rank adapters, the base model's weights are frozen and only the
    adapters have gradients and optimizer state; the quantities of full tuning stay beside for comparison. Saved activations are an
    input of their own, so the state alone and the whole training step are two answers.
    """

    workload: Workload = given(example="Models.Language.GPT2", doc="The model that is trained.")
    hardware: HardwareNode | None = given(default=None, example="Hardware.Cloud.H100", doc="The device whose memory has to hold it.")
    bytes_per_value: Given[Quantity] = given("b", "byte", positive=True, example="\"4 byte\"", doc="Width of each stored weight.")
    optimizer_bytes_per_parameter: Given[Quantity] = given(
        "b_opt", "byte", example="\"8 byte\"", doc="What the optimizer keeps for a trained parameter: 8 bytes for Adam's two FP32 averages, 4 for momentum, 0 for plain SGD.")
    batch_size: int | None = given("B", default=None, positive=True, example="32", doc="Sequences or images in the batch whose activations are stated.")
    activations: Given[Quantity | None] = given("M_act", "byte", default=None, example="\"40 GB\"", doc="Activations saved for the backward pass, for the whole batch.")
    master_bytes_per_parameter: Given[Quantity | None] = given(
        "b_master", "byte", default=None, example="\"4 byte\"", doc="Width of the FP32 master copy that mixed precision keeps for each trained parameter.")
    adapter_parameters: int | None = given("P_stated", default=None, positive=True, example="6815744", doc="Trained adapter parameters, where the count itself is known.")
    adapter_rank: int | None = given("r", default=None, positive=True, example="16", doc="Rank of each adapter.")
    adapted_matrices: int | None = given("k", default=None, positive=True, example="2", doc="Matrices in a layer that carry an adapter, all of one shape.")
    adapter_in_dim: int | None = given("d_in", default=None, positive=True, example="4096", doc="Input width of an adapted matrix.")
    adapter_out_dim: int | None = given("d_out", default=None, positive=True, example="4096", doc="Output width of an adapted matrix.")
    adapter_matrices: tuple[AdaptedMatrix, ...] | None = given(
        default=None, example="[AdaptedMatrix(name=\"q\", in_dim=4096, out_dim=4096), AdaptedMatrix(name=\"v\", in_dim=4096, out_dim=1024)]",
        doc="The adapted matrices of a layer one by one, where their shapes differ, as with grouped-query attention.")
    adapter_bytes_per_value: Given[Quantity | None] = given(
        "b_ad", "byte", default=None, positive=True, example="\"2 byte\"", doc="Width of a trained weight and its gradient, where it differs from the frozen base's: bf16 adapters on a 4-bit base.")

    # What full tuning keeps for every parameter.

    @derived("M_w", "byte", source=ZERO)
    def weights(self) -> Quantity:
        """The model's weights at their stored width, trained or frozen."""
        return self.workload.parameters * self.bytes_per_value

    @derived("b_t", "byte", source=QLORA)
    def trained_bytes_per_value(self) -> Quantity:
        """Width of a trained weight and of its gradient."""
        return case((is_given(self.adapter_bytes_per_value), self.adapter_bytes_per_value), otherwise=self.bytes_per_value)

    @derived("M_grad", "byte", source=ZERO)
    def gradients(self) -> Quantity:
        """Full tuning: one gradient for every parameter of the model."""
        return self.workload.parameters * self.trained_bytes_per_value

    @derived("M_opt", "byte", source=ADAM)
    def optimizer_state(self) -> Quantity:
        """Full tuning: what the optimizer remembers for every parameter of the model."""
        return self.workload.parameters * self.optimizer_bytes_per_parameter

    @derived("M_master", "byte", source=MIXED)
    def master_weights(self) -> Quantity:
        """Full tuning: the FP32 copy of every weight that mixed precision updates; zero where the recipe keeps none."""
        return case((is_given(self.master_bytes_per_parameter), self.workload.parameters * self.master_bytes_per_parameter), otherwise=0)

    @derived("b_trained", "byte", source=ZERO)
    def bytes_per_trained_parameter(self) -> Quantity:
        """Everything kept for one trained parameter: weight, gradient, master copy, optimizer state."""
        return 2 * self.trained_bytes_per_value + case((is_given(self.master_bytes_per_parameter), self.master_bytes_per_parameter), otherwise=0) + self.optimizer_bytes_per_parameter

    @derived("M_full", "byte", source=ZERO)
    def full_state(self) -> Quantity:
        """Full tuning: the state with this recipe if every parameter were trained."""
        return self.workload.parameters * self.bytes_per_trained_parameter

    @derived("n_opt", "", source=DEFINITION)
    def optimizer_values_per_parameter(self) -> float:
        """The optimizer's bytes for a parameter, counted in weights."""
        return self.optimizer_bytes_per_parameter / self.bytes_per_value

    # What adapters keep.

    @derived("P_ad", "", source=LORA)
    def adapter_count(self) -> int | None:
        """Trained adapter parameters: as stated, or from the adapters' shapes; none where every parameter trains."""
        return case(
            (is_given(self.adapter_parameters), self.adapter_parameters),
            (all_of(is_given(self.adapter_rank), is_given(self.adapter_matrices)),
             self.workload.layers * self.adapter_rank * total_of(self.adapter_matrices, lambda matrix: matrix.in_dim + matrix.out_dim)),
            (is_given(self.adapter_rank), self.workload.layers * self.adapted_matrices * self.adapter_rank * (self.adapter_in_dim + self.adapter_out_dim)),
            otherwise=None)

    @derived("M_ad,w", "byte", source=LORA)
    def adapter_weights(self) -> Quantity:
        """The adapters' weights."""
        return self.adapter_count * self.trained_bytes_per_value

    @derived("M_ad,grad", "byte", source=LORA)
    def adapter_gradients(self) -> Quantity:
        """The adapters' gradients."""
        return self.adapter_count * self.trained_bytes_per_value

    @derived("M_ad,master", "byte", source=MIXED)
    def adapter_master(self) -> Quantity:
        """The adapters' FP32 master copy; zero where the recipe keeps none."""
        return case((is_given(self.master_bytes_per_parameter), self.adapter_count * self.master_bytes_per_parameter), otherwise=0 * self.adapter_count)

    @derived("M_ad,opt", "byte", source=LORA)
    def adapter_optimizer_state(self) -> Quantity:
        """The adapters' optimizer state."""
        return self.adapter_count * self.optimizer_bytes_per_parameter

    @derived("M_ad", "byte", source=LORA)
    def adapter_state(self) -> Quantity:
        """All that the adapters hold: weights, gradients, master copy, optimizer state."""
        return self.adapter_count * self.bytes_per_trained_parameter

    @derived("f_ad", "percent", source=LORA)
    def adapter_fraction(self) -> float:
        """Adapter parameters as a share of the base model's."""
        return self.adapter_count / self.workload.parameters

    # What this run keeps, in either mode.

    @derived("M_run,grad", "byte", source=ZERO)
    def gradients_held(self) -> Quantity:
        """This run: gradients of what it trains."""
        return case((is_given(self.adapter_count), self.adapter_gradients), otherwise=self.gradients)

    @derived("M_run,master", "byte", source=MIXED)
    def master_weights_held(self) -> Quantity:
        """This run: master copy of what it trains."""
        return case((is_given(self.adapter_count), self.adapter_master), otherwise=self.master_weights)

    @derived("M_run,opt", "byte", source=ADAM)
    def optimizer_state_held(self) -> Quantity:
        """This run: optimizer state of what it trains."""
        return case((is_given(self.adapter_count), self.adapter_optimizer_state), otherwise=self.optimizer_state)

    @derived("M", "byte", source=ZERO)
    def total(self) -> Quantity:
        """This run: the state it holds, which is the frozen base and its adapters, or the full training state."""
        return case((is_given(self.adapter_count), self.weights + self.adapter_state), otherwise=self.weights + self.gradients + self.master_weights + self.optimizer_state)

    @derived("n_copies", "", source=DEFINITION)
    def copies(self) -> float:
        """The state this run holds, counted in copies of the weights."""
        return self.total / self.weights

    # Adapters against full tuning.

    @derived("M_saved", "byte", source=LORA)
    def adapter_saved(self) -> Quantity:
        """State that the adapters spare, against full tuning."""
        return self.full_state - self.total

    @derived("x_red", "", source=LORA)
    def adapter_reduction(self) -> float:
        """How many times smaller this run's state is than full tuning's."""
        return self.full_state / self.total

    @derived("f_kept", "percent", source=LORA)
    def adapter_kept_share(self) -> float:
        """The share of full tuning's state that this run still holds."""
        return self.total / self.full_state

    @derived("f_frozen", "percent", source=LORA)
    def frozen_share(self) -> float:
        """The base weights' share of this run's state."""
        return self.weights / self.total

    @derived("x_max", "", source=LORA)
    def adapter_reduction_ceiling(self) -> float:
        """The reduction that ever smaller adapters approach: a trained parameter's bytes over a frozen one's."""
        return self.bytes_per_trained_parameter / self.bytes_per_value

    # Against the device.

    @derived("fits", source=DEFINITION)
    def fits(self) -> bool:
        """Whether this run's state alone fits in the device's memory; no where no device is given."""
        return all_of(is_given(self.hardware), self.total <= self.hardware.memory.capacity)

    @derived("u", "percent", source=DEFINITION)
    def capacity_share(self) -> float:
        """The share of the device's memory that this run's state takes, before activations."""
        return self.total / self.hardware.memory.capacity

    @derived("M_short", "byte", source=DEFINITION)
    def state_shortfall(self) -> Quantity:
        """How far this run's state alone exceeds the device's memory; zero where it fits."""
        return maximum(self.total - self.hardware.memory.capacity, 0)

    # With the activations of a batch.

    @derived("M_train", "byte", source=KORTHIKANTI)
    def training_total(self) -> Quantity:
        """This run: its state and the activations of its batch."""
        return self.total + self.activations

    @derived("n_train", "", source=DEFINITION)
    def training_copies(self) -> float:
        """State and activations, counted in copies of the weights."""
        return self.training_total / self.weights

    @derived("training fits", source=DEFINITION)
    def training_fits(self) -> bool:
        """Whether state and activations together fit in the device's memory."""
        return self.training_total <= self.hardware.memory.capacity

    @derived("x_train", "", source=DEFINITION)
    def training_capacity_multiple(self) -> float:
        """State and activations, counted in memories of the device."""
        return self.training_total / self.hardware.memory.capacity

    @derived("B_limit", "", source=KORTHIKANTI)
    def resident_batch_limit(self) -> float:
        """How many sequences' activations fit beside the state, fractions included; activations grow with the batch."""
        return (self.hardware.memory.capacity - self.total) / (self.activations / self.batch_size)

    @derived("B_max", "", source=KORTHIKANTI, below_zero="none fits, short by {state_shortfall}")
    def max_resident_batch(self) -> int:
        """The largest whole batch whose activations fit beside the state; negative where the state alone does not fit."""
        return floor(self.resident_batch_limit)

    @parametrised("M_act", "byte", source=KORTHIKANTI, batch_size=given("B′", positive=True, example="64", doc="The other batch size."))
    def activations_at(self, batch_size: int) -> Quantity:
        """The saved activations of another batch: they grow in proportion to it."""
        return self.activations * batch_size / self.batch_size

    # Saving and updating.

    @derived("M_ckpt", "byte", source=ZERO)
    def checkpoint(self) -> Quantity:
        """Full tuning: what a run must save to resume; gradients are computed anew."""
        return self.weights + self.master_weights + self.optimizer_state

    @derived("M_run,ckpt", "byte", source=LORA)
    def run_checkpoint(self) -> Quantity:
        """This run: what it must save to resume; a frozen base is not saved again."""
        return case((is_given(self.adapter_count), self.adapter_weights + self.adapter_master + self.adapter_optimizer_state), otherwise=self.checkpoint)

    @parametrised("t_ckpt", "second", source=DEFINITION, bandwidth=given("W_s", "byte/second", positive=True, example="\"1 GB/s\"", doc="Rate at which storage takes it."))
    def checkpoint_write_time(self, bandwidth: Quantity) -> Quantity:
        """Full tuning: how long the checkpoint takes to write."""
        return self.checkpoint / bandwidth

    @parametrised("t_run,ckpt", "second", source=DEFINITION, bandwidth=given("W_s", "byte/second", positive=True, example="\"1 GB/s\"", doc="Rate at which storage takes it."))
    def run_checkpoint_write_time(self, bandwidth: Quantity) -> Quantity:
        """This run: how long its checkpoint takes to write."""
        return self.run_checkpoint / bandwidth

    @derived("v_upd", "byte", source=ADAM)
    def update_bytes_per_parameter(self) -> Quantity:
        """Bytes that updating one trained parameter moves: its gradient in, the updated weight and the optimizer state in and out."""
        return (self.trained_bytes_per_value + 2 * case((is_given(self.master_bytes_per_parameter), self.master_bytes_per_parameter), otherwise=self.trained_bytes_per_value)
                + 2 * self.optimizer_bytes_per_parameter)

    @derived("V_upd", "GB", source=ADAM)
    def update_traffic(self) -> Quantity:
        """Full tuning: bytes that one optimizer update moves."""
        return self.update_bytes_per_parameter * self.workload.parameters

    @derived("t_upd", "ms", source="Williams et al. 2009, Roofline, doi:10.1145/1498765.1498785, section 3")
    def update_time(self) -> Quantity:
        """Full tuning: how long one update takes; it computes little for each byte, so the memory's bandwidth sets the pace."""
        return self.update_traffic / self.hardware.memory.bandwidth

    @derived("V_run,upd", "GB", source=ADAM)
    def run_update_traffic(self) -> Quantity:
        """This run: bytes that one optimizer update moves."""
        return case((is_given(self.adapter_count), self.update_bytes_per_parameter * self.adapter_count), otherwise=self.update_traffic)

    @derived("t_run,upd", "ms", source="Williams et al. 2009, Roofline, doi:10.1145/1498765.1498785, section 3")
    def run_update_time(self) -> Quantity:
        """This run: how long one update takes at the memory's bandwidth."""
        return self.run_update_traffic / self.hardware.memory.bandwidth

    # What people do but should know.

    @requires("adapter_bytes_per_value={adapter_bytes_per_value} is the width of adapters, and there are none; write adapter_rank=16 with the shapes, or leave it out")
    def adapter_width_needs_adapters(self) -> bool:
        """A width of its own goes with adapters."""
        return any_of(not_(is_given(self.adapter_bytes_per_value)), is_given(self.adapter_parameters), is_given(self.adapter_rank))

    @warns("A shape of adapters is given, but neither adapter_rank nor adapter_parameters, so every parameter trains: write adapter_rank=16 for adapters.")
    def shape_without_rank(self) -> bool:
        """Without a rank there are no adapters."""
        return all_of(any_of(is_given(self.adapted_matrices), is_given(self.adapter_in_dim), is_given(self.adapter_out_dim), is_given(self.adapter_matrices)),
                      not_(is_given(self.adapter_rank)), not_(is_given(self.adapter_parameters)))

    @warns("adapter_matrices states the adapted matrices one by one, so adapted_matrices, adapter_in_dim and adapter_out_dim are not used.")
    def rows_over_one_shape(self) -> bool:
        """Rows win over one shape for all."""
        return all_of(is_given(self.adapter_rank), is_given(self.adapter_matrices), any_of(is_given(self.adapted_matrices), is_given(self.adapter_in_dim), is_given(self.adapter_out_dim)))

    @warns("adapter_parameters={adapter_parameters} is stated, so adapter_rank={adapter_rank} and the adapters' shapes are not used.")
    def count_over_rank(self) -> bool:
        """A stated count wins over a shape."""
        return all_of(is_given(self.adapter_parameters), is_given(self.adapter_rank))

    @warns("The adapters have {adapter_count} parameters, more than the base model's {workload.parameters}: full tuning would hold less.")
    def adapters_beyond_base(self) -> bool:
        """Adapters are meant to be small."""
        return all_of(is_given(self.adapter_count), self.adapter_count > self.workload.parameters)

    presentation = Presentation(
        title="Training {workload.name}[ on {hardware.name}]",
        question="Does the training state fit?",
        answer="fits",
        parts=("weights", "adapter_weights", "gradients_held", "master_weights_held", "optimizer_state_held"),
        whole="total",
        capacity="hardware.memory.capacity",
        groups={
            "What this run holds": ("weights", "adapter_weights", "gradients_held", "master_weights_held", "optimizer_state_held", "total", "copies"),
            "Against the device's memory": ("fits", "capacity_share", "state_shortfall"),
            "With the activations of a batch": ("training_total", "training_copies", "training_fits", "training_capacity_multiple", "resident_batch_limit", "max_resident_batch",
                                                "activations_at"),
            "What one trained parameter costs": ("trained_bytes_per_value", "bytes_per_trained_parameter", "optimizer_values_per_parameter", "update_bytes_per_parameter"),
            "Adapters": ("adapter_count", "adapter_fraction", "adapter_gradients", "adapter_master", "adapter_optimizer_state", "adapter_state"),
            "Full tuning of every parameter": ("gradients", "master_weights", "optimizer_state", "full_state"),
            "This run against full tuning": ("adapter_saved", "adapter_reduction", "adapter_kept_share", "frozen_share", "adapter_reduction_ceiling"),
            "Saving and updating, this run": ("run_checkpoint", "run_checkpoint_write_time", "run_update_traffic", "run_update_time"),
            "Saving and updating, full tuning": ("checkpoint", "checkpoint_write_time", "update_traffic", "update_time"),
        },
        folded=("What one trained parameter costs", "Full tuning of every parameter", "This run against full tuning", "Saving and updating, this run", "Saving and updating, full tuning"),
        folded_without={"Adapters": "adapter_count"})
    about = About(
        assumptions=("Widths per value and per parameter, and the activations, are inputs: the scenario adds up a recipe, it does not guess one.",
                     "Every stored weight has one width, every trained weight and its gradient another or the same.",
                     "Activations grow in proportion to the batch."),
        exclusions=("Workspaces of kernels, the allocator's reserve and fragmentation, and the CUDA context.",
                    "Temporaries of an optimizer's update, and buffers of communication.",
                    "A safety margin: fits compares with the nominal capacity."),
        references=(ZERO, ADAM, MIXED, LORA, QLORA, KORTHIKANTI),
        example=">>> from mlsysim import Hardware, Models\n"
                ">>> from mlsysim.engine.scenario_types import TrainingStateFitScenario\n"
                ">>> recipe = TrainingStateFitScenario(workload=Models.Language.GPT2, hardware=Hardware.Cloud.H100,\n"
                "...                                   bytes_per_value=\"4 byte\", optimizer_bytes_per_parameter=\"8 byte\")\n"
                ">>> print(recipe.substitution(\"optimizer_state\"))\n"
                "M_opt = 1.5 × 10⁹ × 8 B = 12.0 GB\n"
                ">>> recipe.fits\n"
                "True\n")


__all__ = ["AdaptedMatrix", "TrainingStateFitScenario"]

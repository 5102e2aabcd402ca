"""A training step of a residual network against an accelerator's memory."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import any_of, case, choose, maximum
from ...inputs import given
from ...scenario import About, Presentation, Scenario
from ...scenario_parts.device_memory import DeviceMemory
from ...scenario_parts.training_state.formats import BYTES, MIXED_PRECISION
from ...scenario_parts.training_state.optimizers import KEPT_VALUES
from .activations import RESIDUAL, SAVED, ImageActivations

BUCKETS = "Li et al. 2020, PyTorch Distributed, arXiv:2006.15704, section 3.2.3"


class ImageTrainingStepScenario(DeviceMemory, ImageActivations, Scenario):
    """The most memory that one accelerator needs at any moment of a training step of a residual network, and whether it has it.

    Activations follow from the architecture, convolution by convolution, with rectifiers that work in place. Vision transformers are
    transformers: TrainingStepScenario takes them, with seq_len=workload.tokens and output_rows=0.
    """

    optimizer: str = given(default="sgd_momentum", choices=("sgd", "sgd_momentum", "adam", "adamw"), aliases={"momentum": "sgd_momentum"}, doc="The optimizer, which decides what is kept for a parameter.")
    dp_size: int = given("d", default=1, positive=True, doc="Ranks that take different images.")

    @derived("β_w", "byte", source=MIXED_PRECISION)
    def weight_width(self: Any) -> Quantity:
        """Bytes of a stored weight, and of its gradient."""
        return case((any_of(self.precision == "fp32", self.precision == "autocast"), choose("fp32", BYTES)), otherwise=choose("bf16", BYTES))

    @derived("M_w", "GB", source=RESIDUAL)
    def weights(self: Any) -> Quantity:
        """The weights."""
        return self.workload.parameters * self.weight_width

    @derived("M_grad", "GB", source=RESIDUAL)
    def gradients(self: Any) -> Quantity:
        """One gradient for each weight."""
        return self.workload.parameters * self.weight_width

    @derived("M_opt", "GB", source="the optimizer's entry in the table of kept values")
    def optimizer_state(self: Any) -> Quantity:
        """What the optimizer keeps, in the weights' format."""
        return choose(self.optimizer, KEPT_VALUES) * self.workload.parameters * self.weight_width

    @derived("M_buckets", "GB", source=BUCKETS)
    def gradient_buckets(self: Any) -> Quantity:
        """The buckets in which data-parallel ranks exchange gradients: one value more for each gradient."""
        return case((self.dp_size > 1, self.gradients), otherwise=0)

    @derived("M_peak", "GB", source=f"{SAVED}; {BUCKETS}")
    def peak_allocated(self: Any) -> Quantity:
        """The most that tensors take: as the backward pass begins, or as it ends, when all gradients are there and the activations of the first layers."""
        return self.weights + self.optimizer_state + self.gradient_buckets + self.backward_temporaries + maximum(self.activations, self.gradients)

    @property
    def verdict(self) -> Any:
        """The outcome with its margin, the largest term, and the changes that would make it fit, the gentlest first: text, and HTML in a notebook."""
        from ...scenario_parts.fitting import FitVerdict
        from .changes import changes
        return FitVerdict(self, tuple(changes(self)) if self.outcome != "fits" else ())

    presentation = Presentation(
        title="A training step of {workload.name}[ on {hardware.name}], {microbatch} images",
        question="Does the peak of a step fit?",
        answer="fits", whole="peak_occupied", capacity="usable_memory",
        groups={"Against the device": ("peak_allocated", "peak_reserved", "peak_occupied", "usable_memory", "margin", "fits", "outcome", "least_occupied", "most_occupied", "fits_with_most", "fits_with_least"),
                "What stays": ("weights", "gradients", "optimizer_state", "gradient_buckets"),
                "Activations": ("image_values", "stem_values", "stage_values", "pooling_indices", "activations", "backward_temporaries")})
    about = About(
        assumptions=("Rectifiers work in place, as in torchvision: what they give is what the next convolution keeps.", "The first block of a stage halves the image in its 3 x 3 convolution.",
                     "Gradients are let go between steps."),
        exclusions=("Workspaces of convolution kernels.", "Frameworks that keep a buffer for each layer's gradient."),
        references=(RESIDUAL, SAVED, BUCKETS, MIXED_PRECISION),
        example=">>> from mlsysim import Hardware, Models\n"
                ">>> from mlsysim.engine.scenario_types import ImageTrainingStepScenario\n"
                ">>> step = ImageTrainingStepScenario(workload=Models.Vision.find(\"resnet50\"), hardware=Hardware.Cloud.H100, microbatch=64)\n"
                ">>> step.outcome\n"
                "'fits'\n")


__all__ = ["ImageTrainingStepScenario"]

"""What a residual network keeps for its backward pass, stage by stage: what each convolution and each normalization reads."""
from __future__ import annotations

from typing import Any

from ....models import ResNet
from ....units import Quantity
from ...declarations import derived, requires
from ...derivation import Derivation
from ...expression import Table, case, choose, total_of
from ...inputs import given
from ...scenario_parts.training_state.formats import FORMAT_ALIASES

RESIDUAL = "He et al. 2016, arXiv:1512.03385, table 1 and figure 5"
SAVED = "PyTorch 2.13, tools/autograd/derivatives.yaml: convolution keeps its input, cudnn_batch_norm its input, threshold_ in place its result, max_pool2d_with_indices its input and indices"
STRIDES = "torchvision 0.28, models/resnet.py, Bottleneck: the 3 x 3 convolution has the stride"

WIDTHS = Table("bytes", "byte", {"fp32": 4, "autocast": 2, "fp16": 2, "bf16": 2, "int64": 8}, source={
    "fp32": "IEEE 754-2019, section 3.6, binary32",
    "autocast": "PyTorch 2.13 documentation, Automatic Mixed Precision, Autocast Op Reference: convolutions in 16 bits",
    "fp16": "IEEE 754-2019, section 3.6, binary16",
    "bf16": "Kalamkar et al. 2019, A Study of BFLOAT16 for Deep Learning Training, arXiv:1905.12322, section 2",
    "int64": "PyTorch 2.13 documentation, torch.nn.functional.max_pool2d: indices are 64-bit integers",
})


class ImageActivations(Derivation):
    """The saved activations of one rank's images."""

    workload: ResNet = given(example="Models.Vision.find(\"resnet50\")", doc="The residual network.")
    microbatch: int = given("b", positive=True, example="32", doc="Images that pass forward together on one accelerator.")
    image_size: int = given("S", default=224, positive=True, doc="Side of an image in pixels.", source=f"{RESIDUAL}, section 3.4")
    precision: str = given(default="fp32", choices=("fp32", "autocast", "fp16", "bf16"), aliases={**FORMAT_ALIASES, "mixed": "autocast"},
                           doc="Number format: everything in one, or autocast, where fp32 weights meet 16-bit convolutions.")

    @derived("β", "byte", source="the entry of the table of number formats")
    def activation_width(self: Any) -> Quantity:
        """Bytes of a stored activation."""
        return choose(self.precision, WIDTHS)

    @derived("n_image", source=RESIDUAL)
    def image_values(self: Any) -> float:
        """Values of the image itself, in three colours, which the first convolution keeps."""
        return 3 * self.image_size ** 2

    @derived("n_stem", source=f"{RESIDUAL}; {SAVED}")
    def stem_values(self: Any) -> float:
        """What the first convolution gives at half the image's size, once for its normalization and once for the pooling, and what the pooling gives."""
        return self.workload.stem_channels * (2 * (self.image_size / 2) ** 2 + (self.image_size / 4) ** 2)

    @derived("M_indices", "byte", source=SAVED)
    def pooling_indices(self: Any) -> Quantity:
        """Where the pooling found each largest value, in 64-bit integers."""
        return self.microbatch * self.workload.stem_channels * (self.image_size / 4) ** 2 * choose("int64", WIDTHS)

    @derived("n_stages", source=f"{RESIDUAL}; {SAVED}; {STRIDES}")
    def stage_values(self: Any) -> float:
        """What the blocks keep of an image: for each convolution its result, which the normalization reads, and the rectified one that the next reads; a last stage has a 32nd of the image's side, and
        the side halves as channels double."""
        last, side = self.workload.feature_channels, self.image_size / 32
        bottlenecks = total_of(self.workload.stages, lambda s: (side * last / s.output_channels) ** 2 * (
            s.blocks * (4 * s.width + 2 * s.output_channels) + s.output_channels + case((2 * s.input_channels == s.output_channels, 6 * s.width), otherwise=0)))
        basic_blocks = total_of(self.workload.stages, lambda s: (side * last / s.output_channels) ** 2 * (
            4 * s.blocks * s.output_channels + case((s.input_channels != s.output_channels, s.output_channels), otherwise=0)))
        return case((self.workload.bottleneck, bottlenecks), otherwise=basic_blocks)

    @derived("M_act", "GB", source=f"{RESIDUAL}; {SAVED}")
    def activations(self: Any) -> Quantity:
        """All that is saved as the forward pass ends."""
        return self.microbatch * self.activation_width * (self.image_values + self.stem_values + self.stage_values + self.workload.feature_channels) + self.pooling_indices

    @derived("M_temporary", "GB", source=f"{SAVED}; a backward formula takes a gradient and gives one")
    def backward_temporaries(self: Any) -> Quantity:
        """The gradient that enters and the one that leaves the largest layer."""
        return 2 * self.microbatch * self.activation_width * self.workload.stem_channels * (self.image_size / 2) ** 2

    @requires("an image of {image_size} pixels cannot be halved five times; write a multiple of 32", source=f"{RESIDUAL}, table 1")
    def image_halves_five_times(self: Any) -> bool:
        """Five layers of stride two stand between an image and the last stage."""
        return self.image_size % 32 == 0


__all__ = ["ImageActivations", "RESIDUAL", "SAVED"]

"""What the image models of the catalogue are, residual networks and vision transformers, and the counts that follow."""
from __future__ import annotations

from typing import Any

from ..engine.declarations import derived, requires
from ..engine.expression import case, total_of
from ..engine.inputs import given
from ..engine.record import Record
from ..units import Quantity
from .workload import Workload

RESIDUAL = "He et al. 2016, arXiv:1512.03385, table 1; Xie et al. 2017, arXiv:1611.05431, table 1; Ioffe and Szegedy 2015, arXiv:1502.03167, section 3"
PATCHES = "Dosovitskiy et al. 2021, arXiv:2010.11929, equations 1 to 4"


class Stage(Record):
    """Residual blocks of one resolution; the first of them changes the number of channels."""

    blocks: int = given("n", positive=True, doc="Blocks of the stage.")
    input_channels: int = given("c_in", positive=True, doc="Channels that enter the stage.")
    width: int = given("c", positive=True, doc="Channels inside a block.")
    output_channels: int = given("c_out", positive=True, doc="Channels that leave each block.")


class ResNet(Workload):
    """A residual network for images; `layers` is the depth in its name."""

    stages: tuple[Stage, ...] = given(doc="The stages, from the input on.")
    bottleneck: bool = given(doc="Whether a block is a 3 x 3 convolution between two 1 x 1, rather than two 3 x 3.")
    groups: int = given("g", default=1, positive=True, doc="Groups of the 3 x 3 convolution in a bottleneck.")
    classes: int = given("k", default=1000, positive=True, doc="Classes that the last layer tells apart.")
    stem_channels: int = given("c_stem", default=64, positive=True, doc="Channels of the first convolution.", source=RESIDUAL)
    feature_channels: int = given("c_last", positive=True, default=lambda self: case((self.bottleneck, 2048), otherwise=512),
                                  doc="Channels that the last layer reads: those that leave the last stage.", source=RESIDUAL)

    @derived("P_stem", "parameter", source=RESIDUAL)
    def stem_parameters(self: Any) -> Quantity:
        """The first convolution, 7 x 7 over three colours, and its normalization."""
        return 7 * 7 * 3 * self.stem_channels + 2 * self.stem_channels

    @derived("P_classifier", "parameter", source=RESIDUAL)
    def classifier_parameters(self: Any) -> Quantity:
        """The last layer, with its bias."""
        return self.feature_channels * self.classes + self.classes

    @derived("P_counted_outside", "parameter", source=RESIDUAL)
    def counted_embedding_parameters(self: Any) -> Quantity:
        """Everything outside the stages: the first convolution and the last layer."""
        return self.stem_parameters + self.classifier_parameters

    @derived("P_counted_layers", "parameter", source=RESIDUAL)
    def counted_layer_parameters(self: Any) -> Quantity:
        """All blocks: their convolutions, each with its normalization, and the shortcuts that change the number of channels."""
        bottlenecks = total_of(self.stages, lambda s: s.blocks * (9 * s.width * s.width / self.groups + s.width * s.output_channels + 4 * s.width + 2 * s.output_channels)
                               + s.input_channels * s.width + (s.blocks - 1) * s.output_channels * s.width + s.input_channels * s.output_channels + 2 * s.output_channels)
        basic_blocks = total_of(self.stages, lambda s: 9 * s.input_channels * s.width + 9 * s.width * s.output_channels + (s.blocks - 1) * 18 * s.width * s.output_channels
                                + s.blocks * 4 * s.output_channels
                                + case((s.input_channels != s.output_channels, s.input_channels * s.output_channels + 2 * s.output_channels), otherwise=0))
        return case((self.bottleneck, bottlenecks), otherwise=basic_blocks)


class VisionTransformer(Workload):
    """A transformer that reads an image in square patches, with a class token and a classifier."""

    patch_size: int | None = given("p_patch", default=None, positive=True, doc="Side of a patch in pixels.")
    image_size: int | None = given("p_image", default=None, positive=True, doc="Side of the image in pixels.")
    colours: int = given("c_image", default=3, positive=True, doc="Colours of a pixel.")
    classes: int = given("k", default=1000, positive=True, doc="Classes that the last layer tells apart.")

    @requires("an image of {image_size} pixels is not a whole number of patches of {patch_size}; patch_size must divide image_size", source=PATCHES)
    def _patches_are_whole(self: Any) -> Any:
        return self.image_size % self.patch_size == 0

    @derived("n_tokens", source=PATCHES)
    def tokens(self: Any) -> float:
        """The sequence an image becomes: its patches and the class token."""
        return (self.image_size / self.patch_size) ** 2 + 1

    @derived("P_input", "parameter", source=PATCHES)
    def input_embedding_parameters(self: Any) -> Quantity:
        """The projection of a patch, with its bias, and the class token."""
        return self.colours * self.patch_size * self.patch_size * self.hidden_dim + 2 * self.hidden_dim

    @derived("P_output", "parameter", source=PATCHES)
    def output_embedding_parameters(self: Any) -> Quantity:
        """The classifier, with its bias."""
        return self.hidden_dim * self.classes + self.classes

    @derived("P_positions", "parameter", source=PATCHES)
    def position_parameters(self: Any) -> Quantity:
        """The position embedding: one vector a token."""
        return self.tokens * self.hidden_dim


__all__ = ["ResNet", "Stage", "VisionTransformer"]

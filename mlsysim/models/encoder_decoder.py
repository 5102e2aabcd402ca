"""What a transformer of an encoder and a decoder, such as T5, is, and the counts that follow from its architecture."""
from __future__ import annotations

from typing import Any

from ..engine.declarations import derived
from ..engine.expression import case
from ..engine.inputs import given
from ..units import Quantity
from .workload import COUNT, NORMS, TRANSFORMER, Workload

T5 = "Raffel et al. 2020, arXiv:1910.10683, section 2.1"


class EncoderDecoder(Workload):
    """A transformer whose decoder also attends to its encoder; `layers` counts the encoder's."""

    decoder_layers: int | None = given("L_decoder", positive=True, default=lambda self: self.layers, doc="Layers of the decoder; as many as the encoder's where none is stated.")
    relative_position_buckets: int = given("n_buckets", default=0, doc="Distances that the relative position bias of encoder and decoder tells apart, one value a head each.")

    @derived("P_decoder_layer", "parameter", source=TRANSFORMER)
    def parameters_per_decoder_layer(self: Any) -> Quantity:
        """A decoder layer: an encoder layer with a second attention, over the encoder's result, and its normalization."""
        return self.dense_parameters_per_layer + self.attention_parameters_per_layer + self.parameters_per_norm

    @derived("P_positions", "parameter", source=T5)
    def position_parameters(self: Any) -> Quantity:
        """The position embedding, or the relative position bias that the first layers of encoder and decoder keep for all."""
        return case((self.positions == "learned", self.learned_positions * self.hidden_dim), (self.positions == "relative", 2 * self.relative_position_buckets * self.heads),
                    otherwise=0)

    @derived("P_final", "parameter", source=NORMS)
    def final_norm_parameters(self: Any) -> Quantity:
        """The normalizations after the last layers of encoder and decoder."""
        return case((self.final_norm, 2 * self.parameters_per_norm), otherwise=0)

    @derived("P_counted_layers", "parameter", source=COUNT)
    def counted_layer_parameters(self: Any) -> Quantity:
        """All layers of encoder and decoder, counted from the architecture."""
        return self.layers * self.dense_parameters_per_layer + self.decoder_layers * self.parameters_per_decoder_layer


__all__ = ["EncoderDecoder"]

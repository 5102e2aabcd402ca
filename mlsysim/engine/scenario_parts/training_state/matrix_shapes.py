"""The shapes of a model's matrices, for optimizers that treat a matrix as one."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import case, is_given
from .layout import ParallelLayout
from .optimizers import ADAFACTOR, MUON


class MatrixShapes(ParallelLayout):
    """What stands in matrices and what in vectors, counted from the architecture."""

    @derived("P_vectors", "parameter", source=ADAFACTOR)
    def vector_parameters_per_layer(self: Any) -> Quantity:
        """Parameters of a layer that stand in no matrix: scales and shifts of normalizations, and biases."""
        of = self.workload
        blocks = case((is_given(of.experts), of.experts), otherwise=1)
        return of.norm_parameters_per_layer + of.attention_biases_per_layer + blocks * (of.parameters_per_expert - of.matrices_per_feedforward * of.hidden_dim * of.feedforward_dim)

    @derived("P_hidden", "parameter", source=MUON)
    def hidden_matrix_parameters(self: Any) -> Quantity:
        """Parameters in the layers' matrices, counted from the architecture."""
        return self.workload.counted_layer_parameters + self.workload.counted_expert_parameters - self.workload.layers * self.vector_parameters_per_layer

    @derived("φ_hidden", "percent", source=MUON)
    def hidden_matrix_share(self: Any) -> float:
        """The layers' matrices as a share of all parameters."""
        return self.hidden_matrix_parameters / self.workload.counted_parameters

    @derived("n_sums,layer", "", source=ADAFACTOR)
    def matrix_sums_per_layer(self: Any) -> float:
        """Rows and columns of all matrices of a layer, each of which Adafactor keeps a sum of."""
        of = self.workload
        attention = 4 * of.hidden_dim + 2 * (of.heads + of.kv_heads) * of.head_dim
        block = of.matrices_per_feedforward * (of.hidden_dim + of.feedforward_dim)
        shared = case((is_given(of.shared_feedforward_dim), of.matrices_per_feedforward * (of.hidden_dim + of.shared_feedforward_dim)), otherwise=0)
        return attention + case((is_given(of.experts), of.experts * block + of.hidden_dim + of.experts + shared), otherwise=block)

    @derived("n_sums", "", source=ADAFACTOR)
    def matrix_sums(self: Any) -> float:
        """Rows and columns of all matrices, embeddings included."""
        of = self.workload
        embeddings = (of.vocabulary + of.hidden_dim) * case((of.tied_embeddings, 1), otherwise=2)
        return of.layers * self.matrix_sums_per_layer + embeddings + case((of.positions == "learned", of.learned_positions + of.hidden_dim), otherwise=0)


__all__ = ["MatrixShapes"]

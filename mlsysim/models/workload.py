"""What a workload is: a stated parameter count, a transformer's architecture, or both, and the counts that follow from it."""
from __future__ import annotations

from typing import Any

from ..engine.catalogue_views import card_html, card_text
from ..engine.declarations import derived, parametrised, requires
from ..engine.derivation import Derivation
from ..engine.expression import case, is_given
from ..engine.inputs import Given, given
from ..units import Quantity

TRANSFORMER = "Vaswani et al. 2017, arXiv:1706.03762, section 3"
GROUPED_QUERIES = "Ainslie et al. 2023, arXiv:2305.13245, section 2.2"
GATED = "Shazeer 2020, arXiv:2002.05202, section 2"
NORMS = "Ba et al. 2016, arXiv:1607.06450, section 3; Zhang and Sennrich 2019, arXiv:1910.07467, section 4"
EXPERTS = "Jiang et al. 2024, arXiv:2401.04088, section 2.1"
COUNT = "Narayanan et al. 2021, arXiv:2104.04473, equation 2, with each term written out"


class Workload(Derivation):
    """A model by its published facts: a parameter count, a transformer's architecture, or both.

    A stated count wins in every total. The architecture gives an exact count beside it (`counted_parameters`), and splits
    the total into embeddings, layers and experts. Quantities that need an architecture fact nobody gave raise
    MissingInputError, which says how to give it.
    """

    name: str = given(example='"my model"', doc="What the model is called.")
    parameters: Given[Quantity] = given("P", "parameter", positive=True, default=lambda self: self.counted_parameters, example='"3e9 parameter"',
                                        doc="Number of parameters, as published or, where no count is stated, as the architecture gives it.")
    layers: int | None = given("L", default=None, positive=True, doc="Number of layers.")
    hidden_dim: int | None = given("h", default=None, positive=True, doc="Width of a token's vector between layers.")
    heads: int | None = given("a", default=None, positive=True, doc="Number of attention heads.")
    kv_heads: int | None = given("a_kv", positive=True, default=lambda self: self.heads,
                                 doc="Number of key and value heads, which groups of query heads share; as many as heads where none is stated.")
    head_dim: int | None = given("d_head", positive=True, default=lambda self: self.hidden_dim / self.heads,
                                 doc="Width of one attention head; the hidden width split over the heads where none is stated.")
    feedforward_dim: int | None = given("f", positive=True, default=lambda self: 4 * self.hidden_dim,
                                        doc="Inner width of the feed-forward block, of each expert where there are experts; four times the hidden width where none is stated.")
    gated_mlp: bool = given(default=False, doc="Whether the feed-forward block has a third matrix, whose result gates the first.")
    vocabulary: int | None = given("V", default=None, positive=True, doc="Rows of the token embedding, padding included.")
    context_length: int | None = given("s_max", default=None, positive=True, doc="Longest sequence the model was made for, in tokens.")
    tied_embeddings: bool = given(default=True, doc="Whether the output layer reuses the token embedding.")
    positions: str = given(default="learned", choices=("learned", "rotary", "alibi", "relative", "none"),
                           doc="How the model knows the order of tokens; only learned positions (and the relative ones of T5) are parameters.")
    learned_positions: int | None = given("s_learned", positive=True, default=lambda self: self.context_length,
                                          doc="Rows of the position embedding; as many as the context is long where none is stated.")
    norm: str = given(default="layernorm", choices=("layernorm", "rmsnorm"), doc="Kind of normalization: layernorm has a scale and a shift, rmsnorm a scale.")
    norms_per_layer: int = given("n_norms", default=2, doc="Normalizations in a layer, those of queries and keys apart.")
    qk_norm: bool = given(default=False, doc="Whether each head normalizes its queries and keys.")
    final_norm: bool = given(default=True, doc="Whether a normalization follows the last layer.")
    linear_biases: str = given(default="all", choices=("all", "qkv", "none"), doc="Which linear layers add a bias: all of the layer's, only queries, keys and values, or none.")
    output_bias: bool = given(default=False, doc="Whether the output layer adds a bias.")
    token_types: int = given("n_types", default=0, doc="Rows of the segment embedding.")
    pooler: bool = given(default=False, doc="Whether a dense layer of the hidden width reads the first token.")
    embedding_norm: bool = given(default=False, doc="Whether the embeddings are normalized.")
    experts: int | None = given("E", default=None, positive=True, doc="Experts in each layer; absent in a dense model.")
    experts_per_token: int | None = given("E_token", default=None, positive=True, doc="Experts that each token is routed to.")
    shared_feedforward_dim: int | None = given("f_shared", default=None, positive=True, doc="Inner width of the expert that every token passes.")
    shared_expert_gate: bool = given(default=False, doc="Whether a vector weighs the shared expert.")

    @requires("hidden_dim {hidden_dim} does not split over {heads} heads; state head_dim as well")
    def _heads_are_whole(self: Any) -> Any:
        return self.head_dim % 1 == 0

    @requires("the {heads} heads do not share {kv_heads} key and value heads evenly; kv_heads must divide heads", source=GROUPED_QUERIES)
    def _key_heads_are_shared(self: Any) -> Any:
        return self.heads % self.kv_heads == 0

    @requires("a token cannot go to {experts_per_token} of {experts} experts; experts_per_token is at most experts", source=EXPERTS)
    def _tokens_have_experts(self: Any) -> Any:
        return self.experts_per_token <= self.experts

    # One of each.

    @derived("n_vectors", source=NORMS)
    def vectors_per_norm(self: Any) -> int:
        """Vectors of a normalization: a scale, and in layernorm a shift."""
        return case((self.norm == "layernorm", 2), otherwise=1)

    @derived("P_norm", "parameter", source=NORMS)
    def parameters_per_norm(self: Any) -> Quantity:
        """One normalization of the hidden width."""
        return self.vectors_per_norm * self.hidden_dim

    @derived("P_head_norms", "parameter", source="Henry et al. 2020, arXiv:2010.04245, section 3; Dehghani et al. 2023, arXiv:2302.05442, section 2.2")
    def head_norm_parameters_per_layer(self: Any) -> Quantity:
        """The normalizations of queries and keys in a layer, which all heads share."""
        return case((self.qk_norm, 2 * self.vectors_per_norm * self.head_dim), otherwise=0)

    @derived("P_norms", "parameter", source=NORMS)
    def norm_parameters_per_layer(self: Any) -> Quantity:
        """All normalizations of a layer; tensor parallelism replicates them."""
        return self.norms_per_layer * self.parameters_per_norm + self.head_norm_parameters_per_layer

    @derived("P_attention_biases", "parameter", source=TRANSFORMER)
    def attention_biases_per_layer(self: Any) -> Quantity:
        """The biases of a layer's query, key, value and output layers."""
        inner = (self.heads + 2 * self.kv_heads) * self.head_dim
        return case((self.linear_biases == "all", inner + self.hidden_dim), (self.linear_biases == "qkv", inner), otherwise=0)

    @derived("P_attention", "parameter", source=f"{TRANSFORMER}; {GROUPED_QUERIES}")
    def attention_parameters_per_layer(self: Any) -> Quantity:
        """The query, key, value and output matrices of a layer, with their biases."""
        return 2 * self.hidden_dim * (self.heads + self.kv_heads) * self.head_dim + self.attention_biases_per_layer

    @derived("n_matrices", source=GATED)
    def matrices_per_feedforward(self: Any) -> int:
        """Matrices of a feed-forward block: one in, one out, and where it is gated one more in."""
        return case((self.gated_mlp, 3), otherwise=2)

    @parametrised("P_feedforward", "parameter", source=f"{TRANSFORMER}; {GATED}", width=given("w", positive=True, doc="Inner width of the block."))
    def feedforward_parameters(self: Any, width: int) -> Quantity:
        """A feed-forward block of an inner width, with its biases."""
        biases = case((self.linear_biases == "all", (self.matrices_per_feedforward - 1) * width + self.hidden_dim), otherwise=0)
        return self.matrices_per_feedforward * self.hidden_dim * width + biases

    @derived("P_expert", "parameter", source=f"{TRANSFORMER}; {GATED}")
    def parameters_per_expert(self: Any) -> Quantity:
        """One feed-forward block: an expert of a layer, or the only block of a dense layer."""
        return self.feedforward_parameters(self.feedforward_dim)

    @derived("P_router", "parameter", source=EXPERTS)
    def router_parameters_per_layer(self: Any) -> Quantity:
        """The matrix that picks each token's experts in a layer, and the vector that weighs a shared one."""
        gate = case((self.shared_expert_gate, self.hidden_dim), otherwise=0)
        return case((is_given(self.experts), self.hidden_dim * self.experts + gate), otherwise=0)

    @derived("P_shared", "parameter", source=EXPERTS)
    def shared_expert_parameters_per_layer(self: Any) -> Quantity:
        """The expert of a layer that every token passes."""
        return case((is_given(self.shared_feedforward_dim), self.feedforward_parameters(self.shared_feedforward_dim)), otherwise=0)

    @derived("P_mlp", "parameter", source=f"{TRANSFORMER}; {EXPERTS}")
    def mlp_parameters_per_layer(self: Any) -> Quantity:
        """What every token passes of a layer's feed-forward part: the block itself, or the router and the shared expert."""
        return case((is_given(self.experts), self.router_parameters_per_layer + self.shared_expert_parameters_per_layer), otherwise=self.parameters_per_expert)

    @derived("P_layer", "parameter", source=COUNT)
    def dense_parameters_per_layer(self: Any) -> Quantity:
        """A layer without its routed experts."""
        return self.attention_parameters_per_layer + self.mlp_parameters_per_layer + self.norm_parameters_per_layer

    @derived("P_input", "parameter", source=COUNT)
    def input_embedding_parameters(self: Any) -> Quantity:
        """The token embedding."""
        return self.vocabulary * self.hidden_dim

    @derived("P_output", "parameter", source="Press and Wolf 2017, arXiv:1608.05859, section 3")
    def output_embedding_parameters(self: Any) -> Quantity:
        """The output layer, where it has weights of its own, and its bias."""
        bias = case((self.output_bias, self.vocabulary), otherwise=0)
        return case((self.tied_embeddings, bias), otherwise=self.vocabulary * self.hidden_dim + bias)

    @derived("P_positions", "parameter", source=COUNT)
    def position_parameters(self: Any) -> Quantity:
        """The position embedding."""
        return case((self.positions == "learned", self.learned_positions * self.hidden_dim), otherwise=0)

    @derived("P_final", "parameter", source=COUNT)
    def final_norm_parameters(self: Any) -> Quantity:
        """The normalization after the last layer."""
        return case((self.final_norm, self.parameters_per_norm), otherwise=0)

    @derived("P_first", "parameter", source="Devlin et al. 2019, arXiv:1810.04805, section 3; Le Scao et al. 2022, arXiv:2211.05100, section 3.2.2")
    def further_embedding_parameters(self: Any) -> Quantity:
        """The segment embedding, the normalization of the embeddings and the pooler."""
        embedding_norm = case((self.embedding_norm, self.parameters_per_norm), otherwise=0)
        pooler = case((self.pooler, self.hidden_dim * self.hidden_dim + self.hidden_dim), otherwise=0)
        return self.token_types * self.hidden_dim + embedding_norm + pooler

    # All of them, as the architecture counts.

    @derived("P_counted_outside", "parameter", source=COUNT)
    def counted_embedding_parameters(self: Any) -> Quantity:
        """Everything outside the layers, counted from the architecture: embeddings, output layer, final normalization, pooler."""
        return (self.input_embedding_parameters + self.output_embedding_parameters + self.position_parameters + self.further_embedding_parameters
                + self.final_norm_parameters)

    @derived("P_counted_layers", "parameter", source=COUNT)
    def counted_layer_parameters(self: Any) -> Quantity:
        """All layers without their routed experts, counted from the architecture."""
        return self.layers * self.dense_parameters_per_layer

    @derived("P_counted_experts", "parameter", source=EXPERTS)
    def counted_expert_parameters(self: Any) -> Quantity:
        """All routed experts of all layers, counted from the architecture."""
        return case((is_given(self.experts), self.layers * self.experts * self.parameters_per_expert), otherwise=0)

    @derived("P_counted", "parameter", source=COUNT)
    def counted_parameters(self: Any) -> Quantity:
        """Every parameter, counted from the architecture, whatever count is stated."""
        return self.counted_embedding_parameters + self.counted_layer_parameters + self.counted_expert_parameters

    @derived("P_counted_active", "parameter", source=EXPERTS)
    def counted_active_parameters(self: Any) -> Quantity:
        """The parameters one token passes, counted from the architecture: all but the experts it is not routed to."""
        return case((is_given(self.experts), self.counted_parameters - self.layers * (self.experts - self.experts_per_token) * self.parameters_per_expert),
                    otherwise=self.counted_parameters)

    # The same split, scaled to the stated count.

    @derived("P_outside", "parameter", source=COUNT)
    def embedding_parameters(self: Any) -> Quantity:
        """The share of `parameters` outside the layers: embeddings, output layer, final normalization, pooler."""
        return self.parameters * self.counted_embedding_parameters / self.counted_parameters

    @derived("P_layers", "parameter", source=COUNT)
    def layer_parameters(self: Any) -> Quantity:
        """The share of `parameters` in the layers, routed experts apart."""
        return self.parameters * self.counted_layer_parameters / self.counted_parameters

    @derived("P_experts", "parameter", source=EXPERTS)
    def expert_parameters(self: Any) -> Quantity:
        """The share of `parameters` in routed experts; none in a dense model."""
        return case((is_given(self.experts), self.parameters * self.counted_expert_parameters / self.counted_parameters), otherwise=0)

    @derived("P_dense", "parameter", source=EXPERTS)
    def dense_parameters(self: Any) -> Quantity:
        """The share of `parameters` that every token passes: all but the routed experts."""
        return self.parameters - self.expert_parameters

    @derived("P_active", "parameter", source=EXPERTS)
    def active_parameters(self: Any) -> Quantity:
        """The share of `parameters` that one token passes; all of them in a dense model."""
        return case((is_given(self.experts), self.parameters * self.counted_active_parameters / self.counted_parameters), otherwise=self.parameters)

    def __str__(self) -> str:
        return card_text(self)

    def _repr_html_(self) -> str:
        return card_html(self)


__all__ = ["Workload"]

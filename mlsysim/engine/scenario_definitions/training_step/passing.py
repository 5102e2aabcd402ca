"""What comes and goes within a step: gathered layers, communication buckets, temporaries of the backward pass, and what the update holds for a moment."""
from __future__ import annotations

from typing import Any

from ....units import Quantity
from ...declarations import derived
from ...expression import all_of, any_of, case, choose, is_given, maximum, minimum, not_
from ...inputs import given
from ...scenario_parts.activation_ledger.inputs import AUTOGRAD
from ...scenario_parts.activation_ledger.recomputation import CHECKPOINTS
from ...scenario_parts.activation_ledger.rows import WIDTHS, tensor
from ...scenario_parts.state_and_ledger import FSDP, QLORA
from ...scenario_parts.training_state.layout import KORTHIKANTI, ZERO
from .held import HeldState

BUCKETS = "Li et al. 2020, PyTorch Distributed, arXiv:2006.15704, section 3.2.3"
FOREACH = "PyTorch 2.13, torch/optim/adam.py, _multi_tensor_adam: the square roots of all second moments stand in a list of their own"
DEEPSPEED = "DeepSpeed at edaa7221, docs/_pages/config-json.md, reduce_bucket_size and allgather_bucket_size"
COPIES = "DeepSpeed at edaa7221, deepspeed/runtime/fp16/fused_optimizer.py and deepspeed/runtime/zero/stage_1_and_2.py"
LOADING = "Lightning Fabric, lightning/fabric/strategies/fsdp.py, _load_raw_module_state: all weights are gathered, filled and written back to the shards"


class PassingBuffers(HeldState):
    """The buffers of a step's moments."""

    prefetched_layers: int = given("n_ahead", default=1, doc="Layers that are gathered ahead of the one that is computed, where ranks divide weights.", source=f"{FSDP}, section 3.3.2")
    bucket_elements: float | None = given("n_bucket", default=None, example="5e8", doc="Elements of a communication bucket; where none is stated, data-parallel ranks that divide nothing hold "
                                          "buckets for all gradients, and others none beside their gathered layers.", source=f"{BUCKETS}; {DEEPSPEED}")
    buckets: int = given("n_buckets", default=1, doc="Buckets of that size at once: to reduce, to gather, and one more where communication overlaps computation.", source=DEEPSPEED)
    gradient_copies: int = given("n_copies", default=0, doc="Copies in fp32 that the update makes of the gradients it takes.", source=COPIES)
    foreach: bool = given(default=True, doc="Whether the update runs over all tensors at once, which holds one more value for each parameter, or tensor by tensor.", source=FOREACH)
    gathers_whole_model_to_load: bool = given(default=False, doc="Whether a checkpoint is loaded by gathering all weights on every rank.", source=LOADING)

    # In forward and backward pass.

    @derived("M_layer,w", "GB", source=f"{ZERO}, section 5.3; {FSDP}, section 3.3.2")
    def gathered_layer(self: Any) -> Quantity:
        """The whole weights of one layer, in the format of computing."""
        return self.compute_width * self.workload.layer_parameters / self.workload.layers / self.tp_size

    @derived("M_gathered", "GB", source=f"{ZERO}, section 5.3; {FSDP}, sections 3.3.2 and 4.2")
    def gathered_weights(self: Any) -> Quantity:
        """Where ranks divide weights: the layer that is computed, those gathered ahead, and what stands outside the layers, which stays gathered."""
        root = self.compute_width * self.workload.embedding_parameters / self.tp_size
        return case((self.weight_shards > 1, (1 + self.prefetched_layers) * self.gathered_layer + root), otherwise=0)

    @derived("M_undivided", "GB", source=f"{FSDP}, section 4.2: a unit's gradient is whole until it is reduced")
    def undivided_gradients(self: Any) -> Quantity:
        """Where ranks divide gradients of gathered weights: those of one layer and of what stands outside, before they are divided."""
        root = self.compute_width * self.workload.embedding_parameters / self.tp_size
        return case((all_of(self.weight_shards > 1, self.trainable_fraction > 0), self.gathered_layer + root), otherwise=0)

    @derived("M_buckets", "GB", source=f"{BUCKETS}; {DEEPSPEED}")
    def communication_buckets(self: Any) -> Quantity:
        """The buckets in which gradients and weights travel."""
        return case((is_given(self.bucket_elements), self.buckets * self.compute_width * minimum(self.bucket_elements, self.parameters_per_rank)), otherwise=0)

    @derived("M_buckets,ddp", "GB", source=BUCKETS)
    def gradient_buckets(self: Any) -> Quantity:
        """The buckets of data-parallel ranks that divide nothing: one value more for each gradient."""
        return case((all_of(self.gradient_shards == 1, self.data_parallel_ranks > 1, self.zero_stage == 0), self.gradients + self.adapter_gradients), otherwise=0)

    @derived("M_matrix", "GB", source=f"{QLORA}, section 3")
    def dequantized_matrix(self: Any) -> Quantity:
        """The matrix of a quantized layer that stands in 16 bits while it is multiplied with."""
        return case((self.weights_are_quantized, choose("bf16", WIDTHS) * self.workload.hidden_dim * self.workload.feedforward_dim / self.tp_size), otherwise=0)

    @derived("M_temporary", "byte", source=f"{AUTOGRAD}: a backward formula takes a gradient and gives one")
    def backward_temporaries(self: Any) -> Quantity:
        """The gradient that enters and the one that leaves the widest operation of a layer."""
        scores = case((self.keeps_attention_weights, tensor(self.seq_len, self.seq_len, self.microbatch, self.heads_per_rank, width=self.softmax_width)), otherwise=0)
        return 2 * maximum(scores, tensor(self.seq_len, self.microbatch, self.feedforward_per_rank, width=self.compute_width))

    @derived("M_stored", "byte", source=f"{KORTHIKANTI}, section 4.2.3; {CHECKPOINTS}")
    def held_activations(self: Any) -> Quantity:
        """What the layers of the first pipeline stage keep for all microbatches in flight, and what stands before them."""
        return self.layers_per_stage * self.microbatches_in_flight * self.layer_activations + self.embedding_activations + self.weight_copies

    @derived("M_loss,peak", "byte", source=f"{KORTHIKANTI}, section 4.3; {CHECKPOINTS}")
    def activations_at_loss(self: Any) -> Quantity:
        """All activations as the backward pass begins, with the loss's buffers, or with the last layer's as its own backward pass runs."""
        output = case((self.pp_size == 1, self.output_activations + self.loss_buffers), otherwise=0)
        return self.held_activations + maximum(output, self.live_activations + self.backward_temporaries)

    @derived("M_first", "byte", source=f"{KORTHIKANTI}, section 4.1")
    def activations_of_first_layer(self: Any) -> Quantity:
        """What is left of the activations as the backward pass comes to the first layer."""
        return self.whole_layer_activations + self.embedding_activations + self.weight_copies + self.backward_temporaries

    # At the update.

    @derived("M_copies", "GB", source=COPIES)
    def gradient_casts(self: Any) -> Quantity:
        """The update's own fp32 copies of gradients."""
        return case((self.offload_optimizer, 0), otherwise=self.gradient_copies * choose("fp32", WIDTHS) * (self.updated_parameters + self.adapter_parameters / self.optimizer_shards))

    @derived("M_roots", "GB", source=FOREACH)
    def update_temporaries(self: Any) -> Quantity:
        """The roots of all second moments at once."""
        adam = any_of(self.optimizer == "adam", self.optimizer == "adamw")
        return case((all_of(adam, self.foreach, self.gradient_copies == 0, not_(self.offload_optimizer)), self.kept_value_width * (self.updated_parameters + self.adapter_parameters / self.optimizer_shards)), otherwise=0)


__all__ = ["BUCKETS", "DEEPSPEED", "LOADING", "PassingBuffers"]

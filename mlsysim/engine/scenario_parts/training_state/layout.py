"""How a training run is laid out over accelerators: which part of the model and of the batch one of them holds."""
from __future__ import annotations

from typing import Any

from ....hardware import HardwareNode
from ....models import Workload
from ....units import Quantity
from ...declarations import derived, requires, warns
from ...derivation import Derivation
from ...expression import all_of, any_of, case, ceil, is_given, minimum
from ...inputs import given

ZERO = "Rajbhandari et al. 2020, ZeRO, arXiv:1910.02054"
MEGATRON = "Shoeybi et al. 2019, Megatron-LM, arXiv:1909.08053"
PIPELINE = "Narayanan et al. 2021, arXiv:2104.04473"
KORTHIKANTI = "Korthikanti et al. 2023, Reducing Activation Recomputation in Large Transformer Models, arXiv:2205.05198"
EXPERTS = "Rajbhandari et al. 2022, DeepSpeed-MoE, arXiv:2201.05596, section 5.2"
MEGATRON_SCRIPT = "NVIDIA, Megatron-LM at d98e8a64, megatron/training/theoretical_memory_usage.py"


class ParallelLayout(Derivation):
    """A model and a batch divided by tensor, pipeline, data and expert parallelism."""

    workload: Workload = given(example="Models.Language.Llama3_8B", doc="The model that is trained.")
    hardware: HardwareNode | None = given(default=None, example="Hardware.Cloud.H100", doc="The accelerator that each rank runs on.")
    batch_size: int = given("B", positive=True, example="8", doc="The global batch: sequences of one optimizer step, over all ranks.")
    seq_len: int = given("s", default=2048, positive=True, doc="Tokens of a sequence.")
    tp_size: int = given("t", default=1, positive=True, doc="Tensor parallelism: ranks that share each layer's matrices.", source=f"{MEGATRON}, section 3")
    pp_size: int = given("p", default=1, positive=True, doc="Pipeline parallelism: stages, each with its own layers.", source=f"{PIPELINE}, section 2.2")
    dp_size: int = given("d", default=1, positive=True, doc="Data parallelism: groups of ranks that each hold all experts and take their own sequences.")
    ep_size: int = given("e", default=1, positive=True, doc="Expert parallelism: ranks of a group that share its experts and take their own sequences too.", source=EXPERTS)
    zero_stage: int = given("z", default=0, maximum=3, doc="ZeRO stage: 1 divides the optimizer state over data-parallel ranks (a distributed optimizer), 2 gradients too, "
                            "3 weights too.", source=f"{ZERO}, section 5")
    gradient_accumulation_steps: int = given("m", default=1, positive=True, doc="Microbatches that a rank works through before one update.")
    interleaved_chunks: int = given("v", default=1, positive=True, doc="Chunks of layers that each pipeline stage holds in an interleaved schedule; 1 is the plain 1F1B schedule.",
                                    source=f"{PIPELINE}, section 2.2.2")
    sequence_parallel: bool = given(default=True, doc="Whether tensor-parallel ranks also divide, along the sequence, what their matrices do not divide.",
                                    source=f"{KORTHIKANTI}, section 4.2.2")

    @derived("n_world", source=EXPERTS)
    def world_size(self: Any) -> int:
        """Accelerators of the whole run."""
        return self.tp_size * self.pp_size * self.dp_size * self.ep_size

    @derived("n_data", source=EXPERTS)
    def data_parallel_ranks(self: Any) -> int:
        """Ranks that hold the same dense parameters and take different sequences."""
        return self.dp_size * self.ep_size

    @derived("b", source=f"{PIPELINE}, section 2.2")
    def microbatch(self: Any) -> int:
        """Sequences that a rank works on at a time."""
        return ceil(self.batch_size / (self.data_parallel_ranks * self.gradient_accumulation_steps))

    @derived("B_run", source=f"{PIPELINE}, section 2.2")
    def rounded_batch_size(self: Any) -> int:
        """The global batch as it runs: every rank and every step with a whole microbatch."""
        return self.microbatch * self.data_parallel_ranks * self.gradient_accumulation_steps

    @derived("L_stage", source=f"{PIPELINE}, section 2.2")
    def layers_per_stage(self: Any) -> int:
        """Layers of the fullest pipeline stage."""
        return ceil(self.workload.layers / self.pp_size)

    @derived("n_flight", "", source=f"{KORTHIKANTI}, section 4.2.3")
    def microbatches_in_flight(self: Any) -> float:
        """Microbatches whose activations the first stage holds at once: as many as it starts before the first comes back."""
        return case((self.interleaved_chunks > 1, minimum(self.gradient_accumulation_steps, self.pp_size + (self.pp_size - 1) / self.interleaved_chunks)),
                    otherwise=minimum(self.gradient_accumulation_steps, self.pp_size))

    # Parameters, model parallelism first.

    @derived("P_dense,rank", "parameter", source=f"{MEGATRON}, section 3")
    def dense_parameters_per_rank(self: Any) -> Quantity:
        """Parameters outside the experts that tensor and pipeline parallelism leave one rank, divided evenly."""
        return self.workload.dense_parameters / (self.tp_size * self.pp_size)

    @derived("P_experts,rank", "parameter", source=EXPERTS)
    def expert_parameters_per_rank(self: Any) -> Quantity:
        """Parameters in experts that tensor, pipeline and expert parallelism leave one rank, divided evenly."""
        return self.workload.expert_parameters / (self.tp_size * self.pp_size * self.ep_size)

    @derived("P_rank", "parameter", source=EXPERTS)
    def parameters_per_rank(self: Any) -> Quantity:
        """Parameters that model parallelism leaves one rank, before ZeRO."""
        return self.dense_parameters_per_rank + self.expert_parameters_per_rank

    # What ZeRO divides further, and over how many ranks.

    @derived("N_w", source=f"{ZERO}, section 5.3")
    def weight_shards(self: Any) -> int:
        """Ranks over which ZeRO divides dense weights."""
        return case((self.zero_stage >= 3, self.data_parallel_ranks), otherwise=1)

    @derived("N_grad", source=f"{ZERO}, section 5.2")
    def gradient_shards(self: Any) -> int:
        """Ranks over which ZeRO divides dense gradients."""
        return case((self.zero_stage >= 2, self.data_parallel_ranks), otherwise=1)

    @derived("N_opt", source=f"{ZERO}, section 5.1")
    def optimizer_shards(self: Any) -> int:
        """Ranks over which ZeRO divides the optimizer state of dense parameters."""
        return case((self.zero_stage >= 1, self.data_parallel_ranks), otherwise=1)

    @derived("N_w,experts", source=f"{ZERO}, section 5.3; {EXPERTS}")
    def expert_weight_shards(self: Any) -> int:
        """Ranks over which ZeRO divides an expert's weights: those that hold the same expert."""
        return case((self.zero_stage >= 3, self.dp_size), otherwise=1)

    @derived("N_grad,experts", source=f"{ZERO}, section 5.2; {EXPERTS}")
    def expert_gradient_shards(self: Any) -> int:
        """Ranks over which ZeRO divides an expert's gradients."""
        return case((self.zero_stage >= 2, self.dp_size), otherwise=1)

    @derived("N_opt,experts", source=f"{ZERO}, section 5.1; {EXPERTS}")
    def expert_optimizer_shards(self: Any) -> int:
        """Ranks over which ZeRO divides an expert's optimizer state."""
        return case((self.zero_stage >= 1, self.dp_size), otherwise=1)

    # The fullest stage, counted matrix by matrix.

    @derived("P_dense,full", "parameter", source=f"{MEGATRON_SCRIPT}, compute_weight_and_optimizer_memory")
    def most_loaded_dense_parameters(self: Any) -> Quantity:
        """Dense parameters of a rank in the fullest stage: its layers and the embedding, normalizations and routers on every tensor-parallel rank."""
        of = self.workload
        replicated = of.norm_parameters_per_layer + of.router_parameters_per_layer
        layers = self.layers_per_stage * ((of.dense_parameters_per_layer - replicated) / self.tp_size + replicated)
        output = case((self.pp_size == 1, of.output_embedding_parameters / self.tp_size), otherwise=0)
        stage = layers + of.final_norm_parameters / self.pp_size + of.input_embedding_parameters / self.tp_size + of.position_parameters + of.further_embedding_parameters + output
        return stage * of.parameters / of.counted_parameters

    @derived("P_experts,full", "parameter", source=f"{MEGATRON_SCRIPT}, compute_weight_and_optimizer_memory")
    def most_loaded_expert_parameters(self: Any) -> Quantity:
        """Parameters in experts of a rank in the fullest stage."""
        return self.layers_per_stage * self.workload.expert_parameters / self.workload.layers / (self.tp_size * self.ep_size)

    @derived("P_full", "parameter", source=f"{MEGATRON_SCRIPT}, compute_weight_and_optimizer_memory")
    def most_loaded_parameters(self: Any) -> Quantity:
        """Parameters of a rank in the fullest stage, before ZeRO."""
        return self.most_loaded_dense_parameters + self.most_loaded_expert_parameters

    # Layouts that cannot be built.

    @requires("tp_size={tp_size} does not divide the {workload.heads} attention heads of {workload.name}, and a head is never cut; write a tp_size that divides "
              "{workload.heads}, such as tp_size=1", source=f"{MEGATRON}, section 3")
    def tensor_parallelism_keeps_heads_whole(self: Any) -> bool:
        """Tensor parallelism gives every rank whole heads."""
        return self.workload.heads % self.tp_size == 0

    @requires("tp_size={tp_size} neither divides the {workload.kv_heads} key and value heads of {workload.name} nor is a multiple of them; write a tp_size that divides "
              "{workload.kv_heads}, such as tp_size=1", source="NVIDIA, Megatron-LM, megatron/core/transformer/attention.py, num_query_groups")
    def key_heads_are_divided_or_copied(self: Any) -> bool:
        """Key and value heads are divided among ranks, or each is copied to several."""
        return any_of(self.workload.kv_heads % self.tp_size == 0, self.tp_size % self.workload.kv_heads == 0)

    @requires("pp_size={pp_size} stages are more than the {workload.layers} layers of {workload.name}; write pp_size={workload.layers} or less")
    def every_stage_has_a_layer(self: Any) -> bool:
        """A pipeline stage holds at least one layer."""
        return self.pp_size <= self.workload.layers

    @requires("interleaved_chunks={interleaved_chunks} belongs to a pipeline, and there is one stage; write pp_size=2 or more, or interleaved_chunks=1")
    def interleaving_needs_a_pipeline(self: Any) -> bool:
        """One stage has nothing to interleave."""
        return any_of(self.interleaved_chunks == 1, self.pp_size > 1)

    @requires("{pp_size} stages of {interleaved_chunks} chunks are more than the {workload.layers} layers of {workload.name}; write a smaller interleaved_chunks")
    def every_chunk_has_a_layer(self: Any) -> bool:
        """A chunk of an interleaved schedule holds at least one layer."""
        return any_of(self.interleaved_chunks == 1, self.pp_size * self.interleaved_chunks <= self.workload.layers)

    @requires("an interleaved schedule passes microbatches in rounds of pp_size={pp_size}, which does not divide gradient_accumulation_steps={gradient_accumulation_steps}; "
              "write a multiple of {pp_size}, such as gradient_accumulation_steps={pp_size}, or interleaved_chunks=1", source=f"{PIPELINE}, section 2.2.2")
    def interleaving_comes_in_rounds(self: Any) -> bool:
        """An interleaved schedule needs a multiple of the stages as microbatches."""
        return any_of(self.interleaved_chunks == 1, self.gradient_accumulation_steps % self.pp_size == 0)

    @requires("ep_size={ep_size} divides experts, and {workload.name} is a dense model, without any; write ep_size=1 and give the ranks to dp_size, or state experts")
    def expert_parallelism_needs_experts(self: Any) -> bool:
        """A dense model has no experts to divide."""
        return any_of(self.ep_size == 1, is_given(self.workload.experts))

    @requires("ep_size={ep_size} is more than the {workload.experts} experts of {workload.name}; write ep_size={workload.experts} or less", source=EXPERTS)
    def every_rank_has_an_expert(self: Any) -> bool:
        """A rank of expert parallelism holds at least one expert."""
        return any_of(self.ep_size == 1, self.ep_size <= self.workload.experts)

    @requires("ep_size={ep_size} does not divide the {workload.experts} experts of {workload.name}; write an ep_size that divides {workload.experts}", source=EXPERTS)
    def experts_are_whole(self: Any) -> bool:
        """Expert parallelism gives every rank as many experts."""
        return any_of(self.ep_size == 1, self.workload.experts % self.ep_size == 0)

    # What people do but should know.

    @warns("A batch of {batch_size} does not divide into {data_parallel_ranks} data-parallel ranks of {gradient_accumulation_steps} microbatches: rounded up to "
           "{rounded_batch_size}, microbatches of {microbatch}.")
    def batch_is_rounded_up(self: Any) -> bool:
        """Every rank works on whole microbatches of one size."""
        return self.batch_size != self.rounded_batch_size

    @warns("Sequences of {seq_len} tokens are longer than the context of {workload.context_length} that {workload.name} was made for.")
    def sequence_exceeds_context(self: Any) -> bool:
        """A model has seen no longer sequences than its context."""
        return all_of(is_given(self.workload.context_length), self.seq_len > self.workload.context_length)

    @warns("tp_size={tp_size} is more than the {workload.kv_heads} key and value heads: several ranks hold copies of one, which these figures divide nevertheless.")
    def key_heads_are_copied(self: Any) -> bool:
        """With more ranks than key and value heads, heads are copied."""
        return self.tp_size > self.workload.kv_heads

    @warns("The {workload.layers} layers of {workload.name} are not all of its layers or not all alike; layers, activations and matrices are counted as {workload.layers} equal ones.")
    def layers_are_unlike(self: Any) -> bool:
        """An encoder and a decoder have unlike layers."""
        return self.workload.counted_layer_parameters != self.workload.layers * self.workload.dense_parameters_per_layer


__all__ = ["EXPERTS", "KORTHIKANTI", "MEGATRON", "MEGATRON_SCRIPT", "PIPELINE", "ParallelLayout", "ZERO"]

"""TrainingMemoryModel: published cases, the literature where those are wrong, layouts that cannot be, and what a person is told."""
from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlsysim import solve_for
from mlsysim import Hardware, InputError, MissingInputError, Models, Quantity, Workload
from mlsysim.engine.scenario_types import TrainingMemoryScenario
from mlsysim.engine.solver import TrainingMemoryModel

CASES = json.loads((Path(__file__).parent / "facts" / "training_memory.json").read_text(encoding="utf-8"))
BY_ID = {case["id"]: case for case in CASES}
BILLION = Workload(name="a billion parameters", parameters=1e9)
LLAMA_8B, LLAMA_70B, MIXTRAL, GPT2 = Models.Language.Llama3_8B, Models.Language.Llama3_70B, Models.Language.Mixtral_8x7B, Models.Language.GPT2
H100 = Hardware.Cloud.H100


def solve(model: Workload = LLAMA_8B, hardware: Any = H100, batch_size: int = 1, **recipe: Any) -> TrainingMemoryScenario:
    return TrainingMemoryModel().solve(model, hardware, batch_size, **recipe)


def solve_case(case: dict[str, Any], **recipe: Any) -> TrainingMemoryScenario:
    model = Models.Language.find(case["model"].rpartition(".")[2])
    return solve(model, Hardware.Cloud.find(case["hardware"].rpartition(".")[2]), **case["kwargs"], **recipe)


def holds(case: dict[str, Any]) -> bool:
    """Whether the published case is right: one microbatch in flight, no experts divided, 16-bit weights."""
    of = case["kwargs"]
    in_flight = min(of.get("pp_size", 1), of.get("gradient_accumulation_steps", 1))
    return in_flight == 1 and of.get("ep_size", 1) == 1 and of.get("precision", "fp16") in ("fp16", "bf16")


# Published cases.

@pytest.mark.parametrize("case", [pytest.param(case, id=str(case["id"])) for case in CASES if holds(case)])
def test_a_published_case_is_met(case: dict[str, Any]) -> None:
    made = solve_case(case)
    for name, published in case["result"].items():
        value = getattr(made, name)
        if isinstance(published, dict) and "unit" in published:
            assert isinstance(value, Quantity)
            assert str(value.units) == "gigabyte" or f"{value.units:~}" == published["unit"]
            assert math.isclose(value.m_as(published["unit"]), published["value"], rel_tol=1e-9), name
        elif isinstance(published, float):
            assert type(value) is float and math.isclose(value, published, rel_tol=1e-9), name
        else:
            assert type(value) is type(published) and value == published, name


FP32_ADAM = "fp32 weights are their own master copy: two fp32 moments are 8 B a parameter (Rajbhandari et al. 2020, section 3.1; Kingma and Ba 2015)"
FP8 = "activations and gradients of fp8 training stay in 16 bits (NVIDIA Transformer Engine)"
IN_FLIGHT = "the first stage holds min(m, p) microbatches (Korthikanti et al. 2023, section 4.2.3)"
TENSOR = "tensor parallelism alone leaves sbh(10 + 24/t) (Korthikanti et al. 2023, equation 2)"
EXPERTS = "expert parallelism divides experts, and its ranks take sequences of their own (Rajbhandari et al. 2022, arXiv:2201.05596, section 5.2)"


@pytest.mark.parametrize("number, quantity, factor, recipe, reason", [
    (5, "optimizer_state", 12 / 18, {}, FP32_ADAM),
    (10, "optimizer_state", 12 / 18, {}, FP32_ADAM),
    (7, "gradients", 2, {}, FP8),
    (7, "activations", 2, {}, FP8),
    (29, "activations", 4, {}, IN_FLIGHT),
    (34, "activations", 8, {}, IN_FLIGHT),
    (35, "activations", 8, {}, IN_FLIGHT),
    (37, "activations", 16, {}, IN_FLIGHT),
    (38, "activations", 1 / 8, {}, EXPERTS),
    (28, "activations", 13 / 34, {"sequence_parallel": False}, TENSOR),
    (29, "activations", 4 * 13 / 34, {"sequence_parallel": False}, f"{TENSOR}; {IN_FLIGHT}"),
    (35, "activations", 8 * 13 / 34, {"sequence_parallel": False}, f"{TENSOR}; {IN_FLIGHT}"),
    (37, "activations", 16 * 13 / 34, {"sequence_parallel": False}, f"{TENSOR}; {IN_FLIGHT}"),
])
def test_the_literature_outranks_a_published_case(number: int, quantity: str, factor: float, recipe: dict[str, Any], reason: str) -> None:
    case = BY_ID[number]
    published = case["result_without_sequence_parallel" if recipe else "result"][quantity]
    value = getattr(solve_case(case, **recipe), quantity)
    assert math.isclose(value.m_as(published["unit"]), factor * published["value"], rel_tol=1e-9), reason


def test_experts_are_divided_and_dense_parameters_are_not() -> None:
    made = solve_case(BY_ID[38])
    experts = 32 * 8 * 3 * 4096 * 14336      # layers, experts, matrices of a gated block (Jiang et al. 2024, table 1)
    counted = 46702792704
    stated = 46.7e9 * experts / counted
    assert math.isclose(made.weights.m_as("byte"), 2 * (46.7e9 - stated + stated / 8), rel_tol=1e-9)


# What a parameter costs, by recipe.

@pytest.mark.parametrize("recipe, bytes_each, source", [
    ({"precision": "fp32"}, 16, "Megatron-LM, dist_optimizer.md: fp32"),
    ({"precision": "tf32"}, 16, "TF32 is stored as fp32"),
    ({}, 16, "Rajbhandari et al. 2020, section 3.1"),
    ({"precision": "bf16", "gradient_precision": "fp32"}, 18, "Megatron-LM, dist_optimizer.md: bf16 parameters, fp32 gradients"),
    ({"fp32_gradient_copy": True}, 20, "Megatron-LM, dist_optimizer.md: fp16 parameters, fp16 gradients"),
    ({"precision": "bf16", "optimizer": "adamw", "master_weights": False, "optimizer_state_precision": "bf16"}, 8, "torch.optim.AdamW on bf16 parameters"),
    ({"precision": "fp8"}, 1 + 2 + 4 + 8, "fp8 primary weights, 16-bit gradients, fp32 master copy and moments"),
    ({"precision": "fp32", "optimizer": "sgd"}, 8, "weight and gradient"),
    ({"precision": "fp32", "optimizer": "sgd with momentum"}, 12, "EleutherAI cookbook: 4 B of momentum"),
    ({"optimizer": "sgd_momentum"}, 4 + 8, "EleutherAI cookbook: 8 B with the fp32 copy"),
    ({"optimizer": "Lion"}, 4 + 4 + 4, "Chen et al. 2023: one momentum"),
    ({"optimizer": "8-bit AdamW"}, 4 + 4 + 2 * (1 + 4 / 2048), "Dettmers et al. 2022: one byte a moment, one fp32 scale a block of 2048"),
    ({"optimizer": "adam8bit", "quantization_block": 256}, 4 + 4 + 2 + 8 / 256, "bitsandbytes: blocks of 256"),
    ({"optimizer": "none"}, 4, "nothing is updated"),
    ({"precision": "int8", "trainable_fraction": 0}, 1, "frozen weights alone"),
    ({"precision": "nf4", "trainable_fraction": 0}, 0.5, "frozen weights alone"),
])
def test_bytes_per_parameter(recipe: dict[str, Any], bytes_each: float, source: str) -> None:
    made = solve(BILLION, **recipe)
    assert math.isclose(made.model_state.m_as("byte"), bytes_each * 1e9, rel_tol=1e-12), source
    assert math.isclose(made.bytes_per_dense_parameter.m_as("byte"), bytes_each, rel_tol=1e-12), source


def test_the_optimizers_state_is_the_sum_of_what_belongs_to_it() -> None:
    made = solve(BILLION, fp32_gradient_copy=True)
    assert [made.master_copy.m_as("GB"), made.gradient_copy.m_as("GB"), made.moments.m_as("GB")] == [4, 4, 8]
    assert made.optimizer_state.m_as("GB") == 16


def test_only_trained_parameters_have_gradients_and_optimizer_state() -> None:
    made = solve(BILLION, trainable_fraction=0.25)
    assert [made.weights.m_as("GB"), made.gradients.m_as("GB"), made.optimizer_state.m_as("GB")] == [2, 0.5, 3]


def gpt2_shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every tensor of GPT-2 small, query, key and value apart (Radford et al. 2019; nanoGPT, model.py)."""
    h = 768
    yield from (("embedding", (50257, h)), ("embedding", (1024, h)), ("vector", (h,)), ("vector", (h,)))
    for _ in range(12):
        yield from [("hidden", (h, h))] * 4 + [("hidden", (h, 4 * h)), ("hidden", (4 * h, h))]
        yield from [("vector", (h,))] * (4 + 4 + 1) + [("vector", (4 * h,))]


def mixtral_shapes() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every tensor of Mixtral 8x7B (Jiang et al. 2024, table 1)."""
    h, f = 4096, 14336
    yield from (("embedding", (32000, h)), ("embedding", (32000, h)), ("vector", (h,)))
    for _ in range(32):
        yield from [("hidden", (h, h))] * 2 + [("hidden", (h, 1024))] * 2 + [("hidden", (h, 8))] + [("hidden", (h, f))] * 24
        yield from [("vector", (h,))] * 2


@pytest.mark.parametrize("name, shapes", [("gpt2", gpt2_shapes), ("mixtral-8x7b", mixtral_shapes)])
def test_adafactor_keeps_a_row_and_a_column_of_each_matrix(name: str, shapes: Any) -> None:
    made = solve(Models.find(name).variant(parameters=None), None, optimizer="adafactor", precision="fp32")
    kept = sum(sum(shape) for _, shape in shapes())      # a vector keeps itself: the sum of its one length
    assert made.moments.m_as("byte") == pytest.approx(4 * kept, rel=1e-12)


@pytest.mark.parametrize("name, shapes", [("gpt2", gpt2_shapes), ("mixtral-8x7b", mixtral_shapes)])
def test_muon_keeps_one_momentum_of_hidden_matrices_and_adam_of_the_rest(name: str, shapes: Any) -> None:
    made = solve(Models.find(name).variant(parameters=None), None, optimizer="muon", precision="fp32")
    kept = sum(math.prod(shape) * (1 if kind == "hidden" else 2) for kind, shape in shapes())
    assert made.moments.m_as("byte") == pytest.approx(4 * kept, rel=1e-12)


@pytest.mark.parametrize("optimizer", ["adafactor", "muon"])
def test_an_optimizer_of_matrices_waits_for_their_shapes(optimizer: str) -> None:
    made = solve(BILLION, optimizer=optimizer)
    assert made.weights.m_as("GB") == 2
    with pytest.raises(MissingInputError, match="hidden_dim"):
        made.optimizer_state


# Parallelism.

def test_zero_shares_dense_state_among_all_ranks_and_experts_among_replicas() -> None:
    counted = MIXTRAL.variant(parameters=None)
    made = solve(counted, dp_size=2, ep_size=8, zero_stage=1, batch_size=16, precision="bf16", gradient_precision="fp32")
    experts = 32 * 8 * 3 * 4096 * 14336
    dense = 46702792704 - experts
    assert made.model_state.m_as("byte") == pytest.approx(6 * (dense + experts / 8) + 12 * (dense / 16 + experts / 8 / 2), rel=1e-12)
    assert made.world_size == 16


@pytest.mark.parametrize("stage, weights, gradients, optimizer", [(0, 1, 1, 1), (1, 1, 1, 8), (2, 1, 8, 8), (3, 8, 8, 8)])
def test_each_stage_of_zero_shares_one_thing_more(stage: int, weights: int, gradients: int, optimizer: int) -> None:
    made = solve(BILLION, dp_size=8, batch_size=8, zero_stage=stage)
    assert (2 / made.weights.m_as("GB"), 2 / made.gradients.m_as("GB"), 12 / made.optimizer_state.m_as("GB")) == pytest.approx((weights, gradients, optimizer))


@pytest.mark.parametrize("microbatches, stages, chunks, in_flight", [(1, 8, 1, 1), (4, 8, 1, 4), (64, 8, 1, 8), (64, 8, 3, 8 + 7 / 3), (8, 8, 3, 8), (16, 8, 2, 11.5)])
def test_microbatches_in_flight(microbatches: int, stages: int, chunks: int, in_flight: float) -> None:
    """Korthikanti et al. 2023, section 4.2.3: p on the first stage, times 1 + (p - 1)/(p v) interleaved, and never more than there are."""
    made = solve(LLAMA_70B, pp_size=stages, interleaved_chunks=chunks, gradient_accumulation_steps=microbatches, batch_size=microbatches)
    assert made.microbatches_in_flight == pytest.approx(in_flight)


def test_layers_of_a_stage_round_up() -> None:
    assert solve(Models.Language.Llama3_405B, pp_size=16, batch_size=1).layers_per_stage == 8      # 126 layers


def test_a_full_layer_and_a_gathered_layer_enter_the_peak_alone() -> None:
    plain = solve(LLAMA_8B, dp_size=8, batch_size=8, zero_stage=3, activation_checkpointing="none")
    full = plain.variant(activation_checkpointing="full")
    s, b, h, a = 2048, 1, 4096, 32
    whole_layer = s * b * h * (34 + 5 * a * s / h)
    layer_weights = 2 * 8.03e9 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096) / 8030261248
    assert plain.peak_memory.m_as("byte") == pytest.approx(plain.total_memory.m_as("byte") + layer_weights, rel=1e-9)
    assert full.peak_memory.m_as("byte") == pytest.approx(full.total_memory.m_as("byte") + layer_weights + whole_layer, rel=1e-9)
    assert full.weights == plain.weights


def test_a_pipeline_adds_two_boundary_tensors() -> None:
    without, piped = solve(LLAMA_8B, communication_buffer_fraction=0.5), solve(LLAMA_8B, communication_buffer_fraction=0.5, pp_size=2)
    assert without.communication_buffers.m_as("byte") == pytest.approx(0.5 * without.gradients.m_as("byte"))
    assert piped.communication_buffers.m_as("byte") == pytest.approx(0.5 * piped.gradients.m_as("byte") + 4 * 2048 * 4096)


def test_activations_beside_the_layers_stand_outside_the_total() -> None:
    made = solve(LLAMA_8B)
    assert made.embedding_activations.m_as("byte") == 2048 * 4096
    assert made.output_activations.m_as("byte") == pytest.approx(4 * 2048 * 4096 * (1 + 128256 / 4096))
    assert made.total_memory == made.weights + made.gradients + made.optimizer_state + made.activations + made.communication_buffers


# A model by its parameter count alone.

def test_a_parameter_count_is_enough_for_the_state() -> None:
    made = solve(BILLION, dp_size=4, batch_size=4, zero_stage=3)
    assert made.model_state.m_as("GB") == 4
    for name in ("activations", "total_memory", "feasible", "memory_utilization", "peak_memory"):
        with pytest.raises(MissingInputError, match="layers") as waiting:
            getattr(made, name)
        assert "write workload=Workload(..., " in str(waiting.value)
    assert any("activations" in line and "layers" in line for line in made.constraint_trace)


def test_without_hardware_what_compares_with_it_waits() -> None:
    made = solve(LLAMA_8B, None)
    assert made.total_memory.m_as("GB") > 100
    with pytest.raises(MissingInputError, match="hardware"):
        made.feasible


# Refused at construction, with the words to write instead.

@pytest.mark.parametrize("model, recipe, words", [
    (LLAMA_8B, {"tp_size": 3}, "tp_size=3 does not divide the 32 attention heads.*write a tp_size that divides 32"),
    (LLAMA_8B.variant(heads=24, head_dim=128, kv_heads=8), {"tp_size": 12}, "neither divides the 8 key and value heads"),
    (LLAMA_8B, {"pp_size": 33}, "pp_size=33 stages are more than the 32 layers.*write pp_size=32 or less"),
    (LLAMA_8B, {"ep_size": 8}, "is a dense model.*write ep_size=1"),
    (BILLION, {"ep_size": 2}, "is a dense model"),
    (MIXTRAL, {"ep_size": 16}, "ep_size=16 is more than the 8 experts.*write ep_size=8 or less"),
    (MIXTRAL, {"ep_size": 3}, "ep_size=3 does not divide the 8 experts"),
    (LLAMA_8B, {"interleaved_chunks": 2}, "write pp_size=2 or more"),
    (LLAMA_8B, {"pp_size": 8, "interleaved_chunks": 2, "gradient_accumulation_steps": 12}, "such as gradient_accumulation_steps=8"),
    (LLAMA_8B, {"pp_size": 8, "interleaved_chunks": 5, "gradient_accumulation_steps": 8}, "more than the 32 layers"),
    (LLAMA_8B, {"zero_stage": 4}, "zero_stage: 4 must be at most 3"),
    (LLAMA_8B, {"zero_stage": -1}, "zero_stage: -1 must not be negative"),
    (LLAMA_8B, {"zero_stage": True}, "zero_stage: True is a truth value"),
    (LLAMA_8B, {"batch_size": 0}, "batch_size: 0 must be more than zero"),
    (LLAMA_8B, {"batch_size": 2.5}, "batch_size: 2.5 is not a whole number"),
    (LLAMA_8B, {"seq_len": -1}, "seq_len: -1 must be more than zero"),
    (LLAMA_8B, {"trainable_fraction": 1.5}, "trainable_fraction: 1.5 must be at most 1"),
    (LLAMA_8B, {"communication_buffer_fraction": float("nan")}, "communication_buffer_fraction: nan"),
    (LLAMA_8B, {"precision": "int8"}, "int8 holds frozen weights only.*precision=\"bf16\", or trainable_fraction=0"),
    (LLAMA_8B, {"precision": "nf4", "trainable_fraction": 0.1}, "nf4 holds frozen weights only"),
    (LLAMA_8B, {"precision": "bf61"}, "did you mean \"bf16\""),
    (LLAMA_8B, {"optimizer": "adan"}, "did you mean \"adam\""),
    (LLAMA_8B, {"activation_checkpointing": "partial"}, "none, selective, full"),
    (LLAMA_8B, {"precision": "fp32", "master_weights": True}, "fp32 weights are their own master copy"),
    (LLAMA_8B, {"gradient_precision": "fp32", "fp32_gradient_copy": True}, "leave fp32_gradient_copy out"),
    (LLAMA_8B, {"optimizer": "adam_8bit", "optimizer_state_precision": "fp32"}, "write optimizer=\"adam\""),
    (LLAMA_8B, {"activation_model": "megatron", "activation_checkpointing": "full"}, "write activation_model=\"korthikanti\""),
    (LLAMA_8B, {"zero_stag": 1}, "did you mean 'zero_stage'"),
    ("GPT2", {}, "workload: takes a Workload"),
])
def test_what_cannot_be_is_refused_in_words(model: Any, recipe: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        solve(model, **{"batch_size": 96, **recipe})


def test_names_of_options_are_read_as_people_spell_them() -> None:
    made = solve(precision="BF16", optimizer="SGD with momentum", activation_checkpointing="Full")
    assert (made.precision, made.optimizer, made.activation_checkpointing) == ("bf16", "sgd_momentum", "full")


# What a person is told.

@pytest.mark.parametrize("model, recipe, words", [
    (LLAMA_8B, {"batch_size": 65, "dp_size": 8, "gradient_accumulation_steps": 4}, "rounded up to 96, microbatches of 3"),
    (GPT2, {"seq_len": 2048}, "2,048 tokens are longer than the context of 1,024"),
    (LLAMA_70B, {"tp_size": 16, "batch_size": 1}, "tp_size=16 is more than the 8 key and value heads"),
    (LLAMA_8B, {"precision": "fp8"}, "fp8 stores each weight in one byte"),
    (Models.find("t5-3b"), {}, "not all alike"),
])
def test_what_people_do_but_should_know_is_said(model: Workload, recipe: dict[str, Any], words: str) -> None:
    made = solve(model, **recipe)
    assert any(words in warning for warning in made.warnings)
    assert list(made.warnings) == made.constraint_trace[-len(made.warnings):]
    assert not solve(LLAMA_8B).warnings


def test_a_peak_that_alone_exceeds_is_said() -> None:
    made = solve(LLAMA_8B, dp_size=8, batch_size=8, zero_stage=3, activation_checkpointing="full")
    between = (made.total_memory + made.peak_memory) / 2
    tight = made.variant(**{"hardware.memory": {"capacity": between}})
    assert tight.feasible is True
    assert any("peak" in line for line in tight.warnings) and not any("peak" in line for line in made.warnings)


def test_the_trace_tells_in_order_how_it_came_to_fit() -> None:
    lines = solve(LLAMA_70B, batch_size=512, seq_len=4096, tp_size=8, pp_size=4, dp_size=16, gradient_accumulation_steps=32, zero_stage=1).constraint_trace
    assert lines[0] == "world size 512: dp 16 × tp 8 × pp 4 × ep 1"
    assert [line.partition(":")[0] for line in lines[1:6]] == ["weights", "gradients", "optimizer state", "activations", "communication buffers"]
    assert lines[6].startswith("total 22.2 GB of 85.9 GB: fits, 63.7 GB to spare")
    assert solve(LLAMA_70B).constraint_trace[6].endswith("too much")


# The signature.

DOCUMENTED = {
    "seq_len": 2048, "precision": "fp16", "optimizer": "adam", "activation_checkpointing": "selective", "tp_size": 1, "pp_size": 1, "dp_size": 1, "ep_size": 1, "zero_stage": 0,
    "gradient_accumulation_steps": 1, "trainable_fraction": 1.0, "communication_buffer_fraction": 0.05,
}


def test_the_documented_signature() -> None:
    parameters = inspect.signature(TrainingMemoryModel().solve).parameters
    documented = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [p.name for p in documented] == ["model", "hardware", "batch_size", *DOCUMENTED]
    assert {p.name: p.default for p in documented[3:]} == DOCUMENTED


def test_the_call_and_the_scenario_have_the_same_defaults() -> None:
    defaults = {p.name: p.default for p in inspect.signature(TrainingMemoryModel().solve).parameters.values() if p.default is not p.empty}
    assert defaults == {name: declared.default for name, declared in TrainingMemoryScenario.inputs.items() if name not in ("workload", "hardware", "batch_size")}


def test_a_width_read_from_a_table_is_not_written_twice() -> None:
    run = TrainingMemoryModel().solve(Models.Language.GPT2, Hardware.Cloud.H100, batch_size=1)
    assert str(run.substitution("weight_width")) == "β_w = 2 B"
    assert str(run.substitution("activation_width")) == "β_act = max(2 B, 2 B) = 2 B"


def test_fits_answers_as_feasible_does():
    run = TrainingMemoryModel().solve(Models.Language.GPT2, Hardware.Cloud.H100, batch_size=1, seq_len=1024)
    largest = solve_for(run, "batch_size", fits=True)
    assert run.variant(batch_size=largest).fits is run.variant(batch_size=largest).feasible is True
    assert run.variant(batch_size=largest + 1).fits is run.variant(batch_size=largest + 1).feasible is False

"""The peak of a training step: against published parameter counts, measured bytes and the paper's closed form; what moves where; and the verdict."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mlsysim import Hardware, MissingInputError, Models, Workload
from mlsysim.engine.reading import stripped
from mlsysim.engine.scenario_types import ImageTrainingStepScenario, LedgerTrainingMemoryScenario, TrainingMemoryScenario, TrainingStepScenario
from mlsysim.engine.solver import TrainingMemoryModel

IMAGES = json.loads((Path(__file__).parent / "facts" / "measured_image_activations.json").read_text(encoding="utf-8"))
GPT2 = Models.find("gpt2")


def step(**inputs: Any) -> TrainingStepScenario:
    return TrainingStepScenario(**{"workload": GPT2, "hardware": Hardware.find("v100-16"), "batch_size": 4, "seq_len": 1024, "precision": "fp32", **inputs})


def in_bytes(value: Any) -> float:
    return float(value.m_as("byte"))


# Against numbers from outside.

@pytest.mark.parametrize("model, trainable", [("llama-2-7b", 4194304), ("llama-2-13b", 6553600), ("phi-1.5", 1572864)],
                         ids=lambda value: f"{value} (lit-gpt, tutorials/resource-tables.md, trainable parameters)" if isinstance(value, int) else value)
def test_adapters_have_as_many_parameters_as_published(model: str, trainable: int) -> None:
    adapted = step(workload=Models.find(model), precision="bf16", frozen_matrices=True, adapted="queries_values", adapter_rank=8)
    assert adapted.adapter_parameters.m_as("parameter") == trainable


@pytest.mark.parametrize("network", IMAGES["saved_bytes"])
def test_a_residual_network_saves_what_was_measured(network: str) -> None:
    predicted = ImageTrainingStepScenario(workload=Models.find(network), microbatch=IMAGES["images"], image_size=IMAGES["image_size"]).activations
    assert in_bytes(predicted) == pytest.approx(IMAGES["saved_bytes"][network], rel=0.01)


@pytest.mark.parametrize("ranks", [1, 8])
def test_the_ledger_gives_the_papers_block_to_the_memory_model(ranks: int) -> None:
    block = Workload(name="GPT-3 (Korthikanti et al. 2023, table 3)", layers=96, hidden_dim=12288, heads=96, vocabulary=51200, context_length=2048)
    asked = {"model": block, "hardware": None, "batch_size": 1, "seq_len": 2048, "tp_size": ranks, "activation_checkpointing": "none"}
    closed, ledger = (TrainingMemoryModel().solve(**asked, activation_model=counted) for counted in ("korthikanti", "ledger"))
    assert isinstance(closed, TrainingMemoryScenario) and isinstance(ledger, LedgerTrainingMemoryScenario)
    papers = ledger.variant(attention="eager", attention_dropout=True, hidden_dropout=True, causal_mask="added")
    assert in_bytes(papers.layer_without_small_buffers) == pytest.approx(in_bytes(closed.layer_activations))
    assert in_bytes(ledger.weights) == in_bytes(closed.weights) and in_bytes(ledger.optimizer_state) == in_bytes(closed.optimizer_state)


def test_a_patch_transformer_is_a_transformer() -> None:
    model = Models.Vision.find("vit-b/16")
    images = step(workload=model, seq_len=197, output_rows=0, batch_size=32)
    assert in_bytes(images.output_activations) < 0.01 * in_bytes(images.held_activations)
    assert images.outcome == "fits"


# What moves where.

def test_an_offloaded_optimizer_leaves_the_device_for_the_host() -> None:
    here, there = step(), step(offload_optimizer=True)
    assert in_bytes(here.host_memory) == 0
    assert in_bytes(there.host_memory) == in_bytes(here.optimizer_state) + in_bytes(here.gradients)
    assert in_bytes(here.held_state) - in_bytes(there.held_state) == in_bytes(here.optimizer_state)


def test_offloaded_parameters_leave_gathered_layers() -> None:
    there = step(batch_size=8, dp_size=2, zero_stage=3, offload_optimizer=True, offload_parameters=True)
    assert in_bytes(there.held_state) == 0 < in_bytes(there.gathered_weights)


def test_frozen_weights_keep_no_inputs_of_matrices() -> None:
    frozen = step(frozen_matrices=True)
    assert in_bytes(frozen.feedforward_input) == in_bytes(frozen.feedforward_result) == in_bytes(frozen.projection_input) == in_bytes(frozen.gradients) == in_bytes(frozen.optimizer_state) == 0
    assert in_bytes(frozen.nonlinearity_input) == in_bytes(step().nonlinearity_input) > 0


def test_quantized_layers_stand_beside_16_bit_embeddings() -> None:
    llama = Models.find("llama-2-7b")
    quantized = step(workload=llama, precision="nf4", frozen_matrices=True)
    assert in_bytes(quantized.weights) == pytest.approx(0.5625 * llama.layer_parameters.m_as("parameter") + 2 * llama.embedding_parameters.m_as("parameter"))


def test_a_fused_loss_holds_no_logits() -> None:
    vocabulary = 1024 * 4 * GPT2.vocabulary * 4
    assert in_bytes(step().activations_at_loss) - in_bytes(step(cross_entropy="fused").activations_at_loss) > 2 * vocabulary


def test_gradients_wait_for_their_microbatch_unless_they_stay() -> None:
    assert in_bytes(step().gradients_at_loss) == 0
    assert in_bytes(step(gradients_zeroed_in_place=True).gradients_at_loss) == in_bytes(step(gradient_accumulation_steps=2).gradients_at_loss) == in_bytes(step().gradients)


def test_accumulation_without_communication_keeps_whole_gradients() -> None:
    divided = step(batch_size=32, dp_size=4, zero_stage=3, gradient_accumulation_steps=2)
    whole = divided.variant(unsharded_gradient_accumulation=True)
    assert in_bytes(whole.gradients_at_loss) == 4 * in_bytes(divided.gradients_at_loss)


# The verdict.

TIGHT = step(batch_size=8, attention="eager", hardware=Hardware.find("v100-16"))
VERDICT = TIGHT.verdict


def test_a_verdict_names_what_would_fit_and_its_price() -> None:
    assert TIGHT.outcome == "does_not_fit"
    verdict = VERDICT
    assert verdict.changes and all(change.made.outcome == "fits" and change.price for change in verdict.changes)
    assert verdict.cheapest is verdict.changes[0] and verdict.cheapest.said == "fused attention"
    assert all(TIGHT.variant(**change.inputs) == change.made for change in verdict.changes)
    assert verdict.terms == ("memory_at_loss", "activations_at_loss", "held_activations")


def test_the_largest_batch_that_a_verdict_offers_is_the_largest() -> None:
    batch = next(change.inputs["batch_size"] for change in VERDICT.changes if set(change.inputs) == {"batch_size"})
    assert TIGHT.variant(batch_size=batch).outcome == "fits" and TIGHT.variant(batch_size=batch + 1).outcome != "fits"


def test_a_step_that_fits_needs_no_change() -> None:
    verdict = step(batch_size=1).verdict
    assert verdict.outcome == "fits" and not verdict.changes and verdict.cheapest is None
    assert "to spare" in repr(verdict)


def within_the_range_of(made: TrainingStepScenario) -> Any:
    """A device that has what the step needs with the least context and reserve, and not with the most."""
    between = (in_bytes(made.least_occupied) + in_bytes(made.most_occupied)) / 2 / 2**30
    return made.hardware.variant(memory=made.hardware.memory.variant(framework_visible=f"{between} GiB"))


def test_a_change_that_would_be_too_close_to_call_is_not_offered() -> None:
    tight = TIGHT.variant(hardware=within_the_range_of(TIGHT.variant(optimizer="adam_8bit", optimizer_state_precision="int8")))
    assert tight.outcome != "fits"
    assert "8-bit Adam" not in [change.said for change in tight.verdict.changes]
    assert all(change.made.outcome == "fits" for change in tight.verdict.changes)


def test_what_is_within_the_range_is_too_close_to_call() -> None:
    made = step()
    close = made.variant(hardware=within_the_range_of(made))
    assert close.outcome == "too_close_to_call"
    assert close.verdict.sentence.startswith("It is too close to call")


def test_a_verdict_says_the_same_in_text_and_html() -> None:
    together = re.compile(r"\s+")
    assert together.sub("", stripped(VERDICT._repr_html_())) == together.sub("", repr(VERDICT))


def test_a_verdict_on_images_offers_fewer() -> None:
    images = ImageTrainingStepScenario(workload=Models.find("resnet152"), hardware=Hardware.find("titan x"), microbatch=64)
    assert images.outcome == "does_not_fit"
    assert [change.said for change in images.verdict.changes][0] == "autocast"


def test_without_a_device_the_outcome_waits() -> None:
    with pytest.raises(MissingInputError, match="hardware"):
        _ = step(hardware=None).outcome

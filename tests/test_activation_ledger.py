"""The activation ledger against the published closed forms, against what PyTorch was measured to save, and against its own rows."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

from mlsysim.engine.derivation import MissingInputError
from mlsysim.engine.evaluation import scalar
from mlsysim.engine.expression import Symbol, walk
from mlsysim.engine.inputs import InputError
from mlsysim.engine.scenario_parts.activation_ledger.rows import SavedTensor, tensor_of
from mlsysim.engine.scenario_types import ActivationLedgerScenario
from mlsysim.models import Models, Workload

from .measure.cases import blocks, models

FACTS = Path(__file__).with_name("facts")
MEASURED = json.loads((FACTS / "measured_activations.json").read_text())
PUBLISHED = {row["id"]: row for row in json.loads((FACTS / "oracles.json").read_text()) if row["id"].startswith("KOR-")}
ROWS = {name: row for name, row in ActivationLedgerScenario.quantities.items() if isinstance(row, SavedTensor)}
SUMS = ("normalization_activations", "attention_core_activations", "attention_activations", "feedforward_activations", "embedding_activations", "output_activations", "weight_copies")

# Korthikanti et al. 2023, section 4: 16-bit values, layer normalization, GELU, no fused attention, three dropouts; the softmax kernel masks by itself.
PAPER = {"precision": "fp16", "attention": "eager", "causal_mask": "added", "attention_dropout": True, "hidden_dropout": True, "embedding_dropout": True}
VARIANTS: dict[str, dict[str, Any]] = {
    "none t=1": {"tp_size": 1},
    "TP": {"sequence_parallel": False},
    "TP+SP": {},
    "TP+selective": {"sequence_parallel": False, "activation_checkpointing": "selective"},
    "TP+SP+selective": {"activation_checkpointing": "selective"},
    "full": {"sequence_parallel": False, "activation_checkpointing": "full"},
}


def of_the_paper(inputs: dict[str, Any], **options: Any) -> ActivationLedgerScenario:
    """The layer of a published row."""
    workload = Workload(name="GPT", layers=inputs["L"], hidden_dim=inputs["h"], heads=inputs["a"], vocabulary=inputs["V"], context_length=inputs["s"])
    return ActivationLedgerScenario(workload=workload, **{"microbatch": inputs["b"], "tp_size": inputs["t"], **PAPER, **options})


def in_bytes(quantity: Any) -> float:
    return float(quantity.m_as("byte"))


# Published.

@pytest.mark.parametrize("row", [row for row in PUBLISHED.values() if row["inputs"].get("variant") in VARIANTS and row["id"].startswith("KOR-L-")], ids=lambda row: row["id"])
def test_it_reduces_to_the_published_layer(row: dict[str, Any]) -> None:
    """Korthikanti et al. 2023, table 2, which leaves small buffers out."""
    step = of_the_paper(row["inputs"], **VARIANTS[row["inputs"]["variant"]])
    kept = in_bytes(step.layer_activations) - (0 if step.activation_checkpointing == "full" else in_bytes(step.small_buffers))
    assert kept == pytest.approx(row["value"], rel=1e-12)


def test_there_are_published_layers_of_every_variant() -> None:
    assert {row["inputs"]["variant"] for row in PUBLISHED.values() if row["id"].startswith("KOR-L-")} == VARIANTS.keys()


@pytest.mark.parametrize("size", ["22B"])
def test_embedding_and_output_are_the_published_ones(size: str) -> None:
    """Korthikanti et al. 2023, section 4.3, on the one stage of a model without pipeline parallelism."""
    row = PUBLISHED[f"KOR-EXTRA-{size}"]
    step = of_the_paper(row["inputs"])
    assert in_bytes(step.embedding_mask + step.final_norm_input + step.head_input + step.log_probabilities) == pytest.approx(row["value"], rel=1e-12)


@pytest.mark.parametrize("id", ["KOR-flop-GPT3", "KOR-flop-MTNLG"])
def test_selective_recomputation_costs_a_share_of_the_forward_pass(id: str) -> None:
    """Korthikanti et al. 2023, section 5: s/6h, which the paper cuts off after two digits."""
    s, h = PUBLISHED[id]["inputs"]["s"], PUBLISHED[id]["inputs"]["h"]
    step = of_the_paper({"L": 96, "h": h, "a": 96 if h % 96 == 0 else 128, "V": 51200, "s": s, "b": 1, "t": 1}, activation_checkpointing="selective")
    assert step.core_to_matrices == pytest.approx(s / (6 * h), rel=1e-12)
    assert math.floor(step.core_to_matrices * 1000) / 1000 == PUBLISHED[id]["value"]
    assert step.recomputed_operations == 96 * step.core_operations


def test_with_sequence_parallelism_a_recomputed_layer_stores_its_share() -> None:
    inputs = PUBLISHED["KOR-L-175B-full"]["inputs"]
    step = of_the_paper(inputs, activation_checkpointing="full")
    assert in_bytes(step.layer_activations) == 2 * inputs["s"] * inputs["b"] * inputs["h"] / inputs["t"]


# Measured.

@pytest.mark.parametrize("name, step", list(blocks()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_block_saves_what_was_measured(name: str, step: ActivationLedgerScenario) -> None:
    """PyTorch on a CPU, to the byte."""
    predicted = step.whole_layer_activations + step.rotary_tables + step.attention_weight_copies + step.feedforward_weight_copies
    assert in_bytes(predicted) == MEASURED["blocks"][name]


@pytest.mark.parametrize("name, step", list(models()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_whole_model_saves_what_was_measured(name: str, step: ActivationLedgerScenario) -> None:
    """transformers on a CPU with its loss, but for the loss's total weight (4 bytes) and the padding of one sequence's labels (8)."""
    from mlsysim.measure.models import as_transformers_runs
    assert MEASURED["models"][name] - in_bytes(as_transformers_runs(step).activations) == (12 if step.microbatch == 1 else 4)


def test_every_measurement_has_its_case() -> None:
    assert [name for name, _ in blocks()] == list(MEASURED["blocks"])
    assert [name for name, _ in models()] == list(MEASURED["models"])


def test_the_measured_orientation() -> None:
    """s = 256, b = 2, h = 256, a = 8, in units of sbh: 32.16 bytes with fused attention, 48.53 eager."""
    measured = {attention: MEASURED["blocks"][f"gpt 0 bf16 {attention}"] / (256 * 2 * 256) for attention in ("fused", "eager")}
    assert {attention: round(size, 2) for attention, size in measured.items()} == {"fused": 32.16, "eager": 48.53}


# Recomputation.

def llama(**options: Any) -> ActivationLedgerScenario:
    return ActivationLedgerScenario(workload=Models.Language.Llama3_8B, **{"seq_len": 2048, "microbatch": 2, **options})


def test_groups_of_layers_keep_one_input_and_live_together() -> None:
    whole = llama()
    one = llama(activation_checkpointing="full")
    four = llama(activation_checkpointing="full", layers_per_checkpoint=4)
    five = llama(activation_checkpointing="full", layers_per_checkpoint=5)
    assert one.stored_activations == 32 * one.layer_input and four.stored_activations == 8 * one.layer_input and five.kept_inputs == 7
    assert four.live_activations == 4 * whole.whole_layer_activations - one.layer_input
    assert llama(activation_checkpointing="full", layers_per_checkpoint=99).live_activations == 32 * whole.whole_layer_activations - one.layer_input
    assert one.recomputed_operations == four.recomputed_operations == 32 * (one.matrix_operations + one.core_operations)
    small_loss = [step.variant(cross_entropy="fused").peak_activations for step in (one, four, whole)]
    assert small_loss == sorted(small_loss)
    assert four.peak_activations < one.peak_activations, "the loss over 128256 logits outweighs four live layers, so fewer kept inputs win"


def test_full_recomputation_costs_about_a_third() -> None:
    """Chen et al. 2016, section 4: one more forward pass, where a step is three."""
    step = llama(activation_checkpointing="full")
    assert 0.28 < step.recomputation_share < 1 / 3
    assert llama().recomputation_share == 0


def test_fused_attention_leaves_selective_recomputation_nothing() -> None:
    step = llama(activation_checkpointing="selective")
    assert step.layer_activations == llama().layer_activations
    assert any("fused attention keeps none" in warning for warning in step.warnings)
    eager = llama(activation_checkpointing="selective", attention="eager")
    assert eager.layer_activations == eager.whole_layer_activations - eager.attention_weights - eager.filled_mask and not eager.warnings


# The loss.

def test_a_chunked_or_fused_loss_never_holds_all_logits() -> None:
    whole, chunked, fused = (llama(cross_entropy=how) for how in ("whole", "chunked", "fused"))
    tokens, vocabulary, hidden = 2 * 2048, 128256, 4096
    assert in_bytes(whole.log_probabilities) == 4 * tokens * vocabulary and in_bytes(whole.loss_buffers) == (2 + 4 + 4) * tokens * vocabulary
    assert in_bytes(chunked.log_probabilities) == in_bytes(fused.log_probabilities) == 0
    assert chunked.loss_chunks == 32 and in_bytes(chunked.loss_buffers) == (4 + 4 + 4) * (tokens / 32) * vocabulary
    assert in_bytes(fused.head_weight_gradient) == 2 * vocabulary * hidden and in_bytes(fused.loss_buffers) == 2 * (tokens / 32) * vocabulary


# The rows.

def test_every_row_is_in_one_sum_and_one_heading() -> None:
    summed = [node.path[0] for name in SUMS for node in walk(ActivationLedgerScenario.quantities[name].expression) if isinstance(node, Symbol) and node.path[0] in ROWS]
    assert sorted(summed) == sorted(ROWS)
    shown = [name for names in ActivationLedgerScenario.presentation.groups.values() for name in names if name in ROWS]
    assert sorted(shown) == sorted(ROWS)


def test_every_row_says_what_it_is_and_why() -> None:
    for name, row in ROWS.items():
        assert row.operation and row.tensor and row.doc.endswith(".") and row.source, name


def options(count: int) -> list[dict[str, Any]]:
    """Inputs of the ledger in many combinations, the same ones every time."""
    chosen = random.Random(1)
    choices = {name: declared.choices for name, declared in ActivationLedgerScenario.inputs.items() if declared.choices}
    truths = [name for name, declared in ActivationLedgerScenario.inputs.items() if declared.kind == "truth"]
    return [{**{name: chosen.choice(names) for name, names in choices.items()}, **{name: chosen.random() < 0.5 for name in truths}, "tp_size": chosen.choice((1, 2)),
             "microbatch": chosen.choice((1, 3)), "gated_mlp": chosen.random() < 0.5, "norm": chosen.choice(("layernorm", "rmsnorm")),
             "positions": chosen.choice(("learned", "rotary", "alibi")), "qk_norm": chosen.random() < 0.3, "kv_heads": chosen.choice((1, 2, 8))} for _ in range(count)]


@pytest.mark.parametrize("inputs", options(60), ids=lambda inputs: "-".join(inputs[name] for name in ("precision", "attention", "kernels")))
def test_a_row_is_its_shape_times_its_width(inputs: dict[str, Any]) -> None:
    architecture = {name: inputs.pop(name) for name in ("gated_mlp", "norm", "positions", "qk_norm", "kv_heads")}
    workload = Workload(name="any", layers=3, hidden_dim=64, heads=8, vocabulary=100, context_length=32, **architecture)
    step = ActivationLedgerScenario(workload=workload, **inputs)
    for name, row in ROWS.items():
        made = tensor_of(row, step)
        size = in_bytes(getattr(step, name))
        assert size == (0 if made is None else math.prod(scalar(side)(step) for side in made.shape) * scalar(made.width)(step)), name
    listed = {entry["name"].replace(" ", "_"): entry[step.kernels] for entry in step.ledger}
    assert listed == {name: in_bytes(getattr(step, name)) for name in listed}
    assert all(in_bytes(getattr(step, name)) == 0 for name in ROWS.keys() - listed.keys())


def test_the_table_shows_both_kernels_in_text_and_html() -> None:
    step = ActivationLedgerScenario(workload=Models.Language.GPT2_Small, attention="eager", attention_dropout=True, hidden_dropout=True)
    text, html = str(step.ledger), step.ledger._repr_html_()
    mask = next(line for line in text.splitlines() if line.startswith("dropout of attention weights"))
    assert "1 B" in mask and "12.6 MB" in mask and "25.2 MB" in mask
    for entry in step.ledger:
        assert entry["operation"] in html and entry["why"] in html and entry["why"] in text and entry["source"].partition(" (")[0] in html
    assert "gpu kernels" in text and "cpu kernels" in html


# What it refuses and what it waits for.

def test_it_refuses_what_it_does_not_describe() -> None:
    with pytest.raises(InputError, match="routes tokens to experts"):
        ActivationLedgerScenario(workload=Models.Language.Mixtral_8x7B)
    with pytest.raises(InputError, match="tp_size=5 does not divide the 12 heads"):
        ActivationLedgerScenario(workload=Models.Language.GPT2_Small, tp_size=5)
    with pytest.raises(InputError, match="layers_per_checkpoint=4 goes with"):
        ActivationLedgerScenario(workload=Models.Language.GPT2_Small, layers_per_checkpoint=4)


def test_a_parameter_count_alone_waits_for_an_architecture() -> None:
    step = ActivationLedgerScenario(workload=Workload(name="a count", parameters=1e9))
    with pytest.raises(MissingInputError, match="workload.hidden_dim"):
        step.activations
    with pytest.raises(MissingInputError, match="workload.hidden_dim"):
        step.ledger

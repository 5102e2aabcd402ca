"""TrainingStateFitScenario against published cases, and what it adds to them."""
from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from mlsysim import Hardware, HardwareNode, InputError, Memory, MissingInputError, Models, Quantity, Workload
from mlsysim.engine.scenario_types import AdaptedMatrix, TrainingStateFitScenario

CASES = json.loads((Path(__file__).parent / "facts" / "training_state_fit.json").read_text())


def stated(value):
    return f"{value['value']!r} {value['unit']}" if isinstance(value, dict) else value


def built(case):
    inputs = {name: stated(value) for name, value in case["inputs"].items() if name not in ("workload", "hardware")}
    workload = Workload(**{name: stated(value) for name, value in case["inputs"]["workload"].items() if value is not None})
    hardware = case["inputs"].get("hardware")
    if hardware is not None:
        hardware = HardwareNode(name=hardware["name"], memory=Memory(capacity=stated(hardware["memory.capacity"]), bandwidth=stated(hardware["memory.bandwidth"])))
    return TrainingStateFitScenario(workload=workload, hardware=hardware, **inputs)


def agrees(got, expected):
    if isinstance(expected, dict):
        return isinstance(got, Quantity) and math.isclose(got.m_as(expected["unit"]), expected["value"], rel_tol=1e-9, abs_tol=0.0)
    if isinstance(expected, float):
        return type(got) is float and math.isclose(got, expected, rel_tol=1e-9, abs_tol=0.0)
    return type(got) is type(expected) and got == expected


@pytest.mark.parametrize(("case", "name"), [pytest.param(case, name, id=f"{case['name']}-{name}") for case in CASES for name in case["values"]])
def test_documented_quantity_has_the_published_value_and_type(case, name):
    assert agrees(getattr(built(case), name), case["values"][name])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_quantity_without_its_input_says_which_and_how(case):
    scenario = built(case)
    for name in case["needs_missing_input"]:
        with pytest.raises(MissingInputError, match=rf"{name} needs .* write \w+="):
            getattr(scenario, name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_methods(case):
    scenario = built(case)
    calls = {"activations_at(2)": lambda: scenario.activations_at(2), "checkpoint_write_time(1 GB/s)": lambda: scenario.checkpoint_write_time("1 GB/s")}
    for call, expected in case["methods"].items():
        if expected is None:
            with pytest.raises(MissingInputError, match="needs activations"):
                calls[call]()
        else:
            assert agrees(calls[call](), expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_parts_of_the_bar_add_up_to_the_total_in_both_modes(case):
    scenario = built(case)
    parts = [getattr(scenario, name) for name in scenario.presentation.parts if not scenario.waiting_for(name)]
    assert math.isclose(sum(part.m_as("byte") for part in parts), scenario.total.m_as("byte"), rel_tol=1e-12)


def test_full_tuning_adds_up_to_full_state():
    for case in CASES:
        scenario = built(case)
        held = scenario.weights + scenario.gradients + scenario.optimizer_state + scenario.master_weights
        assert math.isclose(held.m_as("byte"), scenario.full_state.m_as("byte"), rel_tol=1e-12)


def llama_with_adapters(**changes):
    inputs = dict(workload=Models.find("llama3-8b"), hardware=Hardware.Cloud.H100, bytes_per_value="2 byte", optimizer_bytes_per_parameter="8 byte", adapter_rank=16)
    return TrainingStateFitScenario(**{**inputs, **changes})


def test_grouped_query_attention_narrows_the_value_adapter():
    # PEFT prints 6,815,744 trainable parameters for rank 16 on q and v of Llama-3-8B: 32 layers x 16 x (4096 + 4096 + 4096 + 1024).
    scenario = llama_with_adapters(adapter_matrices=[AdaptedMatrix(name="q", in_dim=4096, out_dim=4096), AdaptedMatrix(name="v", in_dim=4096, out_dim=1024)])
    assert scenario.adapter_count == 6_815_744


def test_a_rank_without_shapes_waits_and_never_counts_as_full_tuning():
    scenario = llama_with_adapters()
    with pytest.raises(MissingInputError, match="adapted_matrices"):
        scenario.total      # noqa: B018
    with pytest.raises(MissingInputError, match="adapter_in_dim=4096"):
        scenario.adapter_count      # noqa: B018


def test_four_bit_base_with_bf16_adapters():
    # QLoRA (arXiv:2305.14314) keeps the base in 4 bits, half a byte, and trains 16-bit adapters.
    scenario = llama_with_adapters(bytes_per_value="0.5 byte", adapter_bytes_per_value="2 byte", adapter_parameters=6_815_744, adapter_rank=None)
    assert scenario.weights.m_as("byte") == pytest.approx(8.03e9 / 2, rel=1e-12)
    assert scenario.adapter_weights.m_as("byte") == 6_815_744 * 2
    assert scenario.total.m_as("byte") == pytest.approx(8.03e9 / 2 + 6_815_744 * 12, rel=1e-12)


def test_a_width_of_adapters_without_adapters_is_refused():
    with pytest.raises(InputError, match="adapter_rank=16"):
        llama_with_adapters(adapter_rank=None, adapter_bytes_per_value="2 byte")


def test_a_shape_without_a_rank_is_a_warning():
    warnings = llama_with_adapters(adapter_rank=None, adapted_matrices=2).warnings
    assert len(warnings) == 1 and "adapter_rank=16" in warnings[0]


def test_no_batch_fits_is_said_in_words():
    scenario = TrainingStateFitScenario(workload=Models.Language.GPT2, hardware=HardwareNode(name="small", memory=Memory(capacity="16 GiB")), bytes_per_value="4 byte",
                                        optimizer_bytes_per_parameter="8 byte", batch_size=32, activations="40 GB")
    # 24 GB of state against 16 GiB = 17.18 GB: short by 6.82 GB; a sequence takes 1.25 GB, so the limit is -5.46.
    assert scenario.max_resident_batch == -6
    assert "none fits, short by 6.82 GB" in scenario.substitution("max_resident_batch")
    assert "none fits, short by 6.82 GB" in scenario.figure_text("max_resident_batch")


def test_state_and_activations_together_are_a_second_answer():
    scenario = TrainingStateFitScenario(workload=Models.Language.GPT2, hardware=Hardware.Cloud.H100, bytes_per_value="4 byte", optimizer_bytes_per_parameter="8 byte", batch_size=32,
                                        activations="574 GB")
    assert scenario.fits is True
    assert scenario.training_fits is False


def test_what_this_run_saves_and_moves_differs_from_full_tuning():
    scenario = llama_with_adapters(adapter_rank=None, adapter_parameters=6_815_744, master_bytes_per_parameter="4 byte")
    assert scenario.checkpoint.m_as("GB") == pytest.approx(8.03 * 14)
    assert scenario.run_checkpoint.m_as("byte") == 6_815_744 * 14
    assert scenario.run_update_traffic.m_as("byte") == pytest.approx(6_815_744 * 26)
    assert scenario.run_checkpoint_write_time("1 GB/s").m_as("s") == pytest.approx(6_815_744 * 14 / 1e9)

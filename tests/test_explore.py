"""Controls: what an abbreviation becomes, what moving a widget does, what is said of it, and how a bad combination is met."""

import asyncio
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import pytest

import mlsysim
from mlsysim import Given, Hardware, InputError, Models, Quantity, Record, Scenario, Scenarios, derived, given, requires
from mlsysim.units import units
from mlsysim.engine import scenario_types
from mlsysim.engine.scenario_types import TrainingStateFitScenario
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.notebook import Panel, explore, parts

GPT2 = Scenarios.Gpt2MixedPrecisionAdamOnH100.variant(activations="20 GB")      # 1.5e9 parameters x 16 bytes = 24 GB of state
MEMORY = TrainingMemoryModel().solve(Models.Language.GPT2, Hardware.Cloud.H100, 16, seq_len=1024)
H, L, S = 1600, 48, 1024                                                       # GPT-2 (1.5B): Radford et al. 2019, table 2


def shown(panel: Panel[Any]) -> str:
    """All HTML that the panel's widgets hold."""
    found: list[str] = []

    def look(widget: Any) -> None:
        found.append(widget.value) if isinstance(widget, ipywidgets.HTML) else [look(child) for child in getattr(widget, "children", ())]
    look(panel)
    return "\n".join(found)


def widgets(panel: Panel[Any], kind: type) -> list[Any]:
    found: list[Any] = []

    def look(widget: Any) -> None:
        found.extend([widget] if isinstance(widget, kind) else [])
        for child in getattr(widget, "children", ()):
            look(child)
    look(panel)
    return found


def click(panel: Panel[Any], words: str) -> None:
    next(button for button in widgets(panel, ipywidgets.Button) if button.description == words).click()


def told(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html).replace("&nbsp;", " ").replace("\xa0", " ").replace("&lt;", "<").replace("&gt;", ">").replace("&#x27;", "'").replace("&quot;", '"')


# What an abbreviation becomes.

def test_a_tuple_is_a_slider_beside_a_named_box() -> None:
    panel = explore(GPT2, batch_size=(1, 256))
    control = panel.controls["batch_size"]
    assert isinstance(control.box, ipywidgets.BoundedIntText) and (control.box.min, control.box.max, control.box.value) == (1, 256, 32)
    assert control.box.description == "batch size"
    assert [value for _, value in control.slider.options] == [1, 2, 4, 8, 16, 32, 64, 128, 256]


@pytest.mark.parametrize(("written", "stops"), [
    ((1, 8), [1, 2, 3, 4, 5, 6, 7, 8]),
    ((10, 60, 10), [10, 20, 30, 32, 40, 50, 60]),
    ((1, 1000), [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 32, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 400, 500, 600, 800, 1000]),
    ((3, 200), [3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 32, 40, 50, 60, 80, 100, 120, 150, 200]),
])  # fmt: skip
def test_a_slider_stops_at_round_numbers_and_where_it_starts(written: tuple[int, ...], stops: list[int]) -> None:
    control = explore(GPT2, batch_size=written).controls["batch_size"]
    expected = stops if written != (1, 8) else [*stops, 32]
    assert [value for _, value in control.slider.options] == expected
    assert control.value == 32


def test_a_slider_over_decades_goes_up_in_multiples() -> None:
    stops = [value for _, value in explore(GPT2, activations=("1 GB", "1 TB")).controls["activations"].slider.options]
    ratios = [b / a for a, b in zip(stops, stops[1:])]
    assert stops[0] * 1000 == pytest.approx(stops[-1] * 1000 * stops[0] / stops[-1]) and max(ratios) <= 1.5 and len(stops) > 25


def test_units_are_kept() -> None:
    panel = explore(GPT2, activations=("500 MB", "80 GB"))
    control = panel.controls["activations"]
    assert control.box.description == "activations (GB)"
    assert (control.box.min, control.box.max, control.box.value) == (0.5, 80, 20)
    control.box.value = 40.5
    assert panel.scenario.activations == units.Quantity(40.5, "GB")
    assert panel.scenario == GPT2.variant(activations="40.5 GB")
    quantities = explore(GPT2, activations=(units.Quantity(1, "GiB"), units.Quantity(64, "GiB")))
    assert quantities.controls["activations"].box.description == "activations (GiB)"
    assert quantities.scenario is quantities.start and quantities.scenario == GPT2


def test_a_step_has_a_unit_too() -> None:
    control = explore(GPT2, activations=("10 GB", "40 GB", "10000 MB")).controls["activations"]
    assert [value for _, value in control.slider.options] == [10, 20, 30, 40]


def test_a_list_is_a_choice_and_none_one_of_it() -> None:
    panel = explore(GPT2, master_bytes_per_parameter=[None, "4 byte"], hardware=[Hardware.Cloud.A100, Hardware.Cloud.H200])
    master, hardware = panel.controls["master_bytes_per_parameter"].menu, panel.controls["hardware"].menu
    assert [label for label, _ in master.options] == ["none", "4 B"] and master.value == "4 byte"
    assert [label for label, _ in hardware.options] == ["NVIDIA H100", "NVIDIA A100", "NVIDIA H200"]      # where it starts is always among them
    master.value = None
    assert panel.scenario.master_bytes_per_parameter is None and panel.scenario.total.m_as("GB") == pytest.approx(1.5 * (2 + 2 + 8))
    master.value = "4 byte"
    assert panel.scenario == GPT2
    hardware.value = Hardware.Cloud.H200
    assert panel.scenario.hardware == Hardware.Cloud.H200


def test_a_dictionary_is_a_choice_under_labels() -> None:
    panel = explore(GPT2, optimizer_bytes_per_parameter={"Adam": "8 byte", "momentum": "4 byte", "plain": "0 byte"})
    menu = panel.controls["optimizer_bytes_per_parameter"].menu
    assert menu.label == "Adam"
    menu.label = "plain"
    assert panel.scenario.total.m_as("GB") == pytest.approx(1.5 * 8)


def test_a_group_of_the_catalogue_is_a_choice_among_its_entries() -> None:
    menu = explore(GPT2, hardware=Hardware.Cloud).controls["hardware"].menu
    assert [value for _, value in menu.options] == list(Hardware.Cloud)


def test_a_truth_is_a_checkbox_that_starts_as_written() -> None:
    panel = explore(MEMORY, sequence_parallel=False)
    box = panel.controls["sequence_parallel"].box
    assert isinstance(box, ipywidgets.Checkbox) and box.description == "sequence parallel" and not box.value
    assert panel.start == MEMORY.variant(sequence_parallel=False)
    box.value = True
    assert panel.scenario == MEMORY


def test_a_widget_is_itself() -> None:
    slider = ipywidgets.IntSlider(value=8, min=1, max=64)
    panel = explore(GPT2, batch_size=slider)
    assert panel.controls["batch_size"].widgets == (slider,) and slider.description == "batch size"
    assert panel.scenario.batch_size == 8
    slider.value = 10
    assert panel.scenario.batch_size == 10
    panel.reset()
    assert slider.value == 8


@pytest.mark.parametrize(("asked", "words"), [
    ({"batch_sise": (1, 8)}, "no input called 'batch_sise'; did you mean 'batch_size'?"),
    ({"workload.layer": (1, 8)}, "did you mean 'layers'?"),
    ({"batch_size.layers": (1, 8)}, "batch_size holds no inputs of its own"),
    ({"batch_size": (0, 8)}, "must be more than zero"),
    ({"batch_size": (8, 1)}, "write the smaller end first"),
    ({"batch_size": (1, 8, 2, 2)}, "a slider takes (from, to) or (from, to, step), not 4 values"),
    ({"batch_size": (1, 8, 0)}, "write one above zero"),
    ({"batch_size": (1, 8, None)}, "the step is None, which is no number"),
    ({"batch_size": (1, 10**7, 1)}, "with a step of 1 the slider would have more than 2,000 stops"),
    ({"batch_size": (None, 8)}, "write a list with None in it, batch_size=[None, ...]"),
    ({"batch_size": []}, "the list is empty"),
    ({"batch_size": 8}, "write batch_size=(1, 10), or scenario.variant(batch_size=...) to fix it"),
    ({"batch_size": True}, "a checkbox is for what is True or False"),
    ({"activations": (1, 8)}, "has no unit; write activations=\"1 B\""),
    ({"activations": ("1 s", "8 s")}, "is in s, and activations is measured in B"),
    ({"activations": ("1 GB", "8 GB", "1 s")}, "the step 1 s is not in GB"),
    ({"activations": ["1 GB", 8]}, "8 has no unit"),
    ({"hardware": (Hardware.Cloud.A100, Hardware.Cloud.H100)}, "write a list to choose from"),
    ({"hardware": ["H100"]}, "takes a HardwareNode"),
    ({"batch_size": ipywidgets.Button()}, "Button has no value to read"),
    ({"show": ["totle"]}, "show='totle' is no quantity of TrainingStateFitScenario; did you mean 'total'?"),
    ({"show": ["activations_at"]}, "write show=[('activations_at', dict(batch_size=64))]"),
    ({"show": [("total", {"batch_size": 64})]}, "total takes no arguments"),
    ({"show": None}, "or a function that draws a scenario; not None"),
    ({"show": [8]}, "or a function that draws a scenario; not 8"),
])  # fmt: skip
def test_what_cannot_work_is_refused_at_once(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        explore(GPT2, **asked)


@pytest.mark.parametrize(("start", "words"), [
    (TrainingStateFitScenario, "write TrainingStateFitScenario(...), one of its scenarios"),
    (Hardware.Cloud.H100, "takes a scenario, not Hardware.Cloud.H100"),
    ("GPT-2", "takes a scenario, not 'GPT-2'"),
])  # fmt: skip
def test_what_is_no_scenario_is_refused(start: Any, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        explore(start)


def test_an_input_of_an_absent_record_is_refused_at_once() -> None:
    with pytest.raises(InputError, match=re.escape("hardware is absent, so hardware.memory.capacity cannot change; start from scenario.variant(hardware=Hardware.Cloud.H100)")):
        explore(Scenarios.ResNet50Fp32SgdMomentum, "hardware.memory.capacity")


# What moving a widget does.

def test_slider_and_box_move_together() -> None:
    panel = explore(GPT2, batch_size=(1, 256))
    control = panel.controls["batch_size"]
    control.slider.value = 64
    assert control.box.value == 64 and panel.scenario.batch_size == 64
    control.box.value = 100
    assert control.slider.value == 128 and panel.scenario.batch_size == 100      # the nearest stop, by multiples; the box is exact
    assert panel.scenario == GPT2.variant(batch_size=100)


def test_one_move_is_one_new_scenario() -> None:
    panel = explore(GPT2, batch_size=(1, 256))
    seen: list[Any] = []
    panel.observe(lambda change: seen.append(change.new), "scenario")
    panel.controls["batch_size"].slider.value = 64
    panel.controls["batch_size"].box.value = 63
    assert seen == [GPT2.variant(batch_size=64), GPT2.variant(batch_size=63)]


def test_every_part_follows() -> None:
    panel = explore(GPT2, activations=("1 GB", "800 GB"), show=["training_total", ("activations_at", {"batch_size": 64}), "comparison", "breakdown"])
    panel.controls["activations"].value = "40 GB"
    after = GPT2.variant(activations="40 GB")
    assert panel.scenario == after
    page = shown(panel)
    assert after._repr_html_() in page and GPT2._repr_html_() not in page
    assert after.substitution("training_total").html in page and "64.0\u00a0GB" in after.substitution("training_total").html
    assert after.substitution("activations_at", batch_size=64).html in page and "80.0\u00a0GB" in page
    compared = told(page[page.index("Against the start"):])
    assert re.match(r"Against the startstartnowto the startInputs that differactivations20 GB40 GB× 2With the activations of a batchtraining total44.0 GB64.0 GB× 1.45", compared), compared
    assert after.equation("training_total").html in page


def test_a_part_may_stand_elsewhere_in_the_notebook() -> None:
    panel = explore(GPT2, activations=("1 GB", "800 GB"), show=[])
    elsewhere = panel.live("training_total")
    panel.controls["activations"].box.value = 40
    assert GPT2.variant(activations="40 GB").substitution("training_total").html in elsewhere.value


def test_at_the_start_nothing_differs_from_it() -> None:
    assert "All is as it was." in shown(explore(GPT2, "batch_size", show=["comparison"]))


def test_an_equation_says_what_it_waits_for() -> None:
    panel = explore(GPT2, "activations", show=["training_total"])
    panel.controls["activations"].given.value = False
    assert panel.scenario.activations is None
    assert "training_total needs activations, which is absent; write activations=\"40 GB\"" in told(shown(panel))
    panel.controls["activations"].given.value = True
    assert panel.scenario == GPT2 and GPT2.substitution("training_total").html in shown(panel)


def test_an_absent_input_can_be_given() -> None:
    panel = explore(Scenarios.Gpt2Fp32AdamOnH100, activations=("1 GB", "80 GB"))
    control = panel.controls["activations"]
    assert control.given.description == "activations given" and not control.given.value
    assert control.box.disabled and control.slider.disabled and panel.scenario is Scenarios.Gpt2Fp32AdamOnH100
    control.given.value = True
    assert not control.box.disabled
    control.box.value = 10
    assert panel.scenario == Scenarios.Gpt2Fp32AdamOnH100.variant(activations="10 GB")


def test_an_input_left_to_its_formula_shows_what_that_gives() -> None:
    """Grouped-query attention: as many key heads as heads, unless stated."""
    scenario = GPT2.variant(workload=Models.Language.GPT2.variant(kv_heads=None))
    panel = explore(scenario, "workload.kv_heads", **{"workload.heads": [25, 10]})
    keys = panel.controls["workload.kv_heads"]
    assert keys.box.value == 25 and keys.box.disabled and keys.given.description == "workload kv heads stated"
    panel.controls["workload.heads"].value = 10
    assert keys.box.value == 10 and panel.scenario.workload.kv_heads == 10
    keys.given.value = True
    keys.box.value = 5
    assert panel.scenario.workload.kv_heads == 5


def test_an_inner_input_follows_the_record_it_stands_in() -> None:
    panel = explore(GPT2, "hardware.memory.capacity", hardware=[Hardware.Cloud.H100, Hardware.Cloud.H200, None])
    capacity, hardware = panel.controls["hardware.memory.capacity"], panel.controls["hardware"]
    capacity.box.value = 40
    assert panel.scenario.hardware.memory.capacity == units.Quantity(40, "GiB")
    hardware.value = Hardware.Cloud.H200
    assert panel.scenario.hardware == Hardware.Cloud.H200
    assert capacity.value == Hardware.Cloud.H200.memory.capacity
    hardware.value = None
    assert panel.scenario.hardware is None and capacity.box.disabled
    hardware.value = Hardware.Cloud.H100
    assert panel.scenario is panel.start and not capacity.box.disabled


def test_rows_are_added_and_taken_away() -> None:
    """Adapters on two unlike matrices: rank x (4096 + 4096) + rank x (4096 + 1024) a layer, 32 layers of 8 billion parameters."""
    panel = explore(Scenarios.Rank16AdaptersOnHypothetical8B, "adapter_matrices")
    rows = panel.controls["adapter_matrices"]
    rows.given.value = True
    rows.value = [{"name": "q", "in_dim": 4096, "out_dim": 4096}]
    rows.add.click()
    names = [widget.description for widget in rows.widgets if getattr(widget, "description", "").startswith("row 2")]
    assert names == ["row 2 name", "row 2 in dim", "row 2 out dim"]
    rows.inner[1][2].box.value = 1024
    assert panel.scenario.adapter_count == 32 * 16 * (4096 + 4096 + 4096 + 1024)
    rows.remove.click()
    assert panel.scenario.adapter_count == 32 * 16 * (4096 + 4096)
    rows.given.value = False
    assert panel.scenario is panel.start


def test_reset_puts_everything_back() -> None:
    panel = explore(GPT2, "activations", "hardware.memory.capacity", batch_size=(1, 256), hardware=[Hardware.Cloud.A100, Hardware.Cloud.H100], master_bytes_per_parameter=[None, "4 byte"])
    before = shown(panel)
    panel.controls["batch_size"].slider.value = 256
    panel.controls["hardware"].value = Hardware.Cloud.A100
    panel.controls["hardware.memory.capacity"].box.value = 10
    panel.controls["master_bytes_per_parameter"].value = None
    panel.controls["activations"].given.value = False
    assert panel.scenario != GPT2
    click(panel, "Reset")
    assert panel.scenario is panel.start and panel.controls["batch_size"].box.value == 32 and panel.controls["activations"].given.value
    assert shown(panel) == before.replace("At the start,", "Back at the start,")


# A bad combination.

def test_an_error_stands_in_place_and_the_next_good_value_recovers() -> None:
    panel = explore(TrainingMemoryModel().solve(Models.Language.GPT3, Hardware.Cloud.H100, 32, tp_size=8), tp_size=(1, 16), show=["total_memory", "breakdown"])
    control, good = panel.controls["tp_size"], shown(panel)
    control.slider.value = 5
    assert panel.error.startswith("TrainingMemoryScenario: tp_size=5 does not divide the 96 attention heads of GPT-3")
    assert panel.scenario.tp_size == 8
    page = told(shown(panel))
    assert panel.error in page and "Below stands the last combination that did." in page and "Traceback" not in page
    assert panel.scenario._repr_html_() in shown(panel)
    control.slider.value = 7
    assert "tp_size=7" in panel.error and "tp_size=5" not in told(shown(panel))
    control.slider.value = 6
    assert panel.error == "" and panel.scenario.tp_size == 6 and panel.scenario._repr_html_() in shown(panel)
    assert "opacity" not in shown(panel).replace(panel.scenario._repr_html_(), "")
    control.slider.value = 5
    click(panel, "Reset")
    assert panel.error == "" and shown(panel) == good.replace("At the start,", "Back at the start,")


def test_two_bad_moves_that_work_together_are_told_together() -> None:
    """96 heads do not split five ways, and 40 do."""
    panel = explore(MEMORY.variant(workload=Models.Language.GPT3.variant(head_dim=128)), tp_size=(1, 16), **{"workload.heads": [96, 40]})
    panel.controls["tp_size"].value = 5
    assert panel.error
    panel.controls["workload.heads"].value = 40
    assert panel.error == "" and panel.scenario.tp_size == 5
    assert "tp size from 1 to 5 and lowering workload heads from 96 to 40" in panel.caption


def test_a_value_that_the_input_refuses_is_an_error_in_place() -> None:
    panel = explore(GPT2, "workload.name", batch_size=ipywidgets.FloatText(32))
    widget = panel.controls["batch_size"].widgets[0]
    widget.value = 2.5
    assert "2.5 is not a whole number; write batch_size=2" in panel.error
    widget.value = -1
    assert "must be more than zero" in panel.error
    widget.value = 64
    assert panel.error == "" and panel.scenario.batch_size == 64
    panel.controls["workload.name"].box.value = " "
    assert "takes text" in panel.error
    panel.controls["workload.name"].box.value = "mine"
    assert panel.error == "" and panel.scenario.workload.name == "mine"


def test_a_part_that_cannot_be_drawn_says_why_in_its_place() -> None:
    class Broken(parts.Part):
        def html(self, start: Scenario, scenario: Any) -> str:
            if scenario.batch_size == 64:
                raise InputError("no such <part>")
            return f"batch {scenario.batch_size}"
    panel = explore(GPT2, batch_size=(1, 256), show=[Broken()])
    panel.controls["batch_size"].value = 64
    assert "no such <part>" in told(shown(panel)) and panel.scenario.batch_size == 64
    panel.controls["batch_size"].value = 128
    assert "batch 128" in shown(panel) and "no such" not in shown(panel)


def test_quantities_without_an_answer_are_said_in_their_part() -> None:
    panel = explore(GPT2, optimizer_bytes_per_parameter=("0 byte", "8 byte"), bytes_per_value=["2 byte", "4 byte"], show=["optimizer_values_per_parameter"])
    panel.controls["optimizer_bytes_per_parameter"].box.value = 0
    assert panel.error == "" and panel.scenario.substitution("optimizer_values_per_parameter").html in shown(panel)


# What is said of a change.

def captions(scenario: Scenario, name: str, *values: Any) -> list[str]:
    panel = explore(scenario, name, show=[])
    found = [panel.caption]
    for value in values:
        panel.controls[name].value = value
        assert panel.error == ""
        found.append(panel.caption)
    return found


def test_the_caption_tells_what_a_quantity_did_and_whether_it_still_fits() -> None:
    """24 GB of state beside 20, 40, 80 and again 40 GB of activations, in 80 GiB = 85.9 GB."""
    start, doubled, over, again, back = captions(GPT2, "activations", "40 GB", "80 GB", "40 GB", "20 GB")
    assert start == "At the start, the total is 24.0 GB; it fits; training fits."
    assert doubled == "Doubling activations from 20 GB to 40 GB added 20.0 GB to the training total, now 64.0 GB; as before, training fits."
    assert over == ("Doubling activations from 40 GB to 80 GB added 40.0 GB to the training total, now 104 GB; training no longer fits."
                    " Since the start, the training total went from 44.0 GB to 104 GB.")
    assert again.startswith("Halving activations from 80 GB to 40 GB took 40.0 GB off the training total, now 64.0 GB; training fits again.")
    assert back == "Back at the start, the total is 24.0 GB; it fits; training fits."


def test_the_caption_says_how_much_is_too_much() -> None:
    """Llama 2 7B: 6.74e9 parameters x 16 bytes is 107.8 GB, 21.9 GB beyond 80 GiB, and within 141 GB."""
    parameters = Models.Language.Llama2_7B.parameters.m_as("count")
    excess = parameters * 16 / 1e9 - 80 * 1.073741824
    panel = explore(Scenarios.Llama2_7BMixedPrecisionAdam, hardware=Hardware.Cloud, show=[])
    assert panel.caption.endswith(f"it does not fit: {excess:.1f} GB too much.")
    panel.controls["hardware"].value = Hardware.Cloud.H200
    assert panel.caption.startswith("Changing hardware from NVIDIA H100 to NVIDIA H200 lowered the capacity share from ") and panel.caption.endswith("; now it fits.")
    panel.controls["hardware"].value = Hardware.Cloud.A100
    assert f"; it no longer fits: {excess:.1f} GB too much." in panel.caption


def test_the_caption_of_a_batch_has_the_activations_of_its_literature() -> None:
    """Korthikanti et al. 2023, equation 2 with the attention recomputed: 34 sbh bytes a layer."""
    sixteen = 34 * S * 16 * H * L / 1e9
    _, doubled = captions(MEMORY, "batch_size", 32)
    assert doubled.startswith(f"Doubling batch size from 16 to 32 added {sixteen:.1f} GB to the total memory, now ")
    assert "; it is no longer feasible: " in doubled and doubled.endswith(" GB too much.")


@pytest.mark.parametrize(("name", "value", "words"), [
    ("batch_size", 64, "Doubling batch size from 32 to 64 raised the resident batch limit from 99.0 to 198."),
    ("batch_size", None, "Leaving out batch size left the resident batch limit without a value."),
    ("adapter_parameters", 7500000, "Giving adapter parameters (7,500,000) took 20.9 GB off the total, now 3.12 GB; as before, it fits."),
    ("master_bytes_per_parameter", None, "Leaving out master bytes per parameter took 6.0 GB off the total, now 18.0 GB; as before, it fits."),
    ("optimizer_bytes_per_parameter", "4 byte", "Halving optimizer bytes per parameter from 8 B to 4 B took 6.0 GB off the total, now 18.0 GB; as before, it fits."),
    ("optimizer_bytes_per_parameter", "0 byte", "Lowering optimizer bytes per parameter from 8 B to 0 B took 12.0 GB off the total, now 12.0 GB; as before, it fits."),
    ("hardware", None, "Leaving out hardware left the capacity share without a value."),
    ("workload", Models.Language.GPT3, "Changing workload from GPT-2 (1.5B) to GPT-3 (175B) added 2.78 TB to the total, now 2.8 TB; it no longer fits: 2.71 TB too much; training no longer fits."),
    ("workload.name", "mine", "Changing workload name from GPT-2 (1.5B) to mine changed none of the quantities."),
    ("workload.tied_embeddings", False, "Switching workload tied embeddings off changed none of the quantities."),
])  # fmt: skip
def test_the_caption_fits_the_kind_of_change(name: str, value: Any, words: str) -> None:
    """85.9 - 24.0 GB leave room for 99.0 times the activations of one sequence in 32; 7.5e6 adapter parameters hold 16 bytes each beside 3 GB;
    GPT-3 has 175e9 parameters."""
    assert captions(GPT2, name, value)[1] == words


# What is handed on.

def test_copy_as_code_gives_the_line_that_rebuilds_it() -> None:
    panel = explore(GPT2, batch_size=(1, 256), activations=("1 GB", "80 GB"), hardware=Hardware.Cloud, master_bytes_per_parameter=[None, "4 byte"])
    panel.controls["batch_size"].slider.value = 64
    panel.controls["activations"].box.value = 33.25
    panel.controls["hardware"].value = Hardware.Cloud.A100
    panel.controls["master_bytes_per_parameter"].value = None
    assert "textarea" not in shown(panel)
    click(panel, "Copy as code")
    box = re.search(r"<textarea readonly [^>]*aria-label=\"[^\"]+\"[^>]*>(.*?)</textarea>", shown(panel), re.S)
    assert box is not None
    imported, line = told(box[1]).split("\n")
    assert imported == "from mlsysim import Hardware, Models, TrainingStateFitScenario" and line == panel.code
    assert after_a_restart(told(box[1])) == panel.scenario
    panel.controls["batch_size"].slider.value = 32
    assert "textarea" not in shown(panel)      # a line that no longer holds is taken away


def after_a_restart(code: str) -> Any:
    """What copied code comes to where nothing was imported before."""
    imported, line = code.split("\n")
    names: dict[str, Any] = {}
    exec(imported, names)
    return eval(line, names)


@pytest.mark.parametrize(("start", "name", "value"), [
    (MEMORY, "batch_size", 24),
    (MEMORY, "hardware.memory.capacity", "40 GB"),
    (MEMORY, "workload.layers", 24),
    (Scenarios.ResNet50Fp32AdamBatch64, "workload.classes", 10),
    (Scenarios.Rank16AdaptersOnHypothetical8B, "adapter_matrices", [{"name": "q", "in_dim": 4096, "out_dim": 4096}]),
    (Scenarios.Llama3_405BRunOn16384H100, "recovery_time", "20 minute"),
], ids=lambda value: type(value).__name__ if isinstance(value, Scenario) else None)  # fmt: skip
def test_copied_code_runs_where_nothing_was_imported_before(start: Scenario, name: str, value: Any) -> None:
    panel = explore(start, name)
    panel.controls[name].value = value
    assert panel.scenario != start
    click(panel, "Copy as code")
    box = re.search(r"<textarea [^>]*>(.*?)</textarea>", shown(panel), re.S)
    assert box is not None and after_a_restart(told(box[1])) == panel.scenario


def test_the_front_door_has_whatever_code_of_the_kit_may_name() -> None:
    kinds: list[Any] = [getattr(scenario_types, name) for name in scenario_types.__all__] + [type(entry) for group in (*Models, *Hardware) for entry in group]
    for kind in kinds:      # grows while it is walked
        kinds += [inner for declared in kind.inputs.values() if (inner := declared.record_type) and inner not in kinds]
    assert {kind.__name__ for kind in kinds} <= {*mlsysim.__all__}
    assert all(getattr(mlsysim, kind.__name__) is kind for kind in kinds)


def test_an_untouched_panel_gives_the_name_on_the_shelf() -> None:
    assert explore(Scenarios.Gpt2Fp32AdamOnH100).code == "Scenarios.Gpt2Fp32AdamOnH100"


def test_what_a_cell_saves_is_the_same_on_every_run() -> None:
    def saved() -> dict[str, Any]:
        panel = explore(GPT2, batch_size=(1, 256), hardware=[Hardware.Cloud.A100], show=["total", "breakdown"])
        bundle = panel._repr_mimebundle_()
        assert set(bundle.pop("application/vnd.jupyter.widget-view+json")) == {"version_major", "version_minor", "model_id"}
        return {**bundle, "repr": repr(panel)}
    first = saved()
    assert first == saved() and set(first) == {"text/plain", "text/html", "repr"}
    everything = json.dumps(first)
    assert not re.search(r"0x[0-9a-f]{6,}|[0-9a-f]{32}", everything)
    for kind in ("text/plain", "text/html"):
        said = told(first[kind])
        assert "batch size from 1 to 256" in said and "hardware: NVIDIA H100, NVIDIA A100" in said and "the total is 24.0 GB; it fits" in said
    assert str(GPT2) in first["text/plain"] and GPT2._repr_html_() in first["text/html"]


# Plots.

def test_a_plot_is_drawn_of_the_scenario_with_words_for_it() -> None:
    drawn: list[Any] = []

    def draw(scenario: Any) -> Any:
        from matplotlib import pyplot
        drawn.append(scenario)
        axes = pyplot.subplots(figsize=(4, 2))[1]
        axes.set(title="state", xlabel="batch", ylabel="GB")
        return axes
    from matplotlib import pyplot
    own = pyplot.figure()
    panel = explore(GPT2, batch_size=(1, 256), show=[draw])
    first = shown(panel)
    assert '<img src="data:image/png;base64,' in first and 'alt="state; GB against batch"' in first and "width:384px" in first
    panel.controls["batch_size"].slider.value = 64
    assert [one.batch_size for one in drawn] == [32, 64]
    assert pyplot.get_fignums() == [own.number]      # what the function opened is closed, what a reader has is not
    pyplot.close(own)
    assert "image/png" not in panel.html() and "state; GB against batch" in panel.html()


def test_a_plot_waits_for_the_hand_to_rest() -> None:
    drawn: list[int] = []

    def draw(scenario: Any) -> Any:
        from matplotlib.figure import Figure
        drawn.append(scenario.batch_size)
        return Figure(figsize=(1, 1))

    async def move() -> list[list[int]]:
        panel = explore(GPT2, batch_size=(1, 256), show=[draw])
        for stop in (64, 128, 256):
            panel.controls["batch_size"].slider.value = stop
        at_once = list(drawn)
        while len(drawn) < 2:
            await asyncio.sleep(0.01)
        return [at_once, list(drawn)]
    assert asyncio.run(move()) == [[32], [32, 256]]


def test_a_plot_that_fails_says_why_in_its_place() -> None:
    def draw(scenario: Any) -> Any:
        from matplotlib.figure import Figure
        if scenario.batch_size > 32:
            raise ValueError("no figure above <32>")
        return Figure(figsize=(1, 1))
    panel = explore(GPT2, batch_size=(1, 256), show=[draw])
    panel.controls["batch_size"].slider.value = 64
    assert "This figure cannot be drawn: no figure above <32>" in told(shown(panel)) and panel.scenario.batch_size == 64
    panel.controls["batch_size"].slider.value = 16
    assert "data:image/png" in shown(panel) and "cannot be drawn" not in shown(panel)


# Every input of everything on the shelf, and of a scenario that a reader wrote.

def input_names(record: Record, before: str = "") -> Iterator[str]:
    for name, declared in type(record).inputs.items():
        yield before + name
        if declared.kind == "record" and (held := record.at(name)) is not None:
            yield from input_names(held, f"{before}{name}.")


def positions(control: Any) -> Iterator[Callable[[], None]]:
    """Every place that a reader can put a control to, ends and a few between."""
    for widget in [*control.widgets]:
        match widget:
            case ipywidgets.Dropdown() | ipywidgets.SelectionSlider():
                for index in sorted({0, 1, len(widget.options) // 2, len(widget.options) - 1} & set(range(len(widget.options)))):
                    yield lambda widget=widget, index=index: setattr(widget, "index", index)
            case ipywidgets.Checkbox():
                yield lambda widget=widget: setattr(widget, "value", not widget.value)
                yield lambda widget=widget: setattr(widget, "value", not widget.value)
            case ipywidgets.BoundedFloatText() | ipywidgets.BoundedIntText():
                yield lambda widget=widget: setattr(widget, "value", widget.max)
                yield lambda widget=widget: setattr(widget, "value", widget.min)
            case ipywidgets.Text():
                yield lambda widget=widget: setattr(widget, "value", "a word")
                yield lambda widget=widget: setattr(widget, "value", "")
            case ipywidgets.Button():
                yield widget.click


def walk(scenario: Scenario) -> None:
    panel = explore(scenario, *input_names(scenario), show=[])
    for name, control in panel.controls.items():
        assert all(widget.description for widget in control.widgets), name
        assert panel.scenario is panel.start, name
        for move in positions(control):
            before, failed = panel.scenario, bool(panel.error)
            move()
            if panel.error:
                assert panel.scenario == before and panel.error in told(shown(panel))
            elif failed or panel.scenario != before:
                assert panel.scenario == panel.start.variant(**({name: control.value} if control.moved else {}))
            assert panel.caption.endswith(".")
        panel.reset()
        assert panel.error == "" and not control.moved


@pytest.mark.parametrize("name", list(Scenarios))
def test_every_input_of_the_shelf_has_a_control_that_works(name: str) -> None:
    walk(getattr(Scenarios, name))


def test_every_input_of_a_solved_training_run_has_a_control_that_works() -> None:
    walk(MEMORY)


class Rack(Record):
    height: int = given("n", positive=True)
    load: float = given("x", default=0.5, maximum=1)


class Kettle(Scenario):
    """A scenario a reader wrote, with an input of every kind and none on a shelf."""

    water: Given[Quantity] = given("E", "kJ", minimum=100, maximum=900)
    power: Given[Quantity | None] = given("Q", "kW", default=None, positive=True)
    cups: int = given("n", default=0)
    share: float = given("x", default=0.25, maximum=1)
    offset: float = given("d", default=-3.0, minimum=-10)
    lid: bool = given(default=True)
    whistles: bool | None = given(default=None)
    kind: str | None = given(default=None, choices=("steel", "glass"))
    label: str | None = given(default=None)
    rack: Rack | None = given(default=None)
    racks: tuple[Rack, ...] = given(default=())

    @derived("t", "second")
    def time(self) -> Quantity:
        """How long it takes."""
        return self.water / self.power

    @derived("ready")
    def ready(self) -> bool:
        """Whether that is soon."""
        return self.cups <= 4

    @requires("a kettle of {cups} cups is too large")
    def small(self) -> bool:
        """Kettles are small."""
        return self.cups <= 8


def test_a_scenario_of_a_readers_own_gets_controls_too() -> None:
    kettle = Kettle(water="500 kJ", rack=Rack(height=4))
    walk(kettle)
    panel = explore(kettle, *kettle.inputs)
    share, water = panel.controls["share"], panel.controls["water"]
    assert (share.box.min, share.box.max) == (0, 2.5) or share.box.max == 1
    assert (water.box.min, water.box.max, water.box.description) == (100, 900, "water (kJ)")
    panel.controls["cups"].value = 9
    assert panel.error == "Kettle: a kettle of 9 cups is too large"
    panel.controls["cups"].value = 6
    assert panel.error == "" and panel.caption.endswith("it is no longer ready.")


def test_without_names_the_given_inputs_get_controls() -> None:
    assert list(explore(Scenarios.Gpt2Fp32AdamOnH100).controls) == ["workload", "hardware", "bytes_per_value", "optimizer_bytes_per_parameter"]


def test_whole_quantities_stay_whole() -> None:
    panel = explore(GPT2, **{"workload.parameters": (1e9, 100e9)})
    control = panel.controls["workload.parameters"]
    assert isinstance(control.box, ipywidgets.BoundedIntText) and control.box.value == 1_500_000_000
    control.slider.value = max(value for _, value in control.slider.options)
    assert panel.scenario.total.m_as("GB") == pytest.approx(100 * 16)
    assert all(float(value).is_integer() for _, value in control.slider.options)


def test_percents_are_kept() -> None:
    panel = explore(MEMORY, trainable_fraction=("1 %", "100 %"))
    control = panel.controls["trainable_fraction"]
    assert control.box.description == "trainable fraction (%)" and control.box.value == 100
    control.box.value = 50
    assert math.isclose(panel.scenario.trainable_fraction, 0.5)


# The package around it.

def test_the_package_loads_widgets_only_when_they_are_used() -> None:
    script = "import sys, mlsysim.notebook; print([name for name in ('ipywidgets', 'matplotlib') if name in sys.modules]); mlsysim.notebook.explore; print('ipywidgets' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["[]", "True"]


def test_a_misspelt_name_of_the_package_is_answered_with_the_near_one() -> None:
    with pytest.raises(AttributeError, match="mlsysim.notebook has no 'exlore'; did you mean 'explore'?"):
        mlsysim.notebook.exlore

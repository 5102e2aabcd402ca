"""Scenarios side by side: what differs is marked, values stand beside their ratios, what is absent is said to wait."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from mlsysim import Given, Hardware, InputError, Models, Quantity, Scenario, Scenarios, TrainingMemoryModel, compare, derived, given

from .transfer import Cable, TransferScenario

FP32, MIXED = Scenarios.Gpt2Fp32AdamOnH100, Scenarios.Gpt2MixedPrecisionAdamOnH100
CABLE = Cable(name="copper", bandwidth="10 GB/s")


def rows_of(comparison: Any) -> dict[str, list[str]]:
    """The cells of every row, by its first cell without the mark."""
    return {row[0].lstrip("≠= "): list(row) for row in comparison.grid().rows if len(row) > 1}


def test_inputs_that_differ_are_marked() -> None:
    compared = compare(FP32, FP32.variant(hardware=Hardware.Cloud.A100, **{"workload.parameters": 3e9}))
    assert compared.differing == ("workload", "workload.parameters", "hardware", "hardware.memory.bandwidth")
    rows = rows_of(compared)
    assert rows["hardware"][:3] == ["≠ hardware", "NVIDIA H100", "NVIDIA A100"]
    assert rows["workload parameters"] == ["≠ workload parameters", "1.5 × 10⁹", "3 × 10⁹", "× 2"]
    assert rows["bytes per value"] == ["= bytes per value", "4 B", "4 B", ""]
    text = repr(compared)
    assert text.index("Inputs that differ") < text.index("≠ hardware") < text.index("Inputs that are the same") < text.index("= bytes per value")


def test_values_stand_beside_their_ratio_to_the_first() -> None:
    rows = rows_of(compare(FP32, MIXED, FP32.variant(bytes_per_value="8 byte")))
    assert rows["weights"] == ["≠ weights", "6.0 GB", "3.0 GB", "× 0.5", "12.0 GB", "× 2"]
    assert rows["total"] == ["≠ total", "24.0 GB", "24.0 GB", "× 1", "36.0 GB", "× 1.5"]
    assert rows["fits"] == ["= fits", "yes", "yes", "", "yes", ""]


def test_yes_and_no_have_no_ratio_and_are_marked() -> None:
    rows = rows_of(compare(FP32, FP32.variant(hardware=None)))
    assert rows["fits"] == ["≠ fits", "yes", "no", "≠"]
    assert rows["hardware"][:3] == ["≠ hardware", "NVIDIA H100", "not given"]


def test_what_one_of_them_lacks_waits() -> None:
    compared = compare(FP32, MIXED)
    assert rows_of(compared)["training total"] == ["≠ training total", "waiting", "311 GB", "≠"]
    (said,) = [note for note in compared.grid().below if "training total" in note]
    assert said.startswith("Waiting in Gpt2Fp32AdamOnH100 for activations: training total")


def test_what_all_of_them_lack_is_said_once() -> None:
    compared = compare(FP32, FP32.variant(bytes_per_value="2 byte"))
    assert "training total" not in rows_of(compared)
    assert any(note.startswith("Waiting in all for activations: training total") for note in compared.grid().below)


def test_division_by_zero_stands_as_words() -> None:
    transfer = TransferScenario(payload="40 MB", cable=CABLE)
    assert rows_of(compare(transfer, transfer.variant(loss=0)))["spread"] == ["≠ spread", "100", "spread divides by zero with these inputs", "≠"]


def test_scenarios_of_different_classes_are_compared_in_what_they_share() -> None:
    class Freight(Scenario):
        """The same by road."""
        payload: Given[Quantity] = given("S", "byte", doc="What is sent.")
        rate: Given[Quantity] = given("R", "GB/s", doc="How fast it goes.")

        @derived("V", "kB", source="made up")
        def volume(self) -> Quantity:
            """All that is sent."""
            return self.payload * 2

        @derived("t", "byte", source="made up")
        def time(self) -> Quantity:
            """Of another kind than the other class's."""
            return self.payload

    compared = compare(TransferScenario(payload="40 MB", cable=CABLE), Freight(payload="40 MB", rate="1 GB/s"))
    rows = rows_of(compared)
    assert compared.shared == ["volume"]
    assert rows["volume"] == ["≠ volume", "40.0 MB", "80.0 MB", "× 2"]
    assert rows["payload"] == ["= payload", "40 MB", "40 MB", ""]
    assert "Only what TransferScenario and Freight have in common is shown." in repr(compared)


def test_classes_with_nothing_in_common_are_refused() -> None:
    class Lone(Scenario):
        """Nothing that another has."""
        width: Given[Quantity] = given("w", "byte", doc="A width.")

        @derived("w_2", "byte", source="made up")
        def twice_as_wide(self) -> Quantity:
            """Twice that."""
            return 2 * self.width

    with pytest.raises(InputError, match="TrainingStateFitScenario and Lone have no quantity in common"):
        compare(FP32, Lone(width="1 byte"))


@pytest.mark.parametrize(("arguments", "said"), [((FP32,), "two scenarios or more"), ((FP32, 3), "compare takes scenarios, not int 3"), ((), "two scenarios or more")])
def test_anything_else_is_refused(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare(*arguments)


def test_two_scenarios_of_one_name_are_numbered() -> None:
    assert compare(FP32, FP32, MIXED).labels == ("Gpt2Fp32AdamOnH100 (1)", "Gpt2Fp32AdamOnH100 (2)", "Gpt2MixedPrecisionAdamOnH100")


def test_variants_are_called_by_what_was_changed() -> None:
    narrow, both = FP32.variant(bytes_per_value="2 byte"), FP32.variant(bytes_per_value="2 byte", optimizer_bytes_per_parameter="4 byte")
    assert compare(FP32, narrow, both).labels == ("Gpt2Fp32AdamOnH100", "bytes per value 2 B", "bytes per value 2 B, optimizer bytes per parameter 4 B")
    assert compare(MIXED, MIXED.variant(activations=None)).labels[1] == "activations not given"
    assert compare(narrow, FP32.variant(hardware=Hardware.Cloud.A100)).labels == ("Training GPT-2 (1.5B) on NVIDIA H100", "Training GPT-2 (1.5B) on NVIDIA A100")


def test_a_default_that_follows_a_changed_input_is_not_named() -> None:
    run = TrainingMemoryModel().solve(Models.Language.GPT2, Hardware.Cloud.H100, batch_size=1)
    assert compare(run, run.variant(optimizer="adam_8bit")).labels == (run.title, "optimizer adam_8bit")


def test_what_is_below_zero_has_no_ratio() -> None:
    full, adapters = Scenarios.Llama3_8BFullFineTuneOnH100, Scenarios.Llama3_8BLoraOnH100
    assert rows_of(compare(full, adapters))["max resident batch"][2:] == ["7", "≠"]


def test_a_scenario_compares_itself() -> None:
    assert repr(FP32.compare(MIXED)) == repr(compare(FP32, MIXED))


def test_text_and_html_say_the_same() -> None:
    compared = compare(FP32, MIXED, Scenarios.Rank16AdaptersOnHypothetical8B)
    markup = compared._repr_html_()
    assert markup == compare(FP32, MIXED, Scenarios.Rank16AdaptersOnHypothetical8B)._repr_html_()
    grid = compared.grid()
    cells = [unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", markup)]
    assert cells == [cell for row in (grid.heads, *grid.rows) for cell in row]
    assert all(cell in repr(compared) for cell in cells)
    assert not re.search(r"<(style|script|svg|math)\b|var\(|color:", markup)
    assert len(markup.encode()) < 25_000


def test_a_dollar_sign_is_no_mathematics() -> None:
    transfer = TransferScenario(payload="40 MB", cable=Cable(name="a $1 cable & a $2 <plug>", bandwidth="1 GB/s"))
    markup = compare(transfer, transfer.variant(items=2))._repr_html_()
    assert "a <span>$</span>1 cable &amp; a <span>$</span>2 &lt;plug&gt;" in markup

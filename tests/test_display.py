"""The breakdown: what it says, that its text and its HTML say the same, and that any front end can show it."""
from __future__ import annotations

import re

import pytest

from mlsysim import Hardware, Models, Scenario, Scenarios, derived, given
from mlsysim.engine.bar import FILLS, bar
from mlsysim.engine.inputs import Given
from mlsysim.engine.scenario import Presentation
from mlsysim.engine.scenario_types import TrainingStateFitScenario
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.units import Quantity
from tests.front_end import lines, lost, spaced, tags

GPT2 = Scenarios.Gpt2Fp32AdamOnH100
HOSTILE = "<script>alert(1)</script> $x$ & \"q\" <b>$y$ \\(z\\)"
SHELF = [getattr(Scenarios, name) for name in dir(Scenarios) if isinstance(getattr(Scenarios, name), Scenario)]
DRAWN = {
    **{scenario.address: scenario for scenario in SHELF},
    "no hardware": GPT2.variant(hardware=None),
    "over capacity": Scenarios.Llama3_8BFullFineTuneOnH100.variant(hardware=Hardware.Cloud.T4),
    "rank": Scenarios.Rank32AdaptersOnHypothetical8B.variant(hardware=Hardware.Cloud.H100, batch_size=4, activations="20 GB"),
    "hostile": GPT2.variant(**{"workload.name": HOSTILE, "adapter_in_dim": 4}),
    "memory of one rank": TrainingMemoryModel().solve(Models.Language.Llama2_7B, Hardware.Cloud.H100, 32, seq_len=2048),
    "parameters alone": TrainingMemoryModel().solve(Models.Language.GPT2.variant(layers=None, hidden_dim=None, heads=None), Hardware.Cloud.H100, 32),
}
drawn = pytest.mark.parametrize("scenario", [pytest.param(scenario, id=name) for name, scenario in DRAWN.items()])


class Division(Scenario):
    """Shares of a whole."""

    whole: Given[Quantity] = given("W", "GB", doc="What is shared out.")
    shares: int = given("n", default=4, doc="How many have a share.", source="Euclid, Elements, book 7")

    @derived("w", "GB")
    def share(self) -> Quantity:
        """One share."""
        return self.whole / self.shares

    @derived("large")
    def large(self) -> bool:
        """Whether a share is more than half."""
        return self.share > self.whole / 2

    presentation = Presentation(title="A [share of {whole}]", question="Is a share large?", answer="large")


# What it says.

def test_the_verdict_says_yes_with_what_decides_it() -> None:
    """GPT-2 of 1.5e9 parameters at 16 bytes each: 24 GB, the textbook's figure, of 80 GiB."""
    assert "Does the training state fit? Yes: 24.0 GB (22.4 GiB) of 85.9 GB (80 GiB), 27.9 %." in lines(GPT2._repr_html_())


def test_the_verdict_says_by_how_much_it_falls_short() -> None:
    """7e9 parameters at 16 bytes are 112 GB; 80 GiB are 85.9 GB; 26.1 GB are missing."""
    scenario = Scenarios.Llama2_7BMixedPrecisionAdam.variant(hardware=Hardware.Cloud.H100)
    assert "Does the training state fit? No: 112 GB (104 GiB) of 85.9 GB (80 GiB), 130 %; short by 26.1 GB (24.3 GiB)." in lines(scenario._repr_html_())


def test_without_hardware_the_question_waits() -> None:
    assert "Does the training state fit? It waits for hardware: give hardware=Hardware.Cloud.H100. Total: 24.0 GB (22.4 GiB)." in lines(DRAWN["no hardware"]._repr_html_())


def test_a_row_shows_equation_numbers_and_value_in_both_systems() -> None:
    shown = lines(GPT2._repr_html_())
    assert "optimizer state M_opt = P × b_opt = 1.5 × 10⁹ × 8 B = 12.0 GB (11.2 GiB)" in shown
    assert "copies n_copies = M / M_w = 24.0 GB / 6.0 GB = 4" in shown
    assert "fits M ≤ C (24.0 GB ≤ 85.9 GB) yes" in shown
    assert "adapter count P_ad none" in shown


def test_a_row_opens_to_meaning_dependence_other_branches_and_source() -> None:
    shown = lines(GPT2._repr_html_())
    total = next(i for i, line in enumerate(shown) if line.startswith("total M = "))
    assert shown[total:total + 5] == [
        "total M = M_w + M_grad + M_master + M_opt = 6.0 GB + 6.0 GB + 0 B + 12.0 GB = 24.0 GB (22.4 GiB)",
        type(GPT2).quantities["total"].doc,
        "Depends on weights, gradients, master weights, optimizer state",
        "If adapter count is given: M_w + M_ad",
        next(line for line in shown if line.startswith("Source: Rajbhandari et al. 2020 [")),
    ]


def test_every_quantity_has_a_row_or_waits() -> None:
    shown = spaced(str(GPT2))
    assert all(name.replace("_", " ") in shown for name in type(GPT2).quantities)


def test_what_waits_is_named_with_the_words_to_give_it() -> None:
    shown = lines(GPT2._repr_html_())
    assert 'Give activations="40 GB" for training total, training copies, training fits, training capacity multiple' in shown
    assert 'Give activations="40 GB" and batch_size=32 for resident batch limit, max resident batch, activations at' in shown
    assert "Waiting for an input" not in lines(DRAWN["rank"]._repr_html_())


def test_given_inputs_default_inputs_and_absent_inputs_are_told_apart() -> None:
    shown = lines(GPT2._repr_html_())
    assert any(line.startswith("memory capacity C = 80 GiB (85.9 GB) Nominal capacity. [") for line in shown)
    assert any(line.startswith("not given batch size, activations") for line in shown)
    plain, changed = lines(Division(whole="8 GB")._repr_html_()), lines(Division(whole="8 GB", shares=2)._repr_html_())
    assert "at their defaults shares n = 4 [1]" in plain and "[1] Euclid, Elements, book 7" in plain
    assert "shares n = 2 (differs from the default, 4) How many have a share." in changed
    assert "Sources" not in changed      # the citation is of the default, which no longer stands


def test_warnings_stand_near_the_top_marked_in_words() -> None:
    shown = lines(DRAWN["hostile"]._repr_html_())
    assert shown[2].startswith("Warning: A shape of adapters is given, but neither adapter_rank nor adapter_parameters")


def test_a_negative_value_is_shown_with_what_it_means() -> None:
    shown = lines(DRAWN["over capacity"]._repr_html_())
    assert "max resident batch B_max = ⌊B_limit⌋ = ⌊−12.2⌋ = −13 (none fits, short by 111 GB)" in shown


def test_arithmetic_without_an_answer_is_told_where_the_value_would_stand() -> None:
    shown = lines(Division(whole="8 GB", shares=0)._repr_html_())
    assert "Is a share large? It has no answer: Division: share divides by zero with these inputs; see Division.equation(\"share\")." in shown
    assert "share w = W / n no value (share divides by zero with these inputs)" in shown
    assert "large w > W / 2 no value (share divides by zero with these inputs)" in shown


def test_the_title_leaves_out_a_bracketed_piece_that_mentions_what_is_absent() -> None:
    class Titled(Scenario):
        """A title in pieces."""
        size: Given[Quantity] = given("S", "GB")
        place: str | None = given(default=None)
        presentation = Presentation(title="{size} of state[ in {place}]")
    assert Titled(size="8 GB").title == "8 GB of state"
    assert Titled(size="8 GB", place="Rome").title == "8 GB of state in Rome"


def test_a_class_without_a_presentation_still_shows_everything() -> None:
    class Bare(Scenario):
        """Nothing but a formula."""
        size: Given[Quantity] = given("S", "GB")

        @derived("D", "GB")
        def double(self) -> Quantity:
            """Twice the size."""
            return 2 * self.size
    assert str(Bare(size="8 GB")).split("\n") == ["Bare", "", "Inputs", "  size  S = 8 GB (7.45 GiB)", "", "Quantities", "  double  D = 2 × S = 2 × 8.0 GB = 16.0 GB (14.9 GiB)"]


# The bar.

@pytest.mark.parametrize("name", ["Scenarios.Gpt2Fp32AdamOnH100", "no hardware", "over capacity", "rank"])
def test_the_parts_fill_the_bar_up_to_the_whole(name: str) -> None:
    scenario = DRAWN[name]
    shown = bar(scenario)
    assert shown is not None
    whole = scenario.total.m_as("byte")
    assert sum(part.size for part in shown.parts) == pytest.approx(whole, rel=1e-12)
    assert sum(length for _, length, _ in shown.pieces()) == pytest.approx(whole / shown.scale, rel=1e-12)


def test_over_capacity_the_bar_is_cut_at_the_wall() -> None:
    """128.48 GB on 16 GiB: the wall stands at 17.18 / 128.48 of the length."""
    shown = bar(DRAWN["over capacity"])
    assert shown is not None and shown.scale == shown.whole
    within = sum(length for _, length, beyond in shown.pieces() if not beyond)
    assert within == pytest.approx(16 * 2**30 / (8.03e9 * 16), rel=1e-12)
    assert f"margin-left:{within:.2%};border-left:3px solid" in DRAWN["over capacity"]._repr_html_()
    assert re.search(r"^\[[A-D]{9}\|[A-D]{55}\]$", str(DRAWN["over capacity"]), re.M)


def test_each_part_is_marked_by_a_letter_too() -> None:
    said = lines(DRAWN["rank"]._repr_html_())
    assert any(line.startswith("A weights 16.0 GB B adapter weights") for line in said)


def test_letters_on_the_fills_are_readable() -> None:
    """WCAG 2.2, criterion 1.4.3: black on each fill has a contrast of at least 4.5."""
    def luminance(colour: str) -> float:
        channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), channels))
    assert all((luminance(fill) + 0.05) / 0.05 >= 4.5 for fill in FILLS)


# Any front end.

@drawn
def test_a_front_end_that_trusts_nothing_keeps_it_whole(scenario: Scenario) -> None:
    assert lost(scenario._repr_html_()) == []


@drawn
def test_no_text_is_coloured_but_on_a_fill_of_its_own(scenario: Scenario) -> None:
    styles = [attributes.get("style", "") for _, attributes in tags(scenario._repr_html_())]
    assert all("background:" in style for style in styles if re.search(r"(?:^|;)color:", style))


@drawn
def test_mathematics_is_left_alone(scenario: Scenario) -> None:
    """MathJax skips an element of these classes; where a front end drops classes, no two dollar signs stand in one text."""
    html = scenario._repr_html_()
    assert html.startswith('<div class="mathjax_ignore tex2jax_ignore"')
    assert html.count("$") == html.count("<span>$</span>")


def test_a_hostile_name_is_only_text() -> None:
    scenario = DRAWN["hostile"]
    assert f"Training {HOSTILE}" in lines(scenario._repr_html_())[0]
    assert HOSTILE in str(scenario)


@drawn
def test_text_and_html_say_the_same(scenario: Scenario) -> None:
    """Every line of the text is a line of the HTML or begins one, citations apart; every row of the HTML is a line of the text."""
    text = [spaced(re.sub(r"(?: \[\d+\])$", "", line)) for line in str(scenario).split("\n")]
    html = lines(scenario._repr_html_())
    said = "\n".join(html)
    picture = re.compile(r"\[[A-Z·|]+\]")
    missing = [line for line in text if not picture.fullmatch(line) and not any(shown.startswith(line) for shown in html) and not all(piece in said for piece in re.split(r"(?<=B) (?=[A-Z] |free|over)", line))]
    assert missing == []
    rows = [lines(row)[0] for row in re.findall(r"<summary>(.*?)</summary>", scenario._repr_html_())]
    assert [row for row in rows if row not in text] == []
    assert len(rows) == sum(line.startswith("  ") for line in re.split(r"\n\n(?:Waiting|Sources)", str(scenario).partition("\n\nInputs\n")[2].partition("\n\n")[2])[0].split("\n"))


@drawn
def test_drawing_is_the_same_every_time(scenario: Scenario) -> None:
    assert scenario._repr_html_() == scenario._repr_html_() == type(scenario).from_dict(scenario.to_dict())._repr_html_()


def test_the_breakdown_of_the_start_is_at_most_25_kB() -> None:
    assert len(GPT2._repr_html_().encode()) <= 25_000


@pytest.mark.parametrize("scenario", [pytest.param(scenario, id=scenario.address) for scenario in SHELF])
def test_every_breakdown_on_the_shelf_is_at_most_40_kB(scenario: Scenario) -> None:
    assert len(scenario._repr_html_().encode()) <= 40_000

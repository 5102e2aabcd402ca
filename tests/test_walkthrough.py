"""Walkthroughs: every step follows from what was told before, the question comes before the answer, and the last number is the scenario's."""
from __future__ import annotations

import asyncio
from typing import Any

import pytest
from bs4 import BeautifulSoup
from nbconvert import SlidesExporter
from nbformat.v4 import new_notebook

from mlsysim import Given, Hardware, InputError, MissingInputError, Models, Quantity, Scenario, Scenarios, TrainingMemoryModel, compare, derived, given
from mlsysim.engine.bar import bar
from mlsysim.engine.expression import paths
from mlsysim.engine.evaluation import taken
from mlsysim.engine.notation import words
from mlsysim.notebook import walkthrough
from mlsysim.notebook.walkthroughs.steps import KNOWN, NUMBERS, QUESTION, SYMBOLS, VALUE, Scene, order

FP32, MIXED = Scenarios.Gpt2Fp32AdamOnH100, Scenarios.Gpt2MixedPrecisionAdamOnH100
FULL, LORA = Scenarios.Llama3_8BFullFineTuneOnH100, Scenarios.Llama3_8BLoraOnH100
WITH_TOTAL = [name for name in Scenarios if "total" in type(getattr(Scenarios, name)).quantities]


class Doubled(Scenario):
    """A scenario that draws no bar."""

    size: Given[Quantity] = given("S", "byte")

    @derived("S_2", "byte", source="by definition")
    def twice(self) -> Quantity:
        """Twice the size."""
        return 2 * self.size


def scene_of(walk: Any, name: str) -> Scene:
    return next(scene for scene in walk.scenes if name in (scene.name, scene.title))


def steps_of(scene: Scene, kind: str) -> list[str]:
    return [str(step.said) for step in scene.steps if step.kind == kind]


# One scenario.

def test_the_walk_to_gpt_2_ends_at_the_published_size() -> None:
    """Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1: 16 bytes a parameter, so at least 24 GB for 1.5 billion."""
    total = scene_of(walkthrough(MIXED, "total"), "total")
    assert str(total.answer).startswith("= 24.0 GB")
    assert steps_of(total, NUMBERS) == ["= 3.0 GB + 3.0 GB + 6.0 GB + 12.0 GB"]


@pytest.mark.parametrize("name", WITH_TOTAL)
def test_the_last_number_is_the_scenario_s(name: str) -> None:
    scenario = getattr(Scenarios, name)
    walk = walkthrough(scenario, "total")
    assert str(scene_of(walk, "total").answer).removeprefix("= ").partition(" (")[0] == scenario.figure_text("total")
    if scenario.hardware is not None:
        assert str(walk.scenes[-1].answer).startswith("Yes" if scenario.fits else "No")


@pytest.mark.parametrize("name", WITH_TOTAL)
def test_a_formula_rests_on_what_was_told(name: str) -> None:
    scenario = getattr(Scenarios, name)
    told = set()
    for path in order(scenario, "total"):
        expression = getattr(type(scenario).declaration(path), "expression", None)
        if expression is not None and len(path) == 1:
            assert {below for below in paths(taken(expression, scenario)) if "*" not in below} <= told
        told.add(path)


def test_a_scene_is_told_in_order() -> None:
    scene = scene_of(walkthrough(FP32, "total"), "optimizer_state")
    assert [step.kind for step in scene.steps] == [KNOWN, KNOWN, QUESTION, SYMBOLS, NUMBERS, VALUE]
    assert [str(step.said) for step in scene.steps][1:] == ["optimizer bytes per parameter b_opt = 8 B", "Optimizer state: how many bytes?", "M_opt = P × b_opt", "= 1.5 × 10⁹ × 8 B", "= 12.0 GB (11.2 GiB)"]
    assert scene.sources[-1].startswith("Kingma and Ba 2015")


def test_branches_that_do_not_hold_are_left_out() -> None:
    assert steps_of(scene_of(walkthrough(FP32, "total"), "total"), SYMBOLS) == ["M = M_w + M_grad + M_master + M_opt"]
    assert steps_of(scene_of(walkthrough(LORA, "total"), "total"), SYMBOLS) == ["M = M_w + M_ad"]
    assert {scene.name for scene in walkthrough(LORA, "total").scenes}.isdisjoint({"gradients", "optimizer_state"})


def test_questions_may_be_asked_in_words_of_one_s_own() -> None:
    walk = walkthrough(FP32, "total", questions={"optimizer_state": "How many bytes does Adam add?"})
    assert steps_of(scene_of(walk, "optimizer_state"), QUESTION) == ["How many bytes does Adam add?"]


def test_what_is_known_is_stated_and_not_derived() -> None:
    walk = walkthrough(MIXED, "training_total", known=["total"])
    assert [scene.name for scene in walk.scenes] == ["training_total"]
    assert steps_of(walk.scenes[0], KNOWN)[0] == "total M = 24.0 GB"


def test_a_scenario_without_a_bar_is_told() -> None:
    (scene,) = walkthrough(Doubled(size="2 GB"), "twice").scenes
    assert [str(step.said) for step in scene.steps] == ["size S = 2 GB", "Twice: how many bytes?", "S_2 = 2 × S", "= 2 × 2.0 GB", "= 4.0 GB (3.73 GiB)"]


@pytest.mark.parametrize("name", list(Scenarios))
def test_every_scenario_of_the_shelf_is_told(name: str) -> None:
    scenario = getattr(Scenarios, name)
    whole = type(scenario).presentation.whole
    assert scenario.figure_text(whole) in str(scene_of(walkthrough(scenario), whole).answer)


def test_yes_or_no_and_less_than_nothing_are_told_too() -> None:
    assert str(walkthrough(FP32, "fits").scenes[-1].answer) == "= yes"
    assert "none fits, short by 42.6 GB" in str(walkthrough(FULL, "max_resident_batch").scenes[-1].answer)


def test_a_formula_with_arguments_is_known_where_a_value_rests_on_it() -> None:
    """Daly 2006, doi:10.1016/j.future.2004.11.016: the complete cost function."""
    run = Scenarios.Gpt3CheckpointOn128Nodes
    walk = walkthrough(run, "least_waste")
    told = [scene.name for scene in walk.scenes]
    assert told[-1] == "least_waste" and {"system_time_between_failures", "daly_interval"} <= set(told)
    assert steps_of(walk.scenes[-1], KNOWN)[-2:] == ["slowdown at s(τ) = M / τ × exp(R / M) × (exp((τ + δ) / M) − 1)", "waste at w(τ) = 1 − 1 / s(τ)"]
    assert steps_of(walk.scenes[-1], VALUE) == [f"= {run.figure_text('least_waste')}"]


@pytest.mark.parametrize("name", list(Scenarios))
def test_every_quantity_that_has_a_value_is_told(name: str) -> None:
    scenario = getattr(Scenarios, name)
    for quantity in type(scenario).quantities:
        if not hasattr(type(scenario).quantities[quantity], "parameters") and scenario.present((quantity,)):
            assert scene_of(walkthrough(scenario, quantity), quantity).name == quantity


def test_a_default_that_follows_from_others_is_written_as_a_result() -> None:
    scene = scene_of(walkthrough(Scenarios.Gpt3CheckpointOn128Nodes, "overhead"), "saving_overhead")
    assert steps_of(scene, KNOWN) == ["save time δ = t_write = 42.6 s", "interval τ = τ_Young = 49.6 min"]


@pytest.mark.parametrize(("name", "asked"), [("fits", "Fits: yes or no?"), ("workload", "Workload: which?"), ("batch_size", "Batch size: how many?"), ("capacity_share", "Capacity share: what share?")])
def test_the_question_suits_the_answer(name: str, asked: str) -> None:
    assert steps_of(walkthrough(LORA, name).scenes[-1], QUESTION) == [asked]


# The bar.

def test_the_bar_grows_with_the_derivation() -> None:
    walk = walkthrough(MIXED, "total")
    grown = [[part.name for part in growth.parts] for scene in walk.scenes for growth in scene.growths]
    assert grown[:4] == [["weights"], ["weights", "gradients"], ["weights", "gradients", "master weights"], ["weights", "gradients", "master weights", "optimizer state"]]
    assert grown[-1] == grown[3]


@pytest.mark.parametrize("name", WITH_TOTAL)
def test_the_grown_bar_has_the_breakdown_s_parts_and_colours(name: str) -> None:
    scenario = getattr(Scenarios, name)
    (growth,) = scene_of(walkthrough(scenario, "total"), "total").growths
    full = bar(scenario)
    assert full is not None
    assert sorted((part.mark, part.size, part.fill) for part in growth.parts) == [(part.mark, part.size, part.fill) for part in full.parts]
    assert growth.size == pytest.approx(scenario.total.m_as("byte"))


def test_a_part_comes_with_the_quantity_that_it_names() -> None:
    """The gradients that the bar says are held are, in full tuning, the gradients."""
    full = bar(MIXED)
    assert full is not None
    (growth,) = scene_of(walkthrough(MIXED, "total"), "gradients").growths
    assert growth.new == {"gradients"}
    assert growth.parts[-1].fill == next(part.fill for part in full.parts if part.name == words("gradients_held"))


def test_there_is_no_bar_past_the_whole() -> None:
    assert scene_of(walkthrough(MIXED, "training_total"), "training_total").growths == ()


def test_a_slide_does_not_repeat_a_bar_that_has_not_grown() -> None:
    walk = walkthrough(Scenarios.Gpt3CheckpointOn128Nodes)
    slides = {BeautifulSoup(cell.source, "html.parser").h2.get_text(): cell.source for cell in walk.cells()[::2]}
    assert [title for title, slide in slides.items() if "mlsysim-bar" in slide] == ["Saving overhead", "Rework overhead", "Recovery overhead", "Overhead"]


# Two scenarios.

def test_a_comparison_tells_what_changes_and_what_stays() -> None:
    walk = walkthrough(compare(FP32, MIXED))
    assert [scene.title for scene in walk.scenes] == ["What is changed", "Weights", "Gradients", "Master weights", "What stays", "Side by side", "The verdict"]
    assert "bytes per value: 4 B → 2 B" in steps_of(walk.scenes[0], VALUE)
    assert steps_of(scene_of(walk, "weights"), VALUE) == ["6.0 GB → 3.0 GB, × 0.5"]
    assert str(scene_of(walk, "What stays").answer) == "optimizer state 12.0 GB; total 24.0 GB"


def test_a_comparison_tells_what_comes_and_what_falls_away() -> None:
    walk = walkthrough(compare(FULL, LORA), "total")
    assert str(scene_of(walk, "What stays").answer) == "weights 16.1 GB"
    assert "optimizer state 64.2 GB" in str(scene_of(walk, "What falls away").answer)
    assert steps_of(scene_of(walk, "adapter_state"), QUESTION) == ["New in the second. Adapter state: how many bytes?"]
    assert steps_of(scene_of(walk, "total"), VALUE) == [f"{FULL.figure_text('total')} → {LORA.figure_text('total')}, × 0.126"]


def test_a_variant_is_not_called_by_the_changes_that_are_asked_for() -> None:
    opening = walkthrough(compare(FP32, FP32.variant(bytes_per_value="2 byte"))).scenes[0]
    assert steps_of(opening, KNOWN) == ["first: Gpt2Fp32AdamOnH100", "second: a variant of it"]
    assert steps_of(opening, VALUE) == ["bytes per value: 4 B → 2 B"]


def test_many_changes_are_told_on_several_slides() -> None:
    """Inputs are what changed; the interval, say, is a default that follows from them."""
    walk = walkthrough(compare(Scenarios.Gpt3CheckpointOn128Nodes, Scenarios.Llama3_405BRunOn16384H100))
    changes = [[change.partition(":")[0] for change in steps_of(scene, VALUE)] for scene in walk.scenes[:2]]
    assert changes == [["devices", "observed failures", "observed devices", "observed time", "checkpoint size", "storage bandwidth"], ["training time"]]
    assert [scene.title for scene in walk.scenes[:2]] == ["What is changed", "What else is changed"]


def test_all_that_stays_is_told_on_as_many_slides_as_it_takes() -> None:
    run = TrainingMemoryModel().solve(Models.Language.Llama3_70B, Hardware.Cloud.H100, batch_size=512, seq_len=4096, tp_size=8, pp_size=4, dp_size=16)
    staying = [scene for scene in walkthrough(compare(run, run.variant(zero_stage=3))).scenes if scene.title in ("What stays", "What else stays")]
    told = [str(scene.answer).split("; ") for scene in staying]
    assert [len(values) for values in told[:-1]] == [8] * (len(told) - 1) and 1 <= len(told[-1]) <= 8 and len(told) > 1
    assert len({value for values in told for value in values}) == sum(map(len, told))


def test_bars_side_by_side_share_scale_letters_and_colours() -> None:
    before, after = scene_of(walkthrough(compare(FULL, LORA)), "Side by side").growths
    assert before.scale == after.scale
    looks = {(words(part.name.removeprefix("adapter ").removesuffix(" weights" if "master" in part.name else "")), part.mark, part.fill) for growth in (before, after) for part in growth.parts}
    assert len({mark for _, mark, _ in looks}) == len({fill for _, _, fill in looks}) == 5


# The widget.

def test_each_step_shows_one_thing_more_and_the_answer_last() -> None:
    walk = walkthrough(FP32, "total")
    for scene in walk.scenes:
        assert scene.title in walk.shown and str(scene.steps[-1].said.html) not in walk.shown
        for step in scene.reveals:
            assert f">{step.said.html}<" not in walk.shown
            walk.next()
            assert f">{step.said.html}<" in walk.shown
        walk.next()
    assert walk.position == walk.length - 1


def test_a_part_is_not_drawn_before_its_value() -> None:
    walk = walkthrough(FP32, "total")
    walk.jump("optimizer_state")
    assert "optimizer state 12.0" not in walk.shown and "gradients 6.0" in walk.shown


def test_back_jump_and_the_ends() -> None:
    walk = walkthrough(FP32, "total")
    walk.back()
    assert walk.position == 0
    walk.jump("total")
    walk.next()
    walk.back()
    assert "Total: how many bytes?" in walk.shown
    walk.jump(walk.length - 1)
    walk.next()
    assert walk.position == walk.length - 1
    with pytest.raises(InputError, match="'weight' is not told; it tells weights, gradients"):
        walk.jump("weight")
    with pytest.raises(InputError, match="there are positions 0 to"):
        walk.position = walk.length


def test_playing_goes_to_the_end_and_stops() -> None:
    async def play() -> list[int]:
        walk = walkthrough(FP32, "total", seconds=0)
        seen: list[int] = []
        ended = asyncio.Event()
        walk.observe(lambda change: (seen.append(change.new), ended.set() if change.new == walk.length - 1 else None), "position")
        walk.play()
        await ended.wait()
        await asyncio.sleep(0)
        assert seen == list(range(1, walk.length))
        walk.play()      # from the start again
        walk.pause()
        assert walk.position == 0
        return seen

    asyncio.run(play())


# Standing still.

@pytest.mark.parametrize("told", [FP32, LORA, compare(FULL, LORA)], ids=["full", "adapters", "comparison"])
def test_text_page_and_cells_say_every_step(told: Any) -> None:
    walk = walkthrough(told, "total")
    handout, page = walk.text(), BeautifulSoup(walk.page(), "html.parser")
    cells = "".join(cell.source for cell in walk.cells())
    for scene in walk.scenes:
        for step in scene.steps:
            assert str(step.said) in handout
            assert step.said.html in walk.page() and step.said.html in cells
    assert [heading.get_text() for heading in page.find_all("h2")] == [scene.title for scene in walk.scenes]
    assert not page.find_all(["script", "link", "img"])


def test_cells_become_slides() -> None:
    walk = walkthrough(FP32, "total")
    page, _ = SlidesExporter().from_notebook_node(new_notebook(cells=walk.cells()))
    slides = BeautifulSoup(page, "html.parser").select(".slides > section > section")
    assert [slide.h2.contents[0] for slide in slides] == [scene.title for scene in walk.scenes]
    for slide, scene in zip(slides, walk.scenes):
        assert len(slide.select("p.fragment")) == len(scene.reveals)
        assert slide.select_one("aside.notes") is not None


def test_what_a_notebook_saves_is_the_same_every_time() -> None:
    first, second = (walkthrough(FP32, "total")._repr_mimebundle_() for _ in range(2))
    for kind in ("text/plain", "text/html"):
        assert first[kind] == second[kind] and "24.0" in first[kind]
    assert repr(walkthrough(FP32, "total")) == first["text/plain"]


# What it refuses.

@pytest.mark.parametrize(("make", "message"), [
    (lambda: walkthrough(FP32, "totl"), "'totl' is no quantity of TrainingStateFitScenario; did you mean 'total'"),
    (lambda: walkthrough(FP32, "total", known=["weigths"]), "'weigths' is no quantity of TrainingStateFitScenario; did you mean 'weights'"),
    (lambda: walkthrough(MIXED, "activations_at"), "activations_at takes batch_size, and only quantities without arguments are told"),
    (lambda: walkthrough(FP32, "adapter_count"), "adapter_count has no value in this scenario"),
    (lambda: walkthrough(compare(FULL, LORA), "adapter_count"), "adapter_count has no value in this scenario"),
    (lambda: walkthrough(FP32, 24), r'name is the name of a quantity, not 24; write walkthrough\(scenario, "total"\)'),
    (lambda: walkthrough(FP32, "total", known="gradients"), r'known is a list of names, not \'gradients\'; write known=\["gradients"\]'),
    (lambda: walkthrough(FP32, "total", questions=["gradients"]), "questions are words for quantities by their names, not"),
    (lambda: walkthrough(FP32, "total", questions={"gradients": 3}), "questions are words for quantities by their names, not"),
    (lambda: walkthrough(FP32, "total", seconds=-1), "seconds is how long a step stays while it plays, not -1; write seconds=6"),
    (lambda: walkthrough(FP32, "total", seconds="6 s"), "seconds is how long a step stays while it plays, not '6 s'; write seconds=6"),
    (lambda: walkthrough(24), "tells a scenario or compare\\(a, b\\), not int 24"),
    (lambda: walkthrough(compare(FP32, MIXED, LORA)), "between two scenarios, not 3"),
    (lambda: walkthrough(Doubled(size="2 GB")), r"say which quantity of Doubled it leads to, such as walkthrough\(scenario, 'twice'\)"),
])  # fmt: skip
def test_errors_say_what_to_write(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_what_waits_cannot_be_told() -> None:
    with pytest.raises(MissingInputError, match="activations"):
        walkthrough(FP32, "training_total")

"""Plots: what is drawn against the package's numbers and published ones, and whether a person can read it, with eyes or without."""
from __future__ import annotations

import configparser
import io
import itertools
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from mlsysim import Hardware, InputError, MissingInputError, Models, Scenarios, Workload
from mlsysim.engine.bar import FILLS, bar
from mlsysim.engine.scenario_types import CheckpointIntervalScenario
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.notebook import plots
from mlsysim.units import units

GB = 1e9
RUN = TrainingMemoryModel().solve(Models.Language.Llama3_8B, Hardware.Cloud.H100, batch_size=8, dp_size=8, zero_stage=1)
SAVING = CheckpointIntervalScenario(devices=16384, observed_failures=419, observed_devices=16384, observed_time="54 day", save_time="30 s", recovery_time="10 minute")
FIT = Scenarios.Gpt2MixedPrecisionAdamOnH100      # 1.5e9 parameters: 3 GB of weights and of gradients, 6 GB of master copy, 12 GB of optimizer state
INTERVALS = units.Quantity([2.0**i for i in range(-1, 9)] + [512.0, 600.0, 700.0, 800.0], "minute")
PARTS = ("weights", "gradients", "optimizer_state", "activations", "communication_buffers")

PLOTS = {
    "stacked bars": lambda ax=None: plots.stacked_parts(RUN, batch_size=[8, 16, 32, 64, 128], ax=ax),
    "stacked areas": lambda ax=None: plots.stacked_parts(RUN, seq_len=range(512, 16385, 512), ax=ax),
    "stacked areas without a wall": lambda ax=None: plots.stacked_parts(SAVING, interval=INTERVALS, ax=ax),
    "bars of devices": lambda ax=None: plots.stacked_parts(RUN, hardware=[Hardware.Cloud.A100, Hardware.Cloud.H100, Hardware.Cloud.H200], ax=ax),
    "twelve bars": lambda ax=None: plots.stacked_parts(RUN, batch_size=range(8, 97, 8), ax=ax),
    "bars that cannot be": lambda ax=None: plots.stacked_parts(RUN, tp_size=[1, 2, 3, 4], ax=ax),
    "ZeRO stages": lambda ax=None: plots.zero_stages(RUN, ax=ax),
    "waterfall": lambda ax=None: plots.waterfall(RUN, ax=ax),
    "waterfall beyond the wall": lambda ax=None: plots.waterfall(Scenarios.Llama2_7BMixedPrecisionAdam, ax=ax),
    "waterfall without a wall": lambda ax=None: plots.waterfall(SAVING, ax=ax),
    "map": lambda ax=None: plots.feasibility_map(RUN, batch_size=[8, 16, 32, 64, 128, 256], seq_len=[1024, 2048, 4096, 8192, 16384], ax=ax),
    "map with impossible cells": lambda ax=None: plots.feasibility_map(RUN, tp_size=[1, 2, 3, 4], pp_size=[1, 2, 4, 64], ax=ax),
    "large map": lambda ax=None: plots.feasibility_map(RUN, batch_size=range(8, 521, 8), seq_len=range(256, 8193, 256), ax=ax),
    "curves": lambda ax=None: plots.curves(SAVING, "wasted_share", "expected_waste", interval=INTERVALS, ax=ax),
}


@pytest.fixture(params=PLOTS)
def drawn(request):
    return PLOTS[request.param]()


def stacks(ax):
    """Heights of stacked bars: one list a part, from below."""
    return [[patch.get_height() for patch in container] for container in ax.containers]


def walls(ax):
    """Heights of the lines that run across."""
    return [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--" and list(line.get_xdata()) == [0, 1]]


# Published numbers.

def test_zero_stages_are_the_published_ones():
    """Rajbhandari et al. 2020, figure 1: 7.5 billion parameters on 64 GPUs, mixed precision with Adam: 120, 31.4, 16.6 and 1.9 GB."""
    run = TrainingMemoryModel().solve(Workload(name="7.5B", parameters=7.5e9), Hardware.Cloud.V100, batch_size=64, dp_size=64)
    ax = plots.zero_stages(run, parts=("weights", "gradients", "optimizer_state"), whole="model_state")
    tops = [sum(column) for column in zip(*stacks(ax))]
    assert [round(top, 1) for top in tops] == [120.0, 31.4, 16.6, 1.9]
    assert "120 GB at 0, 31.4 GB at 1, 16.6 GB at 2, 1.88 GB at 3" in plots.in_words(ax).alternative_text
    assert ax.get_xlabel() == "ZeRO stage" and ax.get_ylabel() == "model state (GB)"


def test_waterfall_of_the_textbooks_first_example():
    """GPT-2 with 1.5 billion parameters in FP32 with Adam holds 6, 6 and 12 GB, 24 GB in all, of an H100's 80 GiB."""
    ax = plots.waterfall(Scenarios.Gpt2Fp32AdamOnH100)
    assert [patch.get_x() for patch in ax.patches] == pytest.approx([0, 6, 12, 0])
    assert [patch.get_width() for patch in ax.patches] == pytest.approx([6, 6, 12, 24])
    (wall,) = [line.get_xdata()[0] for line in ax.lines if list(line.get_ydata()) == [0, 1]]
    assert wall == pytest.approx(80 * 2**30 / GB)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["weights", "gradients held", "optimizer state held", "total"]
    assert {"6.0 GB", "+ 6.0 GB", "+ 12.0 GB", "24.0 GB", "capacity 85.9 GB (80 GiB)"} <= {text.get_text() for text in ax.texts}
    assert "61.9 GB free" in ax.get_title(loc="left")


def test_overhead_is_least_where_young_says():
    intervals = units.Quantity([SAVING.young_interval.m_as("minute") * 1.1**i for i in range(-20, 21)], "minute")
    ax = plots.curves(SAVING, "overhead", interval=intervals)
    line, least = ax.lines[0], ax.lines[1]
    assert least.get_xdata()[0] == pytest.approx(SAVING.young_interval.m_as("minute"))
    assert least.get_ydata()[0] == pytest.approx(100 * SAVING.least_overhead) == min(line.get_ydata())
    assert f"least at interval {SAVING.young_interval.m_as('minute'):.1f} min" in ax.get_title(loc="left")


# The package's own numbers.

def test_stacked_bars_are_the_scenarios_parts():
    batches = [8, 16, 32, 64, 128]
    ax = PLOTS["stacked bars"]()
    for batch, column in zip(batches, zip(*stacks(ax)), strict=True):
        scenario = RUN.variant(batch_size=batch)
        assert column == pytest.approx([getattr(scenario, part).m_as("GB") for part in PARTS])
        assert sum(column) == pytest.approx(scenario.total_memory.m_as("GB"))
    assert walls(ax) == pytest.approx([RUN.available_memory.m_as("GB")])
    bottoms = [[patch.get_y() for patch in container] for container in ax.containers]
    assert bottoms[2] == pytest.approx([a + b for a, b in zip(stacks(ax)[0], stacks(ax)[1])])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["8", "16", "32", "64", "128"]
    last_that_fits = max(batch for batch in batches if RUN.variant(batch_size=batch).feasible)
    assert ax.get_title(loc="left") == f"Fits up to batch size {last_that_fits}"
    over = [text.get_text() for text in ax.texts if text.get_text().endswith("over")]
    assert len(over) == sum(not RUN.variant(batch_size=batch).feasible for batch in batches)


def test_stacked_areas_are_the_scenarios_parts():
    ax = PLOTS["stacked areas"]()
    lengths = list(range(512, 16385, 512))
    wholes = [RUN.variant(seq_len=length).total_memory.m_as("GB") for length in lengths]
    top = ax.collections[-1].get_paths()[0].vertices
    assert [max(y for x, y in top if x == length) for length in lengths] == pytest.approx(wholes)
    last = max(length for length in lengths if RUN.variant(seq_len=length).feasible)
    assert [line.get_xdata()[0] for line in ax.lines if list(line.get_ydata()) == [0, 1]] == [last]
    assert ax.get_title(loc="left") == f"Fits up to seq len {last:,}"


def test_every_device_has_its_own_wall():
    ax = PLOTS["bars of devices"]()
    heights = [segment[0][1] for collection in ax.collections for segment in collection.get_segments()]
    assert heights == pytest.approx([device.memory.capacity.m_as("GB") for device in (Hardware.Cloud.A100, Hardware.Cloud.H100, Hardware.Cloud.H200)])


def test_parts_that_a_run_does_not_have_are_left_out():
    """Full tuning has no adapters, and their absence keeps nobody from drawing it."""
    ax = plots.stacked_parts(FIT, bytes_per_value=["2 byte", "4 byte"])
    assert stacks(ax) == [pytest.approx(heights) for heights in ([3, 6], [3, 6], [6, 6], [12, 12])]
    assert "24.0 GB at 2, 30.0 GB at 4" in ax.alternative_text
    adapted = plots.stacked_parts(FIT, adapter_parameters=[None, 7_500_000])
    assert "adapter weights" in adapted.alternative_text and "24.0 GB at none, 3.12 GB at 7,500,000" in adapted.alternative_text
    with pytest.raises(InputError, match="adapter_weights needs adapter_parameters"):      # asked for by name
        plots.stacked_parts(FIT, parts=("weights", "adapter_weights"), whole="total", bytes_per_value=["2 byte"])


def test_values_left_out_are_drawn_too():
    ax = plots.stacked_parts(FIT, master_bytes_per_parameter=[None, "4 byte"])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["none", "4"] and "18.0 GB at none, 24.0 GB at 4" in ax.alternative_text
    bars = plots.stacked_parts(FIT, hardware=[Hardware.Edge.Jetson_Orin_Nano_8, Hardware.Cloud.H100, None])
    assert [row[-2:] for row in bars.in_numbers.rows] == [("8.59 GB", "no"), ("85.9 GB", "yes"), ("", "")]
    assert ["over" in text.get_text() for text in bars.texts[:3]] == [True, False, False]
    cells = plots.feasibility_map(FIT, hardware=[Hardware.Edge.Jetson_Orin_Nano_8, Hardware.Cloud.H100, None], batch_size=[8])
    assert cells.in_numbers.rows[0][1:] == ("279 %, does not", "28 %, fits", "not possible")


def test_one_value_is_a_point():
    ax = plots.curves(SAVING, "overhead", interval=["10 minute"])
    assert ax.lines[0].get_marker() == "o" and ax.alternative_text.count("10 min") == 1
    ax._repr_mimebundle_()


def test_what_cannot_be_has_no_bar_and_says_why():
    ax = PLOTS["bars that cannot be"]()
    assert [sum(column) > 0 for column in zip(*stacks(ax))] == [True, True, False, True]
    assert "not possible" in [text.get_text() for text in ax.texts]
    with pytest.raises(InputError) as refusal:
        RUN.variant(tp_size=3)
    assert f"Not possible at 3: {refusal.value}" in plots.in_words(ax).alternative_text


def feasible(**changes):
    try:
        return RUN.variant(**changes).feasible
    except InputError:
        return None


def test_map_is_what_each_scenario_says():
    tensor, pipeline = [1, 2, 3, 4], [1, 2, 4, 64]
    ax = PLOTS["map with impossible cells"]()
    looks = {to_hex(FILLS[0]): True, to_hex(FILLS[1]): False, to_hex("white"): None}
    for row, up in enumerate(pipeline):
        for column, across in enumerate(tensor):
            (state,) = [looks[to_hex(patch.get_facecolor())] for patch in ax.patches
                        if patch.get_y() < row < patch.get_y() + 1 and patch.get_x() < column < patch.get_x() + patch.get_width()]
            assert state == feasible(tp_size=across, pp_size=up)
    for impossible in ({"tp_size": 3}, {"pp_size": 64}):
        with pytest.raises(InputError) as refusal:
            RUN.variant(**impossible)
        assert str(refusal.value) in plots.in_words(ax).alternative_text


def test_map_writes_shares_and_draws_the_border():
    batches, lengths = [8, 16, 32, 64, 128, 256], [1024, 2048, 4096, 8192, 16384]
    ax = PLOTS["map"]()
    written = {text.get_position(): text.get_text() for text in ax.texts}
    borders = {(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in ax.lines}
    for row, length in enumerate(lengths):
        for column, batch in enumerate(batches):
            scenario = RUN.variant(batch_size=batch, seq_len=length)
            assert float(written[column, row].rstrip(" %").replace(",", "")) == pytest.approx(100 * scenario.memory_utilization, abs=0.5)
            if column:
                changes = scenario.feasible != RUN.variant(batch_size=batches[column - 1], seq_len=length).feasible
                assert (((column - 0.5, column - 0.5), (row - 0.5, row + 0.5)) in borders) == changes
    fitting = sum(RUN.variant(batch_size=b, seq_len=s).feasible for b, s in itertools.product(batches, lengths))
    assert ax.get_title(loc="left") == f"Fits at {fitting} of 30 combinations of batch size and seq len"


def test_curves_are_the_scenarios_values():
    ax = PLOTS["curves"]()
    minutes = INTERVALS.m_as("minute")
    assert list(ax.lines[0].get_xdata()) == pytest.approx(list(minutes))
    assert list(ax.lines[0].get_ydata()) == pytest.approx([100 * SAVING.variant(interval=f"{m} minute").wasted_share for m in minutes])
    assert ax.get_xlabel() == "interval (min)" and ax.get_ylabel() == "wasted share and expected waste (%)"


# Words and numbers.

def test_the_words_state_the_numbers():
    said = plots.in_words(PLOTS["stacked bars"]()).alternative_text
    for batch in (8, 16, 32, 64, 128):
        assert f"{RUN.variant(batch_size=batch).figure_text('total_memory')} at {batch}" in said
    assert "Fits up to batch size 32." in said and "Capacity 85.9 GB (80 GiB)." in said
    assert f"activations {RUN.variant(batch_size=128).figure_text('activations')}" in said


def test_the_table_holds_the_drawn_numbers():
    table = plots.in_words(PLOTS["ZeRO stages"]()).numbers
    assert table.heads == ("ZeRO stage", "weights", "gradients", "optimizer state", "activations", "communication buffers", "total memory", "capacity", "fits")
    for stage, row in enumerate(table.rows):
        scenario = RUN.variant(zero_stage=stage)
        assert row == (str(stage), *(scenario.figure_text(part) for part in PARTS), scenario.figure_text("total_memory"), "85.9 GB", "yes" if scenario.feasible else "no")


def test_long_tables_keep_the_telling_rows():
    table = plots.in_words(PLOTS["stacked areas"]()).numbers
    lengths = [row[0] for row in table.rows]
    assert len(lengths) < 32 and {"512", "16,384", "8,704", "9,216"} <= set(lengths)


def test_every_plot_says_itself(drawn):
    said = plots.in_words(drawn)
    assert re.search(r"\d", said.alternative_text) and said.alternative_text.endswith(".") and "nan" not in said.text()
    assert drawn.alternative_text == said.alternative_text
    assert drawn.get_title(loc="left") in said.alternative_text
    data, metadata = drawn._repr_mimebundle_()
    assert data["text/plain"] == said.text() == repr(drawn)
    assert unescape(re.search(r'<img [^>]*alt="([^"]*)"', data["text/html"]).group(1)) == said.alternative_text
    assert metadata["image/png"]["alt"] == said.alternative_text
    assert Image.open(io.BytesIO(data["image/png"])).info["Description"] == said.alternative_text
    assert len(data["image/png"]) < 60_000


def test_a_saved_notebook_is_compared_by_words_and_numbers_only():
    cleaner = configparser.ConfigParser()
    cleaner.read(Path(__file__).parent / "pictures.cfg")
    html = PLOTS["waterfall"]()._repr_mimebundle_()[0]["text/html"]
    left = re.sub(cleaner["picture"]["regex"], cleaner["picture"]["replace"], html)
    assert "base64" not in left and "54.1 GB of 85.9 GB" in left and len(left) < 5_000


def test_axes_of_others_have_no_words():
    with pytest.raises(TypeError, match="not drawn by mlsysim.notebook.plots"):
        plots.in_words(Figure().add_subplot())


# Reading it with eyes.

def writings(ax):
    """Every text of the figure with the box it takes, as drawn."""
    figure = ax.figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    legend = ax.get_legend()
    ticks = [label for axis in (ax.xaxis, ax.yaxis) for tick in axis.get_major_ticks() for label in (tick.label1,)
             if axis.get_view_interval().min() - 1e-9 <= tick.get_loc() <= axis.get_view_interval().max() + 1e-9]
    texts = [*ax.texts, *ticks, ax.xaxis.label, ax.yaxis.label, ax._left_title, ax.title, *(legend.get_texts() if legend else [])]
    return [(text, text.get_window_extent(renderer)) for text in texts if text.get_text() and text.get_visible()], figure.bbox


def test_no_writing_overlaps_or_is_cut_off_or_is_small(drawn):
    boxes, paper = writings(drawn)
    assert all(text.get_fontsize() >= 10 for text, _ in boxes)
    for text, box in boxes:
        assert paper.x0 <= box.x0 and box.x1 <= paper.x1 and paper.y0 <= box.y0 and box.y1 <= paper.y1, f"{text.get_text()!r} is cut off"
    for (one, box), (other, second) in itertools.combinations(boxes, 2):
        overlap = min(box.x1, second.x1) - max(box.x0, second.x0), min(box.y1, second.y1) - max(box.y0, second.y0)
        assert min(overlap) <= 0.5, f"{one.get_text()!r} over {other.get_text()!r}"


def test_parts_have_the_colours_of_the_breakdown_and_a_hatch_each():
    ax = PLOTS["stacked bars"]()
    looks = [(to_hex(container[0].get_facecolor()), container[0].get_hatch() or "") for container in ax.containers]
    assert [container.get_label() for container in ax.containers] == [part.name for part in bar(RUN).parts]
    assert [fill for fill, _ in looks] == [fill.lower() for fill in FILLS[:len(looks)]]
    assert len({hatch for _, hatch in looks}) == len(looks)
    shown = re.findall(r"background(?:-color)?:(#\w{6})", RUN._repr_html_())
    assert [fill.lower() for fill in dict.fromkeys(shown)][:len(looks)] == [fill for fill, _ in looks]


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_draws_on_the_readers_axes(name):
    figure = Figure(figsize=(9, 5))
    ax = figure.add_subplot(1, 2, 1)
    assert PLOTS[name](ax) is ax
    assert figure.axes == [ax] and plots.in_words(ax).alternative_text


def test_own_figures_are_light_in_any_style():
    style = {"figure.facecolor": "black", "axes.facecolor": "black", "text.color": "white", "savefig.transparent": True}
    with matplotlib.rc_context(style):
        ax = PLOTS["ZeRO stages"]()
        assert all(matplotlib.rcParams[name] == value for name, value in style.items())
        picture = Image.open(io.BytesIO(ax._repr_mimebundle_()[0]["image/png"])).convert("RGB")
    assert picture.getpixel((2, 2)) == (255, 255, 255)
    assert all(to_hex(text.get_color()) == "#1a1a1a" for text in [*ax.texts, *ax.get_xticklabels(), ax.title])


# Errors, and what is brought in.

@pytest.mark.parametrize(("call", "words"), [
    (lambda: plots.stacked_parts(RUN), "takes the values of one input; write stacked_parts(scenario"),
    (lambda: plots.stacked_parts(RUN, batch_size=[1], seq_len=[1]), "takes the values of one input"),
    (lambda: plots.stacked_parts(RUN, bacth_size=[8]), "did you mean 'batch_size'"),
    (lambda: plots.stacked_parts(RUN, tp_size=[3, 5]), "tp_size"),
    (lambda: plots.stacked_parts(SAVING, parts=("nothing",), whole="overhead", interval=INTERVALS), "has no quantity called 'nothing'"),
    (lambda: plots.stacked_parts(RUN, tp_size=[]), "tp_size has no values to draw; write tp_size=[...]"),
    (lambda: plots.feasibility_map(RUN, tp_size=[8], pp_size=[]), "pp_size has no values to draw"),
    (lambda: plots.feasibility_map(FIT.variant(hardware=None), batch_size=[8], bytes_per_value=["2 byte"]), "hardware is absent, so nothing can be said of fits"),
    (lambda: plots.curves(SAVING, "overhead", interval=[]), "interval has no values to draw"),
    (lambda: plots.curves(RUN, "feasible", tp_size=[1, 8]), "feasible is no number"),
    (lambda: plots.zero_stages(SAVING), "has no zero_stage"),
    (lambda: plots.feasibility_map(RUN, batch_size=[8]), "takes the values of two inputs"),
    (lambda: plots.feasibility_map(RUN, holds="weights", batch_size=[8], seq_len=[8]), "is no yes or no; write holds="),
    (lambda: plots.feasibility_map(SAVING, save_time=["1 s"], interval=["1 minute"]), "is no yes or no"),
    (lambda: plots.curves(SAVING, interval=INTERVALS), "curves takes quantities"),
    (lambda: plots.curves(SAVING, "overhead", "lost_work", interval=INTERVALS), "draw each in axes of its own"),
    (lambda: plots.curves(RUN, "weights", precision=["fp16", "fp32"]), "takes rising numbers"),
])
def test_refused(call, words):
    with pytest.raises(InputError) as refusal:
        call()
    assert words in str(refusal.value)


def test_waterfall_of_a_whole_that_waits():
    with pytest.raises(MissingInputError, match="write save_time="):
        plots.waterfall(SAVING.variant(save_time=None))


def test_without_pandas():
    script = ("import sys; sys.modules['pandas'] = None\n"
              "from mlsysim import Hardware, Models\nfrom mlsysim.engine.solver import TrainingMemoryModel\nfrom mlsysim.notebook import plots\n"
              "run = TrainingMemoryModel().solve(Models.Language.Llama3_8B, Hardware.Cloud.H100, batch_size=8, dp_size=8)\n"
              "print(plots.zero_stages(run).alternative_text)\n"
              "print(plots.feasibility_map(run, tp_size=[1, 3], batch_size=[8, 16]).alternative_text)\n"
              "assert 'matplotlib.pyplot' not in sys.modules\n")
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == plots.in_words(PLOTS["ZeRO stages"]()).alternative_text
    assert "not possible" in said[1]


def test_matplotlib_comes_in_when_a_plot_is_asked_for():
    script = "import sys, mlsysim, mlsysim.notebook; assert 'matplotlib' not in sys.modules; import mlsysim.notebook.plots; assert 'matplotlib' in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)

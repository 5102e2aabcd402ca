"""The catalogue: its facts against published figures, their citations, and how a person finds and reads them."""
from __future__ import annotations

import html.parser
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from mlsysim import Hardware, HardwareNode, InputError, Memory, MissingInputError, Models, Workload
from mlsysim.engine.catalogue import UnknownEntryError, citations
from mlsysim.engine.record import Record
from mlsysim.hardware import Compute, Link
from mlsysim.models import EncoderDecoder, ResNet, VisionTransformer

FACTS = Path(__file__).parent / "facts"
ROWS = [row for row in json.loads((FACTS / "oracles.json").read_text(encoding="utf-8")) if row["check"] == "equal"]
COUNTS = {name: (count, source) for source, counts in json.loads((FACTS / "parameter_counts.json").read_text(encoding="utf-8")).items() for name, count in counts.items()}
GROUPS = [Models.Language, Models.Vision, Hardware.Cloud, Hardware.Workstation, Hardware.Edge, Hardware.Mobile, Hardware.Tiny, Hardware.Links]
ENTRIES = [entry for group in GROUPS for entry in group]
WORKLOADS = [entry for entry in ENTRIES if isinstance(entry, Workload)]
DEVICES = [entry for entry in ENTRIES if isinstance(entry, HardwareNode)]


def rows(*starts: str) -> list:
    return [pytest.param(row, id=row["id"]) for row in ROWS if row["id"].startswith(starts)]


def by_address(entries: list) -> list:
    return [pytest.param(entry, id=entry.address) for entry in entries]


def counted(workload: Workload) -> int | None:
    try:
        return workload.counted_parameters.m_as("count")
    except MissingInputError:
        return None


# Facts.

@pytest.mark.parametrize("row", rows("PAR-"))
def test_count_of_published_model(row: dict) -> None:
    name = row["id"].removeprefix("PAR-")
    if name.endswith("-active"):
        assert Models.find(name.removesuffix("-active")).counted_active_parameters.m_as("count") == row["value"]
    else:
        assert Models.find(name).counted_parameters.m_as("count") == row["value"]


@pytest.mark.parametrize("row", rows("PAR-"))
def test_architecture_of_published_model(row: dict) -> None:
    workload = Models.find(row["id"].removeprefix("PAR-").removesuffix("-active"))
    names = {"L": "layers", "h": "hidden_dim", "a": "heads", "kv": "kv_heads", "ffn": "feedforward_dim", "vocab": "vocabulary", "ctx": "context_length", "tied": "tied_embeddings",
             "experts": "experts", "topk": "experts_per_token", "pos": "context_length", "type": "token_types", "pooler": "pooler", "classes": "classes"}
    stated = {names[key]: value for key, value in row["inputs"].items() if key in names}
    assert {name: getattr(workload, name) for name in stated} == stated


@pytest.mark.parametrize("row", rows("FILE-"))
def test_file_holds_two_bytes_a_parameter(row: dict) -> None:
    assert 2 * Models.find(row["inputs"]["model"]).counted_parameters.m_as("count") == pytest.approx(row["value"], rel=row["tolerance_rel"])


@pytest.mark.parametrize("name", COUNTS)
def test_count_agrees_with_another_library(name: str) -> None:
    count, source = COUNTS[name]
    assert Models.find(name).counted_parameters.m_as("count") == count, source


def hardware_fact(row: dict) -> float:
    if "link" in row["inputs"]:
        return Hardware.Links.find(row["inputs"]["link"]).bandwidth_per_direction.m_as("GB/s")
    device = Hardware.find(row["inputs"]["device"])
    match row["quantity"]:
        case "memory, marketing figure": return device.memory.capacity.m_as("GiB")
        case "memory bandwidth": return device.memory.bandwidth.m_as("GB/s")
        case "peak dense throughput": return getattr(device.compute, row["inputs"]["dtype"]).m_as("TFLOP/s")
        case "board power": return device.power.m_as("watt")
        case "NVLink duplex bandwidth per GPU" | "ICI bandwidth": return device.link.duplex_bandwidth.m_as("GB/s")
        case "total memory shown by nvidia-smi": return device.memory.driver_visible.m_as("MiB")
        case '"total capacity" in torch OOM messages': return device.memory.framework_visible.m_as("GiB")
    assert row["quantity"].startswith("SRAM KB")
    return device.memory.capacity.m_as("KiB")


@pytest.mark.parametrize("row", rows("HW-", "CAP-"))
def test_published_hardware_fact(row: dict) -> None:
    assert hardware_fact(row) == pytest.approx(row["value"], rel=max(row["tolerance_rel"], 1e-12))


@pytest.mark.parametrize("case", json.loads((FACTS / "training_state_fit.json").read_text(encoding="utf-8")), ids=lambda case: case["name"])
def test_workload_and_hardware_of_published_case_are_in_the_catalogue(case: dict) -> None:
    facts = case["inputs"]["workload"]
    found = [w for w in WORKLOADS if w.name == facts["name"]]
    assert [(w.parameters.m_as("count"), w.layers, w.hidden_dim) for w in found] == [(facts["parameters"]["value"], facts["layers"], facts["hidden_dim"])]
    if (device := case["inputs"].get("hardware")) is not None:
        kept = [d.memory for d in DEVICES if d.name == device["name"]]
        assert [(m.capacity.m_as("GiB"), m.bandwidth.m_as("TB/s")) for m in kept] == [(device["memory.capacity"]["value"], device["memory.bandwidth"]["value"])]


def test_the_textbook_keeps_its_rounded_counts() -> None:
    stated = {"GPT2": 1.5e9, "GPT3": 175e9, "Llama2_7B": 7e9, "Llama3_8B": 8.03e9, "Llama3_70B": 70.6e9, "Llama3_405B": 405e9, "Mixtral_8x7B": 46.7e9}
    assert {name: getattr(Models.Language, name).parameters.m_as("count") for name in stated} == stated


@pytest.mark.parametrize("workload", by_address([w for w in WORKLOADS if counted(w) is not None]))
def test_stated_count_is_a_rounding_of_the_counted_one(workload: Workload) -> None:
    assert workload.parameters.m_as("count") == pytest.approx(counted(workload), rel=0.04)


@pytest.mark.parametrize("workload", by_address([w for w in WORKLOADS if counted(w) is not None]))
def test_parts_add_up_to_the_stated_count(workload: Workload) -> None:
    parts = workload.embedding_parameters + workload.layer_parameters + workload.expert_parameters
    assert parts.m_as("count") == pytest.approx(workload.parameters.m_as("count"), rel=1e-12)
    assert (workload.dense_parameters + workload.expert_parameters).m_as("count") == pytest.approx(workload.parameters.m_as("count"), rel=1e-12)


@pytest.mark.parametrize("device", by_address(DEVICES))
def test_software_sees_no_more_memory_than_there_is(device: HardwareNode) -> None:
    memory = device.memory
    seen = [m.m_as("GiB") for m in (memory.framework_visible, memory.driver_visible, memory.capacity) if m is not None]
    assert all(below <= above + 0.005 for below, above in zip(seen, seen[1:]))      # messages print hundredths


@pytest.mark.parametrize("entry", by_address(ENTRIES))
def test_every_fact_has_a_citation(entry: Record) -> None:
    cited = citations(entry)
    for name in entry.given_inputs():
        held = entry.at(name)
        if isinstance(held, Record) and not held.address:
            assert {f"{name}.{inner}" for inner in held.given_inputs()} <= cited.keys()
        elif name != "name":
            assert name in cited
    assert all(" " in source and ": " in source for source in cited.values())


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group._address)
def test_every_reference_is_used(group) -> None:
    data = group._loaded()
    assert set(data["references"]) == {fact["from"] for entry in data["entries"].values() for fact in entry["facts"]}


# Finding.

def test_an_entry_is_its_address() -> None:
    assert repr(Models.Language.GPT2) == "Models.Language.GPT2"
    for entry in ENTRIES:
        assert eval(repr(entry), {"Models": Models, "Hardware": Hardware}) is entry


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group._address)
def test_every_name_and_alias_leads_to_one_entry(group) -> None:
    for spelling, key in group._names():
        assert group.find(spelling) is getattr(group, key)


@pytest.mark.parametrize(("name", "address"), [
    ("H100 PCIe", "Hardware.Cloud.H100_PCIe"), ("nvidia h100", "Hardware.Cloud.H100"), ("A100-80", "Hardware.Cloud.A100"), ("A100 80GB", "Hardware.Cloud.A100"), ("rtx 3060 12", "Hardware.Workstation.RTX_3060"),
    ("TPU v6e", "Hardware.Cloud.TPU_v6e"), ("GB200 (per GPU)", "Hardware.Cloud.GB200"), ("V100-16 (16160 MiB)", "Hardware.Cloud.V100")])
def test_hardware_is_found_however_it_is_written(name: str, address: str) -> None:
    assert Hardware.find(name).address == address


@pytest.mark.parametrize(("name", "address"), [
    ("gpt2", "Models.Language.GPT2_Small"), ("GPT2", "Models.Language.GPT2"), ("gpt2-xl", "Models.Language.GPT2_XL"), ("Qwen3 8B", "Models.Language.Qwen3_8B"),
    ("llama3.1-405b", "Models.Language.Llama3_405B"), ("mistral-7b-v0.1", "Models.Language.Mistral_7B"), ("vit_b_16", "Models.Vision.ViT_B_16")])
def test_a_workload_is_found_however_it_is_written(name: str, address: str) -> None:
    assert Models.find(name).address == address


@pytest.mark.parametrize(("look", "says"), [
    (lambda: Models.Language.GPT22, "Models.Language has no 'GPT22'; did you mean Models.Language.GPT2?"),
    (lambda: Models.Language.Llama3_1_8B, "did you mean Models.Language.Llama3_8B?"),
    (lambda: Models.Langage, "Models has no 'Langage'; did you mean Models.Language?"),
    (lambda: Models.ResNet50, "did you mean Models.Vision.ResNet50?"),
    (lambda: Hardware.H100, "did you mean Hardware.Cloud.H100?"),
    (lambda: Hardware.Cloud.xyzzy, "show Hardware.Cloud to see its"),
    (lambda: Models.find("qwen3-9b"), "did you mean Models.Language.Qwen3_8B?"),
    (lambda: Hardware.find("xyzzy"), "show Hardware to see what there is"),
    (lambda: Models.find("GPT-2"), "several fit; write one of Models.Language.GPT2, Models.Language.GPT2_Small"),
    (lambda: Models.find(""), "no entry has that name")])
def test_a_miss_suggests_the_near_name(look, says: str) -> None:
    with pytest.raises(UnknownEntryError) as error:
        look()
    assert says in str(error.value)
    assert isinstance(error.value, AttributeError) and isinstance(error.value, LookupError)


def test_names_complete() -> None:
    assert {"Language", "Vision", "find"} <= set(dir(Models))
    assert {"Cloud", "Workstation", "Edge", "Mobile", "Tiny", "Links", "find"} <= set(dir(Hardware))
    assert {"GPT2", "Mixtral_8x7B", "find"} <= set(dir(Models.Language))
    assert "GPT2" in Models.Language and "GPT9" not in Models.Language


LAZY = """
import sys
opened = []
sys.addaudithook(lambda event, arguments: event == "open" and str(arguments[0]).endswith(".json") and opened.append(str(arguments[0])))
import mlsysim
from mlsysim import Hardware, Models
dir(Models), Models.Language, Hardware.Cloud, getattr(Models, "_repr_mimebundle_", None), getattr(Hardware.Cloud, "_ipython_display_", None)
assert not opened, opened
assert Hardware.Cloud.H100.link.name == "NVLink 4"
assert sorted(path.replace("\\\\", "/").rpartition("/")[2] for path in opened) == ["cloud.json", "links.json"], opened
"""


def test_data_is_read_on_first_use() -> None:
    run = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, cwd=Path(__file__).resolve().parents[1])
    assert run.returncode == 0, run.stderr


# Showing.

CELLS = {"td", "th", "caption"}


class Shown(html.parser.HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)
        if tag in CELLS:
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if CELLS & set(self.open):
            self.cells[-1] += data


@pytest.mark.parametrize("shown", [*GROUPS, Models, Hardware], ids=lambda shown: shown._address)
def test_a_table_says_the_same_in_html_and_text(shown) -> None:
    page = Shown(shown._repr_html_())
    assert not page.open
    assert page.tags <= {"div", "table", "caption", "b", "thead", "tbody", "tr", "th", "td"}
    words = [word for line in repr(shown).splitlines() for word in line.split()]
    assert " ".join(page.cells).split() == words


def test_a_group_shows_every_entry() -> None:
    for group in GROUPS:
        lines = repr(group).splitlines()
        assert [line.split()[0] for line in lines[2:]] == list(group._entries())
    line = next(line for line in repr(Models.Language).splitlines() if line.startswith("GPT2 "))
    assert "1,500,000,000" in line and "1,557,611,200" in line
    line = next(line for line in repr(Hardware.Cloud).splitlines() if line.startswith("H100 "))
    assert " ".join(line.split()) == "H100 NVIDIA H100 80 GiB 3,350 GB/s 67 TFLOP/s 989 TFLOP/s 1,979 TFLOP/s 700 W"


@pytest.mark.parametrize("entry", by_address([Models.Language.Mixtral_8x7B, Models.Vision.ResNet50, Models.Language.T5_Small, Models.Language.DeepSeek_V3, Hardware.Cloud.H100,
                                              Hardware.Tiny.ESP32, Hardware.Links.NVLink_4]))
def test_a_card_gives_each_fact_and_its_citation(entry: Record) -> None:
    text = str(entry)
    page = Shown(entry._repr_html_())      # type: ignore[attr-defined]
    assert not page.open and not page.tags & {"style", "svg", "script", "math"}
    for source in citations(entry).values():
        assert source in text and source in page.cells


# Records.

@pytest.mark.parametrize("entry", by_address(ENTRIES))
def test_an_entry_travels(entry: Record) -> None:
    again = pickle.loads(pickle.dumps(entry))
    assert again == entry and hash(again) == hash(entry) and again.address == entry.address and citations(again) == citations(entry)
    written = type(entry).from_dict(json.loads(json.dumps(entry.to_dict())))
    assert written == entry and written.sources == entry.sources


def test_a_reader_states_a_workload_or_a_device_in_a_line() -> None:
    mine = Workload(name="mine", parameters="3e9 parameter", layers=28)
    assert mine.parameters.to("count").magnitude == 3e9 and mine.layers == 28 and mine.active_parameters == mine.parameters
    device = HardwareNode(name="mine", memory=Memory(capacity="24 GiB", bandwidth="1 TB/s"))
    assert device.memory.capacity.m_as("byte") == 24 * 2**30 and device.compute is None and device.flash is None
    assert HardwareNode(name="board", memory=Memory(capacity="256 KiB", technology="SRAM"), flash="1 MiB", compute=Compute(int8="1 GFLOP/s"),
                        link=Link(name="wire", bandwidth_per_direction="1 GB/s")).link.duplex_bandwidth.m_as("GB/s") == 2


def test_an_architecture_gives_the_count_where_none_is_stated() -> None:
    mine = Workload(name="mine", layers=12, hidden_dim=768, heads=12, vocabulary=50257, context_length=1024)
    assert mine.parameters == mine.counted_parameters and mine.parameters.m_as("count") == 124439808
    assert (mine.kv_heads, mine.head_dim, mine.feedforward_dim, mine.learned_positions) == (12, 64, 3072, 1024)
    assert math.isclose(mine.variant(parameters="1e8 parameter").layer_parameters.m_as("count"), 1e8 * 12 * 7087872 / 124439808)


def test_what_an_architecture_lacks_is_named() -> None:
    with pytest.raises(MissingInputError, match="vocabulary.*write vocabulary="):
        Workload(name="mine", parameters="8e9 parameter", layers=32, hidden_dim=4096, heads=32).layer_parameters
    with pytest.raises(MissingInputError, match="parameters"):
        Workload(name="mine").parameters


@pytest.mark.parametrize(("make", "says"), [
    (lambda: Workload(name="mine", hidden_dim=100, heads=7), "does not split over 7 heads; state head_dim"),
    (lambda: Workload(name="mine", heads=8, kv_heads=3), "kv_heads must divide heads"),
    (lambda: Workload(name="mine", experts=4, experts_per_token=8), "experts_per_token is at most experts"),
    (lambda: Workload(name="mine", positions="rotory"), "did you mean \"rotary\"?"),
    (lambda: Workload(name="mine", parameters="8e9 GB"), "parameters is measured in"),
    (lambda: Workload(name="mine", layer=2), "did you mean 'layers'?"),
    (lambda: VisionTransformer(name="mine", image_size=224, patch_size=15), "patch_size must divide image_size"),
    (lambda: Memory(capacity=24), "24 has no unit"),
    (lambda: Memory(capacity="24 GHz"), "no unit"),
    (lambda: HardwareNode(name="mine"), "memory is required")])
def test_an_impossible_record_is_refused_with_what_to_write(make, says: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert says in str(error.value)


def test_kinds_of_workload_count_their_own_way() -> None:
    assert isinstance(Models.Language.T5_Small, EncoderDecoder) and isinstance(Models.Vision.ResNet50, ResNet) and isinstance(Models.Vision.ViT_B_16, VisionTransformer)
    vit = Models.Vision.ViT_B_16
    assert vit.tokens == 197 and vit.variant(image_size=384, parameters=None).counted_parameters.m_as("count") == 86859496      # torchvision, ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1
    experts = Models.Language.Mixtral_8x7B
    assert experts.router_parameters_per_layer.m_as("count") == 8 * 4096
    assert Models.Language.Llama3_8B.norm_parameters_per_layer.m_as("count") == 2 * 4096

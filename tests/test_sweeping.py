"""Sweeps say, point for point, what constructing the scenario there says."""

from __future__ import annotations

import builtins
import itertools
import math
import sys
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsysim import Hardware, InputError, MissingInputError, Models, Scenarios, sweep
from mlsysim.engine.declarations import Parametrised
from mlsysim.engine.solver import TrainingMemoryModel
from mlsysim.units import scale, unit, units

from .transfer import Cable, Extra, TransferScenario

COPPER = Cable(name="copper", bandwidth="10 GB/s", lanes=4)
TRANSFER = TransferScenario(payload="40 MB", items=4, cable=COPPER, deadline="2 second")
GPT2 = Scenarios.Gpt2Fp32AdamBatch32OnH100
QUANTITIES = [name for name, declared in TransferScenario.quantities.items() if not isinstance(declared, Parametrised)]


def column(table: pd.DataFrame, name: str) -> tuple[Any, float]:
    """A column by the name of its input or quantity, and the size of its unit in base units."""
    values = table[name]
    named = table.attrs["units"][values.name]
    assert values.name == (f"{name} ({named})" if named else name)
    return values, scale(unit(named)) if named else 1.0


def agrees_with_construction(scenario: Any, table: pd.DataFrame, points: list[dict[str, Any]], quantities: list[str]) -> None:
    """Every row has the value, or the words, that the scenario built at its point has."""
    assert len(table) == len(points)
    for row, point in enumerate(points):
        words = []
        made = None
        try:
            made = scenario.variant(**point)
        except InputError as error:
            words.append(str(error))
        for name in quantities:
            values, size = column(table, name)
            said = values.iloc[row]
            expected = None
            try:
                expected = made.number((name,)) if made is not None and getattr(made, name) is not None else None
            except (InputError, MissingInputError) as error:
                words.append(str(error))
            if expected is None:
                assert pd.isna(said), (name, point, said)
            else:
                assert said == (expected if isinstance(expected, (bool, str)) else expected / size), (name, point)
        error = table["error"].iloc[row]
        assert ("" if pd.isna(error) else error) == "; ".join(dict.fromkeys(words)), point


counts = st.one_of(st.integers(-2, 40), st.sampled_from([2.5, True, math.nan, math.inf, None, "3", 2**70]))
sizes = st.one_of(st.floats(1e-3, 1e9).map(lambda x: f"{x!r} MB"), st.sampled_from(["0 B", "-1 GB", "3 second", 7, math.nan]))
shares = st.one_of(st.floats(0, 1), st.sampled_from([-0.1, 1.5, "5 %", 0, 1, math.nan]))
packets = st.sampled_from([None, "4 kB", "1 kB", "0 B"])
windows = st.sampled_from([None, "4 kB", "128 kB", 3])
lanes = st.one_of(st.sampled_from([1, 2, 3, 4, 8, 64, 65, 0]))


@settings(max_examples=120, deadline=None)
@given(st.lists(counts, min_size=1, max_size=4), st.lists(sizes, min_size=1, max_size=3), st.lists(shares, min_size=1, max_size=2),
       st.lists(lanes, min_size=1, max_size=2), windows)  # fmt: skip
def test_every_combination_is_what_construction_gives(items: list[Any], payload: list[Any], loss: list[Any], lane: list[Any], window: Any) -> None:
    base = TRANSFER.variant(senders=2, window=window if window != 3 else None)
    table = sweep(base, *QUANTITIES, items=items, payload=payload, loss=loss, **{"cable.lanes": lane})
    points = [{"items": i, "payload": p, "loss": x, "cable.lanes": n} for i in items for p in payload for x in loss for n in lane]
    agrees_with_construction(base, table, points, QUANTITIES)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(counts, sizes, st.sampled_from([None, 1, 2, 3]), st.sampled_from(["none", "half", "qarter", 3]), st.sampled_from([None, COPPER, "copper"]), packets, windows),
                min_size=1, max_size=6))  # fmt: skip
def test_zipped_points_are_what_construction_gives(rows: list[tuple[Any, ...]]) -> None:
    names = ("items", "payload", "senders", "compression", "cable", "packet", "window")
    table = sweep(TRANSFER, *QUANTITIES, zipped=True, **{name: list(values) for name, values in zip(names, zip(*rows))})
    agrees_with_construction(TRANSFER, table, [dict(zip(names, row)) for row in rows], QUANTITIES)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.01, 64), min_size=1, max_size=5), st.lists(st.integers(1, 10**12), min_size=1, max_size=5))
def test_arrays_with_a_unit_are_what_construction_gives(widths: list[float], parameters: list[int]) -> None:
    quantities = [name for name, declared in type(GPT2).quantities.items() if not isinstance(declared, Parametrised)]
    table = sweep(GPT2, *quantities, bytes_per_value=units.Quantity(np.array(widths), "bit"), **{"workload.parameters": np.array(parameters)})
    points = [{"bytes_per_value": units.Quantity(w, "bit"), "workload.parameters": p} for w in widths for p in parameters]
    agrees_with_construction(GPT2, table, points, quantities)


@pytest.mark.parametrize("workload", ["Llama3_8B", "Mixtral_8x7B"])
def test_layouts_of_training_memory_are_what_construction_gives(workload: str) -> None:
    scenario = TrainingMemoryModel().solve(getattr(Models.Language, workload), Hardware.Cloud.H100, batch_size=16, seq_len=2048)
    quantities = [name for name, declared in type(scenario).quantities.items() if not isinstance(declared, Parametrised)]
    inputs: dict[str, list[Any]] = {"tp_size": [1, 2, 3], "pp_size": [4, 33], "ep_size": [1, 8], "precision": ["bf16", "int8"], "zero_stage": [3]}
    points = [dict(zip(inputs, values)) for values in itertools.product(*inputs.values())]
    agrees_with_construction(scenario, sweep(scenario, *quantities, **inputs), points, quantities)


def test_the_default_is_what_the_breakdown_leads_with() -> None:
    table = sweep(Scenarios.Gpt2Fp32AdamOnH100, bytes_per_value=["4 byte", "8 byte", "80 byte"])
    assert list(table.columns) == ["bytes_per_value (B)", "total (GB)", "fits", "error"]
    assert list(table["total (GB)"]) == [24.0, 36.0, 252.0]
    assert list(table["fits"]) == [True, True, False]
    assert table["error"].isna().all()
    assert table["total"].equals(table["total (GB)"])
    assert list(table[table["fits"]]["total"]) == [24.0, 36.0]


def test_an_impossible_point_has_its_error_and_no_number() -> None:
    table = sweep(GPT2, "total", "fits", "max_resident_batch", batch_size=[1, 0, 2.5])
    assert list(table["batch_size"]) == [1, 0, 2.5]
    assert list(table["error"].isna()) == [True, False, False]
    assert table["error"].iloc[1] == "TrainingStateFitScenario: batch_size: 0 must be more than zero; write for example batch_size=32"
    assert table["error"].iloc[2] == "TrainingStateFitScenario: batch_size: 2.5 is not a whole number; write batch_size=2"
    assert "write for example batch_size=32" in table._repr_html_() and "write for example batch_size=32" in repr(table[["batch_size", "error"]])
    assert table.loc[1:, ["total (GB)", "fits", "max_resident_batch"]].isna().all(axis=None)


def test_a_point_where_one_quantity_waits_keeps_the_others() -> None:
    table = sweep(GPT2, "total", "training_total", activations=["10 GB", None])
    assert list(table["total (GB)"]) == [24.0, 24.0]
    assert table["training_total (GB)"].iloc[0] == 34.0 and np.isnan(table["training_total (GB)"].iloc[1])
    with pytest.raises(MissingInputError) as caught:
        GPT2.variant(activations=None).training_total
    assert table["error"].iloc[1] == str(caught.value)


def test_devices_and_options_are_swept_by_value() -> None:
    table = sweep(GPT2, "fits", "capacity_share", hardware=[Hardware.Cloud.H100, Hardware.Cloud.A100, None], **{"workload.parameters": [1e9, 2e10]})
    assert list(table["hardware"])[:4] == ["NVIDIA H100"] * 2 + ["NVIDIA A100"] * 2 and table["hardware"][4:].isna().all()
    assert list(table["fits"]) == [True, False, True, False, False, False]
    assert table["error"].notna().tolist() == [False] * 4 + [True] * 2


def test_an_input_of_a_swept_record() -> None:
    workloads = [Models.Language.GPT2, Models.Language.Llama3_8B]
    table = sweep(Scenarios.Rank16AdaptersOnHypothetical8B, "adapter_count", workload=workloads, **{"workload.layers": [1, 2]})
    assert list(table["adapter_count"]) == [262144, 524288] * 2


def test_an_input_of_a_record_that_some_points_lack() -> None:
    inputs: dict[str, list[Any]] = {"hardware": [Hardware.Cloud.H100, None], "hardware.memory.capacity": ["10 GB", "30 GB"]}
    table = sweep(GPT2, "total", "fits", **inputs)
    agrees_with_construction(GPT2, table, [{"hardware": h, "hardware.memory.capacity": c} for h in inputs["hardware"] for c in inputs["hardware.memory.capacity"]], ["total", "fits"])
    assert list(table["error"].isna()) == [True, True, False, False]
    table = sweep(GPT2.variant(hardware=None), "total", **{"hardware.memory.capacity": ["10 GB"]})
    assert "hardware is absent" in table["error"].iloc[0] and np.isnan(table["total"].iloc[0])


def test_an_input_that_a_swept_record_has_not() -> None:
    workloads = [Models.Language.GPT2, Models.Vision.ResNet50, Models.Language.T5_Base]
    table = sweep(GPT2, "total", workload=workloads, **{"workload.layers": [3]})
    agrees_with_construction(GPT2, table, [{"workload": workload, "workload.layers": 3} for workload in workloads], ["total"])


def test_a_branch_that_a_point_does_not_take_may_divide_by_zero() -> None:
    table = sweep(TRANSFER, "spread", "time", loss=[0.0, 0.5], items=[2])
    assert np.isnan(table["spread"].iloc[0]) and "divides by zero" in table["error"].iloc[0]
    assert table["time (ms)"].notna().all()


def test_ten_thousand_refusals_of_one_kind_are_one_text_each() -> None:
    table = sweep(TRANSFER, "time", items=np.arange(-5000, 5000))
    assert table["error"].notna().sum() == 5001
    assert table["error"].iloc[0].startswith("TransferScenario: items: -5000 must be more than zero")


@pytest.mark.parametrize(("arguments", "said"), [
    (({"itms": [1]},), "TransferScenario: no input is called 'itms'; did you mean 'items'?"),
    (({"volume": [1]},), "volume follows from a formula"),
    (({"items": 3},), "write items=["),
    (({"compression": "half"},), "write compression=["),
    (({"payload": np.array([1.0, 2.0])},), "these numbers have no unit; write payload=units.Quantity(values, \"B\")"),
    (({"payload": units.Quantity(np.array([1.0]), "second")},), "these values are in s"),
    (({"items": np.ones((2, 2))},), "one-dimensional"),
    (({"items": [1, 2], "loss": [0.1], "zipped": True},), "items has 2, loss has 1"),
    (({},), "takes several values of some input"),
    (("tme", {"items": [1]}), "no quantity called 'tme'; did you mean 'time'?"),
    (("time_of", {"items": [1]}), "takes an argument"),
    (("cable", {"items": [1]}), "is no quantity"),
])  # fmt: skip
def test_a_call_that_makes_no_sense_is_refused_at_once(arguments: tuple[Any, ...], said: str) -> None:
    *quantities, inputs = arguments
    with pytest.raises(InputError) as caught:
        sweep(TRANSFER, *quantities, **inputs)
    assert said in str(caught.value)


def test_rows_can_be_swept() -> None:
    table = sweep(TRANSFER, "along", extras=[None, [Extra(size="1 kB")], [Extra(size="1 kB", copies=2), Extra(size="3 kB")]])
    assert list(table["along (kB)"]) == [0.0, 1.0, 5.0]


def test_without_pandas_the_columns_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {"batch_size": [1, 0, None], "hardware": [Hardware.Cloud.H100, None]}
    shown = ("total", "fits", "max_resident_batch", "capacity_share")
    framed = sweep(GPT2, *shown, **arguments)
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
        return real(name, *rest, **named)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "pandas")
    plain = sweep(GPT2, *shown, **arguments)
    assert len(plain) == len(framed) and list(plain.columns) == list(framed.columns)
    for name in plain.columns:
        assert plain[name] == [None if pd.isna(value) else value for value in framed[name]], name
    assert "must be more than zero" in repr(plain) and "must be more than zero" in plain._repr_html_()
    faultless = sweep(GPT2, "total", batch_size=[1, 2])
    assert faultless["error"] == [None, None] and "error" not in repr(faultless)


def test_dask_arrays_in_lazy_arrays_out() -> None:
    widths = da.from_array(np.linspace(0, 64, 1001), chunks=100)
    lazy = sweep(GPT2, "total", "fits", "max_resident_batch", bytes_per_value=units.Quantity(widths, "bit"), **{"workload.parameters": np.array([1e9, 2e10])})
    assert set(lazy) == {"bytes_per_value", "workload.parameters", "total", "fits", "max_resident_batch", "possible"}
    assert all(isinstance(array, da.Array) and array.shape == (1001, 2) for array in lazy.values())
    assert lazy.units["total"] == "B" and lazy.units["fits"] == ""
    table = sweep(GPT2, "total", "fits", "max_resident_batch", bytes_per_value=units.Quantity(np.linspace(0, 64, 1001), "bit"), **{"workload.parameters": np.array([1e9, 2e10])})
    possible = lazy["possible"].compute().reshape(-1)
    assert list(possible) == list(table["error"].isna()) and not possible[0]
    np.testing.assert_array_equal(lazy["total"].compute().reshape(-1) / 1e9, table["total (GB)"])
    np.testing.assert_array_equal(lazy["max_resident_batch"].compute().reshape(-1), table["max_resident_batch"].to_numpy(float, na_value=np.nan))
    assert list(lazy["fits"].compute().reshape(-1)[possible]) == list(table["fits"][possible])


def test_nothing_lazy_is_computed() -> None:
    def fails(block: Any) -> Any:
        raise AssertionError("computed")
    values = da.ones(10, chunks=5).map_blocks(fails, dtype=float, meta=np.ones(0))
    lazy = sweep(TRANSFER, *[name for name in QUANTITIES if name not in ("items_in_last_round", "speedup", "full_packets")], loss=values, items=values)
    assert "10 × 10" in repr(lazy)
    with pytest.raises(AssertionError, match="computed"):
        lazy["time"].compute()


@pytest.mark.parametrize("inputs", [{"compression": ["half"]}, {"items": [1, 0]}, {"senders": [None, 1]}])
def test_lazy_arrays_go_with_acceptable_numbers_alone(inputs: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="Dask"):
        sweep(TRANSFER, loss=da.ones(3), **inputs)


def test_a_lazy_quantity_that_waits_says_so() -> None:
    with pytest.raises(InputError, match="needs cable"):
        sweep(TRANSFER.variant(cable=None), "time", loss=da.ones(3))


def test_dask_is_not_imported_for_numpy() -> None:
    import subprocess
    script = ("import sys, pint; before = 'dask.array' in sys.modules; from mlsysim import Scenarios, sweep; sweep(Scenarios.Gpt2Fp32AdamOnH100, batch_size=[1, 2]); "
              "assert 'pandas' in sys.modules and ('dask.array' in sys.modules) == before")
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stderr == ""

"""Elasticities are the exact slopes of formulas: by closed forms, and by differences of the values themselves."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mlsysim import Given, InputError, MissingInputError, Quantity, Scenario, Scenarios, case, ceil, derived, floor, maximum, minimum, sensitivity, square_root
from mlsysim import given as declared
from mlsysim.engine.expression import exponential
from mlsysim.engine.inputs import Input

from .transfer import Cable, Extra, TransferScenario

GPT2 = Scenarios.Gpt2Fp32AdamBatch32OnH100
TRANSFER = TransferScenario(payload="40 MB", items=6, senders=3, cable=Cable(name="copper", bandwidth="10 GB/s", lanes=4), deadline="2 second",
                            extras=[Extra(size="3 MB", copies=2), Extra(size="5 MB")])


def by_difference(scenario: Scenario, quantity: str, path: str, step: float = 1e-6) -> float:
    """The elasticity from values a little above and below."""
    *holders, name = path.split(".")
    holder: Any = scenario.at(tuple(holders))
    kind = type(holder).inputs[name]
    assert isinstance(kind, Input)
    base = holder.number((name,))

    def at(factor: float) -> float:
        moved = object.__new__(type(holder))
        moved.__dict__.update({"_stored": dict(holder.__dict__["_stored"]), "_known": {n: v for n, v in holder.__dict__["_known"].items() if n in kind_inputs(holder)}})
        moved.__dict__["_known"][name] = base * factor
        for depth in range(len(holders), 0, -1):
            outer: Any = scenario.at(tuple(holders[:depth - 1]))
            above = object.__new__(type(outer))
            above.__dict__.update({"_stored": {**outer.__dict__["_stored"], holders[depth - 1]: moved},
                                   "_known": {n: v for n, v in outer.__dict__["_known"].items() if n in kind_inputs(outer)}})
            moved = above
        return float(moved.number(tuple(quantity.split("."))))
    return (math.log(abs(at(1 + step))) - math.log(abs(at(1 - step)))) / (math.log1p(step) - math.log1p(-step))


def kind_inputs(record: Any) -> set[str]:
    return {name for name, value in record.__dict__["_stored"].items() if value is not None}


def test_the_closed_forms_of_training_state() -> None:
    found = sensitivity(GPT2, "total")
    assert dict(found) == pytest.approx({"workload.parameters": 1.0, "bytes_per_value": 0.5, "optimizer_bytes_per_parameter": 0.5})
    assert list(found)[0] == "workload.parameters"
    share = sensitivity(GPT2, "capacity_share")
    assert share["hardware.memory.capacity"] == -1 and share["workload.parameters"] == 1
    spare = 80 * 2**30 - 24e9
    limit = sensitivity(GPT2, "resident_batch_limit")
    assert limit["batch_size"] == pytest.approx(1) and limit["activations"] == pytest.approx(-1)
    assert limit["hardware.memory.capacity"] == pytest.approx(80 * 2**30 / spare) and limit["workload.parameters"] == pytest.approx(-24e9 / spare)


def test_the_closed_forms_of_every_operation() -> None:
    found = sensitivity(TRANSFER, "rate")
    assert found["loss"] == pytest.approx(-2 * 0.01) and found["cable.bandwidth"] == 1 and found["cable.lanes"] == 1
    volume = sensitivity(TRANSFER, "volume")
    total = 240e6 + 6e6 + 5e6
    assert volume["payload"] == pytest.approx(240e6 / total) and volume["items"] == pytest.approx(240e6 / total)
    assert volume["extras[0].size"] == volume["extras[0].copies"] == pytest.approx(6e6 / total)
    assert volume["extras[1].size"] == pytest.approx(5e6 / total)
    assert sensitivity(TRANSFER, "spread")["items"] == pytest.approx(1) and sensitivity(TRANSFER, "spread")["loss"] == pytest.approx(-1)
    assert sensitivity(TRANSFER, "speedup")["items"] == pytest.approx(0.25) and sensitivity(TRANSFER, "speedup")["senders"] == 0
    assert sensitivity(TRANSFER, "time_of_double")["items"] == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(st.floats(1, 1e4), st.integers(1, 50), st.floats(0.001, 0.9), st.floats(0.1, 100), st.sampled_from([1, 2, 4, 8]), st.floats(1, 1e5))
def test_slopes_are_what_differences_give(payload: float, items: int, loss: float, bandwidth: float, lanes: int, deadline: float) -> None:
    scenario = TransferScenario(payload=f"{payload!r} MB", items=items, loss=loss, deadline=f"{deadline!r} second",
                                cable=Cable(name="copper", bandwidth=f"{bandwidth!r} GB/s", lanes=lanes))
    for quantity in ("time", "rate", "slack", "spread", "time_of_double"):
        try:
            found = sensitivity(scenario, quantity)
        except InputError:
            assert scenario.number((quantity,)) == 0
            continue
        for path, elasticity in found.items():
            assume(elasticity is not None)
            assert elasticity == pytest.approx(by_difference(scenario, quantity, path), rel=1e-5, abs=1e-7), (quantity, path)


@pytest.mark.parametrize("entry", ["Gpt2MixedPrecisionAdamOnH100", "Llama3_8BLoraOnH100"])
def test_every_number_of_a_shelf_entry(entry: str) -> None:
    scenario = getattr(Scenarios, entry)
    checked = 0
    for name, quantity in type(scenario).quantities.items():
        if quantity.returns not in ("Quantity", "float") or quantity.parameters:
            continue
        try:
            found = sensitivity(scenario, name)
        except (InputError, MissingInputError):
            continue
        for row in found.rows:
            if row.elasticity is not None and not row.note:
                assert row.elasticity == pytest.approx(by_difference(scenario, name, row.input), rel=1e-4, abs=1e-7), (name, row.input)
                checked += 1
    assert checked > 60


def test_largest_first() -> None:
    sizes = [abs(elasticity or 0) for elasticity in sensitivity(GPT2, "resident_batch_limit").values()]
    assert sizes == sorted(sizes, reverse=True) and len(sizes) == 6


class KinkScenario(Scenario):
    """Formulas without a slope at some points."""

    a: Given[Quantity] = declared("a", "byte", default="4 byte", doc="A size.", source="made up")
    b: Given[Quantity] = declared("b", "byte", default="4 byte", doc="Another.", source="made up")
    n: float = declared("n", default=4.0, doc="A number.")

    @derived("x_min", "byte", source="made up")
    def smaller(self) -> Quantity:
        """The smaller."""
        return minimum(self.a, self.b)

    @derived("x_same", "byte", source="made up")
    def tied_alike(self) -> Quantity:
        """Two that are one."""
        return maximum(self.a, 1 * self.a)

    @derived("x_up", "", source="made up")
    def rounded(self) -> float:
        """In steps, and beside them a slope."""
        return ceil(self.a / self.b * self.n) + self.n

    @derived("x_case", "byte", source="made up")
    def cased(self) -> Quantity:
        """Another branch from b on."""
        return case((self.a < self.b, self.a), otherwise=3 * self.b)

    @derived("x_root", "", source="made up")
    def rooted(self) -> float:
        """A root that stands up at zero."""
        return 1 + square_root(self.n)

    @derived("x_mod", "", source="made up")
    def rest(self) -> float:
        """What is left over."""
        return 1 + self.n % 3

    @derived("x_fl", "", source="made up")
    def fallen(self) -> float:
        """Rounded down."""
        return floor(self.n) + 1

    @derived("x_exp", "", source="made up")
    def grown(self) -> float:
        """A power with an input for exponent."""
        return (self.a / self.b) ** self.n * exponential(self.n)


KINKS = KinkScenario()


@pytest.mark.parametrize(("quantity", "inputs", "expected"), [
    ("smaller", {}, {"a": None, "b": None}),
    ("smaller", {"a": "5 byte"}, {"a": 0, "b": 1}),
    ("tied_alike", {}, {"a": 1}),
    ("rounded", {"n": 4.5}, {"n": 4.5 / 9.5, "a": 0, "b": 0}),
    ("rounded", {}, {"n": None, "a": None, "b": None}),
    ("cased", {}, {"a": None, "b": None}),
    ("cased", {"a": "3 byte"}, {"a": 1}),
    ("cased", {"a": "5 byte"}, {"b": 1}),
    ("rooted", {"n": 0}, {"n": None}),
    ("rooted", {}, {"n": 4 * 0.25 / 3}),
    ("rest", {"n": 4.0}, {"n": 2.0}),
    ("rest", {"n": 3.0}, {"n": None}),
    ("fallen", {"n": 3.5}, {"n": 0}),
    ("fallen", {"n": 3.0}, {"n": None}),
    ("grown", {"a": "8 byte", "n": 2.0}, {"a": 2, "b": -2, "n": 2 * (math.log(2) + 1)}),
])  # fmt: skip
def test_where_a_slope_is_missing_it_is_said_to_be(quantity: str, inputs: dict[str, Any], expected: dict[str, float | None]) -> None:
    found = sensitivity(KINKS.variant(**inputs), quantity)
    assert {path: elasticity for path, elasticity in found.items()} == {path: value if value is None else pytest.approx(value) for path, value in expected.items()}
    for row in found.rows:
        assert (row.elasticity is None) == any(word in row.note for word in ("tie", "edge", "border", "under a root"))


def test_steps_are_named() -> None:
    found = sensitivity(GPT2, "max_resident_batch")
    assert set(found.values()) == {0.0} and {row.note for row in found.rows} == {"in steps"}
    assert "In steps: ⌈ ⌉, ⌊ ⌋ or mod keeps small changes" in repr(found)


@pytest.mark.parametrize(("quantity", "said"), [
    ("fits", "fits is yes or no, which has no slope: ask about a number, such as total"),
    ("adapter_count", "adapter_count is none"),
    ("master_weights", "master_weights is 0 with these inputs"),
    ("totl", "did you mean 'total'"),
    ("activations_at", "takes an argument"),
    ("workload", "workload is no number"),
])  # fmt: skip
def test_questions_that_make_no_sense(quantity: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        sensitivity(GPT2, quantity)
    assert said in str(caught.value)


def test_a_quantity_that_waits_says_for_what() -> None:
    with pytest.raises(MissingInputError, match="training_total needs activations"):
        sensitivity(Scenarios.Gpt2Fp32AdamOnH100, "training_total")


def test_text_and_html_say_the_same() -> None:
    found = sensitivity(GPT2, "total")
    assert repr(found) == repr(sensitivity(GPT2, "total")) and "bytes_per_value" in repr(found)
    assert all(word in found._repr_html_() for word in ("bytes_per_value", "workload.parameters", "0.5", "Sensitivity of total (24.0 GB)"))
    with pytest.raises(KeyError):
        found["batch_size"]

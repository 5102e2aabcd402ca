"""What an input must be for a condition to hold or a quantity to reach a value: the answer does, and its neighbour does not."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsysim import Given, InputError, MissingInputError, Quantity, Record, Scenario, Scenarios, case, derived, requires, solve_for
from mlsysim.units import units
from mlsysim import given as declared
from mlsysim.engine.solving import NoSolutionError

from .transfer import Cable, TransferScenario

GPT2 = Scenarios.Gpt2Fp32AdamOnH100
BATCHED = Scenarios.Gpt2Fp32AdamBatch32OnH100


class Machine(Record):
    """Something with memory."""

    memory: Given[Quantity] = declared("C", "GB", positive=True, doc="Its memory.")


class BatchScenario(Scenario):
    """State and a batch of activations in a machine, divided over ranks."""

    state: Given[Quantity] = declared("M_s", "GB", positive=True, doc="State.")
    activations: Given[Quantity] = declared("M_1", "GB", positive=True, doc="Activations of one sequence.")
    batch_size: int = declared("B", positive=True, doc="Sequences.")
    ranks: int = declared("d", default=1, positive=True, maximum=4096, doc="Ranks that share it.")
    heads: int = declared("a", default=12, positive=True, doc="Heads, which the ranks divide.")
    machine: Machine = declared(doc="Where it has to fit.")

    @derived("M", "GB", source="made up")
    def total(self) -> Quantity:
        """All of it, on a rank."""
        return self.state / self.ranks + self.activations * self.batch_size

    @derived("fits", source="made up")
    def fits(self) -> bool:
        """Whether it fits."""
        return self.total <= self.machine.memory

    @derived("odd", source="made up")
    def stepped(self) -> float:
        """Falls, rises and falls again."""
        return case((self.batch_size < 10, 5), (self.batch_size < 20, 50), (self.batch_size < 40, 7), otherwise=self.batch_size)

    @requires("{ranks} ranks do not divide {heads} heads")
    def ranks_divide_heads(self) -> bool:
        """Every rank has as many heads."""
        return self.heads % self.ranks == 0


BATCH = BatchScenario(state="20 GB", activations="1.5 GB", batch_size=4, machine=Machine(memory="80 GB"))


def test_the_largest_batch_that_fits() -> None:
    assert solve_for(BATCH, "batch_size", fits=True) == 40
    assert type(solve_for(BATCH, "batch_size", fits=True)) is int
    assert BATCH.variant(batch_size=40).fits and not BATCH.variant(batch_size=41).fits
    assert solve_for(BATCH, "batch_size", fits=False) == 41
    assert solve_for(BATCH, "batch_size", fits=False, smallest=True) == 41


def test_the_batch_of_the_published_case() -> None:
    """What the documented max_resident_batch of 3 says, asked the other way round."""
    assert solve_for(BATCHED, "hardware.memory.capacity", max_resident_batch=3, smallest=True).m_as("byte") == pytest.approx(24e9 + 3 * 573780787200 / 32, rel=1e-14)


def test_a_memory_that_is_just_enough() -> None:
    capacity = solve_for(GPT2, "hardware.memory.capacity", fits=True)
    assert capacity.m_as("byte") == pytest.approx(24e9, rel=1e-14)
    assert GPT2.variant(**{"hardware.memory.capacity": capacity}).fits
    assert not GPT2.variant(**{"hardware.memory.capacity": units.Quantity(capacity.magnitude * (1 - 1e-13), capacity.units)}).fits


def test_the_model_that_fills_a_memory() -> None:
    parameters = solve_for(GPT2, "workload.parameters", total="32 GB")
    assert parameters.m_as("count") == 2_000_000_000 and isinstance(parameters.magnitude, int)
    assert solve_for(GPT2, "workload.parameters", total=units.Quantity(32 * 2**30, "byte")).m_as("count") == 2**31


def test_an_option_of_ends_for_a_rising_number() -> None:
    between = "31 GB"
    largest, smallest = (solve_for(BATCH, "batch_size", total=between, **{end: True}) for end in ("largest", "smallest"))
    assert (largest, smallest) == (7, 8)
    assert BATCH.variant(batch_size=7).total.m_as("GB") <= 31 <= BATCH.variant(batch_size=8).total.m_as("GB")
    assert solve_for(BATCH, "batch_size", total="32 GB") == solve_for(BATCH, "batch_size", total="32 GB", smallest=True) == 8


def test_a_falling_number_takes_the_smallest_that_does_not_exceed() -> None:
    assert solve_for(BATCH, "ranks", total="12 GB") == 4
    assert solve_for(BATCH, "ranks", total="12 GB", largest=True) == 3
    assert solve_for(BATCH, "ranks", total="11 GB") == solve_for(BATCH, "ranks", total="11 GB", largest=True) == 4


def test_values_that_construction_refuses_are_no_answers() -> None:
    assert solve_for(BATCH, "ranks", total="8 GB") == 12
    with pytest.raises(NoSolutionError, match="no ranks makes total at most 7.0 GB: even ranks=12 gives total 7.67 GB"):
        solve_for(BATCH, "ranks", total="7 GB")


def test_steps_up_and_down() -> None:
    assert solve_for(BATCH, "batch_size", stepped=8) == 39
    assert solve_for(BATCH, "batch_size", stepped=49, smallest=True) == 10


def test_no_solution_gives_the_nearest_miss() -> None:
    with pytest.raises(NoSolutionError) as caught:
        solve_for(BATCH.variant(state="91.2 GB"), "batch_size", fits=True)
    assert str(caught.value) == "BatchScenario: no batch_size makes fits hold: even batch_size=1 gives total 92.7 GB against memory 80 GB"
    with pytest.raises(NoSolutionError, match="no batch_size makes total at most 1.0 GB: even batch_size=1 gives total 21.5 GB"):
        solve_for(BATCH, "batch_size", total="1 GB")
    assert issubclass(NoSolutionError, ValueError)


def test_no_end_is_an_error_too() -> None:
    with pytest.raises(NoSolutionError, match="there is no largest hardware.memory.capacity that makes fits hold: it still does at .*ask for smallest=True"):
        solve_for(GPT2, "hardware.memory.capacity", fits=True, largest=True)


def test_a_limit_of_the_input_is_an_end() -> None:
    assert solve_for(BATCH.variant(heads=4096), "ranks", fits=True) == 4096
    assert solve_for(BATCH, "batch_size", fits=True, smallest=True) == 1


def test_a_share_and_a_time() -> None:
    width = solve_for(GPT2, "bytes_per_value", capacity_share="50 %")
    assert width.m_as("byte") == pytest.approx((0.5 * 80 * 2**30 / 1.5e9 - 8) / 2, rel=1e-14)
    assert solve_for(GPT2, "bytes_per_value", capacity_share=0.5) == width
    rate = solve_for(GPT2, "hardware.memory.bandwidth", update_time="10 ms")
    assert rate.m_as("TB/s") == pytest.approx(4.2, rel=1e-14)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 500), st.floats(0.001, 50), st.floats(0.1, 1000))
def test_the_answer_holds_and_its_neighbour_does_not(state: float, activations: float, memory: float) -> None:
    scenario = BATCH.variant(state=f"{state!r} GB", activations=f"{activations!r} GB", machine=Machine(memory=f"{memory!r} GB"))
    try:
        batch = solve_for(scenario, "batch_size", fits=True)
    except NoSolutionError:
        assert not scenario.variant(batch_size=1).fits
        return
    assert scenario.variant(batch_size=batch).fits and not scenario.variant(batch_size=batch + 1).fits


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-3, 1e3))
def test_a_float_is_solved_to_its_last_digits(target: float) -> None:
    scenario = TransferScenario(payload="40 MB", cable=Cable(name="copper", bandwidth="10 GB/s"))
    payload = solve_for(scenario, "payload", time=units.Quantity(target, "second"))
    exact = target * 10e9 * math.exp(-0.02)
    assert payload.m_as("byte") == pytest.approx(exact, rel=4e-15)
    assert scenario.variant(payload=payload).number(("time",)) <= target


@pytest.mark.parametrize(("name", "goal", "said"), [
    ("batch", {"fits": True}, "no quantity called 'batch'; did you mean 'batch_size'?"),
    ("memory", {"fits": True}, "no quantity called 'memory'; did you mean 'machine.memory'?"),
    ("total", {"fits": True}, "total is no input that holds a number; it follows from state, ranks, activations, batch_size"),
    ("machine", {"fits": True}, "machine is no input that holds a number"),
    ("machine.memory", {"total": "3 GB"}, "total does not depend on machine.memory; it depends on activations, batch_size, ranks, state"),
    ("batch_size", {}, "name one goal, such as solve_for(scenario, \"batch_size\""),
    ("batch_size", {"fits": True, "total": "3 GB"}, "name one goal"),
    ("batch_size", {"fits": "yes"}, "fits is yes or no; write fits=True or fits=False"),
    ("batch_size", {"total": 3}, "3 has no unit; write total=\"3 GB\""),
    ("batch_size", {"total": "3 second"}, "total is measured in GB"),
    ("batch_size", {"totl": "3 GB"}, "no quantity called 'totl'; did you mean 'total'?"),
    ("batch_size", {"ranks": 3}, "ranks is an input, which does not follow from another; write scenario.variant(ranks=...)"),
    ("batch_size", {"fits": True, "largest": True, "smallest": True}, "not for both"),
])  # fmt: skip
def test_questions_that_make_no_sense(name: str, goal: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as caught:
        solve_for(BATCH, name, **goal)
    assert said in str(caught.value)


def test_a_quantity_that_waits_says_for_what() -> None:
    with pytest.raises(MissingInputError, match="capacity_share needs hardware"):
        solve_for(GPT2.variant(hardware=None), "bytes_per_value", capacity_share=0.5)
    with pytest.raises(InputError, match="hardware is absent, so hardware.memory.capacity cannot be solved for; write hardware=Hardware.Cloud.H100"):
        solve_for(GPT2.variant(hardware=None), "hardware.memory.capacity", capacity_share=0.5)
    with pytest.raises(NoSolutionError, match="gives fits no, since hardware is absent; write hardware=Hardware.Cloud.H100"):
        solve_for(GPT2.variant(hardware=None), "bytes_per_value", fits=True)

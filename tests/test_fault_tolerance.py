"""CheckpointIntervalScenario against published intervals and rates, against its own waste minimised, and against runs that are played out."""
from __future__ import annotations

import doctest
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsysim import InputError, MissingInputError, Quantity
from mlsysim.engine.scenario_types import CheckpointIntervalScenario


def run(**inputs):
    return CheckpointIntervalScenario(**{"devices": 1, "mean_time_between_failures": "10 hour", "save_time": "60 s", "recovery_time": "5 minute", **inputs})


# Published numbers.

@pytest.mark.parametrize(("time_between_failures", "minutes", "digits"), [
    pytest.param("24 hour", 117, 0, id="Daly 2006, figure 3"),
    pytest.param("6 hour", 57, 0, id="Daly 2006, figure 4"),
    pytest.param("15 minute", 9.1, 1, id="Daly 2006, figure 5"),
])
def test_daly_interval(time_between_failures, minutes, digits):
    published = run(mean_time_between_failures=time_between_failures, save_time="5 minute", recovery_time="10 minute")
    assert round(published.daly_interval.m_as("minute"), digits) == minutes


@pytest.mark.parametrize(("gpus", "hours", "digits"), [
    pytest.param(16384, 1.8, 1, id="16,384 GPUs"),
    pytest.param(131072, 0.23, 2, id="131,072 GPUs"),
])
def test_time_between_failures_of_large_jobs(gpus, hours, digits):
    """Kokolis et al. 2025, arXiv:2410.21680, section III: 6.50 failures per thousand node-days on nodes of 8 GPUs, projected to larger jobs."""
    counted = CheckpointIntervalScenario(devices=gpus // 8, observed_failures=650, observed_devices=1000, observed_time="100 day", save_time="60 s", recovery_time="5 minute")
    assert round(counted.system_time_between_failures.m_as("hour"), digits) == hours


def test_failures_of_the_llama_3_run():
    """Llama Team 2024, arXiv:2407.21783, section 3.3.4: 419 unexpected interruptions in 54 days on 16,384 GPUs, one every three hours."""
    llama = CheckpointIntervalScenario(devices=16384, observed_failures=419, observed_devices=16384, observed_time="54 day", save_time="60 s", recovery_time="5 minute")
    assert llama.failures_in("54 day") == pytest.approx(419, rel=1e-12)
    assert round(llama.system_time_between_failures.m_as("hour")) == 3
    assert llama.variant(devices=8192).failures_in("54 day") == pytest.approx(419 / 2, rel=1e-12)


def test_what_bloom_paid_for_its_interval():
    """BLOOM-176B: 2.3 TB in 40 s, a checkpoint every 3 hours, 0.37 % of the time (Bekman, Machine Learning Engineering, chapter on checkpoints);
    1.5 hours lost at a crash on average (The Technology Behind BLOOM Training, section on hardware failures)."""
    bloom = run(save_time=None, checkpoint_size="2.3 TB", storage_bandwidth="57.5 GB/s", interval="3 hour", mean_time_between_failures="5 day")
    assert bloom.write_time.m_as("second") == pytest.approx(40, rel=1e-12)
    assert round(100 * bloom.saving_overhead, 2) == 0.37
    assert bloom.lost_work.m_as("hour") == pytest.approx(1.5, rel=1e-12)


@pytest.mark.parametrize("gpus", [2048, 8192, 16384])
def test_goodput_is_the_published_effective_training_time(gpus):
    """Kokolis et al. 2025, arXiv:2410.21680, the closed form of ETTR, which differs by products of overheads only."""
    scenario = CheckpointIntervalScenario(devices=gpus // 8, mean_time_between_failures="153.8 day", save_time="20 s", recovery_time="5 minute", interval="30 minute")
    failing = scenario.rework_overhead + scenario.recovery_overhead
    published = (1 - failing) / (1 + scenario.saving_overhead)
    assert abs(scenario.goodput - published) <= (failing + scenario.saving_overhead) ** 2
    assert scenario.goodput > published


# The best interval is where the waste is least.

def least(function, low, high):
    """Where a function of one valley is least, by golden section over powers."""
    ratio = (math.sqrt(5) - 1) / 2
    low, high = math.log(low), math.log(high)
    for _ in range(80):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if function(math.exp(left)) < function(math.exp(right)) else (left, high)
    return math.exp((low + high) / 2)


SAVES = [1e-4, 1e-3, 1e-2, 0.1, 0.2, 0.5]      # a save's time, counted in times between failures


@pytest.mark.parametrize("save", SAVES)
def test_young_interval_has_the_least_overhead(save):
    scenario = run(save_time=f"{10 * save} hour")
    best = least(lambda hours: scenario.variant(interval=f"{hours} hour").overhead, 1e-3, 1e3)
    assert scenario.young_interval.m_as("hour") == pytest.approx(best, rel=1e-6)
    assert scenario.overhead == pytest.approx(scenario.least_overhead, rel=1e-12)
    assert scenario.saving_overhead == pytest.approx(scenario.rework_overhead, rel=1e-12)


@pytest.mark.parametrize("save", SAVES)
def test_daly_interval_has_the_least_waste(save):
    """Within what Daly's series leaves out, which is of the order of the save's share."""
    scenario = run(save_time=f"{10 * save} hour")
    best = least(lambda hours: scenario.slowdown_at(f"{hours} hour"), 1e-3, 1e3)
    assert abs(scenario.daly_interval.m_as("hour") / best - 1) <= max(save / 80, 1e-5)
    assert 0 <= scenario.least_waste - scenario.waste_at(f"{best} hour") + 1e-12 <= 1e-4
    assert scenario.least_waste <= scenario.waste_at(scenario.young_interval)


def test_a_save_longer_than_twice_the_time_between_failures():
    scenario = run(save_time="25 hour")
    assert scenario.daly_interval == scenario.system_time_between_failures
    assert any("Young's interval is rough" in warning for warning in scenario.warnings)


def test_recovery_moves_no_optimum():
    """Daly 2006: the restart time drops out of the optimum."""
    slow, fast = run(recovery_time="2 hour"), run(recovery_time="0 s")
    assert slow.young_interval == fast.young_interval and slow.daly_interval == fast.daly_interval
    for interval in ("10 minute", "1 hour", "5 hour"):
        assert slow.slowdown_at(interval) / fast.slowdown_at(interval) == pytest.approx(math.exp(2 / 10), rel=1e-12)


@given(factor=st.floats(0.01, 100), save=st.floats(1e-6, 0.5), devices=st.integers(1, 100_000))
def test_the_minimum_is_flat(factor, save, devices):
    scenario = run(devices=devices, mean_time_between_failures=f"{10 * devices} hour", save_time=f"{10 * save} hour", recovery_time="0 s")
    stretched = scenario.variant(interval=factor * scenario.young_interval)
    assert stretched.overhead / scenario.least_overhead == pytest.approx(scenario.flatness_at(factor), rel=1e-9)
    assert stretched.overhead_ratio >= 1 - 1e-12
    assert 0 < stretched.goodput < 1
    assert stretched.wasted_share + stretched.goodput == pytest.approx(1, rel=1e-12)


def test_twice_the_best_interval_costs_a_quarter_more():
    assert run().flatness_at(2) == run().flatness_at(0.5) == 1.25


# Runs that are played out, failure by failure.

def played(interval, save, recovery, between, segments, seed):
    """The clock's time for each segment of training, where a failure throws back to the last save and may strike a recovery."""
    chance = random.Random(seed)
    times = []
    for _ in range(segments):
        spent = 0.0
        while (failure := chance.expovariate(1 / between)) < interval + save:
            spent += failure
            while (again := chance.expovariate(1 / between)) < recovery:
                spent += again
            spent += recovery
        times.append(spent + interval + save)
    return times


@pytest.mark.parametrize(("interval", "save", "recovery"), [(60, 5, 10), (200, 20, 30), (600, 60, 120)])
def test_a_run_played_out_is_slowed_as_expected(interval, save, recovery):
    times = played(interval, save, recovery, between=600, segments=40_000, seed=1974)
    mean = math.fsum(times) / len(times)
    standard_error = math.sqrt(math.fsum((t - mean) ** 2 for t in times)) / len(times)
    scenario = run(mean_time_between_failures="600 minute", save_time=f"{save} minute", recovery_time=f"{recovery} minute")
    assert abs(mean / interval - scenario.slowdown_at(f"{interval} minute")) < 4 * standard_error / interval


@given(interval=st.floats(1e-4, 0.05), save=st.floats(1e-6, 1e-3), recovery=st.floats(0, 0.05))
def test_first_order_and_exact_agree_to_second_order(interval, save, recovery):
    """Times counted in times between failures; what is left is bounded by the square of all that can go wrong in a segment."""
    scenario = run(mean_time_between_failures="1000 hour", interval=f"{1000 * interval} hour", save_time=f"{1000 * save} hour", recovery_time=f"{1000 * recovery} hour")
    exact = scenario.slowdown_at(scenario.interval)
    assert 1 + scenario.overhead <= exact <= 1 + scenario.overhead + 2 * (interval + save + recovery + save / interval) * (interval + save + recovery)


# The whole run, its steps, and what is asked for.

def test_the_whole_run():
    scenario = run(devices=1024, mean_time_between_failures="10240 hour", interval="1 hour", training_time="30 day", step_time="7 s")
    assert scenario.wall_time.m_as("day") == pytest.approx(30 * (1 + scenario.overhead), rel=1e-12)
    assert scenario.run_failures == pytest.approx(scenario.wall_time.m_as("hour") / 10, rel=1e-12)
    assert scenario.device_time_lost.m_as("day") == pytest.approx(1024 * (scenario.wall_time.m_as("day") - 30), rel=1e-9)
    assert scenario.steps_between_saves == 3600 // 7
    assert scenario.variant(step_time="2 hour").steps_between_saves == 1
    assert isinstance(scenario.failure_cost, Quantity) and scenario.failure_cost.m_as("minute") == pytest.approx(35, rel=1e-12)


@pytest.mark.parametrize(("left_out", "words"), [
    ({"mean_time_between_failures": None}, 'young_interval needs mean_time_between_failures, which is absent; write mean_time_between_failures="'),
    ({"save_time": None}, 'young_interval needs save_time, which is absent; write save_time="'),
    ({"save_time": None, "checkpoint_size": "1 TB"}, 'young_interval needs save_time or storage_bandwidth, which is absent; write save_time="40 s" or storage_bandwidth="'),
    ({"save_time": None, "mean_time_between_failures": None}, "young_interval needs save_time and mean_time_between_failures, which are absent"),
])
def test_what_is_missing_is_said(left_out, words):
    with pytest.raises(MissingInputError) as missing:
        run(**left_out).young_interval
    assert words in str(missing.value)


@pytest.mark.parametrize("name", ["overhead", "goodput", "expected_waste", "wall_time", "run_failures"])
def test_quantities_far_above_an_absent_input_name_it(name):
    scenario = run(save_time=None, interval="1 hour", training_time="1 day")
    assert scenario.waiting_for(name) == ((("save_time",),),)
    with pytest.raises(MissingInputError, match=f"{name} needs save_time, which is absent"):
        getattr(scenario, name)


@pytest.mark.parametrize(("changes", "words"), [
    ({"devices": 0}, "must be more than zero"),
    ({"save_time": "0 s"}, "must be more than zero"),
    ({"interval": "-1 minute"}, "must be more than zero"),
    ({"recovery_time": 300}, 'write recovery_time="300 s"'),
    ({"checkpoint_size": "1 TB/s"}, "checkpoint_size is measured in"),
])
def test_refused(changes, words):
    with pytest.raises(InputError) as refusal:
        run(**changes)
    assert words in str(refusal.value)


def test_an_interval_beyond_all_bounds_is_an_error_in_words():
    with pytest.raises(InputError, match="slowdown_at is too large a number"):
        run().slowdown_at("1000000 day")


def test_warnings():
    assert run().warnings == ()
    assert any("most intervals fail" in w for w in run(interval="20 hour").warnings)
    beside = run(checkpoint_size="10 TB", storage_bandwidth="1 GB/s", save_time="5 s", interval="30 minute")
    assert any("would begin before this one is written" in w for w in beside.warnings)


def test_first_order_is_warned_of_where_recoveries_fail():
    """Beyond a recovery of a tenth of the time between failures, first order misses more than a hundredth of the clock's time."""
    long, short = run(recovery_time="61 minute"), run(recovery_time="59 minute")
    assert long.expected_waste - long.wasted_share > 0.01
    assert any("failures strike recoveries" in w for w in long.warnings) and not any("failures strike recoveries" in w for w in short.warnings)


def test_the_worked_example_of_the_card():
    example = doctest.DocTestParser().get_doctest(CheckpointIntervalScenario.about.example, {}, "example", None, None)
    result = doctest.DocTestRunner(verbose=False).run(example)
    assert result.attempted and not result.failed

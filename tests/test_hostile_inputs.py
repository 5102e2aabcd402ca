"""Values that no input may take: each is refused when the object is made, with words that say where and what to write instead."""
from __future__ import annotations

import math

import pint
import pytest

from mlsysim import DefinitionError, Given, Hardware, HardwareNode, InputError, Memory, Models, Quantity, Scenario, Scenarios, Workload, derived, given
from mlsysim.units import units
from mlsysim.engine.scenario_types import TrainingStateFitScenario

GPT2 = dict(workload=Models.Language.GPT2, hardware=Hardware.Cloud.H100, bytes_per_value="4 byte", optimizer_bytes_per_parameter="8 byte")
NOT_NUMBERS = [math.nan, math.inf, -math.inf, True, False, "many", [1], {}, object(), complex(1, 1)]


def walks():
    """Every input of every shelf entry and of the records within it."""
    for entry in Scenarios:
        scenario = getattr(Scenarios, entry)
        for name, declared in type(scenario).inputs.items():
            yield pytest.param(scenario, name, declared, id=f"{entry}-{name}")
            if declared.kind == "record" and getattr(scenario, name) is not None:
                for inner, inner_declared in type(getattr(scenario, name)).inputs.items():
                    yield pytest.param(scenario, f"{name}.{inner}", inner_declared, id=f"{entry}-{name}.{inner}")


def hostile(declared):
    if declared.kind == "quantity":
        yield from [math.nan, math.inf, True, "many", "nan GB", "1e999 byte", "-1 " + (str(declared.unit) or "count"), "3 dollar" if str(declared.unit) != "dollar" else "3 second", [1], object()]
        if not declared.unit.dimensionless:
            yield from [3, 3.5, units.Quantity(3, "count"), "3"]
        if declared.whole:
            yield 2.5
        if declared.positive:
            yield f"0 {declared.unit}"
    elif declared.kind == "count":
        yield from [*NOT_NUMBERS, -1, 2.5, "3 GB", units.Quantity(3, "GB")]
        if declared.positive:
            yield 0
    elif declared.kind == "number":
        yield from [*NOT_NUMBERS, -1, "3 GB", units.Quantity(3, "GB")]
    elif declared.kind == "truth":
        yield from [0, 1, "yes", math.nan]
    elif declared.kind == "option":
        yield from ["no such choice", 3, True, math.nan]
    elif declared.kind == "text":
        yield from [3, True, "", "  "]
    elif declared.kind == "record":
        yield from [3, "H100", True, object()]
    elif declared.kind == "rows":
        yield from [3, "q", [3], {"name": "q"}]


@pytest.mark.parametrize(("scenario", "name", "declared"), list(walks()))
def test_every_input_refuses_what_makes_no_sense(scenario, name, declared):
    for value in hostile(declared):
        with pytest.raises(InputError) as refusal:
            scenario.variant(**{name: value})
        assert name.rpartition(".")[2] in str(refusal.value), (value, str(refusal.value))


@pytest.mark.parametrize(("changes", "words"), [
    ({"bytes_per_value": 4}, 'write bytes_per_value="4 B"'),
    ({"bytes_per_value": "4"}, 'write bytes_per_value="4 B"'),
    ({"bytes_per_value": "4 octet"}, "no unit is called 'octet'"),
    ({"bytes_per_value": "4 second"}, "measured in B"),
    ({"bytes_per_value": "4 KB"}, "kB (1000-based) or KiB (1024-based)"),
    ({"bytes_per_value": "0 byte"}, "must be more than zero"),
    ({"optimizer_bytes_per_parameter": "-8 byte"}, "must not be negative"),
    ({"batch_size": 2.5}, "not a whole number"),
    ({"batch_size": True}, "truth value"),
    ({"batch_size": 0}, "more than zero"),
    ({"bacth_size": 2}, "did you mean 'batch_size'?"),
    ({"workload": None}, "Models.Language.GPT2"),
    ({"hardware": "H100"}, "Hardware.Cloud.H100"),
])
def test_the_words(changes, words):
    with pytest.raises(InputError) as refusal:
        TrainingStateFitScenario(**{**GPT2, **changes})
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("TrainingStateFitScenario: ")


def test_a_forgotten_input_is_named_with_an_example():
    with pytest.raises(InputError, match=r"bytes_per_value is required; write TrainingStateFitScenario\(bytes_per_value=\"4 byte\""):
        TrainingStateFitScenario(workload=Models.Language.GPT2)


def test_another_registry_is_read_by_its_units_name_or_refused_in_words():
    other = pint.UnitRegistry()
    made = TrainingStateFitScenario(**{**GPT2, "activations": other.Quantity(3, "gigabyte"), "batch_size": 1})
    assert made.activations.m_as("GB") == 3
    # pint's stock registry makes a byte eight of nothing; taken by magnitude it would be silently wrong.
    with pytest.raises(InputError, match="another unit registry"):
        TrainingStateFitScenario(**{**GPT2, "activations": other.Quantity(3, "meter"), "batch_size": 1})
    with pytest.raises(InputError, match="has no unit"):
        TrainingStateFitScenario(**{**GPT2, "activations": other.Quantity(3, ""), "batch_size": 1})


def test_numpy_numbers_are_numbers_and_numpy_truths_are_not():
    import numpy
    assert TrainingStateFitScenario(**GPT2, batch_size=numpy.int64(4)).batch_size == 4
    assert type(TrainingStateFitScenario(**GPT2, batch_size=numpy.int64(4)).batch_size) is int
    for wrong in (numpy.bool_(True), numpy.float64("nan"), numpy.array([4]), numpy.float32(2.5)):
        with pytest.raises(InputError):
            TrainingStateFitScenario(**GPT2, batch_size=wrong)


def test_objects_do_not_change():
    scenario = TrainingStateFitScenario(**GPT2)
    with pytest.raises(AttributeError, match=r"variant\(batch_size=...\)"):
        scenario.batch_size = 3
    with pytest.raises(AttributeError):
        del scenario.batch_size
    with pytest.raises(AttributeError):
        scenario.total = 3
    with pytest.raises(AttributeError, match="has no 'sensitivity'$"):      # nothing private is suggested
        scenario.sensitivity      # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'optimizer_state'"):
        scenario.optimiser_state      # noqa: B018


def test_a_memory_of_no_size_and_a_model_of_no_parameters_are_refused():
    with pytest.raises(InputError, match="more than zero"):
        Memory(capacity="0 GiB")
    with pytest.raises(InputError, match="more than zero"):
        Workload(name="none", parameters=0)
    with pytest.raises(InputError, match="not a whole number"):
        Workload(name="half", parameters=1.5)
    with pytest.raises(InputError, match="name"):
        HardwareNode(name="", memory=Memory(capacity="1 GiB"))


def test_a_zero_denominator_is_refused_in_words():
    class Ratio(Scenario):
        """A ratio that may have nothing beneath it."""
        above: int = given("a")
        below: int = given("b")

        @derived("r", "")
        def ratio(self) -> float:
            """The ratio."""
            return self.above / self.below

    with pytest.raises(InputError, match="ratio divides by zero"):
        Ratio(above=1, below=0).ratio      # noqa: B018


def test_a_default_is_checked_when_the_class_is_made():
    with pytest.raises(DefinitionError, match="Wrong.size: 3 has no unit"):
        class Wrong(Scenario):
            """A default without its unit."""
            size: Given[Quantity] = given("s", "GB", default=3)

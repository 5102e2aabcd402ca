"""Every scenario class of the kit and every entry of the shelf passes the conformance suite, and the suite notices what it is there for."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import mlsysim
from mlsysim import (
    Given, Hardware, InputError, Models, Presentation, Quantity, Scenario, Scenarios, case, check_scenario, derived, given, is_given, parametrised)
from mlsysim.engine import derivation, notation, writing
from mlsysim.engine.conformance import OF_OBJECT, Conformance
from mlsysim.engine.solver import TrainingMemoryModel

from .transfer import Cable, Extra, TransferScenario


def shipped() -> list[type[Scenario]]:
    """Every scenario class that some module of the kit defines."""
    for module in pkgutil.walk_packages(mlsysim.__path__, "mlsysim."):
        if "scenario_definitions" in module.name:
            importlib.import_module(module.name)

    def below(kind: type) -> Iterator[type]:
        for subclass in kind.__subclasses__():
            yield subclass
            yield from below(subclass)
    return sorted({kind for kind in below(Scenario) if kind.__module__.startswith("mlsysim.")}, key=lambda kind: kind.__name__)


CLASSES = shipped()
SHELF = list(Scenarios)
LAYOUTS: dict[str, dict[str, Any]] = {
    "one device": {},
    "a 3D layout": {"tp_size": 8, "pp_size": 4, "dp_size": 2, "gradient_accumulation_steps": 8, "batch_size": 64},
    "ZeRO-3, everything recomputed": {"dp_size": 8, "zero_stage": 3, "activation_checkpointing": "full"},
    "pure bf16, lion": {"precision": "bf16", "optimizer": "lion", "master_weights": False},
    "no gradient": {"optimizer": "none", "trainable_fraction": 0.0},
}  # fmt: skip


def test_the_classes_are_found() -> None:
    assert {"TrainingStateFitScenario", "TrainingMemoryScenario"} <= {kind.__name__ for kind in CLASSES}
    assert len(SHELF) >= 15


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_class_conforms(kind: type[Scenario]) -> None:
    found = check_scenario(kind)
    assert found.passed, repr(found)
    assert found.examples >= 1


@pytest.mark.parametrize("entry", SHELF)
def test_every_entry_of_the_shelf_conforms(entry: str) -> None:
    found = check_scenario(getattr(Scenarios, entry))
    assert found.passed, repr(found)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_training_memory_conform(layout: str) -> None:
    arguments = {"batch_size": 8, "seq_len": 2048} | LAYOUTS[layout]
    found = check_scenario(TrainingMemoryModel().solve(Models.Language.Llama3_8B, Hardware.Cloud.H100, **arguments))
    assert found.passed, repr(found)


@pytest.mark.parametrize("workload", ["GPT2", "Mixtral_8x7B", "Llama3_70B"])
def test_workloads_of_training_memory_conform(workload: str) -> None:
    found = check_scenario(TrainingMemoryModel().solve(getattr(Models.Language, workload), Hardware.Cloud.H100, batch_size=8, seq_len=1024))
    assert found.passed, repr(found)


def test_a_scenario_of_every_word_conforms() -> None:
    assert check_scenario(TransferScenario).passed
    full = TransferScenario(payload="40 MB", items=12, senders=3, cable=Cable(name="copper", bandwidth="10 GB/s", lanes=4), compression="quarter",
                            deadline="2 second", extras=[Extra(size="3 MB", copies=2), Extra(size="5 MB")])
    for made in (full, full.variant(items=5000, senders=None), full.variant(deadline=None), full.variant(loss=0), full.variant(payload="1 byte", extras=None)):
        found = check_scenario(made)
        assert found.passed, repr(found)


# The suite notices.

class BareScenario(Scenario):
    size: Given[Quantity] = given("S", "GB", default="4 GB")

    @derived("D", "GB")
    def double(self) -> Quantity:
        return self.size * 2

    @parametrised("T", "GB", source="made up", times=given("k"))
    def repeated(self, times: int) -> Quantity:
        """So many times the size."""
        return self.size * times


def problems(kind: Any, **more: Any) -> tuple[str, ...]:
    found = check_scenario(kind, **more)
    assert found.passed == (not found.problems) == bool(found)
    return found.problems


def test_what_is_not_documented() -> None:
    assert problems(BareScenario) == (
        "BareScenario has no docstring: say in a sentence what it computes",
        "size says nothing of its meaning; write given(..., doc=\"...\")",
        "size has a default without a source; write given(..., source=\"...\")",
        "double has no docstring: say in a sentence what it means",
        "double has no source; write @derived(..., source=\"...\")",
        "repeated says nothing of its argument times; write times=given(..., doc=\"...\")")


class NeedyScenario(Scenario):
    """Needs something no example is given for."""

    pieces: tuple[Extra, ...] = given(doc="Rows.")
    label: str = given(doc="A name.", example="Unknown.Name")

    @derived("n", "", source="made up")
    def pieces_and_more(self) -> int:
        """A number."""
        return case((is_given(self.extra), 1), otherwise=2)

    extra: int | None = given("m", default=None, doc="Another.")


def test_an_example_that_cannot_be_made() -> None:
    (said,) = problems(NeedyScenario)
    assert "pieces: its example is missing; write given(..., example=" in said and "check_scenario(NeedyScenario, example=NeedyScenario(...))" in said
    assert problems(NeedyScenario, example=NeedyScenario(pieces=[], label="x")) == ()
    (said,) = problems(NeedyScenario, example=Scenarios.Gpt2Fp32AdamOnH100)
    assert "the example is a TrainingStateFitScenario" in said


UNSTEADY = [2]


def test_a_formula_that_changes() -> None:
    class UnsteadyScenario(Scenario):
        """Depends on what stands outside it."""
        size: Given[Quantity] = given("S", "GB", doc="A size.", example='"3 GB"')

        @derived("D", "GB", source="made up")
        def times(self) -> Quantity:
            """Some times the size."""
            return self.size * UNSTEADY[0]

    UNSTEADY[0] = 3
    assert any("times gives another formula each time it is read" in problem for problem in problems(UnsteadyScenario))


def test_parts_that_do_not_add_up() -> None:
    class PartsScenario(Scenario):
        """Two parts, one of them forgotten."""
        a: Given[Quantity] = given("a", "GB", doc="A size.", example='"1 GB"')

        @derived("b", "GB", source="made up")
        def first(self) -> Quantity:
            """A part."""
            return self.a * 1

        @derived("c", "GB", source="made up")
        def second(self) -> Quantity:
            """A part."""
            return self.a * 3

        @derived("t", "GB", source="made up")
        def total(self) -> Quantity:
            """All."""
            return self.first + self.second

        presentation = Presentation(parts=("first",), whole="total")

    assert "the parts of its bar add up to 0.25 of total; name in presentation.parts what total adds up" in problems(PartsScenario)


def test_a_class_that_cannot_be_pickled() -> None:
    class InnerScenario(TransferScenario):
        """Stands inside a function."""

    assert any("it cannot be rebuilt from pickle" in problem for problem in problems(InnerScenario))


BREAKS: list[tuple[str, Any, str, Any, str]] = [
    ("a figure a little off", writing, "value_figure", lambda real: lambda *a, **k: real(*a, **k)._replace(digits="31.4"), "lines of figures, read back"),
    ("a sign written for another", notation.Text, "signs", lambda real: {**real, "*": " + "}, "lines of figures, read back"),
    ("brackets left out", notation.Text, "group", lambda real: lambda self, text: text, "lines of figures, read back"),
    ("a fraction upside down in HTML", notation.Html, "fraction", lambda real: lambda self, a, b, c, d: real(self, b, a, d, c), "lines of figures, read back"),
    ("a symbol without its index in HTML", notation.Html, "symbol", lambda real: lambda self, base, index: real(self, base, ""), "equations in text, HTML and LaTeX"),
    ("a brace left open in LaTeX", notation.Latex, "root", lambda real: lambda self, text: r"\sqrt{" + text, "equations in text, HTML and LaTeX"),
    ("an element no notebook keeps", notation.Html, "word", lambda real: lambda self, text: f"<svg>{text}</svg>", "breakdown in text and HTML"),
    ("an element left open", notation.Html, "word", lambda real: lambda self, text: f"<b>{text}", "breakdown in text and HTML"),
    ("inputs lost in saving", derivation.Derivation, "to_dict", lambda real: lambda self: {**real(self), "items": 77}, "pickle, JSON, repr and variant give it back"),
    ("a hash by identity", derivation.Derivation, "__hash__", lambda real: object.__hash__, "pickle, JSON, repr and variant give it back"),
]  # fmt: skip


@pytest.fixture
def nothing_kept() -> Iterator[Any]:
    """Forgets what has been written already, now, when asked, and at the end."""
    def forget() -> None:
        for kept in vars(writing).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
    yield forget
    forget()


@pytest.mark.parametrize(("home", "name", "broken", "check"), [pytest.param(*rest, id=what) for what, *rest in BREAKS])
def test_what_is_broken_is_noticed(home: Any, name: str, broken: Any, check: str, nothing_kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = TransferScenario(payload="40 MB", items=12, senders=3, cable=Cable(name="copper", bandwidth="10 GB/s", lanes=4), deadline="2 second",
                            extras=[Extra(size="3 MB", copies=2), Extra(size="5 MB")])
    assert list(OF_OBJECT[check](made)) == []
    nothing_kept()
    with monkeypatch.context() as patched:
        patched.setattr(home, name, broken(getattr(home, name)))
        assert list(OF_OBJECT[check](made.variant()))


def test_a_result_of_another_type_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation.Derived, "value", lambda self, base: base)      # what forgets to make quantities and counts of floats
    found = set(OF_OBJECT["values, or what they wait for"](TransferScenario(payload="40 MB", cable=Cable(name="copper", bandwidth="10 GB/s"))))
    assert {"volume is a float, and Quantity is declared", "packets is a float, and int is declared"} <= found


def test_it_takes_scenario_classes_alone() -> None:
    with pytest.raises(InputError, match="check_scenario takes a scenario class, not 3"):
        check_scenario(3)  # type: ignore[arg-type]


def test_text_and_html_say_the_same() -> None:
    found = check_scenario(BareScenario)
    assert isinstance(found, Conformance)
    assert "BareScenario: 6 to mend" in repr(found) and "BareScenario: 6 to mend" in found._repr_html_()
    assert "double has no source" in repr(found) and "double has no source" in found._repr_html_()
    assert "TransferScenario: conforms" in repr(check_scenario(TransferScenario))

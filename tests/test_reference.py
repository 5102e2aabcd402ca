"""The reference card: the parts that a documentation page has, as text and as HTML, and the card of one declaration."""
from __future__ import annotations

import doctest
import inspect
from typing import Any

import pytest

from mlsysim import Scenario, derived, given, parametrised, requires, warns
from mlsysim.engine import scenario_types
from mlsysim.engine.inputs import Given
from mlsysim.engine.scenario import About
from mlsysim.engine.scenario_types import TrainingStateFitScenario
from mlsysim.units import Quantity
from tests.front_end import lines, lost, spaced

KINDS = [kind for _, kind in inspect.getmembers(scenario_types, inspect.isclass) if issubclass(kind, Scenario)]
every = pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.__name__) for kind in KINDS])


class Storage(Scenario):
    """Whether a checkpoint is stored in time.

    A second paragraph.
    """

    size: Given[Quantity] = given("S", "GB", positive=True, example='"18 GB"', doc="What is stored.")
    copies: int = given("n", default=2, doc="How often it is stored.", source="Gray 1985, Why Do Computers Stop, section 3")
    total_copies: int | None = given("N", default=lambda self: 2 * self.copies, doc="Copies with those of the mirror.")
    rate: Given[Quantity | None] = given("R", "GB/second", default=None, doc="What the store takes.")

    @derived("T", "second", source="by definition")
    def time(self) -> Quantity:
        """How long all copies take."""
        return self.size * self.copies / self.rate

    @derived("f", "percent")
    def share(self) -> float:
        """One copy's share."""
        return 1 / self.copies

    @parametrised("t", "second", at=given("r", "GB/second", positive=True, doc="Another rate."))
    def time_at(self, at: Quantity) -> Quantity:
        """How long it takes at another rate."""
        return self.size / at

    @requires("{copies} copies are too many; write copies=9 or fewer")
    def few(self) -> bool:
        """A store keeps few copies."""
        return self.copies < 10

    @warns("Only {copies} copy is kept.")
    def single(self) -> bool:
        """One copy is easily lost."""
        return self.copies < 2

    about = About(assumptions=("The store takes everything at one rate.",), exclusions=("Latency.",), references=("Gray 1985, Why Do Computers Stop, section 3",), example=">>> 1 + 1\n2\n")


CARD = """\
Storage

Whether a checkpoint is stored in time.

A second paragraph.

Storage(size="18 GB", ...)

Inputs
  size  S, quantity in GB, more than zero
      What is stored.
      Required. Write size="18 GB".
  copies  n, whole number
      How often it is stored.
      Default: 2. Write copies=1. Source: [1]
  total_copies  N, whole number
      Copies with those of the mirror.
      Default: N = 2 × n. Write total_copies=1.
  rate  R, quantity in GB/s or None
      What the store takes.
      Default: none. Write rate="1 GB/s".

Attributes: quantities
  time  T = S × n / R
      How long all copies take.
      A quantity in s. Depends on size, copies, rate. May wait for rate. Source: by definition
  share  f = 1 / n
      One copy's share.
      A number, shown in percent. Depends on copies.

Methods
  time_at(at)  t(r) = S / r
      How long it takes at another rate.
      A quantity in s. Argument at: quantity in GB/s, more than zero. Another rate. Call time_at(at="1 GB/s"). Depends on size.

Refused when an object is made, unless
  few  n < 10
      A store keeps few copies.
      Message: ‹copies› copies are too many; write copies=9 or fewer

Warned of, where
  single  n < 2
      One copy is easily lost.
      Message: Only ‹copies› copy is kept.

Assumptions
  The store takes everything at one rate.

Exclusions
  Latency.

References
  [1] Gray 1985, Why Do Computers Stop, section 3

Example
  >>> 1 + 1
  2"""


def test_the_card_has_the_parts_of_a_documentation_page() -> None:
    assert str(Storage.reference()) == CARD
    assert repr(Storage.reference()) == CARD


@every
def test_the_card_names_every_input_quantity_and_condition(kind: Any) -> None:
    said = lines(kind.reference()._repr_html_())
    for name, declared in {**kind.inputs, **kind.quantities}.items():
        arguments = f"({', '.join(declared.parameters)})" if getattr(declared, "parameters", {}) else ""
        at = next(i for i, line in enumerate(said) if line.startswith(f"{name}{arguments} "))
        assert spaced(declared.doc) in said[at + 1:at + 9]
    for condition in kind.conditions.values():
        assert spaced(condition.doc) in said


@every
def test_the_card_tells_purpose_assumptions_exclusions_and_references(kind: Any) -> None:
    said = lines(kind.reference()._repr_html_())
    assert {*kind.about.assumptions, *kind.about.exclusions} <= {*said}
    assert all(any(line.endswith(f"] {reference}") for line in said) for reference in kind.about.references)
    assert kind.about.assumptions and kind.about.exclusions and kind.about.references


@every
def test_the_worked_example_works(kind: Any) -> None:
    examples = doctest.DocTestParser().get_doctest(kind.about.example, {}, kind.__name__, None, None)
    assert examples.examples
    told: list[str] = []
    doctest.DocTestRunner().run(examples, out=told.append)
    assert told == []


@every
def test_text_and_html_say_the_same(kind: Any) -> None:
    """Cases stand one under the other in HTML, with `otherwise` behind the last."""
    html = " ".join(lines(kind.reference()._repr_html_()))
    text = [spaced(line) for line in str(kind.reference()).split("\n") if "; otherwise " not in line]
    assert [line for line in text if line not in html] == []
    assert len(text) > 50


@every
def test_a_front_end_that_trusts_nothing_keeps_it_whole(kind: Any) -> None:
    assert lost(kind.reference()._repr_html_()) == []


def test_a_declaration_read_on_the_class_shows_itself() -> None:
    said = lines(TrainingStateFitScenario.optimizer_state._repr_html_())
    assert said == [
        "optimizer_state M_opt = P × b_opt",
        "Full tuning: what the optimizer remembers for every parameter of the model.",
        "A quantity in B. Depends on workload parameters, optimizer bytes per parameter. May wait for workload parameters. "
        "Source: Kingma and Ba 2015, Adam, arXiv:1412.6980, algorithm 1",
    ]
    assert lines(Storage.size._repr_html_()) == ["size S, quantity in GB, more than zero", "What is stored.", 'Required. Write size="18 GB".']


def test_the_hostile_words_of_a_class_are_only_text() -> None:
    class Hostile(Scenario):
        """Is <b>5</b> > 3 & $x$ or $y$?"""
        size: Given[Quantity] = given("S", "GB", doc="<script>alert(1)</script>")
    html = Hostile.reference()._repr_html_()
    assert lost(html) == [] and "Is <b>5</b> > 3 & $x$ or $y$?" in lines(html) and html.count("$") == html.count("<span>$</span>")

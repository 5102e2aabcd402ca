"""A class that cannot work is refused when it is made, with the words to write instead."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from mlsysim import (
    DefinitionError, Given, Presentation, Quantity, Record, Scenario, Table, all_of, any_of, case, ceil, choose, derived, given, is_given, maximum, minimum, not_,
    parametrised, requires, square_root, total_of, units)
from mlsysim.engine.expression import FormulaError


class Box(Record):
    size: Given[Quantity] = given("S", "byte", doc="Its size.")
    count: int = given("n", default=1, doc="How many.")


def scenario(formula: Callable[[Any], Any], unit: str | None = "byte", returns: Any = Quantity, **more: Any) -> Any:
    """A scenario class whose quantity `answer` has that formula."""
    formula.__name__ = "answer"
    formula.__annotations__ = {"return": returns}
    annotations: dict[str, Any] = {"size": Given[Quantity], "rate": Given[Quantity], "hours": Given[Quantity], "count": int, "box": Box, "spare": Box | None,
                                   "boxes": tuple[Box, ...], "wide": bool, "mode": str}
    body: dict[str, Any] = {
        "__annotations__": annotations, "__module__": __name__,
        "size": given("S_1", "GB"), "rate": given("R", "GB/s"), "hours": given("t", "hour"), "count": given("n_1"), "box": given(), "spare": given(default=None),
        "boxes": given(), "wide": given(default=False), "mode": given(default="fast", choices=("fast", "slow")),
        "answer": derived("A", unit)(formula)}  # fmt: skip
    annotations.update(more.pop("__annotations__", {}))
    return type("Trial", (Scenario,), body | more)


def if_(self: Any) -> Any:
    if self.size > self.box.size:
        return self.size
    return self.box.size


def and_(self: Any) -> Any:
    return self.size > self.box.size and self.wide


def chained(self: Any) -> Any:
    return self.size < self.box.size < self.size


def is_none(self: Any) -> Any:
    return self.box.size if self.spare is None else self.spare.size


def is_not(self: Any) -> Any:
    return self.size if self.mode is not self.wide else self.box.size


def in_(self: Any) -> Any:
    return case((self.mode in ("fast", "slow"), self.size), otherwise=self.box.size)


def loop(self: Any) -> Any:
    return sum(box.size for box in self.boxes)


def nested_branch(self: Any) -> Any:
    return total_of(self.boxes, lambda box: box.size if box.count is not None else 0)


PYTHON_WORDS: list[tuple[Callable[[Any], Any], str]] = [
    (if_, "write case((condition, value), otherwise=value)"),
    (and_, "all_of()"),
    (chained, "chained comparisons"),
    (lambda self: not self.wide, "in place of if, and, or, not"),
    (is_none, "write is_given(self.x)"),
    (is_not, "write is_given(self.x)"),
    (in_, "write any_of(x == a, x == b)"),
    (lambda self: self.mode in self.boxes, "write any_of(x == a, x == b)"),
    (loop, "total_of(rows, term) in place of a loop"),
    (nested_branch, "write is_given(self.x)"),
    (lambda self: max(self.size, self.box.size), "maximum()"),
    (lambda self: min(self.size, self.box.size), "minimum()"),
    (lambda self: float(self.size), "without float() or int()"),
    (lambda self: int(self.count), "without float() or int()"),
    (lambda self: math.ceil(self.count), "ceil(x) in place of math.ceil(x)"),
    (lambda self: math.floor(self.count), "floor(x) in place of math.floor(x), int(x), round(x)"),
    (lambda self: round(self.count), "floor(x) in place of math.floor(x), int(x), round(x)"),
    (lambda self: math.sqrt(self.count), "without float()"),
    (lambda self: self.count // 2, "write floor(a / b)"),
    (lambda self: abs(self.size), "write maximum(x, -x)"),
    (lambda self: self.boxes[0].size, "total_of(rows, term)"),
    (lambda self: (self.size > self.box.size) & self.wide, "write all_of(a, b)"),
    (lambda self: (self.size > self.box.size) | self.wide, "write any_of(a, b)"),
    (lambda self: self.size(), "leave the brackets out"),
    (lambda self: f"{self.size:.1f}", "a formula returns arithmetic, not text"),
    (lambda self: str(self.size), "a formula returns arithmetic, not text"),
    (lambda self: self.size + units.Quantity(4, "byte"), "a number with a unit needs a name"),
    (lambda self: self.size.to("byte"), "no part called 'to'"),
    (lambda self: self.size.magnitude, "no part called 'magnitude'"),
    (lambda self: self.size + [1], "not of list"),
    (lambda self: self.size * math.nan, "not a number a formula can hold"),
    (lambda self: case(self.wide, otherwise=self.size), "case takes pairs"),
    (lambda self: total_of(self.box, lambda box: box.size), "total_of takes an input that holds rows"),
    (lambda self: is_given(self.size + self.box.size), "is_given takes one input"),
]


@pytest.mark.parametrize(("formula", "instead"), PYTHON_WORDS)
def test_python_that_a_tree_cannot_hold(formula: Callable[[Any], Any], instead: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        scenario(formula)
    assert str(caught.value).startswith("Trial.answer: ") and instead in str(caught.value)


UNIT_CLASHES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda self: self.size + self.hours, "GB cannot be added to h"),
    (lambda self: self.size - self.count, "GB cannot be subtracted with a pure number"),
    (lambda self: self.size + 1, "GB cannot be added to a pure number"),
    (lambda self: self.size * self.hours, "is declared: change the formula or the unit"),
    (lambda self: case((self.size > self.hours, self.size), otherwise=self.size), "GB cannot be compared with h"),
    (lambda self: case((self.wide, self.size), otherwise=self.hours), "are branches of one case"),
    (lambda self: case((self.wide, self.size), (self.mode == "fast", self.size), otherwise=self.size / self.size), "are branches of one case"),
    (lambda self: case((self.size, self.size), otherwise=self.size), "a condition of case is GB"),
    (lambda self: minimum(self.size, self.hours), "GB cannot be compared with h"),
    (lambda self: maximum(self.size, 3), "GB cannot be compared with a pure number"),
    (lambda self: self.size % self.hours, "divided with a remainder by"),
    (lambda self: self.size * ceil(self.size), "ceil takes a pure number, not GB"),
    (lambda self: self.size ** self.hours, "an exponent must be a pure number"),
    (lambda self: self.size ** self.count, "can only be raised to a number written in the formula"),
    (lambda self: square_root(self.size), "is declared"),
    (lambda self: choose(self.mode, {"fast": self.size, "slow": self.hours}), "are entries of one table"),
    (lambda self: choose(self.count, {"fast": self.size, "slow": self.size}), "choose takes an option first"),
    (lambda self: total_of(self.boxes, lambda box: box.size * box.size), "is declared"),
    (lambda self: case((all_of(self.wide, self.count), self.size), otherwise=self.size), "all_of takes conditions, not a pure number"),
    (lambda self: case((any_of(self.size), self.size), otherwise=self.size), "any_of takes conditions"),
    (lambda self: case((not_(self.mode), self.size), otherwise=self.size), "not_ takes conditions"),
    (lambda self: self.box * 2, "name one of its quantities"),
    (lambda self: self.box, "the result is a record"),
    (lambda self: self.mode, "the name of a choice"),
    (lambda self: self.wide, "yes or no"),
    (lambda self: self.mode + self.mode, "cannot be added"),
]


@pytest.mark.parametrize(("formula", "said"), UNIT_CLASHES)
def test_units_are_checked_in_every_branch(formula: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        scenario(formula)
    assert str(caught.value).startswith("Trial.answer: ") and said in str(caught.value)


MISSPELT: list[tuple[Callable[[Any], Any], str]] = [
    (lambda self: self.sise, "no quantity called 'sise'; did you mean 'size'?"),
    (lambda self: self.box.sizes, "Box has no 'sizes'; did you mean 'size'?"),
    (lambda self: total_of(self.boxes, lambda box: box.cuont * box.size), "Box has no 'cuont'; did you mean 'count'?"),
    (lambda self: case((self.mode == "fsat", self.size), otherwise=self.size), "mode is never 'fsat'; did you mean 'fast'?"),
    (lambda self: choose(self.mode, {"fast": self.size}), "the table has no entry for slow"),
    (lambda self: choose(self.mode, Table("k", "byte", {"fast": 1.0}, source="here")), "the table has no entry for slow"),
]


@pytest.mark.parametrize(("formula", "said"), MISSPELT)
def test_a_misspelt_name_gets_the_near_one(formula: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        scenario(formula)
    assert said in str(caught.value)


def test_a_plain_method_is_not_a_quantity() -> None:
    with pytest.raises(DefinitionError, match=r"helper is a plain method of Trial: put @derived\(symbol, unit\) above it"):
        scenario(lambda self: self.helper, helper=lambda self: 1)


GUARDS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda self: case((is_given(self.box), self.box.size), otherwise=self.size), r"is_given(self.box) always holds"),
    (lambda self: case((is_given(self.spare), self.size), otherwise=self.spare.size), "self.spare.size is read where is_given has just said that it is absent"),
    (lambda self: case((not_(is_given(self.spare)), self.spare.size), otherwise=self.size), "has just said that it is absent"),
]


@pytest.mark.parametrize(("formula", "said"), GUARDS)
def test_guards_that_guard_nothing(formula: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        scenario(formula)
    assert said in str(caught.value)


def test_a_guarded_input_is_not_waited_for() -> None:
    made = scenario(lambda self: case((is_given(self.spare), self.spare.size), otherwise=self.size))
    values: dict[str, Any] = {"size": "4 GB", "rate": "1 GB/s", "hours": "1 hour", "count": 1, "box": Box(size="1 B"), "boxes": []}
    assert made.may_need("answer") == frozenset()
    assert made(**values).answer.m_as("GB") == 4
    assert made(**values, spare=Box(size="3 GB")).answer.m_as("GB") == 3


def test_cycles() -> None:
    with pytest.raises(DefinitionError, match="these quantities need each other: ") as caught:
        scenario(lambda self: self.second * 2, second=derived("B", "byte")(lambda self: self.third), third=derived("C", "byte")(lambda self: self.answer))
    assert {"answer", "second", "third"} <= set(str(caught.value).replace(";", " ").split())


def test_a_quantity_of_itself() -> None:
    with pytest.raises(DefinitionError, match="answer -> answer"):
        scenario(lambda self: self.answer + self.size)


def test_one_symbol_for_two_things() -> None:
    with pytest.raises(DefinitionError, match="size and second both have the symbol 'S_1'; give one of them another"):
        scenario(lambda self: self.size, second=derived("S_1", "byte")(lambda self: self.size))


def test_one_symbol_for_a_quantity_and_an_input_of_a_record() -> None:
    with pytest.raises(DefinitionError, match="both have the symbol 'S'"):
        scenario(lambda self: self.box.size, second=derived("S", "byte")(lambda self: self.size))


@pytest.mark.parametrize("name", ["variant", "equation", "trace", "to_dict", "warnings", "title", "inputs", "quantities", "compare", "address"])
def test_names_that_the_base_class_has(name: str) -> None:
    with pytest.raises(DefinitionError, match=f"already has a '{name}' of its own"):
        scenario(lambda self: self.size, **{name: derived("Q", "byte")(lambda self: self.size)})
    with pytest.raises(DefinitionError, match=f"already has a '{name}' of its own"):
        scenario(lambda self: self.size, __annotations__={name: int}, **{name: given("Q")})


DECLARATIONS: list[tuple[dict[str, Any], str]] = [
    ({"__annotations__": {"extra": Given[Quantity]}, "extra": given("x")}, "a quantity needs a unit"),
    ({"__annotations__": {"extra": int}, "extra": given("x", "GB")}, "only a quantity has a unit"),
    ({"__annotations__": {"extra": int}, "extra": given("x", default=None)}, "annotate it with | None"),
    ({"__annotations__": {"extra": Given[Quantity]}, "extra": given("x", "byte", default="3 second")}, "the default of Trial.extra"),
    ({"__annotations__": {"extra": Given[Quantity]}, "extra": given("x", "byte", default=3)}, "has no unit"),
    ({"__annotations__": {"extra": int}, "extra": given("x", default=-1)}, "must not be negative"),
    ({"__annotations__": {"extra": dict}, "extra": given("x")}, "an input is annotated"),
    ({"__annotations__": {"extra": int}, "extra": 3}, "declare it with given"),
    ({"__annotations__": {"extra": "Qantity"}, "extra": given("x")}, "its annotation 'Qantity' cannot be read"),
    ({"extra": given("x")}, "an input needs an annotation"),
    ({"extra": derived("x")(lambda self: self.size)}, "so it needs a unit"),
    ({"presentation": Presentation(answer="ansver")}, "no quantity called 'ansver'; did you mean 'answer'?"),
    ({"presentation": Presentation(groups={"All": ("answer", "sice")})}, "'sice'"),
    ({"presentation": Presentation(capacity="box.sixe")}, "'sixe'"),
    ({"extra": requires("no")(lambda self: self.size)}, "a condition is yes or no; this is GB"),
    ({"extra": parametrised("x", "byte")(lambda self, width: self.size * width)}, "declare each: @parametrised(symbol, unit, width=given(...))"),
]


@pytest.mark.parametrize(("more", "said"), DECLARATIONS)
def test_declarations_that_cannot_work(more: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        scenario(lambda self: self.size, **more)
    assert said in str(caught.value)


def test_units_that_do_not_exist() -> None:
    with pytest.raises(DefinitionError, match="GiBi"):
        given("x", "GiBi")
    with pytest.raises(DefinitionError, match="no unit is called 'bytees'; did you mean 'byte'"):
        scenario(lambda self: self.size, "bytees")


def test_a_table_needs_a_source_for_every_entry() -> None:
    with pytest.raises(FormulaError, match="table b: no source for int8"):
        Table("b", "byte", {"fp16": 2, "int8": 1}, source={"fp16": "IEEE 754"})


def test_a_formula_is_read_once() -> None:
    readings = []

    def formula(self: Any) -> Any:
        readings.append(1)
        return self.size * 2
    made = scenario(formula)
    values: dict[str, Any] = {"size": "4 GB", "rate": "1 GB/s", "hours": "1 hour", "count": 1, "box": Box(size="1 B"), "boxes": []}
    assert [made(**values).variant(size=f"{n} GB").answer.m_as("GB") for n in range(1, 5)] == [2, 4, 6, 8]
    assert made.equation("answer") == "A = S_1 × 2" and len(readings) == 1


def test_a_subclass_may_replace_a_formula() -> None:
    base = scenario(lambda self: self.size * 2)
    more = type("More", (base,), {"answer": derived("A", "byte")(lambda self: self.size * 3), "__module__": __name__})
    values: dict[str, Any] = {"size": "4 GB", "rate": "1 GB/s", "hours": "1 hour", "count": 1, "box": Box(size="1 B"), "boxes": []}
    assert (base(**values).answer.m_as("GB"), more(**values).answer.m_as("GB")) == (8, 12)

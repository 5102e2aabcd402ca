"""What people write by mistake around scenarios: refused in words, or taken for what it says."""

import json
from fractions import Fraction
from typing import Any

import numpy
import pytest

from mlsysim import (
    DefinitionError, Given, InputError, MissingInputError, Presentation, Quantity, Record, Scenario, case, choose, compare, derived, given, is_given, maximum, minimum, parametrised, requires, sensitivity, solve_for, sweep,
    total_of, units)


class Row(Record):
    a: int = given("a")
    b: int = given("b")


class Box(Scenario):
    """A size, times."""

    size: Given[Quantity] = given("x", "GB", default="2 GB")
    time: Given[Quantity] = given("t", "second", default="3 s")
    count: int = given("n", default=3)
    share: float = given("f", default=0.5)
    mode: str = given(default="fast", choices=("fast", "slow"))
    pairs: tuple[Row, ...] = given(default=(Row(a=1, b=2), Row(a=3, b=4)))

    @derived("y", "GB")
    def whole(self: Any) -> Quantity:
        """All."""
        return self.size * self.count

    @derived("z", "GB")
    def rest(self: Any) -> Quantity:
        """What is left."""
        return self.whole - self.size * self.share

    @derived("k")
    def steps(self: Any) -> int:
        """Steps."""
        return self.count + 1

    @derived("k_2")
    def more_steps(self: Any) -> int:
        """More steps."""
        return self.steps + 1

    @derived("q", "")
    def bowl(self: Any) -> float:
        """Falls, then rises: least at 3, where it is 1."""
        return (self.share - 3) ** 2 + 1

    @parametrised("P", "GB", upper=given("u"), lower=given("l", default=3))
    def between(self: Any, upper: int, lower: int) -> Quantity:
        """A difference."""
        return self.size * upper - self.size * lower


# Values.

@pytest.mark.parametrize("value", [units.Quantity(numpy.float64(1.5), "GB"), units.Quantity(numpy.float32(1.5), "GB"), units.Quantity(Fraction(3, 2), "GB"), units.Quantity(numpy.int64(2), "GB")])
def test_any_kind_of_number_survives_being_written_and_read(value: Any) -> None:
    box = Box(size=value)
    assert type(box.size.magnitude) in (int, float)
    assert Box.from_dict(json.loads(json.dumps(box.to_dict()))) == box == eval(repr(box))


@pytest.mark.parametrize("text", ["1,5 GB", "1,50 GB", "12,3456 GB", "1,234,5 GB", "1,2345 GB"])
def test_a_decimal_comma_is_no_thousands_comma(text: str) -> None:
    with pytest.raises(InputError, match="write a decimal point"):
        Box(size=text)


@pytest.mark.parametrize(("text", "number"), [("1,500 GB", 1500), ("1,234,567.5 GB", 1234567.5), ("1_500 GB", 1500), ("1.5e3 GB", 1500)])
def test_thousands(text: str, number: float) -> None:
    assert Box(size=text).size == units.Quantity(number, "GB")


@pytest.mark.parametrize("text", ["1 9**9**9 GB", "1 GB**9**9**9", "1 GB*3", "1 2 GB", "1 GB**99999"])
def test_a_unit_is_no_place_for_arithmetic(text: str) -> None:
    with pytest.raises(InputError, match="no unit is called"):
        Box(size=text)


def test_inputs_without_their_names() -> None:
    with pytest.raises(InputError, match=r"write Box\(size='3 GB', \.\.\.\)"):
        Box("3 GB")      # type: ignore[call-arg,arg-type]


@pytest.mark.parametrize("data", [3, None, {"sources": 3}])
def test_data_that_no_to_dict_wrote(data: Any) -> None:
    with pytest.raises(InputError, match="from_dict takes"):
        Box.from_dict(data)


@pytest.mark.parametrize("use", [lambda: sweep(Box, "whole", count=[1]), lambda: solve_for(Box, "count", whole="6 GB"), lambda: sensitivity(Box, "whole")])      # type: ignore[arg-type]
def test_a_class_in_place_of_a_scenario(use: Any) -> None:
    with pytest.raises(InputError, match="takes a scenario with its inputs"):
        use()


@pytest.mark.parametrize("use", [lambda: Box.equation("wohle"), lambda: Box().substitution("wohle"), lambda: Box().trace("wohle"), lambda: Box().waiting_for("wohle")])
def test_a_misspelt_quantity_is_an_attribute_error_with_the_near_name(use: Any) -> None:
    with pytest.raises(AttributeError, match="did you mean 'whole'"):
        use()


def test_a_path_that_leads_nowhere() -> None:
    with pytest.raises(AttributeError, match="Box.size holds no inputs or quantities of its own"):
        Box.equation("size.whole")
    with pytest.raises(AttributeError, match="leads nowhere"):
        Box().at("size.whole")
    with pytest.raises(InputError, match="no arguments.*variant"):
        Box().substitution("whole", count=4)


def test_the_nearest_value_lies_between_the_steps_of_the_search() -> None:
    assert Box(share=solve_for(Box(), "share", bowl=1.5)).bowl == pytest.approx(1.5)
    assert solve_for(Box(), "share", bowl=1.5) == pytest.approx(3 + 0.5**0.5)
    with pytest.raises(ValueError, match=r"even share=3\b.* gives bowl 1$"):
        solve_for(Box(), "share", bowl=0.5)


# Quantities with arguments.

def test_an_argument_may_have_a_default() -> None:
    class Wide(Box):
        @derived("w", "GB")
        def used(self: Any) -> Quantity:
            """At the default."""
            return self.between(self.count + 2)

        @derived("w_2", "GB")
        def named(self: Any) -> Quantity:
            """By name."""
            return self.between(lower=self.count, upper=5)

    assert Wide().between(5) == Wide().between(lower=3, upper=5) == Wide().used == Wide().named == units.Quantity(4, "GB")
    assert Wide.equation("used") == "w = P(n + 2, 3)"


@pytest.mark.parametrize(("formula", "said"), [
    (lambda self: self.between(self.size, 2), "takes a pure number for upper, not GB"),
    (lambda self: self.between(), "needs upper=1"),
    (lambda self: self.between(1, 2, 3), "takes upper, lower"),
    (lambda self: self.between(1, upper=3), "takes upper, lower"),
])
def test_arguments_inside_a_formula(formula: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        _with(formula)


# Classes.

def _with(formula: Any, returns: Any = Quantity, unit: str | None = "GB") -> Any:
    formula.__annotations__ = {"return": returns}
    return type("Trial", (Box,), {"__module__": __name__, "trial": derived("T", unit)(formula)})


@pytest.mark.parametrize(("formula", "said"), [
    (lambda self: {"fast": self.size, "slow": self.whole}[self.mode], r"KeyError.*choose\(option, table\)"),
    (lambda self: 1 / 0 * self.size, "ZeroDivisionError"),
    (lambda self: self.size * 10**400, "OverflowError"),
    (lambda self: None, "write return"),
    (lambda self: minimum(self.size), "minimum compares two values"),
    (lambda self: maximum(), "maximum compares two values"),
    (lambda self: self.size if isinstance(self.count, int) else self.whole, r"cannot ask isinstance\(\)"),
    (lambda self: total_of(self.pairs, lambda a: total_of(self.pairs, lambda b: a.a * b.b)), "within another over the same rows"),
    (lambda self: case((self.size == None, self.size), otherwise=self.whole), "is_given"),      # noqa: E711
])
def test_formulas_that_python_cannot_run_on_symbols(formula: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=f"Trial.trial: .*{said}"):
        _with(formula)


def test_a_plain_value_or_method_does_not_hide_an_input_or_a_quantity() -> None:
    with pytest.raises(DefinitionError, match="Trial.count: it is an input already"):
        type("Trial", (Box,), {"count": 5})
    with pytest.raises(DefinitionError, match="Trial.whole: its base declares it by a formula"):
        type("Trial", (Box,), {"whole": lambda self: 5})


@pytest.mark.parametrize(("name", "formula", "unit", "returns", "said"), [
    ("whole", lambda self: self.time * 2, "second", Quantity, "rest, which it inherits"),
    ("steps", lambda self: self.share, None, float, "more_steps, which it inherits.*fraction"),
])
def test_a_replaced_quantity_must_serve_those_that_use_it(name: str, formula: Any, unit: str, returns: Any, said: str) -> None:
    formula.__annotations__ = {"return": returns}
    with pytest.raises(DefinitionError, match=said):
        type("Trial", (Box,), {"__module__": __name__, name: derived("y'", unit)(formula)})


def test_a_replaced_input_must_serve_those_that_use_it() -> None:
    with pytest.raises(DefinitionError, match="whole, which it inherits"):
        type("Trial", (Box,), {"__module__": __name__, "__annotations__": {"size": Given[Quantity]}, "size": given("x", "second")})


def test_an_input_may_become_a_quantity_and_a_quantity_an_input() -> None:
    class Fixed(Box):
        @derived("n")
        def count(self: Any) -> int:      # type: ignore[override]
            """Always seven."""
            return 7

    class Loose(Box):
        whole: Given[Quantity] = given("y", "GB")      # type: ignore[assignment]

    assert (Fixed().count, Fixed().whole) == (7, units.Quantity(14, "GB"))
    with pytest.raises(InputError, match="no input is called 'count'"):
        Fixed(count=3)      # type: ignore[call-arg]
    assert Loose(whole="9 GB").rest == units.Quantity(8, "GB")
    assert eval(repr(Loose(whole="9 GB")), {"Loose": Loose}) == Loose(whole="9 GB")


def test_two_bases() -> None:
    class Left(Scenario):
        left: int = given("l", default=1)

    class Right(Scenario):
        right: int = given("r", default=2)

        @derived("d")
        def double(self: Any) -> int:
            """Twice."""
            return self.right * 2

    class Both(Left, Right):
        @derived("s")
        def both(self: Any) -> int:
            """The sum."""
            return self.left + self.double

    assert Both(right=5).both == 11
    assert set(Both.inputs) == {"left", "right"} and set(Both.quantities) == {"double", "both"}


def test_decorators_in_other_orders() -> None:
    with pytest.raises(DefinitionError, match=r"write @derived\(symbol, unit\)"):
        derived(lambda self: self.size)      # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match=r"write @requires"):
        requires(lambda self: self.size)      # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="property"):
        derived("u", "GB")(property(lambda self: self.size))      # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="Trial.u: @property stands above"):
        type("Trial", (Box,), {"u": property(derived("u", "GB")(lambda self: self.size))})      # type: ignore[arg-type]


# What is written must read as it is computed.

@pytest.mark.parametrize(("formula", "line"), [
    (lambda self: choose(self.mode, {"fast": 1, "slow": 2}) * self.size, "T = (1 if mode = fast; otherwise 2) × x"),
    (lambda self: self.size / 1e12 * 1e12, "T = x / (1 × 10¹²) × 1 × 10¹²"),
    (lambda self: self.size * (-2) ** self.count, "T = x × (−2)^n"),
])
def test_brackets_around_what_would_read_otherwise(formula: Any, line: str) -> None:
    assert _with(formula).equation("trial") == line


def test_a_negative_figure_under_a_power_has_brackets() -> None:
    class Deep(Box):
        @derived("m", "")
        def below(self: Any) -> float:
            """Negative."""
            return self.share - 3

        @derived("s", "")
        def squared(self: Any) -> float:
            """Positive."""
            return self.below**2

    assert Deep().substitution("squared") == "s = (−2.5)² = 6.25"


def test_a_sum_over_rows_in_latex_has_brackets() -> None:
    kind = _with(lambda self: total_of(self.pairs, lambda row: row.a + row.b) * self.count, float, "")
    assert r"\left(a + b\right)" in kind.equation("trial").latex


# Defaults of every kind.

def test_rows_and_records_for_defaults_are_shown() -> None:
    class Packed(Box):
        row: Row = given(default=Row(a=1, b=2))
        others: tuple[Row, ...] = given(default=())

    assert "Row(a=1, b=2)" in str(Packed.reference()) and "no rows" in str(Packed.reference())
    assert str(Packed(others=[Row(a=5, b=6)], row=Row(a=7, b=8)))
    assert Packed()._repr_html_()


def test_a_record_whose_class_was_defined_again() -> None:
    class Holder(Scenario):
        row: Row = given()

    again = type("Row", (Record,), {"__module__": __name__, "__annotations__": {"a": int, "b": int}})
    with pytest.raises(InputError, match="defined again since; run the cell that defines Holder again"):
        Holder(row=again(a=1, b=2))


def test_bytes_beyond_the_largest_binary_unit_are_written_in_one_system() -> None:
    assert "PiB" not in str(Box(size="1e30 GB"))
    assert "(909 PiB)" in str(Box(size="1024 PB"))


def test_the_example_of_rows_can_be_copied() -> None:
    class Listed(Scenario):
        plain: tuple[Row, ...] = given(default=())
        shown: tuple[Row, ...] = given(default=(), example="[Row(a=1, b=2)]")

    with pytest.raises(InputError, match=r"such as \[Row\(a=1, b=2\)\]$"):
        Listed(shown=3)      # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"such as \[Row\(\.\.\.\)\]$"):
        Listed(plain=3)      # type: ignore[arg-type]


def test_two_shapes_for_the_same_adapters() -> None:
    from mlsysim import AdaptedMatrix, Hardware, Models, TrainingStateFitScenario
    run = TrainingStateFitScenario(workload=Models.Language.Llama3_8B, hardware=Hardware.Cloud.H100, bytes_per_value="2 B", optimizer_bytes_per_parameter="12 B", adapter_rank=16,
                                   adapter_matrices=(AdaptedMatrix(name="q", in_dim=4096, out_dim=4096),))
    assert run.warnings == ()
    assert ["are not used" in said for said in run.variant(adapted_matrices=2, adapter_in_dim=1, adapter_out_dim=1).warnings] == [True]


def _times(self: Any, a: int) -> Quantity:
    """Both."""
    return self.size * a * self.count      # type: ignore[no-any-return]


DECLARED: list[tuple[Any, str]] = [
    (lambda: given(3), "a symbol and a unit as text"),      # type: ignore[arg-type]
    (lambda: given("x", 3), "a symbol and a unit as text"),      # type: ignore[arg-type]
    (lambda: given("x", "GB", minimum="5 GB"), "minimum and maximum are plain numbers"),      # type: ignore[arg-type]
    (lambda: given("x", "GB", minimum=5, maximum=1), "nothing is at least 5 and at most 1"),
    (lambda: given(choices="fast"), "choices are several names"),
    (lambda: given(choices=(1, 2)), "choices are several names"),      # type: ignore[arg-type]
    (lambda: type("Trial", (Box,), {"r": requires("{cuont} is too many")(lambda self: self.count > 5)}), "Trial.r: {cuont} in its message: .*did you mean 'count'"),
    (lambda: type("Trial", (Box,), {"r": requires("{count:.1f}")(lambda self: self.count > 5)}), "Trial.r: {count:.1f} in its message"),
    (lambda: type("Trial", (Box,), {"r": requires("{count")(lambda self: self.count > 5)}), "Trial.r: .*braces that stay"),
    (lambda: type("Trial", (Box,), {"presentation": "whole"}), r"write presentation = Presentation\(\.\.\.\)"),
    (lambda: type("Trial", (Box,), {"about": "whole"}), r"write about = About\(\.\.\.\)"),
    (lambda: type("Trial", (Box,), {"presentation": Presentation(title="{cuont}")}), "presentation.title: {cuont}.*did you mean 'count'"),
    (lambda: type("Trial", (Box,), {"__module__": __name__, "twice": parametrised("T", "GB", a=given("n"))(_times)}), "its argument a and count both have the symbol 'n'"),
]


@pytest.mark.parametrize(("declare", "said"), DECLARED)
def test_declarations_are_checked_when_they_are_made(declare: Any, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        declare()


# Rows with an input that may be absent.

class Part(Record):
    share: float = given("a")
    extra: Given[Quantity | None] = given("w", "GB", default=None)


class Parts(Scenario):
    """Rows."""

    parts: tuple[Part, ...] | None = given(default=None)

    @derived("S", "GB")
    def guarded(self: Any) -> Quantity:
        """What is there."""
        return total_of(self.parts, lambda part: case((is_given(part.extra), part.extra), otherwise=0))

    @derived("M", "GB")
    def unguarded(self: Any) -> Quantity:
        """What must be there."""
        return total_of(self.parts, lambda part: part.extra * part.share)


def test_rows_with_an_absent_input_have_every_face() -> None:
    rows = Parts(parts=(Part(share=1), Part(share=2, extra="1 GB")))
    assert rows.guarded == units.Quantity(1, "GB")
    assert "(0 + 1.0 GB) = 1.0 GB" in str(rows) and rows._repr_html_() and str(compare(rows, Parts())) and rows.trace("guarded")
    with pytest.raises(MissingInputError, match=r"unguarded needs parts\.extra, which is absent; write parts=\[Part\(\.\.\., extra=\"1 GB\"\)\]"):
        rows.unguarded
    assert rows.waiting_for("unguarded") == ((("parts", "extra"),),)
    with pytest.raises(MissingInputError, match=r"write parts=\[Part\(\.\.\.\)\]"):
        Parts().guarded


def test_the_exponent_of_a_negative_number_has_no_slope() -> None:
    kind = _with(lambda self: (self.share - 3) ** self.count, float, "")
    assert sensitivity(kind(), "trial")["count"] is None
    assert sensitivity(kind(share=5), "trial")["count"] == pytest.approx(3 * 0.6931471805599453)

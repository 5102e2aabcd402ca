"""The conformance suite: what every scenario class owes a reader, checked on a class and an example of it, with the words to mend what is missing."""
from __future__ import annotations

import html.parser
import json
import math
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..units import ONE, Quantity
from .declarations import Derived, Parametrised
from .derivation import MissingInputError
from .dimension import NOTHING, ZERO, dimension
from .examples import Names, NoExampleError, example_arguments, example_of
from .expression import Argument, Expression, lift
from .inputs import DefinitionError, InputError
from .reading import Line, ReadingError, Value, read_line, same, stripped
from .scenario import Scenario
from .tables import Drawn, Grid
from .tracing import Tracer, dimension_of, formulas, refuse_cycles, refuse_duplicate_symbols

Problems = Iterator[str]
NO_NOTEBOOK_KEEPS = ("style", "script", "svg", "math")
_LEVEL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


class Finding(NamedTuple):
    """One thing the suite looks for, and what is wrong with it: nothing where it is in order."""
    check: str
    problems: tuple[str, ...]


class Conformance(Drawn):
    """What the suite found on a scenario class; `passed`, and the problems in words."""

    def __init__(self, kind: str, examples: int, findings: tuple[Finding, ...]):
        self.kind, self.examples, self.findings = kind, examples, findings

    @property
    def passed(self) -> bool:
        """Whether nothing is missing."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """What is missing or wrong, each with how to mend it."""
        return tuple(problem for finding in self.findings for problem in finding.problems)

    def __bool__(self) -> bool:
        return self.passed

    def grid(self) -> Grid:
        rows: list[tuple[str, ...]] = []
        for finding in self.findings:
            rows.append((finding.check, "passed" if not finding.problems else finding.problems[0]))
            rows += [("", problem) for problem in finding.problems[1:]]
        verdict = "conforms" if self.passed else f"{len(self.problems)} to mend"
        return Grid(f"{self.kind}: {verdict}", ("check", "result"), tuple(rows), frozenset({0, 1}), (f"Checked on {self.examples} example{'s' if self.examples != 1 else ''}.",))


def check_scenario(kind: type[Scenario] | Scenario, *, example: Scenario | None = None) -> Conformance:
    """Run the conformance suite on a scenario class, and say what is missing.

    kind: the class (or an object of it, which then is the example). example: an object to try it on; left out, one is made of
    the examples that the inputs declare, `given(..., example="32")`, and another with every input given.

    It looks at what the class declares (meanings, sources, formulas that trace, units, symbols, no cycles), and on each
    example at values, at every line of figures read back and worked out anew, at text against HTML, and at the ways to
    save and rebuild the object. Raises InputError where kind is no scenario class.
    """
    if isinstance(kind, Scenario):
        return check_scenario(type(kind), example=kind)
    if not (isinstance(kind, type) and issubclass(kind, Scenario)):
        raise InputError(f"check_scenario takes a scenario class, not {kind!r}; write check_scenario(MyScenario)")
    examples, unmade = _examples(kind, example)
    findings = [Finding(check, tuple(problems(kind))) for check, problems in OF_CLASS.items()]
    findings.append(Finding("an example can be made", tuple(unmade)))
    for check, of_object in OF_OBJECT.items():
        found = dict.fromkeys(problem for made in examples for problem in of_object(made))
        findings.append(Finding(check, tuple(found)))
    return Conformance(kind.__name__, len(examples), tuple(findings))


def _examples(kind: Any, given: Scenario | None) -> tuple[list[Any], list[str]]:
    if given is not None:
        return ([given], []) if isinstance(given, kind) else ([], [f"the example is a {type(given).__name__}; give example={kind.__name__}(...)"])
    try:
        made = [example_of(kind)]
    except (NoExampleError, InputError, AttributeError) as error:
        return [], [f"{error}; or write check_scenario({kind.__name__}, example={kind.__name__}(...))"]
    try:
        fullest = example_of(kind, everything=True)
    except (NoExampleError, InputError, AttributeError):
        return made, []      # the examples of inputs that need not be given may contradict each other
    return (made if fullest == made[0] else [*made, fullest]), []


# On the class.

def _documented(kind: Any) -> Problems:
    if not (kind.__doc__ or "").strip():
        yield f"{kind.__name__} has no docstring: say in a sentence what it computes"
    for name, declared in kind.inputs.items():
        if not declared.doc:
            yield f"{name} says nothing of its meaning; write given(..., doc=\"...\")"
        if declared.kind == "quantity" and isinstance(declared.default, Quantity) and not declared.source:
            yield f"{name} has a default without a source; write given(..., source=\"...\")"
    for name, declared in kind.quantities.items():
        if not declared.doc:
            yield f"{name} has no docstring: say in a sentence what it means"
        if not declared.source:
            yield f"{name} has no source; write @derived(..., source=\"...\")"
        for argument in declared.parameters.values():
            if not argument.doc:
                yield f"{name} says nothing of its argument {argument.name}; write {argument.name}=given(..., doc=\"...\")"


def _traced(kind: Any) -> Problems:
    tracer = Tracer(kind)
    for name, declared in {**formulas(kind), **kind.conditions}.items():
        arguments = {argument: Argument(argument) for argument in getattr(declared, "parameters", {})}
        if _shape(lift(declared.formula(tracer, **arguments))) != _shape(declared.expression):
            yield f"{name} gives another formula each time it is read; take out what changes outside it"


def _shape(x: Any) -> Any:
    """A tree as plain values, to compare it with another."""
    if isinstance(x, Expression):
        return type(x).__name__, *(_shape(value) for name, value in vars(x).items() if not name.startswith("_"))
    return tuple(map(_shape, x)) if isinstance(x, tuple) else str(x)


def _units(kind: Any) -> Problems:
    for name, declared in formulas(kind).items():
        of = dimension(declared.expression, dimension_of(kind, declared))
        wanted = declared.dimension
        if of not in (ZERO, NOTHING) and (of != wanted if isinstance(of, str) or isinstance(wanted, str) else not of.is_compatible_with(wanted)):
            yield f"{name} gives {of}, and {wanted} is declared"


def _ordered(kind: Any) -> Problems:
    for check in (refuse_cycles, refuse_duplicate_symbols):
        try:
            check(kind)
        except DefinitionError as error:
            yield str(error)


# On an object.

def _present(made: Any) -> Iterator[tuple[str, Derived[Any]]]:
    """The quantities that have a value here, those with an argument left out."""
    for name, declared in type(made).quantities.items():
        if not isinstance(declared, Parametrised):
            try:
                if getattr(made, name) is not None:
                    yield name, declared
            except (MissingInputError, InputError):
                continue


def _values(made: Any) -> Problems:
    types = {"Quantity": Quantity, "float": float, "int": int, "bool": bool, "str": str}
    for name, declared in type(made).quantities.items():
        if isinstance(declared, Parametrised):
            continue
        try:
            value = getattr(made, name)
        except MissingInputError:
            if not made.waiting_for(name):
                yield f"{name} waits, and says for nothing; guard the input that may be absent with is_given"
            continue
        except InputError:
            continue      # arithmetic has no answer with these inputs, and the error says so
        except Exception as error:
            yield f"{name} fails with {type(error).__name__}: {error}"
            continue
        if value is None and not declared.may_be_nothing:
            yield f"{name} is None, which it does not declare; annotate its result with | None"
        if value is not None and not (isinstance(value, Quantity) if declared.returns == "Quantity" else type(value) is types[declared.returns]):
            yield f"{name} is a {type(value).__name__}, and {declared.returns} is declared"


def _arguments(made: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every quantity that can be worked out here, with arguments where it takes some."""
    yield from ((name, {}) for name, _ in _present(made))
    for name, declared in type(made).quantities.items():
        if isinstance(declared, Parametrised):
            try:
                arguments = example_arguments(declared)
                getattr(made, name)(**arguments)
                yield name, arguments
            except (MissingInputError, InputError, NoExampleError):
                continue


def _figures(made: Any) -> Problems:
    for name, arguments in _arguments(made):
        written = made.substitution(name, **arguments)
        read: list[Line] = []
        for line in (str(written), stripped(written.html)):
            try:
                read.append(read_line(line))
            except ReadingError as error:
                yield f"{name}: its line cannot be read back: {line!r}: {error}"
                continue
            if not read[-1].holds:
                yield f"{name}: its figures do not give its value: {line}"
        if len(read) == 2 and _gist(read[0]) != _gist(read[1]):
            yield f"{name}: its text says {written}, and its HTML {stripped(written.html)}"
        if read and not arguments and not _states(made, name, read[0].stated):
            yield f"{name} is {getattr(made, name)}, and its line says {written}"


def _gist(line: Line) -> Any:
    return line.stated, line.computed and line.computed.value


def _states(made: Any, name: str, stated: Value) -> bool:
    """Whether the stated value is the object's own, within the digits that are shown."""
    value = made.number((name,))
    if isinstance(value, (bool, str)):
        return bool(stated.value == value)
    of: Any = type(made).quantities[name].unit or ONE
    return same(Value(value, of.dimensionality), stated)


def _equations(made: Any) -> Problems:
    kind = type(made)
    for name in kind.quantities:
        written = kind.equation(name)
        if _marks(str(written)) != _marks(stripped(written.html)):
            yield f"{name}: its equation reads {written} as text, and {stripped(written.html)} as HTML"
        if written.latex.count("{") != written.latex.count("}") or not written.latex:
            yield f"{name}: its LaTeX has unmatched braces: {written.latex}"


def _marks(text: str) -> Counter[str]:
    """The letters, digits and signs of a line, whatever their order and brackets."""
    return Counter(re.sub(r"[\s_^()/;]", "", text.translate(_LEVEL)))


class _Markup(html.parser.HTMLParser):
    """Elements that are left open, and those that no untrusted notebook keeps."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.wrong += [f"<{tag}> is left open" for tag in self.open]

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        if tag in NO_NOTEBOOK_KEEPS or "var(" in (dict(attributes).get("style") or ""):
            self.wrong.append(f"<{tag}> is lost in a notebook that is not trusted")
        if tag not in ("br", "hr", "img", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing")


def _breakdown(made: Any) -> Problems:
    markup = made._repr_html_()
    text, shown = str(made), stripped(markup)
    yield from (f"the breakdown's HTML: {problem}" for problem in _Markup(markup).wrong)
    numbers = set(_NUMBER.findall(shown))
    for lost in dict.fromkeys(number for number in _NUMBER.findall(text) if number not in numbers):
        yield f"the breakdown's text says {lost}, and its HTML does not"
    for name, _ in _present(made):
        said = made.figure_text(name)
        for face, where in ((" ".join(text.split()), "text"), (shown, "HTML")):
            if " ".join(said.split()) not in face:
                yield f"{name} is {said}, which the breakdown's {where} does not say"


def _parts(made: Any) -> Problems:
    shown = type(made).presentation
    try:
        whole = made.number((shown.whole,)) if shown.parts and shown.whole and made.present((shown.whole,)) else None
    except InputError:
        return
    if whole is not None:
        held = sum(made.number((part,)) for part in shown.parts if made.present((part,)))
        if not math.isclose(held, whole, rel_tol=1e-9):
            yield f"the parts of its bar add up to {held / (whole or 1):.6g} of {shown.whole}; name in presentation.parts what {shown.whole} adds up"


def _rebuilt(made: Any) -> Problems:
    kind = type(made)
    ways: dict[str, Callable[[], Any]] = {
        "pickle": lambda: pickle.loads(pickle.dumps(made)),
        "JSON": lambda: kind.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False))),
        "its repr": lambda: eval(repr(made), {"__builtins__": {}}, Names(kind)),
        "variant()": made.variant,
    }
    for way, rebuild in ways.items():
        try:
            again = rebuild()
        except Exception as error:      # whatever goes wrong is what the reader would meet
            yield f"it cannot be rebuilt from {way}: {type(error).__name__}: {error}"
            continue
        if again != made or hash(again) != hash(made):
            yield f"{way} gives another object back: {again!r}"
            continue
        for name, declared in _present(made):
            if again.number((name,)) != made.number((name,)):
                yield f"{way} gives an object with another {name} back"


OF_CLASS: dict[str, Callable[[Any], Problems]] = {
    "meanings and sources": _documented,
    "formulas are traced once and for all": _traced,
    "units": _units,
    "no cycles, one symbol for one thing": _ordered,
}
OF_OBJECT: dict[str, Callable[[Any], Problems]] = {
    "values, or what they wait for": _values,
    "lines of figures, read back": _figures,
    "equations in text, HTML and LaTeX": _equations,
    "breakdown in text and HTML": _breakdown,
    "parts add up to the whole": _parts,
    "pickle, JSON, repr and variant give it back": _rebuilt,
}

__all__ = ["Conformance", "Finding", "check_scenario"]

"""Solving for an input: the largest or smallest value of it at which a condition holds or a quantity reaches a value."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..units import Quantity, scale, units
from .declarations import Parametrised
from .derivation import MissingInputError
from .dimension import dimension
from .evaluation import scalar
from .expression import Apply, Call, Expression, FormulaError, IsGiven, Symbol, TotalOf, children, walk
from .figures import figure
from .inputs import Input, InputError
from .notation import TEXT, words
from .record import Path, Record
from .tracing import dimension_of
from .writing import figure_text, value_figure

if TYPE_CHECKING:
    from .scenario import Scenario

EVERY_UP_TO = 256              # whole numbers are all tried up to here, since layouts hold for some and not for others
FURTHEST = 60                  # doublings and halvings beyond which nothing is looked for


class NoSolutionError(ValueError):
    """No value of the input does what was asked, or every value does; the message gives the nearest miss."""


class _Probe(NamedTuple):
    """What one value of the input gives: whether the goal holds there, the figure it is judged by, and the scenario; None where it cannot be."""
    at: float
    holds: bool
    scenario: Any
    figure: Any
    refusal: str = ""


class _Goal(NamedTuple):
    """What is asked: of which quantity, in base units, and in words."""
    name: str
    wanted: Any
    said: str


def solve_for(scenario: Scenario, name: str, *, largest: bool = False, smallest: bool = False, **goal: Any) -> Any:
    """The value of an input at which a condition holds or a quantity reaches a value.

    name: the input, or the path of an input of an input: `"batch_size"`, `"workload.parameters"`. goal: one quantity and what
    it is to be: `fits=True` or, for a number, `training_total="80 GB"`, which is not to be exceeded.

    `solve_for(scenario, "batch_size", fits=True)` gives the last value at which the goal still holds: the largest where it
    holds for small values, the smallest where it holds for large ones, as it does in `solve_for(scenario,
    "hardware.memory.capacity", fits=True)`. `largest=True` or `smallest=True` insists on one end; for a number, the largest
    input is the last at which the quantity has not passed the value, the smallest the first at which it has reached it.

    Returns an int for a count, a whole quantity for a quantity of counts, otherwise a Quantity in the input's declared unit or a
    float; `scenario.variant(name=value)` is the scenario at that value. All whole numbers up to 256 are tried, beyond them
    powers of two and then halves of the gap in which the goal changes, to the last whole number or the last digit of a float.

    Raises NoSolutionError, with the nearest miss, where no value does it or every value does; InputError for a name or a goal
    that makes no sense; MissingInputError where the quantity waits for another input.
    """
    if not isinstance(scenario, Record):
        raise InputError(f"solve_for takes a scenario with its inputs, not {scenario!r}; write solve_for(MyScenario(...), ...)")
    if len(goal) != 1:
        raise InputError(f"{type(scenario).__name__}: name one goal, such as solve_for(scenario, \"{name}\", {scenario.presentation.answer or 'total'}=True)")
    if largest and smallest:
        raise InputError(f"{type(scenario).__name__}: ask for largest=True or for smallest=True, not for both")
    return _Search(scenario, name, _goal(type(scenario), *next(iter(goal.items())))).answer(largest, smallest)


def _goal(kind: Any, name: str, wanted: Any) -> _Goal:
    if name not in kind.quantities:
        try:
            kind.declaration((name,))
        except FormulaError as error:
            raise InputError(str(error)) from None
        raise InputError(f"{kind.__name__}: {name} is an input, which does not follow from another; write scenario.variant({name}=...)")
    declared = kind.quantities[name]
    if isinstance(declared, Parametrised):
        raise InputError(f"{kind.__name__}.{name} takes an argument; name a quantity without one")
    where = f"{kind.__name__}: {name}"
    if declared.returns == "bool":
        if not isinstance(wanted, bool):
            raise InputError(f"{where} is yes or no; write {name}=True or {name}=False")
        return _Goal(name, wanted, f"{words(name)} {'hold' if wanted else 'fail'}")
    if declared.returns == "str":
        raise InputError(f"{where} is the name of a choice, which no number reaches")
    bound = Input("", f"{declared.unit}" if declared.unit is not None else None, default=None, positive=False, minimum=-math.inf, maximum=None, choices=None,
                  aliases=None, example="", doc="", source="")
    bound.name, bound.kind = name, "quantity" if declared.returns == "Quantity" else "number"
    base = bound.base(bound.accept(wanted, where))
    return _Goal(name, base, f"{words(name)} at most {TEXT.figure(value_figure(declared, base))}")


class _Search:
    """One input of one scenario, tried at many values."""

    def __init__(self, scenario: Any, name: str, goal: _Goal):
        self.scenario, self.name, self.path, self.goal = scenario, name, tuple(name.split(".")), goal
        kind = type(scenario)
        holder = scenario.at(self.path[:-1])
        if holder is None:
            absent = next(self.path[:i] for i in range(1, len(self.path)) if not scenario.present(self.path[:i]))
            raise InputError(f"{kind.__name__}: {'.'.join(absent)} is absent, so {name} cannot be solved for; write {scenario.how_to_give(absent)}")
        try:
            self.declared: Any = type(holder)._declared(self.path[-1])
        except FormulaError as error:
            raise InputError(str(error)) from None
        if not isinstance(self.declared, Input) or self.declared.kind not in ("quantity", "count", "number"):
            raise InputError(f"{kind.__name__}: {name} is no input that holds a number" + (
                "; it follows from " + ", ".join(self.declared.depends_on) if not isinstance(self.declared, Input) else ""))
        self.probes: dict[float, _Probe] = {}

    # One value.

    def value(self, at: float) -> Any:
        """A number in the declared unit as the input takes it."""
        number: Any = int(at) if self.declared.whole else at
        return units.Quantity(number, self.declared.unit) if self.declared.kind == "quantity" else number

    def try_at(self, at: float) -> _Probe:
        if at not in self.probes:
            self.probes[at] = self._tried(at)
        return self.probes[at]

    def _tried(self, at: float) -> _Probe:
        try:
            made = self.scenario.variant(**{self.name: self.value(at)})
        except InputError as error:
            return _Probe(at, False, None, None, str(error))
        try:
            value = getattr(made, self.goal.name)
            base = made.number((self.goal.name,)) if value is not None else None
        except (InputError, MissingInputError) as error:
            if isinstance(error, MissingInputError):
                raise
            return _Probe(at, False, None, None, str(error))
        if base is None:
            return _Probe(at, False, None, None, f"{self.goal.name} is none")
        return _Probe(at, base == self.goal.wanted if isinstance(base, bool) else base <= self.goal.wanted, made, base)

    # Where to look.

    def ladder(self) -> list[float]:
        """Values from the lowest to the highest that the input takes, each reached by doubling."""
        bounds = {comparison: limit for comparison, limit, _ in self.declared.bounds()}
        lowest, highest = bounds.get(">=", bounds.get(">", 0.0)), bounds.get("<=", math.inf)
        if self.declared.whole:
            first = int(lowest) if ">=" in bounds else 1
            steps = [float(first + i) for i in range(EVERY_UP_TO)] + [float(first + EVERY_UP_TO * 2**i) for i in range(FURTHEST - 8)]
            return sorted({step for step in steps if step <= highest} | ({highest} if math.isfinite(highest) else set()))
        known = self.scenario.number(self.path) / (scale(self.declared.unit) if self.declared.kind == "quantity" else 1.0) if self.scenario.present(self.path) else 1.0
        middle = abs(known) or 1.0
        steps = [sign * middle * 2.0**i for i in range(-FURTHEST, FURTHEST + 1) for sign in ((1.0, -1.0) if lowest < 0 else (1.0,))]
        ends = {end for end in (lowest, highest) if math.isfinite(end)} - ({lowest} if ">" in bounds else set())
        return sorted({step for step in steps if lowest <= step <= highest} | ends)

    # The answer.

    def answer(self, largest: bool, smallest: bool) -> Any:
        self._refuse_unrelated()
        tried = [self.try_at(at) for at in self.ladder()]
        possible = [probe for probe in tried if probe.scenario is not None]
        if not possible:
            raise NoSolutionError(f"{type(self.scenario).__name__}: no {self.name} can be tried: {tried[0].refusal}")
        number = not isinstance(self.goal.wanted, bool)
        rising = number and possible[0].figure <= possible[-1].figure
        if number and (largest and not rising or smallest and rising):
            test: Callable[[_Probe], bool] = lambda probe: probe.scenario is not None and probe.figure >= self.goal.wanted      # noqa: E731
        else:
            test = lambda probe: probe.holds      # noqa: E731
        if number and not any(map(test, tried)):
            tried = self._with_nearest(tried, test)
            possible = [probe for probe in tried if probe.scenario is not None]
        holding = [probe for probe in tried if test(probe)]
        if not holding:
            raise NoSolutionError(self._nearest_miss(possible))
        from_below = test(possible[0])
        upward = largest or not smallest and (from_below or not test(possible[-1]))
        edge = tried.index(holding[-1] if upward else holding[0])
        beyond = edge + 1 if upward else edge - 1
        if not 0 <= beyond < len(tried):
            if self._at_a_limit(holding[-1 if upward else 0].at, upward):
                return self.value(holding[-1 if upward else 0].at)
            raise NoSolutionError(self._no_limit(possible, upward))
        return self.value(self._between(tried[edge].at, tried[beyond].at, test))

    def _with_nearest(self, tried: list[_Probe], test: Callable[[_Probe], bool]) -> list[_Probe]:
        """The same, with the value between them that comes nearest to the goal: a quantity that falls and rises may meet it between two of them only."""
        def distance(probe: _Probe) -> float:
            return math.inf if probe.scenario is None else self._distance(probe)
        nearest = min(tried, key=distance)
        place = tried.index(nearest)
        low, high = tried[max(place - 1, 0)].at, tried[min(place + 1, len(tried) - 1)].at
        while not test(nearest):
            thirds = [low + (high - low) / 3, high - (high - low) / 3]
            if self.declared.whole:
                thirds = [float(math.floor(thirds[0])), float(math.ceil(thirds[1]))]
            left, right = map(self.try_at, thirds)
            nearest = min(nearest, left, right, key=distance)
            if distance(left) <= distance(right):
                narrowed = low, right.at
            else:
                narrowed = left.at, high
            if narrowed == (low, high) or high - low <= 1e-12 * abs(high):
                break
            low, high = narrowed
        return sorted({*tried, nearest}, key=lambda probe: probe.at)

    def _at_a_limit(self, at: float, upward: bool) -> bool:
        """Whether the input itself goes no further."""
        limits = {comparison: limit for comparison, limit, _ in self.declared.bounds()}
        return at == limits.get("<=") if upward else at == limits.get(">=") or self.declared.whole and at == 1 and ">" in limits

    def _between(self, inside: float, outside: float, test: Callable[[_Probe], bool]) -> float:
        """The last value on the way from one where the goal holds to one where it does not; its neighbour is known not to do."""
        while True:
            middle = _middle(inside, outside, self.declared.whole)
            if middle in (inside, outside):
                break
            if test(self.try_at(middle)):
                inside = middle
            else:
                outside = middle
        return inside if self.declared.whole else self._shortest(inside, test)

    def _shortest(self, at: float, test: Callable[[_Probe], bool]) -> float:
        """A number with fewer digits that differs by no more than rounding does, where the goal still holds there."""
        for digits in range(11, 17):
            near = float(f"{at:.{digits}e}")
            if abs(near - at) <= 4 * math.ulp(at) and test(self.try_at(near)):
                return near
        return at

    # What to say where there is none.

    def _refuse_unrelated(self) -> None:
        if self.path not in leaves(self.scenario, (self.goal.name,)):
            near = sorted(".".join(path) for path in leaves(self.scenario, (self.goal.name,)))
            raise InputError(f"{type(self.scenario).__name__}: {self.goal.name} does not depend on {self.name}; it depends on {', '.join(near)}")

    def _said(self, probe: _Probe) -> str:
        return f"{self.name}={figure_text(probe.scenario, self.path)}"

    def _nearest_miss(self, possible: Sequence[_Probe]) -> str:
        nearest = min(possible, key=lambda probe: (self._distance(probe), possible.index(probe)))
        return (f"{type(self.scenario).__name__}: no {self.name} makes {self.goal.said}: even {self._said(nearest)} gives {self._given(nearest)}")

    def _given(self, probe: _Probe) -> str:
        if isinstance(self.goal.wanted, bool):
            return reason(probe.scenario, self.goal.name)
        return f"{words(self.goal.name)} {figure_text(probe.scenario, (self.goal.name,))}"

    def _distance(self, probe: _Probe) -> float:
        if isinstance(self.goal.wanted, bool):
            return margin(probe.scenario, self.goal.name)
        return abs(probe.figure - self.goal.wanted)

    def _no_limit(self, possible: Sequence[_Probe], upward: bool) -> str:
        furthest = possible[-1 if upward else 0]
        other = "smallest" if upward else "largest"
        return (f"{type(self.scenario).__name__}: there is no {'largest' if upward else 'smallest'} {self.name} that makes {self.goal.said}: it still does at "
                f"{self._said(furthest)}, which gives {self._given(furthest)}; ask for {other}=True, or for another value")


def _middle(a: float, b: float, whole: bool) -> float:
    """Halfway, by ratio while the two are far apart."""
    low, high = min(a, b), max(a, b)
    if whole:
        return float((int(low) + int(high)) // 2)
    return math.sqrt(low) * math.sqrt(high) if low > 0 and high > 4 * low else low + (high - low) / 2


def leaves(scenario: Any, path: Path, before: Path = ()) -> set[Path]:
    """The inputs that a value follows from, by their paths from the scenario, in any branch of its formulas."""
    name, *rest = path
    if rest:
        held = scenario.at((name,))
        return leaves(held, tuple(rest), (*before, name)) if held is not None else {(*before, *path)}
    declared = type(scenario)._declared(name)
    stated = isinstance(declared, Input) and scenario.__dict__["_stored"].get(name) is not None
    if stated or getattr(declared, "expression", None) is None:
        return {(*before, name)}
    return _beneath(scenario, declared.expression, before) | ({(*before, name)} if isinstance(declared, Input) else set())


def _beneath(scenario: Any, e: Expression, before: Path) -> set[Path]:
    match e:
        case Symbol(path) if "*" not in path: return leaves(scenario, path, before)
        case IsGiven(path): return leaves(scenario, path, before)
        case TotalOf(rows, term): return {(*before, *rows)} | _beneath(scenario, term, before)
        case Call(name, arguments): return leaves(scenario, (name,), before).union(*(_beneath(scenario, a, before) for a in arguments))
    return set().union(*(_beneath(scenario, child, before) for child in children(e)))


# Why a condition fails, or holds, in figures.

def _comparisons(scenario: Any, e: Expression) -> list[Apply]:
    """The comparisons that a condition stands on, those of the conditions it names included."""
    match e:
        case Apply("<=" | "<" | ">=" | ">"): return [e]
        case Apply("and" | "or" | "not", operands): return [found for operand in operands for found in _comparisons(scenario, operand)]
        case Symbol((name,)) if getattr(type(scenario)._declared(name), "returns", "") == "bool":
            return _comparisons(scenario, type(scenario)._declared(name).expression)
    return []


def _sides(scenario: Any, name: str) -> list[tuple[Apply, float, float]]:
    """The comparisons of a condition that can be made, each with its two sides; those that fail first."""
    found = []
    for comparison in _comparisons(scenario, type(scenario).quantities[name].expression):
        try:
            a, b = (float(scalar(operand)(scenario)) for operand in comparison.operands)
        except Exception:      # noqa: BLE001  (a side that waits for an input gives no figure)
            continue
        found.append((comparison, a, b))
    return sorted(found, key=lambda at: bool(scalar(at[0])(scenario)))


def margin(scenario: Any, name: str) -> float:
    """By what share the sides of a condition's comparison differ."""
    return next((abs(a - b) / (abs(b) or 1.0) for _, a, b in _sides(scenario, name)), math.inf)


def reason(scenario: Any, name: str) -> str:
    """What a condition compares, in figures: `total 91.2 GB against capacity 85.9 GB`; or the input whose absence decides it."""
    absent = [node.path for node in walk(type(scenario).quantities[name].expression) if isinstance(node, IsGiven) and "*" not in node.path and not scenario.present(node.path)]
    if absent and not scenario.number((name,)):
        return f"{words(name)} no, since {'.'.join(absent[0])} is absent; write {scenario.how_to_give(absent[0])}"
    for comparison, a, b in _sides(scenario, name):
        left, right = (_side(scenario, operand, value) for operand, value in zip(comparison.operands, (a, b)))
        return f"{left} against {right}"
    return f"{words(name)} {figure_text(scenario, (name,))}"


def _side(scenario: Any, e: Expression, value: float) -> str:
    if isinstance(e, Symbol):
        return f"{words(e.path[-1])} {figure_text(scenario, e.path)}"
    of = dimension(e, dimension_of(type(scenario), None))
    return TEXT.figure(figure(value, of)) if hasattr(of, "dimensionless") else f"{value:g}"


__all__ = ["NoSolutionError", "solve_for"]

"""Says in words what a change of an input did to a scenario, every number of it computed."""
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from ..engine.declarations import Derived, Parametrised
from ..engine.expression import Symbol
from ..engine.figures import figure
from ..engine.inputs import InputError
from ..engine.notation import TEXT, words
from ..engine.record import Absent, Record
from ..engine.scenario import Scenario
from ..units import ONE, Quantity
from .choices import following, said


def opening(scenario: Scenario, begin: str = "At the start") -> str:
    """Where a scenario stands before anything is moved."""
    shown = type(scenario).presentation
    name = shown.whole or next((n for n in _order(_kind(scenario)) if _value(scenario, n) is not None and type(scenario).quantities[n].returns != "bool"), "")
    value = _value(scenario, name) if name else None
    stands = f"the {words(name)} is {_figure(scenario, name, value)}" if value is not None else ""
    answers = [_verdict(scenario, scenario, scenario, truth, "stands") for truth in _truths(_kind(scenario))]
    return f"{begin}, {'; '.join(filter(None, [stands, *answers])) or 'every quantity waits for an input'}."


def caption(start: Scenario, before: Scenario, after: Scenario, names: Sequence[str]) -> str:
    """What changing the inputs of these names did, from before to after, and how that compares with the start."""
    names = [name for name in names if _input(before, name) != _input(after, name)]
    if not names:
        return f"Nothing has changed. {opening(after, 'As before')}"
    if after == start:
        return opening(after, "Back at the start")
    first, *others = [_change(before, after, name) for name in names]
    told = " and ".join([first, *(other[0].lower() + other[1:] for other in others)]) + f" {_outcome(start, before, after, names)}."
    if before != start and (whole := _main(start, after)):
        a, b = _value(start, whole), _value(after, whole)
        if a is not None and b is not None:
            told += f" Since the start, the {words(whole)} went from {_figure(start, whole, a)} to {_figure(after, whole, b)}."
    return told


# The change.

def _change(before: Scenario, after: Scenario, name: str) -> str:
    """`Doubling batch size from 32 to 64`."""
    a, b, label = _input(before, name), _input(after, name), _label(name)
    if a is None or b is None:
        return f"Leaving out {label}" if b is None else f"Giving {label} ({said(b)})"
    if isinstance(a, bool):
        return f"Switching {label} {'on' if b else 'off'}"
    if isinstance(a, (Quantity, int, float)):
        return f"{_step(a, b)} {label} from {said(a)} to {said(b)}"
    return f"Changing {label} from {said(a)} to {said(b)}" if said(a) != said(b) else f"Changing {label}"


def _step(a: Any, b: Any) -> str:
    """`Doubling`, `Halving`, or the plainest word that is right."""
    try:
        factor = float((b / a).m_as("") if isinstance(a, Quantity) else b / a)
    except ZeroDivisionError:
        return "Raising"
    if math.isclose(factor, 2):
        return "Doubling"
    if math.isclose(factor, 0.5):
        return "Halving"
    return "Raising" if b > a else "Lowering"


def _input(scenario: Record, name: str) -> Any:
    *holder, last = name.split(".")
    held = scenario.at(tuple(holder))
    return None if held is None else following(held, last)


def _label(name: str) -> str:
    return " ".join(map(words, name.split(".")))


# What it did.

def _outcome(start: Scenario, before: Scenario, after: Scenario, names: Sequence[str]) -> str:
    main = _main(before, after)
    moved = _difference(before, after, main) if main else "changed none of the quantities"
    verdicts = [_verdict(start, before, after, truth, "turned") for truth in _truths(_kind(after)) if _value(before, truth) != _value(after, truth)]
    if not any(verdicts):
        leaning = [truth for truth in _truths(_kind(after)) if any(_leans_on(_kind(after), truth, name) for name in names)]
        verdicts = [_verdict(start, before, after, truth, "stayed") for truth in leaning[:1]]
    return "; ".join(filter(None, [moved, *verdicts]))


def _main(before: Scenario, after: Scenario) -> str:
    """The first quantity, in the order of the breakdown, whose value is another one now; the whole comes first."""
    for name in _order(_kind(after)):
        if type(after).quantities[name].returns not in ("bool", "str") and not _same(_value(before, name), _value(after, name)):
            return name
    return ""


def _same(a: Any, b: Any) -> bool:
    return a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-12)


def _difference(before: Scenario, after: Scenario, name: str) -> str:
    """`added 17.9 GB to the total, now 41.9 GB`."""
    a, b = _value(before, name), _value(after, name)
    if a is None:
        return f"gave the {words(name)} a value, {_figure(after, name, b)}"
    if b is None:
        return f"left the {words(name)} without a value"
    unit = type(after).quantities[name].unit or ONE
    if unit.dimensionless:
        return f"{'raised' if b > a else 'lowered'} the {words(name)} from {_figure(before, name, a)} to {_figure(after, name, b)}"
    amount = TEXT.figure(figure(abs(b - a), unit))
    return f"{'added' if b > a else 'took'} {amount} {'to' if b > a else 'off'} the {words(name)}, now {_figure(after, name, b)}"


def _figure(scenario: Scenario, name: str, value: Any) -> str:
    declared = type(scenario).quantities[name]
    if getattr(declared, "below_zero", "") and value < 0:
        return declared.words_below_zero(scenario)
    return TEXT.figure(figure(value, declared.unit or ONE))


# What became of the answer.

def _verdict(start: Scenario, before: Scenario, after: Scenario, name: str, how: str) -> str:
    """`it no longer fits: 2.31 GB too much`; empty where there is nothing to say."""
    shown, was, now = type(after).presentation, _value(before, name), _value(after, name)
    if not isinstance(now, bool) or name == shown.answer and shown.capacity and not after.present(tuple(shown.capacity.split("."))):
        return ""
    *subject, last = words(name).split()
    who, does, does_not = (" ".join(subject) or "it", "fits", "does not fit") if last == "fits" else ("it", f"is {words(name)}", f"is not {words(name)}")
    if how == "stands":
        told = f"{who} {does if now else does_not}"
    elif how == "stayed":
        told = f"as before, {who} {does if now else does_not}"
    elif now:
        again = was is False and _value(start, name) is True
        told = f"{who} {does} again" if again else f"now {who} {does}"
    else:
        told = f"{who} no longer {does}" if last == "fits" else f"{who} is no longer {words(name)}"
    return told + _excess(after, name, now)


def _excess(scenario: Scenario, name: str, holds: bool) -> str:
    """By how much the whole exceeds the capacity, where that is what the answer is about."""
    shown = type(scenario).presentation
    if holds or name != shown.answer or not shown.whole or not shown.capacity:
        return ""
    whole, path = _value(scenario, shown.whole), tuple(shown.capacity.split("."))
    if whole is None or not scenario.present(path) or (over := whole - scenario.number(path)) <= 0:
        return ""
    return f": {TEXT.figure(figure(over, type(scenario).quantities[shown.whole].unit or ONE))} too much"


# Values, and what leans on what.

def _kind(scenario: Scenario) -> Any:
    return type(scenario)


def _value(scenario: Scenario, name: str) -> Any:
    """A quantity in base units, or a truth; None where it waits, or has no value."""
    try:
        return scenario.number((name,))
    except (Absent, InputError):
        return None


@functools.lru_cache(maxsize=None)
def _order(kind: Any) -> tuple[str, ...]:
    """The quantities without arguments, as a breakdown lists them."""
    shown = kind.presentation
    named = dict.fromkeys([*([shown.whole] if shown.whole else []), *(name for names in shown.groups.values() for name in names), *kind.quantities])
    return tuple(name for name in named if isinstance(kind.quantities.get(name), Derived) and not isinstance(kind.quantities[name], Parametrised))


@functools.lru_cache(maxsize=None)
def _truths(kind: Any) -> tuple[str, ...]:
    """The yes-or-no quantities, the answer first; one that only gives another a second name is left out."""
    answer = kind.presentation.answer
    return tuple(sorted((name for name in _order(kind) if kind.quantities[name].returns == "bool" and not isinstance(kind.quantities[name].expression, Symbol)), key=lambda name: name != answer))


@functools.lru_cache(maxsize=None)
def _leans_on(kind: Any, quantity: str, name: str) -> bool:
    """Whether a quantity depends on an input, through whatever other quantities."""
    for other in kind.quantities[quantity].depends_on:
        if other == name or other.startswith(f"{name}.") or name.startswith(f"{other}."):
            return True
        if other in kind.quantities and _leans_on(kind, other, name):
            return True
    return False


__all__ = ["caption", "opening"]

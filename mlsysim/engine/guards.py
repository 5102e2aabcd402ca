"""Follows inputs that may be absent through a formula: checks its is_given guards, and names what a value waits for."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .evaluation import scalar
from .expression import Apply, Call, Case, Choose, Expression, FormulaError, IsGiven, Symbol, TotalOf, children
from .record import Absent, Path


def _stated(condition: Expression) -> set[Path]:
    """The inputs that are there whenever a condition holds."""
    match condition:
        case IsGiven(path): return {path}
        case Apply("and", operands): return set().union(*map(_stated, operands))
    return set()


def _denied(condition: Expression) -> set[Path]:
    """The inputs that are absent whenever a condition does not hold."""
    match condition:
        case IsGiven(path): return {path}
        case Apply("or", operands): return set().union(*map(_denied, operands))
    return set()


def _refuted(condition: Expression) -> set[Path]:
    """The inputs that are absent whenever a condition holds."""
    match condition:
        case Apply("not", (operand,)): return _denied(operand)
        case Apply("and", operands): return set().union(*map(_refuted, operands))
    return set()


def _under(path: Path, known: set[Path]) -> bool:
    return any(path[:len(k)] == k for k in known)


def check(e: Expression, may_be_absent: Callable[[Path], bool], there: frozenset[Path] = frozenset(), gone: frozenset[Path] = frozenset()) -> None:
    """Raise FormulaError where a guard can never fail, or a branch reads an input that its guard has just said is absent."""
    match e:
        case IsGiven(path):
            if not may_be_absent(path):
                raise FormulaError(f"is_given(self.{'.'.join(path)}) always holds, since it is always there: leave the guard out")
        case Symbol(path) | TotalOf(path, _) if _under(path, set(gone)):
            raise FormulaError(f"self.{'.'.join(path)} is read where is_given has just said that it is absent: swap the branches, or leave it out of this one")
        case Case(branches, otherwise):
            absent = gone
            for condition, value in branches:
                check(condition, may_be_absent, there, absent)
                check(value, may_be_absent, there | _stated(condition), absent | _refuted(condition))
                absent = absent | _denied(condition)
            check(otherwise, may_be_absent, there, absent)
            return
    for child in children(e):
        check(child, may_be_absent, there, gone)


def may_need(e: Expression, may_be_absent: Callable[[Path, frozenset[Path]], bool], below: Callable[[str], set[Path]], there: frozenset[Path] = frozenset()) -> set[Path]:
    """The inputs that a formula reads without a guard, here or in the quantities beneath it, though they may be absent."""
    match e:
        case IsGiven(): return set()
        case Symbol(path) if "*" not in path:
            if path in there:
                return set()
            return ({path} if may_be_absent(path, there) else set()) | (below(path[0]) if len(path) == 1 else set())
        case Call(name, arguments):
            return below(name).union(*(may_need(a, may_be_absent, below, there) for a in arguments))
        case TotalOf(rows, term):
            return ({rows} if may_be_absent(rows, there) else set()) | may_need(term, may_be_absent, below, there)
        case Case(branches, otherwise):
            found: set[Path] = set()
            for condition, value in branches:
                found |= may_need(condition, may_be_absent, below, there)
                found |= may_need(value, may_be_absent, below, there | _stated(condition))
            return found | may_need(otherwise, may_be_absent, below, there)
        case Apply("and", operands):
            found, known = set(), there
            for operand in operands:
                found |= may_need(operand, may_be_absent, below, known)
                known = known | _stated(operand)
            return found
    return set().union(*(may_need(child, may_be_absent, below, there) for child in children(e)))


def lacking(e: Expression, values: Any) -> list[tuple[Path, ...]]:
    """What a formula waits for with these values: groups of inputs, one of each group would do. Branches not taken wait for nothing.

    `values.waits(name)` tells whether a parametrised quantity waits for an input.
    """
    match e:
        case Call(name, arguments):
            return [group for a in arguments for group in lacking(a, values)] or ([((name,),)] if values.waits(name) else [])
        case Symbol() | TotalOf() | IsGiven():
            try:
                scalar(e)(values)
            except Absent as absent:
                return [absent.paths]
            except ZeroDivisionError:
                return []
            return []
        case Case(branches, otherwise):
            for condition, value in branches:
                if waiting := lacking(condition, values):
                    return waiting
                if scalar(condition)(values):
                    return lacking(value, values)
            return lacking(otherwise, values)
        case Choose(option, entries):
            return lacking(option, values) or lacking(dict(entries)[scalar(option)(values)], values)
        case Apply("and" | "or" as operation, operands):
            for operand in operands:
                if waiting := lacking(operand, values):
                    return waiting
                if scalar(operand)(values) == (operation == "or"):
                    break
            return []
    return [group for child in children(e) for group in lacking(child, values)]


__all__ = ["check", "lacking", "may_need"]

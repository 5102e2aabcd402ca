"""Checks the units of a formula, branch by branch, without a single value."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..units import ONE
from .expression import (Apply, Argument, Call, Case, Choose, Constant, Expression, FormulaError, IsGiven, Nothing, Number, Option, Symbol, TotalOf)

TRUTH, OPTION, RECORD, ROWS, NOTHING, ZERO = "yes or no", "the name of a choice", "a record", "rows", "nothing", "zero"
COMPARISONS = {"==", "!=", "<=", "<", ">=", ">"}
NAMES = {"+": "added to", "-": "subtracted with", "==": "compared with", "!=": "compared with", "<=": "compared with", "<": "compared with", ">=": "compared with",
         ">": "compared with", "min": "compared with", "max": "compared with", "%": "divided with a remainder by"}


def said(of: Any) -> str:
    """A unit, or what stands in place of one, in words."""
    return of if isinstance(of, str) else "a pure number" if of == ONE else str(of)


def dimension(e: Expression, of_symbol: Callable[[Expression], Any]) -> Any:
    """The unit a formula's result must have: a pint unit, or one of the words above.

    `of_symbol` answers for a Symbol, Argument or Call. Raises FormulaError where units clash.
    """
    def go(x: Expression) -> Any:
        return dimension(x, of_symbol)

    match e:
        case Symbol() | Argument():
            return of_symbol(e)
        case Call(_, arguments):
            for argument in arguments:
                go(argument)
            return of_symbol(e)
        case Number(value): return ZERO if value == 0 else ONE
        case Constant(_, unit, _): return unit
        case Option(value): return TRUTH if isinstance(value, bool) else OPTION
        case Nothing(): return NOTHING
        case IsGiven(): return TRUTH
        case TotalOf(_, term): return _number(go(term), "added up")
        case Choose(option, entries):
            if go(option) != OPTION:
                raise FormulaError("choose takes an option first: an input that is one of a list of names")
            return _same([go(value) for _, value in entries], "are entries of one table")
        case Case(branches, otherwise):
            for condition, _ in branches:
                if (of := go(condition)) != TRUTH:
                    raise FormulaError(f"a condition of case is {said(of)}; write a comparison, such as a <= b")
            return _same([*(go(value) for _, value in branches), go(otherwise)], "are branches of one case")
        case Apply("and" | "or" | "not" as operation, operands):
            for operand in operands:
                if (of := go(operand)) != TRUTH:
                    raise FormulaError(f"{ {'and': 'all_of', 'or': 'any_of', 'not': 'not_'}[operation]} takes conditions, not {said(of)}")
            return TRUTH
        case Apply(operation, operands):
            return _operation(operation, operands, [go(o) for o in operands])
    raise FormulaError(f"a formula cannot hold {e!r}")


def _number(of: Any, doing: str) -> Any:
    if of in (TRUTH, OPTION, RECORD, ROWS, NOTHING):
        hint = ": name one of its quantities" if of == RECORD else ""
        raise FormulaError(f"{said(of)} cannot be {doing}{hint}")
    return of


def _operation(operation: str, operands: tuple[Expression, ...], of: list[Any]) -> Any:
    if operation in ("==", "!=") and set(of) <= {OPTION} or operation in ("==", "!=") and set(of) <= {TRUTH}:
        return TRUTH
    if operation in ("*", "/"):
        for x in of:
            _number(x, "multiplied" if operation == "*" else "divided")
        if of[0] == ZERO:
            return ZERO
        left, right = (ONE if x == ZERO else x for x in of)
        return left * right if operation == "*" else left / right
    if operation == "**":
        base, exponent = (_number(x, "raised to a power") for x in of)
        if exponent not in (ONE, ZERO):
            raise FormulaError(f"an exponent must be a pure number, not {said(exponent)}")
        if base in (ONE, ZERO):
            return ONE
        if not isinstance(operands[1], Number):
            raise FormulaError(f"{said(base)} can only be raised to a number written in the formula")
        return base ** operands[1].value
    if operation == "sqrt":
        base = _number(of[0], "given to square_root")
        return base if base == ZERO else base ** 0.5
    if operation in ("ceil", "floor", "exp"):
        word = "exponential" if operation == "exp" else operation
        base = _number(of[0], f"given to {word}")
        if base not in (ONE, ZERO) and not base.is_compatible_with(ONE):
            raise FormulaError(f"{word} takes a pure number, not {said(base)}: divide by a quantity of the same kind first")
        return ONE
    if NOTHING in of and operation in ("==", "!="):
        raise FormulaError("nothing equals None in a formula: write is_given(self.x) to ask whether an input is there")
    for x in of:
        _number(x, f"{NAMES[operation]} another value")
    result = _same(of, None, NAMES[operation])
    return TRUTH if operation in COMPARISONS else result


def _same(of: list[Any], what: str | None, doing: str = "") -> Any:
    """The one unit that all of these share; zero and nothing go with any."""
    first: Any = None
    for x in of:
        if x in (ZERO, NOTHING):
            continue
        if first is None:
            first = x
        elif isinstance(first, str) or isinstance(x, str):
            if first != x:
                raise FormulaError(f"{said(first)} and {said(x)} {what}" if what else f"{said(first)} cannot be {doing} {said(x)}")
        elif not first.is_compatible_with(x):
            hint = "; multiply the number by a quantity with that unit" if ONE in (first, x) else "; one of them lacks a factor"
            raise FormulaError(f"{said(first)} and {said(x)} {what}: give them one unit" if what else f"{said(first)} cannot be {doing} {said(x)}{hint}")
    return first if first is not None else of[0]


def whole(e: Expression, declaration: Callable[[tuple[str, ...]], Any]) -> bool:
    """Whether a formula can only give whole numbers."""
    match e:
        case Number(value): return float(value).is_integer()
        case Nothing(): return True
        case Symbol(path):
            declared = declaration(path)
            return getattr(declared, "whole", False) or getattr(declared, "returns", "") == "int"
        case Call(name, _): return bool(declaration((name,)).returns == "int")
        case TotalOf(_, term): return whole(term, declaration)
        case Choose(_, entries): return all(whole(value, declaration) for _, value in entries)
        case Case(branches, otherwise): return all(whole(value, declaration) for _, value in branches) and whole(otherwise, declaration)
        case Apply("ceil" | "floor", _): return True
        case Apply("+" | "-" | "*" | "%" | "min" | "max", operands): return all(whole(o, declaration) for o in operands)
        case Apply("**", (base, Number(exponent))): return whole(base, declaration) and exponent >= 0 and float(exponent).is_integer()
    return False


__all__ = ["NOTHING", "OPTION", "RECORD", "ROWS", "TRUTH", "ZERO", "dimension", "said", "whole"]

"""The written faces of a quantity: its equation, its substituted numbers, its trace, its value as a person reads it."""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, cast

from ..units import ONE, Quantity, scale
from .declarations import Parametrised
from .evaluation import RowValues, scalar, taken
from .expression import Argument, Call, Case, Choose, Constant, Expression, IsGiven, Nothing, Number, Option, Symbol, TotalOf, paths, walk
from .figures import DIGITS, Figure, as_given, binary, figure, ladder_unit
from .inputs import Input, InputError
from .notation import BINDING, HTML, LATEX, TEXT, Text, Written, words, write
from .record import Path

MOST_DIGITS = 17


def sign(kind: Any, path: Path, notation: Text) -> str:
    """The symbol of an input or quantity."""
    declared = kind.declaration(path)
    if not declared.symbol:
        return notation.word(words(path[-1]))
    if declared.symbol == declared.name.replace("_", " ") and len(declared.symbol) > 1:
        return notation.word(declared.symbol)
    base, _, index = declared.symbol.partition("_")
    return notation.symbol(base, index.replace("_", " "))


def _signs(kind: Any, notation: Text, parameters: Any = None) -> Any:
    def leaf(e: Expression) -> str:
        match e:
            case Symbol(path): return sign(kind, path, notation)
            case Argument(name):
                declared = parameters[name]
                base, _, index = declared.symbol.partition("_")
                return notation.symbol(base, index) if base else notation.word(words(name))
            case Call(name, arguments): return notation.function(sign(kind, (name,), notation), [write(a, notation, leaf) for a in arguments])
            case Constant(value, unit, _): return notation.figure(as_given(value / scale(unit), unit))
            case Choose(option, entries):
                if e.symbol:
                    base, _, index = e.symbol.partition("_")
                    return notation.function(notation.symbol(base, index), [write(option, notation, leaf)])
                chosen = write(option, notation, leaf)
                rows = [(f"{chosen}{notation.signs['==']}{notation.word(key)}", write(value, notation, leaf)) for key, value in entries]
                return notation.cases(rows[:-1], rows[-1][1])
            case TotalOf(rows, term): return notation.total(words(rows[-1]), write(term, notation, leaf))
            case IsGiven(path): return notation.word(f"{words(path[-1])} is given")
        raise TypeError(repr(e))
    return leaf


def equation_in(kind: Any, name: str, notation: Text) -> str:
    """A quantity's formula in symbols, in one notation."""
    path = tuple(name.split("."))
    declared = kind.declaration(path)
    if getattr(declared, "expression", None) is None:
        return sign(kind, path, notation)
    owner = _owner(kind, path)
    return left_side(owner, declared, notation) + notation.signs["=="] + right_side(owner, declared.name, notation)


@functools.lru_cache(maxsize=4096)
def right_side(kind: Any, name: str, notation: Text) -> str:
    """A quantity's formula in symbols, without its own."""
    declared = kind.declaration((name,))
    return write(declared.expression, notation, _signs(kind, notation, getattr(declared, "parameters", {})))


@functools.lru_cache(maxsize=4096)
def branches(kind: Any, name: str, notation: Text) -> tuple[str, ...]:
    """The branches of a formula that is a case, each with its condition."""
    declared = kind.declaration((name,))
    e, leaf = declared.expression, _signs(kind, notation, getattr(declared, "parameters", {}))
    return (*(f"If {write(condition, notation, leaf)}: {write(value, notation, leaf)}" for condition, value in e.branches), f"Otherwise: {write(e.otherwise, notation, leaf)}")


@functools.lru_cache(maxsize=4096)
def branching(kind: Any, name: str) -> bool:
    """Whether a quantity's formula is another for other inputs: it has cases, choices without a symbol, or asks what is given."""
    return any(isinstance(node, Case | IsGiven) or isinstance(node, Choose) and not node.symbol for node in walk(kind.declaration((name,)).expression))


def formula_in(kind: Any, formula: Expression, notation: Text) -> str:
    """Any formula of a class in symbols: a condition's, say."""
    return write(formula, notation, _signs(kind, notation))


def left_side(kind: Any, declared: Any, notation: Text) -> str:
    """A quantity's symbol, with its arguments' where it has any."""
    left = sign(kind, (declared.name,), notation)
    parameters = getattr(declared, "parameters", {})
    return notation.function(left, list(map(_signs(kind, notation, parameters), map(Argument, parameters)))) if parameters else left


def equation(kind: Any, name: str) -> Written:
    """A quantity's formula in symbols, for example `M_opt = P × b_opt`."""
    return Written(*(equation_in(kind, name, notation) for notation in (TEXT, HTML, LATEX)))


def _owner(kind: Any, path: Path) -> Any:
    for name in path[:-1]:
        kind = kind.declaration((name,)).record_type
    return kind


def value_figure(declared: Any, base: float, stated: Any = None, digits: int = DIGITS) -> Figure:
    """The figure of a value: as stated where a person stated it, otherwise in the unit one would write."""
    if isinstance(stated, Quantity):
        return as_given(stated.magnitude, stated.u)
    return figure(base, declared.unit if declared.unit is not None else ONE, digits)


def figure_text(record: Any, path: Path, notation: Text = TEXT) -> str:
    """A value as text: `24.0 GB`, `yes`, `adam`, `NVIDIA H100`."""
    owner = record.at(path[:-1])
    value = owner.at(path[-1:]) if owner is not None else None
    if value is None or isinstance(value, (bool, str)):
        return notation.plain(value)
    if not isinstance(value, (Quantity, int, float)):
        return notation.word(getattr(value, "name", "") or repr(value))
    declared = type(owner).declaration(path[-1:])
    if getattr(declared, "below_zero", "") and owner.number(path[-1:]) < 0:
        return notation.word(declared.words_below_zero(owner))
    stated = value if isinstance(declared, Input) and owner._stored[declared.name] is not None else None      # a default that follows from others is computed
    return notation.figure(value_figure(declared, owner.number(path[-1:]), stated))


def in_both_systems(base: float, unit: Any) -> str:
    """Bytes in the other system of units, `22.4 GiB`, where they are large enough for the two to differ to the eye; empty otherwise."""
    return binary(base) if ladder_unit(unit) and base >= 1e6 else ""


class _Shown:
    """An object's values, each replaced by what its shown digits stand for."""

    def __init__(self, record: Any, digits: int, arguments: dict[str, Any], parameters: Any, figures: dict[Any, Any] | None = None):
        self.record, self.digits, self.arguments, self.parameters = record, digits, arguments, parameters
        self._figures = {} if figures is None else figures

    def figure(self, path: Path) -> Figure | Any:
        known = self._figures.get((path, self.digits))
        if known is None:
            known = self._figures[path, self.digits] = self._figure(path)
        return known

    def _figure(self, path: Path) -> Figure | Any:
        value = self.record.number(path)
        if isinstance(value, (bool, str)):
            return value
        declared = type(self.record).declaration(path)
        if isinstance(declared, Input) and not ladder_unit(declared.unit):
            holder = self.record.at(path[:-1])
            stated = holder._stored[declared.name] if hasattr(holder, "_stored") else None
            if isinstance(stated, Quantity) and not stated.dimensionless:
                return as_given(stated.magnitude, stated.u, max(6, self.digits))
        return value_figure(declared, value, digits=max(self.digits, 4) if isinstance(declared, Input) and not ladder_unit(declared.unit) else self.digits)

    def number(self, path: Path) -> Any:
        shown = self.figure(path)
        return shown.value if isinstance(shown, Figure) else shown

    def argument(self, name: str) -> Any:
        return self.argument_figure(name).value

    def argument_figure(self, name: str) -> Figure:
        return value_figure(self.parameters[name], self.arguments[name], digits=max(self.digits, 4))

    def call_figure(self, e: Call) -> Figure:
        return value_figure(type(self.record).quantities[e.name], scalar(e)(_Exact(self)), digits=self.digits)

    def call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        return figure(self.record.call(name, arguments), type(self.record).quantities[name].unit or ONE, self.digits).value

    def has(self, path: Path) -> bool: return self.record.has(path)

    def rows(self, path: Path) -> Any: return [_Shown(row, self.digits, {}, {}) for row in self.record.rows(path)]


class _Exact:
    """The values behind the shown ones, with the same arguments."""

    def __init__(self, shown: _Shown):
        self._shown = shown

    def number(self, path: Path) -> Any: return self._shown.record.number(path)
    def has(self, path: Path) -> bool: return self._shown.record.has(path)
    def rows(self, path: Path) -> Any: return self._shown.record.rows(path)
    def argument(self, name: str) -> Any: return self._shown.arguments[name]
    def call(self, name: str, arguments: tuple[Any, ...]) -> Any: return self._shown.record.call(name, arguments)


def _numbers(shown: _Shown, notation: Text) -> tuple[Any, Any]:
    """How a substitution writes a leaf, and how tightly that holds together."""
    def figure_of(e: Expression) -> Any:
        match e:
            case Symbol(path): return shown.figure(path)
            case Argument(name): return shown.argument_figure(name)
            case Call(): return shown.call_figure(e)
            case Constant(value, unit, _): return as_given(value / scale(unit), unit)
            case IsGiven(path): return shown.has(path)
        return None

    def leaf(e: Expression) -> str:
        match e:
            case TotalOf(rows, term):
                terms = []
                for row in shown.rows(rows):
                    row_leaf, row_binding = _numbers(_RowShown(shown, rows, row), notation)
                    terms.append(write(taken(term, RowValues(_Exact(shown), rows, row.record)), notation, row_leaf, row_binding))
                return notation.group(notation.signs["+"].join(terms)) if terms else notation.plain(0.0)
            case Choose(option, entries):
                return write(dict(entries)[scalar(option)(_Exact(shown))], notation, leaf, leaf_binding)
        f = figure_of(e)
        return notation.figure(f) if isinstance(f, Figure) else notation.plain(f)

    def leaf_binding(e: Expression) -> int:
        f = figure_of(e)
        if isinstance(f, Figure) and (f.exponent or f.unit or f.digits.startswith("−")):
            return BINDING["*"] if f.exponent or "/" in f.unit or f.digits.startswith("−") else BINDING["**"]
        return BINDING["**"] + 1

    return leaf, leaf_binding


class _RowShown(_Shown):
    """Shown values with one row of an input in view."""

    def __init__(self, around: _Shown, rows: Path, row: _Shown):
        super().__init__(around.record, around.digits, around.arguments, around.parameters, around._figures)
        self.prefix, self.row = (*rows, "*"), row

    def figure(self, path: Path) -> Any:
        own = len(self.prefix)
        return self.row.figure(path[own:]) if path[:own] == self.prefix else super().figure(path)


class Worked:
    """One quantity of one object worked out: the branch of its formula that was taken, the figures its numbers are shown as, its value.

    As many digits are shown as it takes for the printed numbers, put into the formula, to give the printed result. Objects
    made with the same `figures` share what they have already worked out. Raises MissingInputError where the quantity waits
    for an input, InputError for a wrong argument.
    """

    def __init__(self, record: Any, name: str, arguments: Mapping[str, Any] = {}, figures: dict[Any, Any] | None = None):
        self.kind = cast(Any, type(record))
        self.record, self.name, self.declared = record, name, self.kind.declaration((name,))
        parameters = getattr(self.declared, "parameters", {})
        if arguments and not parameters:
            raise InputError(f"{self.kind.__name__}.{name} takes no arguments; for another value of an input write .variant({next(iter(arguments))}=...)")
        bound = dict(zip(parameters, self.declared.bind((), arguments))) if parameters else {}
        if parameters:
            self.result = record._call(self.declared, tuple(bound.values()))
        else:
            getattr(record, name)
            self.result = record.number((name,)) if record.present((name,)) else None
        self.final = None if self.result is None or isinstance(self.result, (bool, str)) else value_figure(self.declared, self.result)
        self.shown = _Shown(record, DIGITS, bound, parameters, figures)
        self.branching = branching(self.kind, name)
        self.formula = taken(self.declared.expression, _Exact(self.shown)) if self.branching else self.declared.expression
        function = scalar(self.formula) if self.branching else record._function(self.declared)
        while self.result is not None and not _agrees(function, self.shown, self.result, self.final) and self.shown.digits < MOST_DIGITS:
            self.shown = _Shown(record, self.shown.digits + 1, bound, parameters, figures)

    def left(self, notation: Text) -> str:
        """Its symbol, with the figures of its arguments."""
        left = sign(self.kind, (self.name,), notation)
        if parameters := self.shown.parameters:
            return notation.function(left, [notation.figure(self.shown.argument_figure(p)) for p in parameters])
        return left

    def symbols(self, notation: Text) -> str:
        """The branch that was taken, in symbols."""
        if not self.branching:
            return right_side(self.kind, self.name, notation)
        return write(taken(self.declared.expression, _Exact(self.shown), keep_tables=True), notation, _signs(self.kind, notation, self.shown.parameters))

    def other_branches(self, notation: Text) -> tuple[str, ...]:
        """The branches that were not taken, each with its condition; the whole equation where only a part of the formula branches."""
        e = self.declared.expression
        if not isinstance(e, Case):
            return (equation_in(self.kind, self.name, notation),) if self.branching else ()
        exact = _Exact(self.shown)
        held = next((i for i, (condition, _) in enumerate(e.branches) if scalar(condition)(exact)), len(e.branches))
        lines = branches(self.kind, self.name, notation)
        return lines[:held] + lines[held + 1:]

    def numbers(self, notation: Text) -> str:
        """The branch that was taken, in numbers; empty where that is the value itself."""
        if isinstance(self.formula, Symbol | Call | Number | Option | Nothing):
            return ""
        numbers = write(self.formula, notation, *_numbers(self.shown, notation))
        return "" if numbers == self.value(notation) else numbers      # a single figure from a table

    def value(self, notation: Text) -> str:
        return notation.figure(self.final) if self.final is not None else notation.plain(self.result)

    def words_below_zero(self) -> str:
        """What a negative value means; empty elsewhere."""
        return self.declared.words_below_zero(self.record) if getattr(self.declared, "below_zero", "") and self.result is not None and self.result < 0 else ""


def substitution(record: Any, name: str, **arguments: Any) -> Written:
    """A quantity's formula in numbers: the branch that was taken, then the value. Raises as `Worked`."""
    if getattr(type(record).declaration((name,)), "expression", None) is None:
        return Written(*(sign(type(record), (name,), n) + n.signs["=="] + figure_text(record, (name,), n) for n in (TEXT, HTML, LATEX)))
    worked = Worked(record, name, arguments)
    words_below_zero = f" ({words})" if (words := worked.words_below_zero()) else ""
    return Written(*(n.signs["=="].join(filter(None, [worked.left(n), worked.numbers(n), worked.value(n)])) + n.word(words_below_zero) for n in (TEXT, HTML, LATEX)))


def _agrees(formula: Callable[[Any], Any], shown: _Shown, result: Any, final: Figure | None) -> bool:
    try:
        again = formula(shown)
    except (ZeroDivisionError, OverflowError, ValueError):
        return False
    if final is None:
        return bool(again == result)
    return abs(again - final.value) <= final.half_step * (1 + 1e-9) + abs(final.value) * 1e-12


def trace(record: Any, name: str) -> str:
    """A quantity and everything beneath it, one line each, indented by depth: value, equation, source."""
    lines: list[str] = []

    def go(path: Path, depth: int) -> None:
        declared = type(record).declaration(path)
        label = ".".join(path)
        line = "  " * depth + label
        if isinstance(declared, Parametrised):
            lines.append(f"{line}: {equation(type(record), label)}")
            return
        holder = record.at(path[:-1])
        present = holder is not None and holder.present(path[-1:])
        if not present:
            waiting = record.waiting_for(name) if len(path) == 1 and path[0] in type(record).quantities else ()
            lines.append(f"{line}: absent" + (f", waits for {' and '.join(' or '.join('.'.join(p) for p in g) for g in waiting)}" if waiting else ""))
            return
        expression = getattr(declared, "expression", None)
        stated = isinstance(declared, Input) and (expression is None or holder._stored[path[-1]] is not None)
        source = holder.sources.get(path[-1], "") if isinstance(declared, Input) else ""
        source = source or declared.source
        note = f"   [{source}]" if source else ""
        if stated or expression is None:
            lines.append(f"{line} = {figure_text(record, path)}{note}")
            return
        written = holder.substitution(path[-1])
        lines.append(f"{line}: {written}{note}")
        if len(path) == 1:
            for below in paths(taken(expression, record)):
                go(below, depth + 1)

    go(tuple(name.split(".")), 0)
    return Lines(lines)


class Lines(str):
    """Several lines of text whose repr is the text itself."""

    def __new__(cls, lines: list[str]) -> Lines:
        return super().__new__(cls, "\n".join(lines))

    def __repr__(self) -> str:
        return str(self)


__all__ = ["Worked", "branching", "equation", "equation_in", "formula_in", "left_side", "figure_text", "in_both_systems", "sign", "substitution", "trace", "value_figure"]

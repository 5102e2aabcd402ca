"""Reads the formulas of a class, once, when it is made: each becomes a tree, whose units, names, guards and result are checked."""
from __future__ import annotations

import dis
import graphlib
import inspect
import types
from collections.abc import Callable
from typing import Any

from ..units import Quantity
from . import guards
from .declarations import Condition, Derived, Parametrised
from .dimension import NOTHING, OPTION, RECORD, ROWS, TRUTH, ZERO, dimension, said, whole
from .expression import Apply, Argument, Call, Choose, Expression, FormulaError, Nothing, Option, Symbol, lift, paths, walk
from .inputs import DefinitionError, Input, InputError, near_name
from .record import Record


class Tracer:
    """Stands in for `self` while a formula is read."""

    def __init__(self, kind: Any):
        object.__setattr__(self, "_kind", kind)

    def __getattr__(self, name: str) -> Any:
        return self._kind._symbol_for(name, ())

    def __setattr__(self, name: str, value: Any) -> None:
        raise FormulaError(f"a formula sets nothing: give self.{name} a formula of its own")


def read_formulas(kind: Any) -> None:
    """Read every formula that the class itself declares. Raises DefinitionError, which says where and what to write instead."""
    own = [declared for name, declared in vars(kind).items() if name in kind.quantities or name in kind.inputs or name in kind.conditions]
    for declared in own:
        if isinstance(declared, Derived):
            _settle_return(kind, declared)
    for declared in own:
        _read(kind, declared, Tracer(kind))
    _check_inherited(kind)
    refuse_cycles(kind)
    refuse_duplicate_symbols(kind)


def _check_inherited(kind: Any) -> None:
    """What is inherited must still hold where a name in it now means something else."""
    changed = {name for name in vars(kind) if any(name in getattr(base, "inputs", {}) or name in getattr(base, "quantities", {}) for base in kind.__mro__[1:])}
    several = sum(issubclass(base, Record) for base in kind.__bases__) > 1
    for declared in (*formulas(kind).values(), *kind.conditions.values()):
        if declared.name in vars(kind) or not several and changed.isdisjoint(path[0] for path in paths(declared.expression)):
            continue
        try:
            for node in walk(declared.expression):
                if isinstance(node, Call) != isinstance(kind._declared(node.name if isinstance(node, Call) else node.path[0]), Parametrised) if isinstance(node, Call | Symbol) else False:
                    raise FormulaError(f"{node.name if isinstance(node, Call) else node.path[0]} takes an argument in one of these classes and none in the other")
            of = dimension(declared.expression, dimension_of(kind, declared))
            _check_choices(kind, declared.expression)
            _check_result(kind, declared, of)
        except (FormulaError, AttributeError) as error:
            raise DefinitionError(f"{kind.__name__}: {declared.name}, which it inherits, no longer holds with its own {' and '.join(sorted(changed)) or 'bases'}: {error}") from None


def dimension_of(kind: Any, declared: Any) -> Callable[[Expression], Any]:
    """What a symbol, an argument or a call in the formula of a declaration is measured in."""
    def of(e: Expression) -> Any:
        match e:
            case Symbol(path): return kind.declaration(path).dimension
            case Call(name, _): return kind.quantities[name].dimension
            case Argument(name): return declared.parameters[name].dimension
        return None
    return of


def _settle_return(kind: Any, d: Derived[Any]) -> None:
    where = f"{kind.__name__}.{d.name}"
    annotation = d.formula.__annotations__.get("return", "")
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    parts = [p.strip().rpartition(".")[2] for p in text.split("|")]
    d.may_be_nothing = "None" in parts
    named = [p for p in parts if p not in ("None", "")]
    d.returns = named[0] if named else "Quantity" if d.unit is not None and not d.unit.dimensionless else "float" if d.unit is not None else ""
    if d.returns not in ("Quantity", "float", "int", "bool", "str", ""):
        raise DefinitionError(f"{where}: a formula returns Quantity, float, int, bool or str, each | None where there may be none; not {text}")
    if d.returns == "Quantity" and d.unit is None:
        raise DefinitionError(f"{where}: a quantity needs a unit; write @derived(\"{d.symbol}\", \"GB\")")


def _read(kind: Any, d: Any, tracer: Tracer) -> None:
    if isinstance(d, Input) and d.formula is None:
        return
    where = f"{kind.__name__}.{d.name}"
    try:
        _refuse_branches(d.formula)
        arguments = {}
        if isinstance(d, Parametrised):
            arguments = _arguments(kind, d)
        d.expression = lift(d.formula(tracer, **arguments))
        of = dimension(d.expression, dimension_of(kind, d))
        _check_arguments(kind, d)
        guards.check(d.expression, kind.may_be_absent)
        _check_choices(kind, d.expression)
        _check_result(kind, d, of)
    except (FormulaError, InputError, AttributeError) as error:
        raise DefinitionError(f"{where}: {error}") from None
    except DefinitionError:
        raise
    except TypeError as error:
        raise DefinitionError(f"{where}: {error}") from error
    except Exception as error:      # whatever Python does with a symbol where it expects a value
        raise DefinitionError(f"{where}: {type(error).__name__} while the formula was read: {error}; a formula is arithmetic on self's quantities, and choose(option, table) "
                              "looks a name up") from error


def _arguments(kind: Any, d: Parametrised[Any, Any]) -> dict[str, Argument]:
    names = list(inspect.signature(d.formula).parameters)[1:]
    if set(names) != set(d.parameters):
        raise FormulaError(f"its arguments are {', '.join(names) or 'none'}; declare each: @parametrised(symbol, unit, {', '.join(f'{n}=given(...)' for n in names)})")
    annotations = d.formula.__annotations__
    for name in names:
        declared = d.parameters[name]
        declared.name, declared.owner = name, f"{kind.__name__}.{d.name}"
        annotation = annotations.get(name, "")
        text = annotation if isinstance(annotation, str) else annotation.__name__
        named: dict[str, Any] = {"Quantity": Quantity, "int": int, "float": float, "bool": bool}
        if text not in named:
            raise FormulaError(f"annotate its argument {name} as Quantity, int, float or bool")
        declared.settle(named[text], Record)
    return {name: Argument(name) for name in names}


def _check_arguments(kind: Any, d: Any) -> None:
    """Every argument that a formula gives a parametrised quantity must be of the unit that this quantity declares for it."""
    for node in walk(d.expression):
        if isinstance(node, Call):
            for declared, argument in zip(kind.quantities[node.name].parameters.values(), node.arguments):
                of, wanted = dimension(argument, dimension_of(kind, d)), declared.dimension
                if of == ZERO:
                    continue
                if of != wanted and (isinstance(of, str) or isinstance(wanted, str) or not of.is_compatible_with(wanted)):
                    raise FormulaError(f"{node.name} takes {said(wanted)} for {declared.name}, not {said(of)}")


def _check_choices(kind: Any, e: Expression) -> None:
    """Every name an option may have must be in the table it picks from, and every name it is compared with must be one of its own."""
    for node in walk(e):
        if isinstance(node, Choose) and isinstance(node.option, Symbol):
            choices = getattr(kind.declaration(node.option.path), "choices", ())
            if missing := [c for c in choices if c not in dict(node.entries)]:
                raise FormulaError(f"the table has no entry for {', '.join(missing)}, which {'.'.join(node.option.path)} may be")
        operands = node.operands if isinstance(node, Apply) else ()
        for a, b in zip(operands, operands[1:]):
            for option, name in ((a, b), (b, a)):
                if isinstance(option, Symbol) and isinstance(name, Option) and isinstance(name.value, str):
                    choices = getattr(kind.declaration(option.path), "choices", ())
                    if choices and name.value not in choices:
                        raise FormulaError(f"{'.'.join(option.path)} is never {name.value!r}{near_name(name.value, choices)}; it is one of {', '.join(choices)}")


def _check_result(kind: Any, d: Any, of: Any) -> None:
    if isinstance(d, Condition):
        if of != TRUTH:
            raise FormulaError(f"a condition is yes or no; this is {said(of)}: write a comparison, such as a <= b")
        return
    if of in (RECORD, ROWS):
        raise FormulaError("the result is a record; name one of its quantities")
    if isinstance(d, Derived):
        if isinstance(d.expression, Nothing):
            raise FormulaError("the formula gives nothing; write return before its result")
        if any(isinstance(node, Nothing) for node in walk(d.expression)):
            d.may_be_nothing = True
        if d.returns == "":
            d.returns = "bool" if of == TRUTH else "str" if of == OPTION else "float" if of == ZERO or not isinstance(of, str) and of.dimensionless else "Quantity"
            if d.returns == "Quantity":
                raise FormulaError(f"the result is in {said(of)}, so it needs a unit; write @derived(\"{d.symbol}\", \"{said(of)}\")")
        if d.returns in ("float", "int") and d.unit is not None and not d.unit.dimensionless:
            raise FormulaError(f"it is declared in {d.unit} and returns {d.returns}; write -> Quantity, or divide by a quantity of the same kind")
        if d.returns == "int" and not whole(d.expression, kind.declaration):
            raise FormulaError("the formula may give a fraction and -> int is declared; write ceil() or floor() around it, or -> float")
    declared = d.dimension
    if of in (ZERO, NOTHING):
        return
    if isinstance(of, str) or isinstance(declared, str):
        if of != declared:
            raise FormulaError(f"the formula gives {said(of)}, and {said(declared)} is declared")
    elif not of.is_compatible_with(declared):
        raise FormulaError(f"the formula gives {said(of)}, and {said(declared)} is declared: change the formula or the unit")


def refuse_cycles(kind: Any) -> None:
    try:
        order(kind)
    except graphlib.CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise DefinitionError(f"{kind.__name__}: these quantities need each other: {circle}; one of them must follow from inputs alone") from None


def formulas(kind: Any) -> dict[str, Any]:
    """Everything that follows from a formula, inputs with a formula for a default included."""
    declared: dict[str, Any] = {**kind.inputs, **kind.quantities}
    return {name: d for name, d in declared.items() if getattr(d, "expression", None) is not None}


def order(kind: Any) -> list[str]:
    graph = {name: {p[0] for p in paths(d.expression) if len(p) == 1} for name, d in formulas(kind).items()}
    return list(graphlib.TopologicalSorter(graph).static_order())


def refuse_duplicate_symbols(kind: Any) -> None:
    """Two things with one symbol would make an equation say two things."""
    for d in kind.quantities.values():
        beside = {kind.declaration(p).symbol: ".".join(p) for p in paths(d.expression) if "*" not in p} if isinstance(d, Parametrised) else {}
        for name, argument in d.parameters.items():
            if argument.symbol and (other := beside.setdefault(argument.symbol, name)) != name:
                raise DefinitionError(f"{kind.__name__}.{d.name}: its argument {name} and {other} both have the symbol {argument.symbol!r}; give one of them another")
    seen: dict[str, str] = {}
    traced: list[Any] = [*kind.quantities.values(), *kind.conditions.values()]
    mentioned = {".".join(p) for d in traced for p in paths(d.expression) if len(p) > 1 and "*" not in p}
    for name in [*kind.inputs, *kind.quantities, *sorted(mentioned)]:
        declared = kind.declaration(tuple(name.split(".")))
        if not declared.symbol or isinstance(declared, Parametrised):
            continue
        other = seen.setdefault(declared.symbol, name)
        if other != name:
            raise DefinitionError(f"{kind.__name__}: {other} and {name} both have the symbol {declared.symbol!r}; give one of them another")


def _refuse_branches(formula: Any) -> None:
    """`is`, `in`, tests against None and of a type cannot be overloaded: a branch on one would vanish silently, so look for them."""
    pending: list[types.CodeType] = [formula.__code__]
    while pending:
        body = pending.pop()
        pending.extend(c for c in body.co_consts if isinstance(c, types.CodeType))
        if asked := {"isinstance", "hasattr", "callable"} & set(body.co_names):
            raise FormulaError(f"a formula cannot ask {asked.pop()}(): it is read once, before there are values; write is_given(self.x) for an input that may be absent, == for an option")
        for instruction in dis.get_instructions(body):
            name = instruction.opname
            if name == "IS_OP" or "JUMP" in name and "NONE" in name:
                raise FormulaError("a formula cannot ask `is` or `is None`: write is_given(self.x) for an input that may be absent, == for an option")
            if name == "CONTAINS_OP":
                raise FormulaError("a formula cannot ask `in`: write any_of(x == a, x == b)")


__all__ = ["Tracer", "dimension_of", "formulas", "order", "read_formulas", "refuse_cycles", "refuse_duplicate_symbols"]

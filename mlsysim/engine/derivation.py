"""Quantities that each follow from one formula, on top of a record: their values, and what they wait for."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ..units import scale, units
from . import guards
from .declarations import Condition, Derived, Parametrised, check_message, refuse_misplaced
from .evaluation import scalar
from .expression import Call, FormulaError, IsGiven, lift, walk
from .inputs import DefinitionError, Input, InputError, near_name
from .record import Absent, Path, Record
from .tracing import formulas, read_formulas


class MissingInputError(ValueError):
    """A quantity was read that needs an input which is absent: names the quantity, the input and how to give it."""


class Derivation(Record):
    """Base of records whose further quantities each follow from one formula."""

    quantities: ClassVar[Mapping[str, Derived[Any]]] = {}
    conditions: ClassVar[Mapping[str, Condition]] = {}
    _functions: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.quantities, cls.conditions = cls._inherited("quantities"), cls._inherited("conditions")
        for name, value in vars(cls).items():
            refuse_misplaced(cls, name, value)
            if isinstance(value, Derived | Condition):
                cls._refuse_reserved(name)
            elif isinstance(value, Input):
                cls.quantities.pop(name, None)
            elif name in cls.quantities or name in cls.conditions:
                raise DefinitionError(f"{cls.__name__}.{name}: its base declares it by a formula; put @derived(symbol, unit), @requires(...) or @warns(...) above it, or choose another name")
            if isinstance(value, Derived):
                cls.quantities[name] = value
            if isinstance(value, Condition):
                cls.conditions[name] = value
        read_formulas(cls)
        for name, value in vars(cls).items():
            if isinstance(value, Condition | Derived):
                check_message(cls, f"{cls.__name__}.{name}", value.message if isinstance(value, Condition) else value.below_zero)
        cls._functions = {}

    @classmethod
    def _replace_input(cls, name: str, value: Any) -> None:
        if not isinstance(value, Derived):
            super()._replace_input(name, value)
        cls.inputs.pop(name)      # type: ignore[attr-defined]

    @classmethod
    def _declared(cls, name: str) -> Any:
        if name in cls.inputs:
            return cls.inputs[name]
        if name in cls.quantities:
            return cls.quantities[name]
        known = [*cls.inputs, *cls.quantities]
        if callable(getattr(cls, name, None)) and not hasattr(Derivation, name):
            raise FormulaError(f"{name} is a plain method of {cls.__name__}: put @derived(symbol, unit) above it")
        held = next(_paths_of(cls, name), None)
        raise FormulaError(f"{cls.__name__} has no quantity called {name!r}" + (f"; did you mean {held!r}?" if held else near_name(name, known)))

    @classmethod
    def _symbol_for(cls, name: str, path: Path) -> Any:
        declared = cls._declared(name)
        if isinstance(declared, Parametrised):
            if path:
                raise FormulaError(f"{'.'.join((*path, name))} takes an argument; only a quantity without one can be read through a record")
            return lambda *arguments, **named: Call(name, tuple(map(lift, declared.fill(arguments, named))))
        return Record._symbol_for.__func__(cls, name, path)      # type: ignore[attr-defined]

    @classmethod
    def may_be_absent(cls, path: Path, there: frozenset[Path] = frozenset()) -> bool:
        declared = cls._declared(path[0])
        if isinstance(declared, Derived):
            return declared.may_be_nothing
        if isinstance(declared, Input) and declared.formula is not None and len(path) == 1:
            return bool(cls.may_need(path[0]))
        return super().may_be_absent(path, there)

    @classmethod
    def may_need(cls, name: str) -> frozenset[Path]:
        """The inputs without which a quantity may have to wait, in any circumstances."""
        declared = cls._declared(name)
        expression = getattr(declared, "expression", None)
        if expression is None:
            return frozenset()
        return frozenset(guards.may_need(expression, lambda p, there: Record.may_be_absent.__func__(cls, p, there) if p[0] in cls.inputs else False,      # type: ignore[attr-defined]
                                         lambda n: set(cls.may_need(n))))

    # Values.

    def _check(self) -> None:
        for condition in type(self).conditions.values():
            if condition.fatal and self._holds(condition) is False:
                raise InputError(f"{type(self).__name__}: {condition.words(self)}")

    def _holds(self, condition: Condition) -> bool | None:
        """Whether a condition holds; None where it waits for an input."""
        try:
            return bool(self._function(condition)(self))
        except (Absent, ArithmeticError, ValueError):      # reading the quantity that it stands on says why
            return None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know about these inputs, in words."""
        return tuple(c.words(self) for c in type(self).conditions.values() if not c.fatal and self._holds(c))

    @classmethod
    def _function(cls, declared: Any) -> Callable[[Any], Any]:
        function = cls.__dict__["_functions"].get(declared.name)
        if function is None:
            function = cls._functions[declared.name] = scalar(declared.expression)
        return function

    def number(self, path: Path) -> Any:
        name = path[0]
        if len(path) == 1:
            known = self.__dict__["_known"]
            if name in known:
                value = known[name]
            else:
                value = known[name] = self._compute(name)
            if value is None:
                raise Absent(self._absent_reason(name))
            return value
        return super().number(path)

    def _compute(self, name: str) -> Any:
        return self._result(type(self)._declared(name), self)

    def _result(self, d: Any, values: Any) -> Any:
        """The value of a formula in base units. Raises InputError where arithmetic has none to give."""
        where = f"{type(self).__name__}: {d.name}"
        try:
            value = type(self)._function(d)(values)
            if value is None or isinstance(value, (bool, str)):
                return value
            value = float(value)
        except ZeroDivisionError:
            raise InputError(f"{where} divides by zero with these inputs; see {type(self).__name__}.equation(\"{d.name}\")") from None
        except OverflowError:
            value = math.inf
        except InputError:
            raise
        except ValueError:
            raise InputError(f"{where} takes a root of a negative number with these inputs; see {type(self).__name__}.equation(\"{d.name}\")") from None
        if not math.isfinite(value):
            raise InputError(f"{where} is too large a number with these inputs")
        return value

    def _absent_reason(self, name: str) -> tuple[Path, ...]:
        """The inputs any one of which would give a value that is None."""
        declared = type(self)._declared(name)
        if getattr(declared, "expression", None) is None:
            return ((name,),)
        asked = [node.path for node in walk(declared.expression) if isinstance(node, IsGiven) and "*" not in node.path and not self.present(node.path)]
        return tuple(dict.fromkeys(asked)) or ((name,),)

    def has(self, path: Path) -> bool:
        """Whether there is a value at a path. Raises Absent where a quantity waits for an input before it can tell."""
        name = path[0]
        if len(path) > 1 or name in type(self).inputs and type(self).inputs[name].formula is None:
            return super().has(path)
        known = self.__dict__["_known"]
        try:
            if name not in known:
                known[name] = self._compute(name)
        except Absent:
            if name in type(self).inputs:
                return False
            raise
        return known[name] is not None

    def argument(self, name: str) -> Any:
        raise FormulaError(f"{name} is an argument of another quantity")

    def call(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """A parametrised quantity at arguments, as formulas see it. Raises Absent."""
        d = type(self).quantities[name]
        return self._result(d, _Called(self, dict(zip(d.parameters, arguments))))

    def _call(self, d: Any, arguments: tuple[Any, ...]) -> Any:
        try:
            return self.call(d.name, arguments)
        except Absent as absent:
            raise self._missing(d.name, absent) from None

    def _value(self, d: Derived[Any]) -> Any:
        try:
            return d.value(self.number((d.name,)))
        except Absent as absent:
            if d.may_be_nothing and self.__dict__["_known"].get(d.name, absent) is None:
                return None
            raise self._missing(d.name, absent) from None

    def _read(self, declared: Input) -> Any:
        value = super()._read(declared)
        if value is None and declared.formula is not None:
            try:
                base = self.number((declared.name,))
            except Absent as absent:
                raise self._missing(declared.name, absent) from None
            if declared.kind == "quantity":
                return units.Quantity(base / scale(declared.unit), declared.unit)
            return int(base) if declared.kind == "count" else base
        return value

    def _missing(self, name: str, absent: Absent) -> MissingInputError:
        groups = self.waiting_for(name) or (absent.paths,)
        lacks = " and ".join(" or ".join(map(".".join, group)) for group in groups)
        ways = ", ".join(" or ".join(map(self.how_to_give, group)) for group in groups)
        return MissingInputError(f"{type(self).__name__}: {name} needs {lacks}, which {'is' if len(groups) == 1 else 'are'} absent; write {ways}")

    def how_to_give(self, path: Path) -> str:
        """The words that give an absent input: `activations="40 GB"`."""
        declared = type(self).declaration(path)
        if isinstance(declared, Input) and len(path) == 1:
            return declared.how_to_give()
        if isinstance(declared, Input):
            holder = type(self).inputs[path[0]]
            inner = f"{getattr(holder.record_type, '__name__', '')}(..., {declared.how_to_give()})"
            return f"{path[0]}={f'[{inner}]' if holder.kind == 'rows' else inner}"
        return ".".join(path)

    def waiting_for(self, name: str) -> tuple[tuple[Path, ...], ...]:
        """What a quantity waits for: groups of absent inputs, any one of a group would do; empty where it has a value (or is none).

        An input that would follow from another is named beside it, and alone where it would follow from several.
        """
        declared = type(self).declaration((name,))
        if getattr(declared, "expression", None) is None:
            return ()
        try:
            lacking = guards.lacking(declared.expression, _ByOwnName(self))
        except Absent:      # a branch that only an argument decides
            return ()
        found: dict[tuple[Path, ...], None] = {}
        for group in lacking:
            own = [path for path in group if len(path) == 1 and path[0] != name and path[0] in formulas(type(self))]
            for path in own:
                groups = self.waiting_for(path[0]) or (self._absent_reason(path[0]),)
                if path[0] in type(self).inputs:
                    groups = ((path, *groups[0]) if len(groups) == 1 else (path,),)
                found |= dict.fromkeys(groups)
            if not own:
                found[group] = None
        implied = {((name,),) for ((name, *_), *_) in found if name in type(self).inputs and (groups := self.waiting_for(name)) and found.keys() >= set(groups)}
        return tuple(group for group in found if group not in implied and not any(set(other) < set(group) for other in found))

    def figure_text(self, name: str) -> str:
        """A value of this object as text, in the unit a person would write: `24.0 GB`."""
        from .writing import figure_text
        return figure_text(self, tuple(name.split(".")))

    # The same tree, written down.

    @classmethod
    def equation(cls, name: str) -> Any:
        """The formula of a quantity in symbols: text that also has `.html` and `.latex`. Raises AttributeError for an unknown name."""
        from .writing import equation
        return equation(cls, name)

    def substitution(self, name: str, **arguments: Any) -> Any:
        """The formula in numbers: the branch that was taken, then the value. Raises MissingInputError where it waits for an input."""
        from .writing import substitution
        return substitution(self, name, **arguments)

    def trace(self, name: str) -> Any:
        """A quantity and everything beneath it, with values and sources, one line each."""
        from .writing import trace
        return trace(self, name)


class _Called:
    """An object's values while a parametrised quantity is evaluated."""

    def __init__(self, record: Derivation, arguments: Mapping[str, Any]):
        self._record, self._arguments = record, arguments

    def number(self, path: Path) -> Any: return self._record.number(path)
    def has(self, path: Path) -> bool: return self._record.has(path)
    def rows(self, path: Path) -> Sequence[Any]: return self._record.rows(path)
    def argument(self, name: str) -> Any: return self._arguments[name]
    def call(self, name: str, arguments: tuple[Any, ...]) -> Any: return self._record.call(name, arguments)


class _ByOwnName:
    """An object's values; what is absent among its own is named itself, not by what it waits for."""

    def __init__(self, record: Derivation):
        self._record = record

    def number(self, path: Path) -> Any: return self._named(path, lambda: self._record.number(path))
    def has(self, path: Path) -> bool: return bool(self._named(path, lambda: self._record.has(path)))
    def rows(self, path: Path) -> Sequence[Any]: return self._record.rows(path)
    def argument(self, name: str) -> Any: raise Absent(())
    def call(self, name: str, arguments: tuple[Any, ...]) -> Any: return self._record.call(name, arguments)
    def waits(self, name: str) -> bool: return bool(self._record.waiting_for(name))

    def _named(self, path: Path, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except Absent:
            if len(path) == 1:
                raise Absent((path,)) from None
            raise


def _paths_of(cls: type[Record], name: str) -> Iterator[str]:
    """Where the records that a class takes keep something of that name, such as `workload.parameters`."""
    for place, declared in cls.inputs.items():
        kind: Any = declared.record_type if declared.kind == "record" else None
        if kind and (name in kind.inputs or name in getattr(kind, "quantities", {})):
            yield f"{place}.{name}"
        elif kind:
            yield from (f"{place}.{inner}" for inner in _paths_of(kind, name))


Derivation._reserved = Record._reserved | {name for name in vars(Derivation) if not name.startswith("_")}

__all__ = ["Derivation", "MissingInputError"]

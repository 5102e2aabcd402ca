"""Quantities that each follow from one formula, on top of a record: tracing, values, and what they wait for."""
from __future__ import annotations

import dis
import graphlib
import inspect
import math
import string
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, Generic, ParamSpec, TypeVar, overload

from ..units import ONE, Quantity, scale, units
from . import guards
from .dimension import NOTHING, OPTION, RECORD, ROWS, TRUTH, ZERO, dimension, said, whole
from .evaluation import scalar
from .expression import Apply, Argument, Call, Choose, Expression, FormulaError, IsGiven, Nothing, Option, Symbol, lift, paths, walk
from .inputs import DefinitionError, Input, InputError, declared_unit, given, near_name
from .record import Absent, Path, Record

T = TypeVar("T")
P = ParamSpec("P")


class MissingInputError(ValueError):
    """A quantity was read that needs an input which is absent: names the quantity, the input and how to give it."""


class Derived(Generic[T]):
    """A quantity with one formula. Read on an object it is the value; read on the class it is this declaration."""

    name: str = ""
    owner: str = ""
    home: Any = None                     # the class that declares it
    expression: Expression
    returns: str = ""                    # Quantity, float, int, bool or str
    may_be_nothing = False
    parameters: Mapping[str, Input] = {}

    def __init__(self, formula: Callable[..., Any], symbol: str, unit_name: str | None, source: str, below_zero: str = ""):
        self.formula, self.symbol, self.source, self.below_zero = formula, symbol, source, below_zero
        self.unit = declared_unit(symbol, unit_name)
        self.doc = self.__doc__ = " ".join((formula.__doc__ or "").split())

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner, self.home = name, owner.__name__, owner
        self.symbol = self.symbol or name.replace("_", " ")

    @overload
    def __get__(self, record: None, owner: type) -> Derived[T]: ...
    @overload
    def __get__(self, record: object, owner: type) -> T: ...
    def __get__(self, record: Any, owner: type) -> Any:
        if record is None:
            return self
        value = record._value(self)
        record.__dict__[self.name] = value      # the next read finds it there and never comes here
        return value

    def __repr__(self) -> str:
        return f"<quantity {self.owner}.{self.name}{f' in {self.unit}' if self.unit not in (None, ONE) else ''}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from .reference import declaration_text
        printer.text(declaration_text(self))

    def _repr_html_(self) -> str:
        from .reference import declaration_html
        return declaration_html(self)

    @property
    def dimension(self) -> Any:
        """What another formula may do with it."""
        if self.returns == "bool":
            return TRUTH
        return OPTION if self.returns == "str" else self.unit if self.unit is not None else ONE

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The inputs and quantities its formula mentions, in reading order."""
        return tuple(map(".".join, paths(self.expression)))

    def words_below_zero(self, record: Any) -> str:
        """What a negative value means, with the record's own figures."""
        return _Message(record).format(self.below_zero)

    def value(self, base: Any) -> Any:
        """A result in base units as a person reads it."""
        if base is None:
            return None
        match self.returns:
            case "Quantity": return units.Quantity(base / scale(self.unit), self.unit)
            case "int": return int(base)
            case "bool": return bool(base)
            case "str": return base
        return float(base)


class Parametrised(Derived[Any], Generic[P, T]):
    """A quantity whose formula has arguments of its own. Read on an object it is a method."""

    @overload
    def __get__(self, record: None, owner: type) -> Parametrised[P, T]: ...
    @overload
    def __get__(self, record: object, owner: type) -> Callable[P, T]: ...
    def __get__(self, record: Any, owner: type) -> Any:
        if record is None:
            return self

        def at(*arguments: Any, **named: Any) -> Any:
            return self.value(record._call(self, self.bind(arguments, named)))
        at.__name__, at.__doc__ = self.name, self.doc
        return at

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        """The arguments, checked, in base units. Raises InputError."""
        where = f"{self.owner}.{self.name}"
        if len(arguments) > len(self.parameters) or not named.keys() <= self.parameters.keys():
            raise InputError(f"{where} takes {', '.join(self.parameters)}; write {self.name}({', '.join(p.how_to_give() for p in self.parameters.values())})")
        values = dict(zip(self.parameters, arguments)) | dict(named)
        if lacking := [p.how_to_give() for n, p in self.parameters.items() if n not in values]:
            raise InputError(f"{where} needs {', '.join(lacking)}")
        return tuple(p.base(p.accept(values[n], f"{where}: {n}")) for n, p in self.parameters.items())


class Condition:
    """Something that must hold between inputs, or that a person should know when it does not."""

    name: str = ""
    owner: str = ""
    expression: Expression

    def __init__(self, formula: Callable[[Any], Any], message: str, fatal: bool, source: str):
        self.formula, self.message, self.fatal, self.source = formula, message, fatal, source
        self.doc = self.__doc__ = " ".join((formula.__doc__ or "").split())

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner = name, owner.__name__

    def words(self, record: Any) -> str:
        """The message, with the record's own values in its braces."""
        return _Message(record).format(self.message)


class _Message(string.Formatter):
    def __init__(self, record: Any):
        self.record = record

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        return self.record.figure_text(field_name), field_name


def derived(symbol: str = "", unit: str | None = None, *, source: str = "", below_zero: str = "") -> Callable[[Callable[[Any], T]], Derived[T]]:
    """Declare a quantity by its formula, which is called once, with symbols, when its class is made.

    symbol: how equations write it, `"M_opt"` for M with index opt; unit: the unit of its value (leave it out for a truth or an
    option, write `""` for a pure number, `"percent"` for a share); source: the citation of the formula; below_zero: the words
    that say what a negative value means, with `{name}` for another value. The formula's docstring is its meaning, its return annotation (Quantity, float, int, bool, str, each `| None`) the type of its value.
    Raises DefinitionError, when the class is made, where units clash or a name is unknown.
    """
    return lambda formula: Derived(formula, symbol, unit, source, below_zero)


def parametrised(symbol: str = "", unit: str | None = None, *, source: str = "", **arguments: Input) -> Callable[[Callable[Concatenate[Any, P], T]], Parametrised[P, T]]:
    """Declare a quantity whose formula has arguments of its own: each is declared with `given`, as in
    `@parametrised("A", "byte", batch_size=given("B"))`. Otherwise as `derived`."""
    def declare(formula: Callable[Concatenate[Any, P], T]) -> Parametrised[P, T]:
        made: Parametrised[P, T] = Parametrised(formula, symbol, unit, source)
        made.parameters = arguments
        return made
    return declare


def requires(message: str, *, source: str = "") -> Callable[[Callable[[Any], Any]], Condition]:
    """Declare what must hold between inputs. Construction refuses what breaks it, with the message; `{name}` in it stands for a value."""
    return lambda formula: Condition(formula, message, True, source)


def warns(message: str, *, source: str = "") -> Callable[[Callable[[Any], Any]], Condition]:
    """Declare what a person should know when the condition holds: the message stands on the breakdown; `{name}` in it stands for a value."""
    return lambda formula: Condition(formula, message, False, source)


class _Tracer:
    """Stands in for `self` while a formula is read."""

    def __init__(self, kind: Any):
        object.__setattr__(self, "_kind", kind)

    def __getattr__(self, name: str) -> Any:
        return self._kind._symbol_for(name, ())

    def __setattr__(self, name: str, value: Any) -> None:
        raise FormulaError(f"a formula sets nothing: give self.{name} a formula of its own")


class Derivation(Record):
    """Base of records whose further quantities each follow from one formula."""

    quantities: ClassVar[Mapping[str, Derived[Any]]] = {}
    conditions: ClassVar[Mapping[str, Condition]] = {}
    _functions: ClassVar[dict[str, Callable[[Any], Any]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.quantities, cls.conditions = dict(cls.quantities), dict(cls.conditions)
        for name, value in vars(cls).items():
            if isinstance(value, Derived | Condition):
                cls._refuse_reserved(name)
            if isinstance(value, Derived):
                cls.quantities[name] = value
            if isinstance(value, Condition):
                cls.conditions[name] = value
        tracer = _Tracer(cls)
        own = vars(cls)
        for name in [n for n in own if n in cls.quantities or n in cls.inputs or n in cls.conditions]:
            cls._settle_return(own[name]) if isinstance(own[name], Derived) else None
        for name in [n for n in own if n in cls.quantities or n in cls.inputs or n in cls.conditions]:
            cls._trace(own[name], tracer)
        cls._refuse_cycles()
        cls._refuse_duplicate_symbols()
        cls._functions = {}

    # Tracing, once, when the class is made.

    @classmethod
    def _settle_return(cls, d: Derived[Any]) -> None:
        where = f"{cls.__name__}.{d.name}"
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

    @classmethod
    def _trace(cls, d: Any, tracer: _Tracer) -> None:
        if isinstance(d, Input) and d.formula is None:
            return
        where = f"{cls.__name__}.{d.name}"
        try:
            _refuse_branches(d.formula)
            arguments = {}
            if isinstance(d, Parametrised):
                arguments = cls._arguments(d)
            d.expression = lift(d.formula(tracer, **arguments))
            of = dimension(d.expression, cls._dimension_of)
            guards.check(d.expression, cls.may_be_absent)
            cls._check_choices(d.expression)
            cls._check_result(d, of)
        except (FormulaError, InputError, AttributeError) as error:
            raise DefinitionError(f"{where}: {error}") from None
        except DefinitionError:
            raise
        except TypeError as error:
            raise DefinitionError(f"{where}: {error}") from error

    @classmethod
    def _arguments(cls, d: Parametrised[Any, Any]) -> dict[str, Argument]:
        names = list(inspect.signature(d.formula).parameters)[1:]
        if set(names) != set(d.parameters):
            raise FormulaError(f"its arguments are {', '.join(names) or 'none'}; declare each: @parametrised(symbol, unit, {', '.join(f'{n}=given(...)' for n in names)})")
        annotations = d.formula.__annotations__
        for name in names:
            declared = d.parameters[name]
            declared.name, declared.owner = name, f"{cls.__name__}.{d.name}"
            annotation = annotations.get(name, "")
            text = annotation if isinstance(annotation, str) else annotation.__name__
            named: dict[str, Any] = {"Quantity": Quantity, "int": int, "float": float, "bool": bool}
            if text not in named:
                raise FormulaError(f"annotate its argument {name} as Quantity, int, float or bool")
            declared.settle(named[text], Record)
        return {name: Argument(name) for name in names}

    @classmethod
    def _dimension_of(cls, e: Expression) -> Any:
        match e:
            case Symbol(path): return cls.declaration(path).dimension
            case Call(name, _): return cls.quantities[name].dimension
            case Argument(name):
                return next(d.parameters[name].dimension for d in cls.quantities.values() if isinstance(d, Parametrised) and name in d.parameters)
        return None

    @classmethod
    def _check_choices(cls, e: Expression) -> None:
        """Every name an option may have must be in the table it picks from, and every name it is compared with must be one of its own."""
        for node in walk(e):
            if isinstance(node, Choose) and isinstance(node.option, Symbol):
                choices = getattr(cls.declaration(node.option.path), "choices", ())
                if missing := [c for c in choices if c not in dict(node.entries)]:
                    raise FormulaError(f"the table has no entry for {', '.join(missing)}, which {'.'.join(node.option.path)} may be")
            operands = node.operands if isinstance(node, Apply) else ()
            for a, b in zip(operands, operands[1:]):
                for option, name in ((a, b), (b, a)):
                    if isinstance(option, Symbol) and isinstance(name, Option) and isinstance(name.value, str):
                        choices = getattr(cls.declaration(option.path), "choices", ())
                        if choices and name.value not in choices:
                            raise FormulaError(f"{'.'.join(option.path)} is never {name.value!r}{near_name(name.value, choices)}; it is one of {', '.join(choices)}")

    @classmethod
    def _check_result(cls, d: Any, of: Any) -> None:
        if isinstance(d, Condition):
            if of != TRUTH:
                raise FormulaError(f"a condition is yes or no; this is {said(of)}: write a comparison, such as a <= b")
            return
        if of in (RECORD, ROWS):
            raise FormulaError("the result is a record; name one of its quantities")
        if isinstance(d, Derived):
            if any(isinstance(node, Nothing) for node in walk(d.expression)):
                d.may_be_nothing = True
            if d.returns == "":
                d.returns = "bool" if of == TRUTH else "str" if of == OPTION else "float" if of == ZERO or not isinstance(of, str) and of.dimensionless else "Quantity"
                if d.returns == "Quantity":
                    raise FormulaError(f"the result is in {said(of)}, so it needs a unit; write @derived(\"{d.symbol}\", \"{said(of)}\")")
            if d.returns in ("float", "int") and d.unit is not None and not d.unit.dimensionless:
                raise FormulaError(f"it is declared in {d.unit} and returns {d.returns}; write -> Quantity, or divide by a quantity of the same kind")
            if d.returns == "int" and not whole(d.expression, cls.declaration):
                raise FormulaError("the formula may give a fraction and -> int is declared; write ceil() or floor() around it, or -> float")
        declared = d.dimension
        if of in (ZERO, NOTHING):
            return
        if isinstance(of, str) or isinstance(declared, str):
            if of != declared:
                raise FormulaError(f"the formula gives {said(of)}, and {said(declared)} is declared")
        elif not of.is_compatible_with(declared):
            raise FormulaError(f"the formula gives {said(of)}, and {said(declared)} is declared: change the formula or the unit")

    @classmethod
    def _refuse_cycles(cls) -> None:
        try:
            cls._order()
        except graphlib.CycleError as error:
            circle = " -> ".join(reversed(error.args[1]))
            raise DefinitionError(f"{cls.__name__}: these quantities need each other: {circle}; one of them must follow from inputs alone") from None

    @classmethod
    def _formulas(cls) -> dict[str, Any]:
        """Everything that follows from a formula, inputs with a formula for a default included."""
        declared: dict[str, Any] = {**cls.inputs, **cls.quantities}
        return {name: d for name, d in declared.items() if getattr(d, "expression", None) is not None}

    @classmethod
    def _order(cls) -> list[str]:
        graph = {name: {p[0] for p in paths(d.expression) if len(p) == 1} for name, d in cls._formulas().items() }
        return list(graphlib.TopologicalSorter(graph).static_order())

    @classmethod
    def _refuse_duplicate_symbols(cls) -> None:
        """Two things with one symbol would make an equation say two things."""
        seen: dict[str, str] = {}
        traced: list[Any] = [*cls.quantities.values(), *cls.conditions.values()]
        mentioned = {".".join(p) for d in traced for p in paths(d.expression) if len(p) > 1 and "*" not in p}
        for name in [*cls.inputs, *cls.quantities, *sorted(mentioned)]:
            declared = cls.declaration(tuple(name.split(".")))
            if not declared.symbol or isinstance(declared, Parametrised):
                continue
            other = seen.setdefault(declared.symbol, name)
            if other != name:
                raise DefinitionError(f"{cls.__name__}: {other} and {name} both have the symbol {declared.symbol!r}; give one of them another")

    @classmethod
    def _declared(cls, name: str) -> Any:
        if name in cls.inputs:
            return cls.inputs[name]
        if name in cls.quantities:
            return cls.quantities[name]
        known = [*cls.inputs, *cls.quantities]
        if callable(getattr(cls, name, None)) and not hasattr(Derivation, name):
            raise FormulaError(f"{name} is a plain method of {cls.__name__}: put @derived(symbol, unit) above it")
        raise FormulaError(f"{cls.__name__} has no quantity called {name!r}{near_name(name, known)}")

    @classmethod
    def _symbol_for(cls, name: str, path: Path) -> Any:
        declared = cls._declared(name)
        if isinstance(declared, Parametrised):
            if path:
                raise FormulaError(f"{'.'.join((*path, name))} takes an argument; only a quantity without one can be read through a record")
            return lambda *arguments: Call(name, tuple(map(lift, arguments)))
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
        asked = [node.path for node in walk(declared.expression) if isinstance(node, IsGiven) and not self.present(node.path)]
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
                return units.Quantity(base / scale(declared.unit), declared.unit)      # type: ignore[arg-type]
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
            return f"{path[0]}={getattr(type(self).inputs[path[0]].record_type, '__name__', '')}(..., {declared.how_to_give()})"
        return ".".join(path)

    def waiting_for(self, name: str) -> tuple[tuple[Path, ...], ...]:
        """What a quantity waits for: groups of absent inputs, any one of a group would do; empty where it has a value (or is none).

        An input that would follow from another is named beside it, and alone where it would follow from several.
        """
        declared = type(self)._declared(name)
        if getattr(declared, "expression", None) is None:
            return ()
        try:
            lacking = guards.lacking(declared.expression, _ByOwnName(self))
        except Absent:      # a branch that only an argument decides
            return ()
        found: dict[tuple[Path, ...], None] = {}
        for group in lacking:
            own = [path for path in group if len(path) == 1 and path[0] != name and path[0] in type(self)._formulas()]
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


def _refuse_branches(formula: Any) -> None:
    """`is`, `in` and tests against None cannot be overloaded: a branch on one would vanish silently, so look for them."""
    pending: list[types.CodeType] = [formula.__code__]
    while pending:
        body = pending.pop()
        pending.extend(c for c in body.co_consts if isinstance(c, types.CodeType))
        for instruction in dis.get_instructions(body):
            name = instruction.opname
            if name == "IS_OP" or "JUMP" in name and "NONE" in name:
                raise FormulaError("a formula cannot ask `is` or `is None`: write is_given(self.x) for an input that may be absent, == for an option")
            if name == "CONTAINS_OP":
                raise FormulaError("a formula cannot ask `in`: write any_of(x == a, x == b)")


Derivation._reserved = Record._reserved | {name for name in vars(Derivation) if not name.startswith("_")}

__all__ = ["Condition", "Derivation", "Derived", "MissingInputError", "Parametrised", "derived", "parametrised", "requires", "warns"]

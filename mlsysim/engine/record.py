"""Records: declared, checked, immutable inputs, which workloads, hardware and scenarios share."""
from __future__ import annotations

import sys
import typing
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Never, Self, dataclass_transform

from ..units import Quantity
from .evaluation import Absent
from .expression import Expression, FormulaError, Symbol, UnknownNameError
from .inputs import MISSING, DefinitionError, Given, Input, InputError, given, near_name
from .printing import print_figures

print_figures()

Path = tuple[str, ...]


class RecordSymbol(Symbol):
    """A record inside a formula: its fields are symbols."""

    def __init__(self, path: Path, record_type: Any):
        super().__init__(path)
        object.__setattr__(self, "_record_type", record_type)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._record_type._symbol_for(name, self.path)


class RowsSymbol(Symbol):
    """An input that holds rows inside a formula, for total_of."""

    def __init__(self, path: Path, record_type: Any):
        super().__init__(path)
        object.__setattr__(self, "_record_type", record_type)

    def row(self) -> RecordSymbol:
        return RecordSymbol((*self.path, "*"), self._record_type)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(given,))
class Record:
    """Base of everything declared by inputs. Objects are frozen, comparable, hashable and picklable; their repr rebuilds them."""

    inputs: ClassVar[Mapping[str, Input]] = {}
    _reserved: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        for name in ("inputs", "quantities", "conditions"):
            if not isinstance(vars(cls).get(name, {}), Mapping):
                cls._refuse_reserved(name)
        cls.inputs = cls._inherited("inputs")
        for name, annotation in _annotations(cls).items():
            declared = vars(cls).get(name)
            if name.startswith("_") or typing.get_origin(annotation) is ClassVar or annotation is ClassVar:
                continue
            where = f"{cls.__name__}.{name}"
            if declared is None and name not in vars(cls):
                declared = given()
                declared.__set_name__(cls, name)
                setattr(cls, name, declared)
            if not isinstance(declared, Input):
                raise DefinitionError(f"{where}: declare it with given(symbol, unit, default={declared!r}), or annotate it ClassVar where it is no input")
            cls._refuse_reserved(name)
            declared.settle(annotation, Record)
            cls.inputs[name] = declared
        for name, value in vars(cls).items():
            if isinstance(value, Input) and cls.inputs.get(name) is not value:
                raise DefinitionError(f"{cls.__name__}.{name}: an input needs an annotation, such as {name}: Given[Quantity] = given(...)")
            if name in cls.inputs and value is not cls.inputs[name]:
                cls._replace_input(name, value)

    @classmethod
    def _inherited(cls, declarations: str) -> dict[str, Any]:
        """What the bases declare, the nearest base last word on a name: an input may stand where another base has a formula, and the other way round."""
        bases = cls.__mro__[1:]
        found = {name: declared for base in reversed(bases) for name, declared in vars(base).get(declarations, {}).items() if declared is vars(base).get(name)}
        return {name: declared for name, declared in found.items() if declared is next(vars(base)[name] for base in bases if name in vars(base))}

    @classmethod
    def _replace_input(cls, name: str, value: Any) -> None:
        """A class gives an inherited input another meaning. Raises DefinitionError where that is none."""
        raise DefinitionError(f"{cls.__name__}.{name}: it is an input already; write {name}: ... = given(..., default={value!r}) for another default, or choose another name")

    @classmethod
    def _refuse_reserved(cls, name: str) -> None:
        if name in cls._reserved:
            raise DefinitionError(f"{cls.__name__}.{name}: every {cls.__mro__[1].__name__} already has a {name!r} of its own; choose another name")

    def __init__(self, *unnamed: Never, **values: Any) -> None:
        kind = type(self)
        if unnamed:
            raise InputError(f"{kind.__name__}: inputs go by their names; write {kind.__name__}({next(iter(kind.inputs), 'name')}={unnamed[0]!r}, ...)")
        if not values.keys() <= kind.inputs.keys():
            unknown = next(iter(values.keys() - kind.inputs.keys()))
            raise InputError(f"{kind.__name__}: no input is called {unknown!r}{near_name(unknown, kind.inputs) or '; its inputs are ' + ', '.join(kind.inputs)}")
        stored: dict[str, Any] = {}
        for name, declared in kind.inputs.items():
            value = values.get(name, MISSING)
            if value is MISSING:
                value = declared.default
                if value is MISSING:
                    lacking = [i.how_to_give() for n, i in kind.inputs.items() if i.required and n not in values]
                    raise InputError(f"{kind.__name__}: {name} is required; write {kind.__name__}({', '.join(lacking)}, ...)")
            elif value is not None or declared.formula is None:
                value = declared.accept(value, f"{kind.__name__}: {name}")
            stored[name] = value
        self._hold(stored)
        self._check()

    def _hold(self, stored: dict[str, Any]) -> None:
        """Take accepted values, and what formulas see of them."""
        known: dict[str, Any] = {}
        for name, declared in type(self).inputs.items():
            value = stored[name]
            if value is not None:
                known[name] = declared.base(value)
            elif declared.formula is None:
                known[name] = None
        self.__dict__["_stored"], self.__dict__["_known"] = stored, known

    def _check(self) -> None:
        """What must hold between inputs; a subclass with formulas checks its requirements here."""

    # Reading.

    def _read(self, declared: Input) -> Any:
        return self.__dict__["_stored"][declared.name]

    def number(self, path: Path) -> Any:
        """The value at a path as formulas see it, in base units. Raises Absent."""
        name = path[0]
        if len(path) > 1:
            record = self._stored_record(name)
            try:
                return record.number(path[1:])
            except Absent as absent:
                raise Absent(tuple((name, *p) for p in absent.paths)) from None
        value = self.__dict__["_known"].get(name)
        if value is None:
            raise Absent((path,))
        return value

    def has(self, path: Path) -> bool:
        """Whether there is a value at a path."""
        record = self.__dict__["_stored"].get(path[0])
        if len(path) > 1 and isinstance(record, tuple):
            return all(row.has(path[1:]) for row in record)
        if len(path) > 1:
            return record is not None and record.has(path[1:])
        return record is not None

    def present(self, path: Path) -> bool:
        """Whether there is a value to show at a path; no where it waits for an input."""
        try:
            return self.has(path)
        except Absent:
            return False

    def rows(self, path: Path) -> Sequence[Any]:
        """The rows at a path. Raises Absent."""
        if len(path) > 1:
            return self._stored_record(path[0]).rows(path[1:])
        rows = self.__dict__["_stored"][path[0]]
        if rows is None:
            raise Absent((path,))
        return rows

    def _stored_record(self, name: str) -> Any:
        record = self.__dict__["_stored"][name]
        if record is None:
            raise Absent(((name,),))
        return record

    def at(self, path: Path | str) -> Any:
        """The value at a path as a person reads it: `scenario.at("hardware.memory.capacity")`."""
        value: Any = self
        for name in path.split(".") if isinstance(path, str) else path:
            if value is None:
                return None
            if not isinstance(value, Record):
                raise AttributeError(f"{type(self).__name__}: {path if isinstance(path, str) else '.'.join(path)} leads nowhere: {value} has no {name!r}")
            value = getattr(value, name)
        return value

    @classmethod
    def declaration(cls, path: Path) -> Any:
        """The declaration (an Input, or a quantity) at a path. Raises UnknownNameError, which is an AttributeError, where there is none."""
        name, *rest = path
        try:
            declared = cls._declared(name)
        except FormulaError as error:
            raise UnknownNameError(str(error)) from None
        if not rest:
            return declared
        if getattr(declared, "record_type", None) is None:
            raise UnknownNameError(f"{cls.__name__}.{name} holds no inputs or quantities of its own, so it has no {'.'.join(rest)!r}")
        return declared.record_type.declaration(tuple(r for r in rest if r != "*"))

    @classmethod
    def _declared(cls, name: str) -> Any:
        if name in cls.inputs:
            return cls.inputs[name]
        raise FormulaError(f"{cls.__name__} has no {name!r}{near_name(name, cls.inputs)}")

    @classmethod
    def _symbol_for(cls, name: str, path: Path) -> Expression:
        declared = cls._declared(name)
        if isinstance(declared, Input) and declared.kind == "record":
            return RecordSymbol((*path, name), declared.record_type)
        if isinstance(declared, Input) and declared.kind == "rows":
            return RowsSymbol((*path, name), declared.record_type)
        return Symbol((*path, name))

    @classmethod
    def may_be_absent(cls, path: Path, there: frozenset[Path] = frozenset()) -> bool:
        """Whether some object of this class has nothing at a path, where the paths in `there` are known to hold something."""
        name, *rest = path
        declared = cls._declared(name)
        optional = isinstance(declared, Input) and declared.optional and declared.default is None and declared.formula is None and (name,) not in there
        inner = frozenset(known[1:] for known in there if known[0] == name and len(known) > 1)
        return optional or bool(rest) and rest != ["*"] and declared.record_type.may_be_absent(tuple(r for r in rest if r != "*"), inner)

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(f"{type(self).__name__} has no {name!r}{near_name(name, (known for known in dir(type(self)) if not known.startswith('_')))}")

    # Citations and catalogue addresses travel with a record and are no part of its value.

    @property
    def sources(self) -> Mapping[str, str]:
        """The citation of each input that has one."""
        return self.__dict__.get("_sources", {})

    def citing(self, sources: Mapping[str, str]) -> Self:
        """The same record with a citation for each named input."""
        if unknown := sources.keys() - type(self).inputs.keys():
            name = next(iter(unknown))
            raise InputError(f"{type(self).__name__}: a source for {name!r}, which is no input of it{near_name(name, type(self).inputs)}")
        copy = self._copy(self.__dict__["_stored"])
        copy.__dict__["_sources"] = dict(sources)
        return copy

    @property
    def address(self) -> str:
        """Where a catalogue or a shelf keeps it, such as `Hardware.Cloud.H100`; empty elsewhere."""
        return self.__dict__.get("_address", "")

    def addressed(self, address: str) -> Self:
        """The same record under a catalogue's address."""
        copy = self._copy(self.__dict__["_stored"])
        copy.__dict__["_sources"] = dict(self.sources)
        copy.__dict__["_address"] = address
        return copy

    def _copy(self, values: Mapping[str, Any]) -> Self:
        return type(self)(**{name: value for name, value in values.items() if value is not None or type(self).inputs[name].default is not None})

    # Changing, comparing, saving.

    def variant(self, **changes: Any) -> Self:
        """A copy with some inputs changed: `variant(batch_size=64)`, or `variant(**{"workload.layers": 24})` for an input of an input.

        Raises InputError as construction does.
        """
        values = dict(self.__dict__["_stored"])
        kept = dict(self.sources)
        inner: dict[str, dict[str, Any]] = {}
        for name, value in changes.items():
            head, _, rest = name.partition(".")
            kept.pop(head, None)
            if rest:
                inner.setdefault(head, {})[rest] = value
            else:
                values[name] = value
        for head, inner_changes in inner.items():
            if head not in type(self).inputs or type(self).inputs[head].kind != "record":
                near = "" if head in type(self).inputs else near_name(head, type(self).inputs)
                raise InputError(f"{type(self).__name__}: {head!r} holds no inputs of its own{near}")
            if values.get(head) is None:
                raise InputError(f"{type(self).__name__}: {head} is absent, so {head}.{next(iter(inner_changes))} cannot change; write {type(self).inputs[head].how_to_give()}")
            values[head] = values[head].variant(**inner_changes)
        copy = type(self)(**values)
        if kept:
            copy.__dict__["_sources"] = kept
        return copy

    def given_inputs(self) -> dict[str, Any]:
        """The inputs that differ from their defaults, by name."""
        return {name: value for name, value in self.__dict__["_stored"].items() if _key(type(self).inputs[name].default) != _key(value) or type(self).inputs[name].required}

    def to_dict(self) -> dict[str, Any]:
        """Plain data (text, numbers, lists, dictionaries) for JSON; `from_dict` gives the equal object back."""
        data: dict[str, Any] = {"class": type(self).__name__, **{name: _plain(value) for name, value in self.__dict__["_stored"].items() if value is not None or
                                                                type(self).inputs[name].default is not None and type(self).inputs[name].formula is None}}
        return data | ({"sources": dict(self.sources)} if self.sources else {})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The object that `to_dict` wrote. Raises InputError as construction does."""
        if not isinstance(data, Mapping) or not isinstance(data.get("sources", {}), Mapping):
            raise InputError(f"{cls.__name__}: from_dict takes the dictionary that to_dict writes, not {data!r}")
        kind = cls._named(data.get("class", cls.__name__))
        values = {name: kind._from_plain(name, value) for name, value in data.items() if name not in ("class", "sources")}
        made = kind(**values)
        return made.citing(data["sources"]) if data.get("sources") else made

    @classmethod
    def _named(cls, name: str) -> Any:
        pending: list[Any] = [cls]
        while pending:
            kind = pending.pop()
            if kind.__name__ == name:
                return kind
            pending.extend(kind.__subclasses__())
        raise InputError(f"{cls.__name__}: the data is of class {name!r}; read it with that class's from_dict, after importing it")

    @classmethod
    def _from_plain(cls, name: str, value: Any) -> Any:
        record_type: Any = cls.inputs[name].record_type if name in cls.inputs else None
        if record_type is not None and isinstance(value, Mapping):
            return record_type.from_dict(value)
        if record_type is not None and isinstance(value, list):
            return tuple(record_type.from_dict(row) for row in value)
        return value

    def _identity(self) -> tuple[Any, ...]:
        return (type(self), *(_key(value) for value in self.__dict__["_stored"].values()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} objects do not change; write .variant({name}=...) for a changed copy")

    __delattr__ = lambda self, name: self.__setattr__(name, None)      # noqa: E731

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), {n: v for n, v in self.__dict__["_stored"].items() if v is not None or type(self).inputs[n].default is not None}, dict(self.sources), self.address)

    def __copy__(self) -> Self: return self
    def __deepcopy__(self, memo: Any) -> Self: return self

    def __repr__(self) -> str:
        if self.address:
            return self.address
        return f"{type(self).__name__}({', '.join(f'{name}={code(value)}' for name, value in self.given_inputs().items())})"


Record._reserved = frozenset(name for name in vars(Record) if not name.startswith("_"))


def code(value: Any) -> str:
    """The Python that makes a value."""
    if isinstance(value, Quantity):
        return f"\"{value.magnitude!r} {value.units:~P}\"".replace(" \"", "\"") if str(value.units) != "count" else _count_code(value.magnitude)
    if isinstance(value, tuple):
        return f"({', '.join(map(code, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def _count_code(magnitude: float) -> str:
    return repr(int(magnitude)) if magnitude == int(magnitude) and magnitude < 1e6 else repr(magnitude)


def _key(value: Any) -> Any:
    return (float(value.m_as(value.units)) * _scale(value), tuple(value.dimensionality.items())) if isinstance(value, Quantity) else value


def _scale(value: Quantity) -> float:
    from ..units import scale
    return scale(value.units)


def _plain(value: Any) -> Any:
    if isinstance(value, Quantity):
        return f"{value.magnitude!r} {value.units}".strip()
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_plain(row) for row in value]
    return value


def _rebuild(kind: type[Record], values: dict[str, Any], sources: dict[str, str], address: str) -> Record:
    made = kind(**values)
    if sources:
        made.__dict__["_sources"] = sources
    if address:
        made.__dict__["_address"] = address
    return made


def _annotations(cls: type) -> dict[str, Any]:
    """The class's own annotations, evaluated where the class statement stands."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_name in ("__init_subclass__", "_annotations"):
        frame = frame.f_back
    module = sys.modules.get(cls.__module__)
    names = {**(vars(module) if module else {}), **frame.f_globals, **frame.f_locals}
    result = {}
    for name, annotation in cls.__dict__.get("__annotations__", {}).items():
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, names)
            except Exception as error:
                raise DefinitionError(f"{cls.__name__}.{name}: its annotation {annotation!r} cannot be read: {error}") from None
        result[name] = annotation
    return result


__all__ = ["Absent", "Path", "Record", "RecordSymbol", "RowsSymbol", "code"]

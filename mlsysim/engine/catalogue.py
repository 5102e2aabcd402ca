"""Catalogues of published facts: entries kept as JSON, read on first use, each fact with its citation, found by name."""
from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from .catalogue_views import citations, rows_html, rows_text, table_html, table_text
from .record import Record

R = TypeVar("R", bound=Record)


class UnknownEntryError(AttributeError, LookupError):
    """No entry of a catalogue has that name; the message gives the near one."""


class Group(Generic[R]):
    """The entries of one file. An entry is an attribute, made when it is first read; `find` looks through names and aliases.

    address: where the group stands, `"Hardware.Cloud"`; file: its JSON; kinds: the classes its entries may be of, the usual
    one first; parts: groups that hold what a fact names in place of stating, by field (`{"link": links}`); columns: the
    paths its table shows.
    """

    def __init__(self, address: str, file: Path, kinds: Callable[[], Sequence[type[R]]], columns: Sequence[str], parts: Mapping[str, Group[Any]] | None = None):
        self._address, self._file, self._kinds, self._columns, self._parts = address, file, kinds, tuple(columns), dict(parts or {})
        self._data: dict[str, Any] | None = None
        self._made: dict[str, R] = {}

    # What the file says.

    def _loaded(self) -> dict[str, Any]:
        if self._data is None:
            import json
            self._data = json.loads(self._file.read_text(encoding="utf-8"))
        return self._data

    def _entries(self) -> dict[str, Any]:
        return self._loaded()["entries"]

    def _names(self) -> Iterator[tuple[str, str]]:
        """Every name by which an entry can be asked for, the best first: its own, its title, its aliases."""
        entries = self._entries()
        yield from ((key, key) for key in entries)
        yield from ((entry["name"], key) for key, entry in entries.items())
        yield from ((alias, key) for key, entry in entries.items() for alias in entry.get("aliases", ()))

    def _make(self, key: str) -> R:
        entry, references = self._entries()[key], self._loaded()["references"]
        kinds = {kind.__name__: kind for kind in self._kinds()}
        kind = kinds[entry["kind"]] if "kind" in entry else next(iter(kinds.values()))
        facts: dict[str, Any] = {"name": entry["name"]}
        sources: dict[str, str] = {}
        inner_sources: dict[str, dict[str, str]] = {}
        for fact in entry["facts"]:
            citation = f"{references[fact['from']]}: {fact['at']}"
            for path, value in fact["values"].items():
                field, _, inner = path.partition(".")
                if inner:
                    facts.setdefault(field, {})[inner] = value
                    inner_sources.setdefault(field, {})[inner] = citation
                else:
                    facts[field] = getattr(self._parts[field], value) if field in self._parts else value
                    sources[field] = citation
        for field, cited in inner_sources.items():
            record_type: Any = kind.inputs[field].record_type
            facts[field] = record_type(**facts[field]).citing(cited)
        return kind(**facts).citing(sources).addressed(f"{self._address}.{key}")

    # Looking things up.

    def __getattr__(self, name: str) -> R:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._made:
            return self._made[name]
        if name not in self._entries():
            raise UnknownEntryError(f"{self._address} has no {name!r}{near(name, [self]) or f'; show {self._address} to see its {len(self)} entries'}")
        self._made[name] = self._make(name)
        return self._made[name]

    def find(self, name: str) -> R:
        """The entry of that name: its own, its title or an alias, in any case and with any punctuation.

        An exact spelling comes first. Raises UnknownEntryError, with the near name, where there is none, or where several fit.
        """
        return find(name, self._address, [self])

    def __dir__(self) -> list[str]:
        return [*self._entries(), "find"]

    def __iter__(self) -> Iterator[R]:
        return (getattr(self, key) for key in self._entries())

    def __len__(self) -> int:
        return len(self._entries())

    def __contains__(self, name: object) -> bool:
        return name in self._entries()

    # Showing itself.

    def _table(self) -> tuple[str, list[str], list[Record]]:
        return f"{self._address}: {len(self)} entries", list(self._columns), list(self)

    def __repr__(self) -> str:
        return table_text(*self._table())

    def _repr_html_(self) -> str:
        return table_html(*self._table())


class Catalogue(Generic[R]):
    """Groups of entries under one name; `find` looks through all but those that stand aside, whose entries are parts of the others'."""

    def __init__(self, address: str, groups: Mapping[str, Group[R]], aside: Mapping[str, Group[Any]] | None = None):
        self._address, self._groups = address, dict(groups)
        self._every: dict[str, Group[Any]] = {**groups, **(aside or {})}
        self.__dict__.update(self._every)

    def find(self, name: str) -> R:
        """The entry of that name in any group: its own, its title or an alias, in any case and with any punctuation.

        An exact spelling comes first. Raises UnknownEntryError, with the near name, where there is none, or where several fit.
        """
        return find(name, self._address, list(self._groups.values()))

    def __getattr__(self, name: str) -> Group[R]:
        if name.startswith("_"):
            raise AttributeError(name)
        groups = difflib.get_close_matches(name, self._every, n=1)
        hint = f"; did you mean {self._address}.{groups[0]}?" if groups else near(name, list(self._every.values())) or f"; its groups are {', '.join(self._every)}"
        raise UnknownEntryError(f"{self._address} has no {name!r}{hint}")

    def __dir__(self) -> list[str]:
        return [*self._every, "find"]

    def __iter__(self) -> Iterator[Group[R]]:
        return iter(self._groups.values())

    # Showing itself.

    def _table(self) -> tuple[str, list[str], list[list[str]]]:
        rows = [[f"{self._address}.{name}", str(len(group)), ", ".join(group._entries())] for name, group in self._every.items()]
        return f"{self._address}: {sum(map(len, self._every.values()))} entries", ["group", "entries", "names"], rows

    def __repr__(self) -> str:
        return rows_text(*self._table())

    def _repr_html_(self) -> str:
        return rows_html(*self._table())


def plain(name: str) -> str:
    """A name without case, punctuation and the GB after a size."""
    return re.sub(r"(?<=\d)\s*gb\b|[^a-z0-9]", "", name.lower())


def without_remark(name: str) -> str:
    """A name without what stands in brackets."""
    return re.sub(r"\s*\([^)]*\)", "", name)


def find(name: str, address: str, groups: Sequence[Group[R]]) -> R:
    """The entry of that name in some groups. Raises UnknownEntryError."""
    known = [(spelling, group, key) for group in groups for spelling, key in group._names()]
    for spelt in (str, plain, lambda text: plain(without_remark(text))):
        wanted = spelt(name)
        hits = {(id(group), key): (group, key) for spelling, group, key in known if wanted and spelt(spelling) == wanted}
        own = {place: hit for place, hit in hits.items() if spelt is str and hit[1] == name}
        if len(found := list((own or hits).values())) == 1:
            group, key = found[0]
            return getattr(group, key)
        if found:
            raise UnknownEntryError(f"{address}.find({name!r}): several fit; write one of {', '.join(f'{group._address}.{key}' for group, key in found)}")
    raise UnknownEntryError(f"{address}.find({name!r}): no entry has that name{near(name, groups) or f'; show {address} to see what there is'}")


def near(name: str, groups: Sequence[Group[Any]]) -> str:
    """`; did you mean Models.Language.GPT2?`, or nothing where no name is near."""
    known: dict[str, str] = {}
    for group in groups:
        for spelling, key in group._names():
            known.setdefault(plain(spelling), f"{group._address}.{key}")
    matches = difflib.get_close_matches(plain(name), known, n=1)
    return f"; did you mean {known[matches[0]]}?" if matches else ""


__all__ = ["Catalogue", "Group", "UnknownEntryError", "citations", "find"]

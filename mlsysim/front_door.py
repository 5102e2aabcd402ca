"""Names at a package's front door, each fetched from its own module when it is first asked for."""
from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def front_door(package: str, namespace: dict[str, Any], homes: Mapping[str, tuple[str, ...]]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A package's `__getattr__` and `__dir__`: homes gives, for each module below the package, the names it has.

    An unknown name raises AttributeError, with the near name where there is one.
    """
    home_of = {name: home for home, names in homes.items() for name in names}

    def fetch(name: str) -> Any:
        if name not in home_of:
            import difflib
            near = difflib.get_close_matches(name, home_of, n=1)
            raise AttributeError(f"{package} has no {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        namespace[name] = getattr(importlib.import_module(f".{home_of[name]}", package), name)
        return namespace[name]

    return fetch, lambda: sorted(home_of)


__all__ = ["front_door"]

"""What the quantities of one scenario wait for, and the words that give it."""
from __future__ import annotations

from typing import Any

from .declarations import Parametrised
from .expression import IsGiven, paths, walk
from .inputs import InputError
from .notation import Text
from .record import Absent, Path

Groups = tuple[tuple[Path, ...], ...]      # all of the outer, any one of each inner


def lacking(scenario: Any, path: Path) -> Groups:
    """The absent inputs without which there is nothing at a path; empty where there is a value, or none, or arithmetic has no answer."""
    if len(path) > 1 or path[0] not in scenario.quantities:
        return next((((path[:i],),) for i in range(1, len(path) + 1) if not scenario.present(path[:i])), ())
    declared = scenario.quantities[path[0]]
    if isinstance(declared, Parametrised):
        asked = {node.path for node in walk(declared.expression) if isinstance(node, IsGiven)}
        return tuple(dict.fromkeys(group for below in paths(declared.expression) if below not in asked for group in lacking(scenario, below)))
    try:
        scenario.has(path)
    except Absent:
        return tuple(scenario.waiting_for(path[0]))
    except InputError:
        return ()
    return ()


def ways(scenario: Any, groups: Groups, notation: Text) -> str:
    """The words that give what is lacking: `activations="40 GB" and batch_size=32`."""
    return " and ".join(" or ".join(notation.code(scenario.how_to_give(path)) for path in group) for group in groups)


__all__ = ["Groups", "lacking", "ways"]

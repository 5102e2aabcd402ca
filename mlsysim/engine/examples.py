"""Makes example objects of a class from the examples that its inputs declare."""
from __future__ import annotations

import sys
from typing import Any

from .inputs import Input, InputError
from .record import Record


class NoExampleError(ValueError):
    """An input declares no example that can be read as a value."""


class Names(dict[str, Any]):
    """The names that a reader has at hand: the kit's own, what the class's module knows, and every record class by its name."""

    def __init__(self, kind: type):
        super().__init__(vars(sys.modules[kind.__module__]) if kind.__module__ in sys.modules else {})
        pending: list[type] = [Record]
        while pending:
            known = pending.pop()
            self.setdefault(known.__name__, known)
            pending.extend(known.__subclasses__())
        self[kind.__name__] = kind

    def __missing__(self, name: str) -> Any:
        try:
            return getattr(sys.modules[__name__.partition(".")[0]], name)
        except AttributeError:
            raise KeyError(name) from None


def value_of(declared: Input, names: Names) -> Any:
    """The example of an input as a value. Raises NoExampleError."""
    if not declared.example and declared.kind == "record":
        held: Any = declared.record_type
        return example_of(held)
    text = declared.how_to_give().partition("=")[2]
    if declared.kind == "rows" and not declared.example:
        text = ""
    try:
        return eval(text, {"__builtins__": {}}, names)
    except Exception as error:      # the example is the author's own Python: anything may be wrong with it
        raise NoExampleError(f"{declared.name}: its example {text or 'is missing'}{f' cannot be read ({error})' if text else ''}; "
                             f"write given(..., example=\"...\") with the Python of a value") from None


def example_of(kind: Any, everything: bool = False) -> Any:
    """An object from the examples of the inputs that must be given, or of all of them. Raises NoExampleError, or InputError where they do not go together."""
    names = Names(kind)
    values = {}
    for name, declared in kind.inputs.items():
        if declared.required or everything and declared.optional:
            values[name] = value_of(declared, names)
    return kind(**values)


def example_arguments(declared: Any) -> dict[str, Any]:
    """Arguments for a parametrised quantity, from the examples that they declare."""
    names = Names(object)
    return {name: value_of(argument, names) for name, argument in declared.parameters.items()}


__all__ = ["InputError", "Names", "NoExampleError", "example_arguments", "example_of"]

"""How a quantity prints by itself: with the digits and the unit that a breakdown shows."""
from __future__ import annotations

from typing import Any

from pint.delegates.formatter import Formatter

from ..units import units
from .figures import as_given
from .notation import HTML, TEXT

NOTATIONS = {"": TEXT, "~P": TEXT, "P": TEXT, "~H": HTML, "H": HTML}


class FigureFormatter(Formatter):
    """Writes one number with its unit as a breakdown does; an array, or a format of the reader's own, as pint does."""

    def format_quantity(self, quantity: Any, spec: str = "", **babel_kwds: Any) -> str:
        notation = NOTATIONS.get(spec)
        if notation is None or isinstance(quantity.magnitude, bool) or not isinstance(quantity.magnitude, (int, float)):
            return super().format_quantity(quantity, spec, **babel_kwds)
        return notation.figure(as_given(quantity.magnitude, quantity.units))


def print_figures() -> None:
    """Let the kit's quantities print as a breakdown shows them."""
    units.formatter = FigureFormatter(units)
    units.formatter.default_format = "~P"


__all__ = ["FigureFormatter", "print_figures"]

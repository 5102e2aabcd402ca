"""How a number is shown: the unit a person would write, the digits worth reading, and the value those digits stand for."""
from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple


from ..units import ONE, scale, unit

DIGITS = 3


class Figure(NamedTuple):
    """A number as shown: digits, power of ten, unit, the value the digits stand for in base units, and half its last digit."""
    digits: str
    exponent: int
    unit: str
    value: float
    half_step: float

    @property
    def exact_text(self) -> str:
        return f"{self.digits}e{self.exponent}" if self.exponent else self.digits


_DECIMAL = [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0)]
_BINARY = [("PiB", 2.0**50), ("TiB", 2.0**40), ("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0)]
_SMALL = [("m", 1e-3), ("µ", 1e-6), ("n", 1e-9)]
_LADDERS = {
    "byte": [(f"{p}B", s) for p, s in _DECIMAL],
    "byte/second": [(f"{p}B/s", s) for p, s in _DECIMAL],
    "flop": [(f"{p}FLOP", s) for p, s in [("E", 1e18), *_DECIMAL]],
    "flop/second": [(f"{p}FLOP/s", s) for p, s in [("E", 1e18), *_DECIMAL]],
    "second": [("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0), *[(f"{p}s", s) for p, s in _SMALL]],
    "joule": [(f"{p}J", s) for p, s in [*_DECIMAL, *_SMALL]],
    "joule/second": [(f"{p}W", s) for p, s in [*_DECIMAL, *_SMALL]],
}


@functools.lru_cache(maxsize=None)
def ladder(of: Any) -> tuple[tuple[str, float], ...]:
    """The units people write for this kind of quantity, largest first, each with its size in base units."""
    for name, steps in _LADDERS.items():
        if of.dimensionality == unit(name).dimensionality:
            return tuple(steps)
    return ((f"{of:~P}", scale(of)),)


def figure(value: float, of: Any, digits: int = DIGITS) -> Figure:
    """A value in base units as a person would write it, to that many significant digits."""
    if of.dimensionless:
        if of == unit("percent"):
            return _fixed(value, "%", 0.01, digits)
        return _pure(value, digits)
    steps = ladder(of)
    for name, size in steps:
        least = 2 * size if name in ("d", "h", "min") else size * (1 - 0.5 * 10.0**-digits)      # people write 112 s, not 1.87 min
        if abs(value) >= least or (name, size) == steps[-1]:
            if value == 0:
                name, size = f"{of:~P}", scale(of)
            return _fixed(value, name, size, digits, decimals_kept=1 if size > 1 and len(steps) > 1 else 0)
    raise AssertionError("a ladder has a last step")


def binary(value: float, digits: int = DIGITS) -> str:
    """Bytes in a 1024-based unit: `22.4 GiB`; empty beyond what its largest unit writes out."""
    name, size = next((step for step in _BINARY if abs(value) >= step[1]), _BINARY[-1])
    shown = _fixed(value, name, size, digits)
    return "" if shown.exponent else f"{shown.digits} {name}"


def as_given(magnitude: float, of: Any, digits: int = 6) -> Figure:
    """A stated quantity, in the unit it was stated in, where a person would write it so."""
    if of.dimensionless or abs(magnitude) >= 1e5:
        return figure(magnitude * scale(of), of, digits)
    return _fixed(magnitude * scale(of), f"{of:~P}", scale(of), digits)


def _fixed(value: float, name: str, size: float, digits: int, decimals_kept: int = 0) -> Figure:
    """A number written out, with the decimals that `digits` significant digits ask for."""
    x = value / size
    if x != 0 and (abs(x) < 1e-3 or abs(x) >= 1e7):
        return _scientific(x, name, size, digits)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(x)))) if x else 0
    text = f"{x:.{decimals}f}"
    if decimals and math.isclose(float(text), x, rel_tol=1e-12):
        text = text.rstrip("0").rstrip(".")
        if decimals_kept and "." not in text:
            text += ".0"
    shown_decimals = len(text.partition(".")[2])
    return Figure(_grouped(text), 0, name, float(text) * size, 0.5 * 10.0**-shown_decimals * size)


def _pure(value: float, digits: int) -> Figure:
    """A count or a ratio. Whole numbers below a thousand million are written in full."""
    if value == round(value) and abs(value) < 1e9:
        return Figure(_grouped(f"{value:.0f}"), 0, "", float(value), 0.0)
    if 1e-3 <= abs(value) < 1e6:
        return _fixed(value, "", 1.0, digits)
    return _scientific(value, "", 1.0, digits)


def _scientific(x: float, name: str, size: float, digits: int) -> Figure:
    mantissa, _, exponent = f"{x:.{digits - 1}e}".partition("e")
    if math.isclose(float(f"{mantissa}e{exponent}"), x, rel_tol=1e-12) and "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    decimals = len(mantissa.partition(".")[2])
    power = 10.0 ** int(exponent)
    return Figure(_grouped(mantissa), int(exponent), name, float(f"{mantissa}e{exponent}") * size, 0.5 * 10.0**-decimals * power * size)


def _grouped(text: str) -> str:
    whole, dot, rest = text.partition(".")
    sign = "−" if whole.startswith("-") else ""
    return sign + f"{int(whole.lstrip('-')):,}" + dot + rest


def ladder_unit(of: Any) -> bool:
    """Whether values of this unit are bytes, which people read in two systems."""
    return of is not None and of is not ONE and not isinstance(of, str) and of.dimensionality == unit("byte").dimensionality


__all__ = ["DIGITS", "Figure", "as_given", "binary", "figure", "ladder_unit"]

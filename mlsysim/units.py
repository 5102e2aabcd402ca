"""The units the kit speaks, the one registry that holds them, and how a quantity is read from what a person writes."""
from __future__ import annotations

import difflib
import functools
import math
import re
from typing import Any

import pint
from pint import Quantity

DEFINITIONS = """
nano- = 1e-9 = n-
micro- = 1e-6 = µ- = u-
milli- = 1e-3 = m-
kilo- = 1e3 = k-
mega- = 1e6 = M-
giga- = 1e9 = G-
tera- = 1e12 = T-
peta- = 1e15 = P-
exa- = 1e18 = E-
kibi- = 2**10 = Ki-
mebi- = 2**20 = Mi-
gibi- = 2**30 = Gi-
tebi- = 2**40 = Ti-
pebi- = 2**50 = Pi-

byte = [information] = B
bit = 0.125 * byte = bit
count = [] = _ = parameter = param = token
percent = 0.01 = %
flop = [operation] = FLOP = operation = OP
second = [time] = s
minute = 60 * second = min
hour = 60 * minute = h
day = 24 * hour = d
year = 365.25 * day
joule = [energy] = J
watt = joule / second = W
watt_hour = watt * hour = Wh
dollar = [money] = USD
"""

units: pint.UnitRegistry[Any] = pint.UnitRegistry(DEFINITIONS.strip().splitlines())
pint.set_application_registry(units)      # quantities pickle and copy through it
units.formatter.default_format = "~P"

ONE = units.Unit("")
_NUMBER_THEN_UNIT = re.compile(r"\s*([+-]?(?:\d{1,3}(?:,\d{3})+(?![\d_])\.?\d*|\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d.*")
_UNIT_NAME = re.compile(r"[^\W\d]\w*|%|[*/^() ·²³]|\*\*|^1(?= ?/)|(?<=[*^])-?\d{1,2}(?![\d.*^])")


class UnitError(ValueError, TypeError):
    """A number whose unit is missing, unknown, or of the wrong kind."""


@functools.lru_cache(maxsize=None)
def unit(text: str) -> pint.Unit:
    """The unit of that name, such as `"GB"`, `"TB/s"` or `"byte"`.

    Raises UnitError, with the near name, where the kit has no such unit.
    """
    try:
        if text and _UNIT_NAME.sub("", text):      # no arithmetic is left to the parser but products and small powers
            raise pint.UndefinedUnitError(text)
        return units.Unit(text)
    except Exception as error:      # pint's parser lets tokenizer, syntax and assertion errors through
        unknown = error.unit_names if isinstance(error, pint.UndefinedUnitError) else text
        name = unknown if isinstance(unknown, str) else next(iter(unknown), text)
        raise UnitError(f"no unit is called {name!r}{_suggestion(name)}") from None


def _suggestion(name: str) -> str:
    prefixes = [("k", "Ki"), ("M", "Mi"), ("G", "Gi"), ("T", "Ti"), ("P", "Pi")]
    for decimal, binary in prefixes:
        if name.lower() in (decimal.lower() + "b", binary.lower() + "b", decimal.lower() + "byte", decimal.lower() + "bytes"):
            return f"; write {decimal}B (1000-based) or {binary}B (1024-based), or {decimal}bit for bits"
    if name in ("b", "Byte", "Bytes"):
        return "; write B or byte for bytes, bit for bits"
    known = ["byte", "bit", "kB", "MB", "GB", "TB", "PB", "KiB", "MiB", "GiB", "TiB", "count", "parameter", "token", "percent", "FLOP", "TFLOP", "second",
             "ms", "minute", "hour", "day", "joule", "watt", "dollar"]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; the kit knows {', '.join(known)}"


@functools.lru_cache(maxsize=None)
def scale(of: pint.Unit) -> float:
    """How many base units (byte, second, operation, joule, dollar) one of that unit is."""
    return float(units.get_base_units(of)[0])      # type: ignore[arg-type]


def quantity(value: str | Quantity, example: str = "40 GB") -> Quantity:
    """A quantity of the kit's own registry, from text such as `"40 GB"` or from a quantity of any pint registry.

    A quantity of another registry is taken by its unit's name. Raises UnitError where the text is not a number and a
    unit, or the unit is unknown.
    """
    if isinstance(value, Quantity):
        if value._REGISTRY is units:
            return value
        if not isinstance(value.magnitude, (int, float)):
            raise UnitError(f"takes one number with a unit, such as \"{example}\", not {type(value.magnitude).__name__}")
        try:
            return units.Quantity(value.magnitude, unit(str(value.units)))
        except UnitError as error:
            raise UnitError(f"this quantity belongs to another unit registry, and {error}; write it as text, such as \"{example}\"") from None
    match = _NUMBER_THEN_UNIT.fullmatch(value)
    if match is None or match[2].startswith(","):
        if _DECIMAL_COMMA.fullmatch(value):
            raise UnitError(f"{value!r} has a comma where no thousands end; write a decimal point, as in \"1.5 GB\", or commas before every three digits, as in \"1,500 GB\"")
        raise UnitError(f"{value!r} is not a number and a unit; write for example \"{example}\"")
    number, name = match.groups()
    number = number.replace("_", "").replace(",", "")
    magnitude: Any = float(number)
    if not math.isfinite(magnitude):
        raise UnitError(f"{value!r} is too large to be a number; write for example \"{example}\"")
    if number.lstrip("+-").isdigit():
        magnitude = int(number)
    return units.Quantity(magnitude, unit(name))


__all__ = ["ONE", "Quantity", "UnitError", "quantity", "scale", "unit", "units"]

"""Reads a line of figures back, knowing nothing of what wrote it, and works it out anew: does it say what it adds up to?"""
from __future__ import annotations

import html
import math
import re
from dataclasses import dataclass
from typing import Any

from ..units import ONE, UnitError, scale, unit

_SUPERSCRIPTS = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"
_DOWN = str.maketrans(_SUPERSCRIPTS, "-0123456789")
_KEYWORDS = {"and", "or", "not", "mod", "yes", "no", "none", "max", "min", "exp", "if", "otherwise"}
_BETWEEN = {"and", "or", "mod", "if"}      # words that may follow a number; min there is the minute
_TOKEN = re.compile(rf"""
    (?P<number>(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?(?![\w.,]*[A-Za-z_])(?:\s×\s10[{_SUPERSCRIPTS}]+)?)
    | (?P<word>[A-Za-z_][\w.+-]*|\d[\w.+-]*[A-Za-z_][\w.+-]*)
    | (?P<power>[{_SUPERSCRIPTS}]+)
    | (?P<sign>[+−×/^()⌈⌉⌊⌋√,=≠≤<≥>])
    | (?P<space>\s+)
""", re.VERBOSE)
_UNIT = re.compile(r"[ \u00a0](%|1/[A-Za-zµ]+|[A-Za-zµ]+(?:[/·][A-Za-zµ]+)*)(?![\w(])")
_COMPARE = {"=": lambda a, b: a == b, "≠": lambda a, b: a != b, "≤": lambda a, b: a <= b, "<": lambda a, b: a < b, "≥": lambda a, b: a >= b, ">": lambda a, b: a > b}


class ReadingError(ValueError):
    """A line is not the arithmetic of figures that it should be; says where and why."""


@dataclass(frozen=True)
class Value:
    """What a piece of a line comes to, in base units: a number with its dimension, yes or no, or a word."""
    value: Any
    dimension: Any = ONE.dimensionality
    half_step: float = 0.0

    @property
    def number(self) -> float:
        if isinstance(self.value, (bool, str)):
            raise ReadingError(f"{self.value!r} stands where a number should")
        return float(self.value)


@dataclass(frozen=True)
class Line:
    """A line read back: what it stands for, what its figures come to (None where it only states a value), and the value it states."""
    left: str
    computed: Value | None
    stated: Value

    @property
    def holds(self) -> bool:
        """Whether the figures give the stated value, to within half a unit of its last shown digit, in its own unit."""
        return self.computed is None or same(self.computed, self.stated)


def same(a: Value, stated: Value) -> bool:
    """Whether a value is the stated one, within the digits that are shown."""
    if isinstance(stated.value, (bool, str)) or isinstance(a.value, (bool, str)):
        return type(a.value) is type(stated.value) and a.value == stated.value
    of_one_kind = a.dimension == stated.dimension or a.value == 0 or stated.value == 0
    return of_one_kind and abs(a.value - stated.value) <= stated.half_step * (1 + 1e-9) + abs(stated.value) * 1e-12


def read_line(text: str) -> Line:
    """A line `M = 6.0 GB × 3 + 0 B = 18.0 GB` read back and worked out. Raises ReadingError where it cannot be read."""
    text = re.sub(r"\s\([^()=]*[A-Za-z]{2,}[^()=]*\)$", "", text) if text.count(" = ") and not text.endswith(")" * 2) and _remark(text) else text
    parts = text.split(" = ")
    if len(parts) < 2:
        raise ReadingError(f"no = stands in {text!r}")
    stated = read(parts[-1])
    return Line(parts[0], read(" = ".join(parts[1:-1])) if len(parts) > 2 else None, stated)


def _remark(text: str) -> bool:
    """Whether the line ends in words in brackets, as in `= −3 (none fits, short by 5.0 GB)`."""
    try:
        read(text.rpartition(" = ")[2])
    except ReadingError:
        return True
    return False


def read(text: str) -> Value:
    """An expression of figures, worked out. Raises ReadingError where it cannot be read, or its units clash."""
    parser = _Parser(text)
    value = parser.either()
    if parser.token:
        raise ReadingError(f"{parser.token[1]!r} is left over in {text!r}")
    return value


def stripped(markup: str) -> str:
    """What is left of HTML when every tag goes, as a front end that trusts nothing shows it."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", markup)).split())


class _Parser:
    def __init__(self, text: str):
        self.text, self.tokens, at = text, [], 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ReadingError(f"{text[at]!r} cannot be read in {text!r}")
            at = found.end()
            kind = found.lastgroup or ""
            if kind == "number" and (named := _UNIT.match(text, at)) and named.group(1) not in _BETWEEN:
                self.tokens.append(("number", f"{found.group()}\0{named.group(1)}"))
                at = named.end()
            elif kind != "space":
                self.tokens.append((kind, found.group()))
        self.at = 0

    @property
    def token(self) -> Any:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def taken(self, *texts: str) -> str:
        """The next token where it is one of these, taken; nothing otherwise."""
        if self.token and self.token[1] in texts:
            self.at += 1
            return str(self.tokens[self.at - 1][1])
        return ""

    def need(self, text: str) -> None:
        if not self.taken(text):
            raise ReadingError(f"{text!r} is missing in {self.text!r}")

    def either(self) -> Value:
        value = self.both()
        while self.taken("or"):
            value = Value(bool(_truth(value) | _truth(self.both())))
        return value

    def both(self) -> Value:
        value = self.negated()
        while self.taken("and"):
            value = Value(bool(_truth(value) & _truth(self.negated())))
        return value

    def negated(self) -> Value:
        return Value(not _truth(self.negated())) if self.taken("not") else self.comparison()

    def comparison(self) -> Value:
        value = self.sum()
        if sign := self.taken(*_COMPARE):
            other = self.sum()
            if isinstance(value.value, (bool, str)) != isinstance(other.value, (bool, str)):
                raise ReadingError(f"a number is compared with a word in {self.text!r}")
            if not isinstance(value.value, (bool, str)):
                self.alike(value, other)
            value = Value(bool(_COMPARE[sign](value.value, other.value)))
        return value

    def sum(self) -> Value:
        value = self.product()
        while sign := self.taken("+", "−"):
            other = self.product()
            dimension = self.alike(value, other)
            value = Value(value.number + other.number if sign == "+" else value.number - other.number, dimension)
        return value

    def alike(self, a: Value, b: Value) -> Any:
        """The one dimension of two values. A bare zero goes with any."""
        if a.dimension != b.dimension and a.number != 0 and b.number != 0:
            raise ReadingError(f"{a.dimension} and {b.dimension} do not go together in {self.text!r}")
        return b.dimension if a.number == 0 and a.dimension == ONE.dimensionality else a.dimension

    def product(self) -> Value:
        value = self.signed()
        while sign := self.taken("×", "/", "mod"):
            other = self.signed()
            if sign != "×" and other.number == 0:
                raise ReadingError(f"a denominator is zero in {self.text!r}")
            if sign == "×":
                value = Value(value.number * other.number, value.dimension * other.dimension)
            elif sign == "/":
                value = Value(value.number / other.number, value.dimension / other.dimension)
            else:
                value = Value(value.number % other.number, self.alike(value, other))
        return value

    def signed(self) -> Value:
        if self.taken("−"):
            value = self.signed()
            return Value(-value.number, value.dimension, value.half_step)
        return self.power()

    def power(self) -> Value:
        base = self.atom()
        if self.token and self.token[0] == "power":
            exponent = float(self.token[1].translate(_DOWN))
            self.at += 1
        elif self.taken("^"):
            exponent = self.signed().number
        else:
            return base
        return Value(base.number ** exponent, base.dimension ** exponent)

    def atom(self) -> Value:
        if not self.token:
            raise ReadingError(f"{self.text!r} breaks off")
        kind, text = self.token
        self.at += 1
        if kind == "number":
            return _figure(text)
        if text == "(":
            return self.closed(")")
        if text == "√":
            self.need("(")
            value = self.closed(")")
            return Value(math.sqrt(value.number), value.dimension ** 0.5)
        if text in ("⌈", "⌊"):
            value = self.closed("⌉" if text == "⌈" else "⌋")
            return Value(float((math.ceil if text == "⌈" else math.floor)(value.number)), value.dimension)
        if text in ("max", "min", "exp"):
            return self.function(text)
        if text in ("yes", "no"):
            return Value(text == "yes")
        if kind == "word" and text not in _KEYWORDS - {"none"}:
            return Value(text)
        raise ReadingError(f"{text!r} stands where a figure should in {self.text!r}")

    def closed(self, bracket: str) -> Value:
        value = self.either()
        self.need(bracket)
        return value

    def function(self, name: str) -> Value:
        self.need("(")
        value = self.sum()
        while self.taken(","):
            other = self.sum()
            dimension = self.alike(value, other)
            value = Value((max if name == "max" else min)(value.number, other.number), dimension)
        self.need(")")
        return Value(math.exp(value.number)) if name == "exp" else value


def _truth(value: Value) -> bool:
    if not isinstance(value.value, bool):
        raise ReadingError(f"{value.value!r} stands where yes or no should")
    return value.value


def _figure(text: str) -> Value:
    """`1.5 × 10⁹`, `24.0 GB`, `21 %`: its value, and half of its last shown digit. A bare whole number below a hundred, which has room for decimals, is exact."""
    digits, _, name = text.partition("\0")
    mantissa, _, exponent = digits.replace(",", "").partition(" × 10")
    size = 10.0 ** int(exponent.translate(_DOWN)) if exponent else 1.0
    try:
        of = unit("percent" if name == "%" else name) if name else ONE
    except UnitError as error:
        raise ReadingError(str(error)) from None
    decimals = len(mantissa.partition(".")[2])
    exact = not name and not exponent and not decimals and len(mantissa) < 3
    value = float(f"{mantissa}e{exponent.translate(_DOWN)}") if exponent else float(mantissa)
    return Value(value * scale(of), of.dimensionality, 0.0 if exact else 0.5 * 10.0**-decimals * size * scale(of))


__all__ = ["Line", "ReadingError", "Value", "read", "read_line", "same", "stripped"]

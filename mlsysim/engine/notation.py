"""Writes a tree down: as plain text, as HTML that survives any sanitizer, or as LaTeX, from one walk."""
from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from .expression import Apply, Argument, Call, Case, Choose, Constant, Expression, FormulaError, IsGiven, Nothing, Number, Option, Symbol, TotalOf
from .figures import Figure, figure
from ..units import ONE

BINDING = {"or": 0, "and": 1, "not": 2, "==": 3, "!=": 3, "<=": 3, "<": 3, ">=": 3, ">": 3, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5, "**": 6}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def words(name: str) -> str:
    """A quantity's name as a person reads it."""
    return name.rpartition(".")[2].replace("_", " ")


def path_words(path: tuple[str, ...]) -> str:
    """A path as a person says it: `hardware memory capacity`."""
    return " ".join(map(words, path))


class Text:
    """The plainest notation; the others say only how they differ."""

    signs = {"+": " + ", "-": " − ", "*": " × ", "%": " mod ", "==": " = ", "!=": " ≠ ", "<=": " ≤ ", ">=": " ≥ ", "<": " < ", ">": " > ", "and": " and ", "or": " or "}
    stacks_fractions = False
    raises_exponents = False

    def word(self, text: str) -> str: return text
    def code(self, text: str) -> str: return text
    def symbol(self, base: str, index: str) -> str: return f"{base}_{index}" if index else base
    def power(self, a: str, b: str) -> str: return a + b.translate(SUPERSCRIPTS) if b.isdigit() else self.raised(a, b)
    def raised(self, a: str, b: str) -> str: return f"{a}^{b}"
    def fraction(self, a: str, b: str, a_is_sum: bool, b_is_product: bool) -> str:
        return f"{self.group(a) if a_is_sum else a} / {self.group(b) if b_is_product else b}"
    def group(self, text: str) -> str: return f"({text})"
    def root(self, text: str) -> str: return f"√({text})"
    def negative(self, text: str) -> str: return f"−{text}"
    def rounding(self, name: str, text: str) -> str: return f"⌈{text}⌉" if name == "ceil" else f"⌊{text}⌋"
    def call(self, name: str, arguments: list[str]) -> str: return f"{name}({', '.join(arguments)})"
    def function(self, symbol: str, arguments: list[str]) -> str: return f"{symbol}({', '.join(arguments)})"
    def total(self, rows: str, term: str) -> str: return f"Σ over {rows} of {self.group(term)}"
    def cases(self, rows: list[tuple[str, str]], last: str) -> str:
        return "; ".join(f"{value} if {condition}" for condition, value in rows) + f"; otherwise {last}"
    def ten_to(self, n: int) -> str: return "10" + str(n).translate(SUPERSCRIPTS)      # a <sup> would vanish with its tag
    def amount(self, digits: str, unit: str) -> str: return f"{digits} {self.word(unit)}" if unit else digits

    def figure(self, f: Figure) -> str:
        digits = f"{f.digits}{self.signs['*']}{self.ten_to(f.exponent)}" if f.exponent else f.digits
        return self.amount(digits, f.unit)

    def plain(self, value: Any) -> str:
        """A truth, an option, a number without a unit, or nothing."""
        if value is None:
            return self.word("none")
        if isinstance(value, bool):
            return self.word("yes" if value else "no")
        if isinstance(value, str):
            return self.word(value)
        return self.figure(figure(value, ONE, 15))


class Html(Text):
    """Only tags and inline styles that JupyterLab keeps in a notebook it does not trust."""

    signs = Text.signs | {"<": " &lt; ", ">": " &gt; "}
    stacks_fractions = raises_exponents = True

    def word(self, text: str) -> str: return escape(text, quote=False).replace("$", "<span>$</span>")      # two bare dollar signs would be read as mathematics
    def code(self, text: str) -> str: return f"<code>{self.word(text)}</code>"
    def symbol(self, base: str, index: str) -> str: return f"<i>{self.word(base)}</i>" + (f"<sub>{self.word(index)}</sub>" if index else "")

    def raised(self, a: str, b: str) -> str: return f"{a}{self.hidden('^')}<sup>{b}</sup>"

    def fraction(self, a: str, b: str, a_is_sum: bool, b_is_product: bool) -> str:
        closed = [")" if a_is_sum else "", " / ", "(" if b_is_product else ""]
        return (f'<span style="display:inline-block;vertical-align:middle;text-align:center;margin:2px">{self.hidden("(") if a_is_sum else ""}{a}{self.hidden("".join(closed))}'
                f'<span style="display:block;border-top:1px solid">{b}</span>{self.hidden(")") if b_is_product else ""}</span>')

    def hidden(self, text: str) -> str:
        """Shown only where styles are stripped, so that what is left still reads as one line."""
        return f'<span style=display:none>{text}</span>'

    def cases(self, rows: list[tuple[str, str]], last: str) -> str:
        lines = [f"{value} if {condition}" for condition, value in rows] + [f"{last} otherwise"]
        return f'<span style="display:inline-table;border-left:1px solid;padding:0 5px">{";<br>".join(lines)}</span>'

    def amount(self, digits: str, unit: str) -> str: return f"{digits}\u00a0{self.word(unit)}" if unit else digits
    def root(self, text: str) -> str:      # a bar on a line of text would run through the upper half of a fraction
        block = "display:inline-block;line-height:1.2;" if self.stacks_fractions else ""
        return f'√<span style="{block}border-top:1px solid">{self.hidden("(")}{text}{self.hidden(")")}</span>'


class HtmlLine(Html):
    """HTML whose fractions stay in the line."""

    stacks_fractions = False
    fraction = Text.fraction


class Latex(Text):
    """Mathematics for slides and documents."""

    signs = Text.signs | {"-": " - ", "*": r" \times ", "%": r" \bmod ", "!=": r" \ne ", "<=": r" \le ", ">=": r" \ge ", "and": r" \text{ and } ", "or": r" \text{ or } "}
    stacks_fractions = raises_exponents = True
    _special = str.maketrans({c: "\\" + c for c in "%&#_$"})

    def word(self, text: str) -> str: return rf"\text{{{text.translate(self._special)}}}" if text else ""
    def symbol(self, base: str, index: str) -> str:
        written = base if len(base) == 1 else self.word(base)
        return rf"{written}_{{{self.word(index)}}}" if index else written
    def power(self, a: str, b: str) -> str: return f"{{{a}}}^{{{b}}}"
    def fraction(self, a: str, b: str, a_is_sum: bool, b_is_product: bool) -> str: return rf"\frac{{{a}}}{{{b}}}"
    def group(self, text: str) -> str: return rf"\left({text}\right)"
    def root(self, text: str) -> str: return rf"\sqrt{{{text}}}"
    def negative(self, text: str) -> str: return f"-{text}"
    def rounding(self, name: str, text: str) -> str: return rf"\left\l{name} {text} \right\r{name}"
    def call(self, name: str, arguments: list[str]) -> str: return rf"\{name}\left({', '.join(arguments)}\right)"
    def function(self, symbol: str, arguments: list[str]) -> str: return rf"{symbol}\left({', '.join(arguments)}\right)"
    def total(self, rows: str, term: str) -> str: return rf"\sum_{{{self.word(rows)}}} {self.group(term)}"
    def cases(self, rows: list[tuple[str, str]], last: str) -> str:
        lines = [rf"{value} & \text{{if }} {condition}" for condition, value in rows] + [rf"{last} & \text{{otherwise}}"]
        return r"\begin{cases}" + r" \\ ".join(lines) + r"\end{cases}"
    def ten_to(self, n: int) -> str: return f"10^{{{n}}}"
    def amount(self, digits: str, unit: str) -> str:
        digits = digits.replace(",", "{,}").replace("−", "-")
        return rf"{digits}\,{self.word(unit)}" if unit else digits


TEXT, HTML, HTML_LINE, LATEX = Text(), Html(), HtmlLine(), Latex()


def write(e: Expression, notation: Text, leaf: Callable[[Expression], str], leaf_binding: Callable[[Expression], int] = lambda e: 9) -> str:
    """Write an expression. `leaf` writes a symbol, argument, call, constant, total or choice: its sign or, in a substitution, its value.

    `leaf_binding` tells how tightly a leaf holds together, as BINDING: a figure with a unit as a power, one with a power of ten as a product.
    """
    def binding(x: Expression) -> int:
        if isinstance(x, Apply):
            return BINDING.get(x.operation, 9)
        if isinstance(x, Number) and (x.value < 0 or figure(x.value, ONE, 15).exponent):
            return BINDING["*"]
        return -1 if isinstance(x, Case) or isinstance(x, Choose) and not x.symbol else leaf_binding(x)

    def bound(x: Expression, at_least: int, strict: bool = False) -> str:
        text = write(x, notation, leaf, leaf_binding)
        stacked = notation.stacks_fractions and isinstance(x, Apply) and x.operation == "/" and at_least <= BINDING["/"]
        return notation.group(text) if not stacked and binding(x) < at_least + strict else text

    match e:
        case Number(value): return notation.plain(value)
        case Option(value): return notation.plain(value)
        case Nothing(): return notation.word("none")
        case Symbol() | Argument() | Call() | Constant() | TotalOf() | Choose() | IsGiven(): return leaf(e)
        case Case(branches, otherwise):
            return notation.cases([(write(c, notation, leaf, leaf_binding), write(v, notation, leaf, leaf_binding)) for c, v in branches], write(otherwise, notation, leaf, leaf_binding))
        case Apply("/", (a, b)):
            return notation.fraction(write(a, notation, leaf, leaf_binding), write(b, notation, leaf, leaf_binding), binding(a) < BINDING["/"], binding(b) <= BINDING["/"])
        case Apply("**", (a, b)): return notation.power(bound(a, 6, strict=True), write(b, notation, leaf, leaf_binding) if notation.raises_exponents else bound(b, 6, strict=True))
        case Apply("*", (Number(-1), b)): return notation.negative(bound(b, 5))
        case Apply(("ceil" | "floor") as name, (a,)): return notation.rounding(name, write(a, notation, leaf, leaf_binding))
        case Apply("sqrt", (a,)): return notation.root(write(a, notation, leaf, leaf_binding))
        case Apply("not", (a,)): return notation.word("not ") + bound(a, 2, strict=True)
        case Apply(("max" | "min" | "exp") as name, operands): return notation.call(name, [write(o, notation, leaf, leaf_binding) for o in operands])
        case Apply(("and" | "or") as sign, operands): return notation.signs[sign].join(bound(o, BINDING[sign], strict=True) for o in operands)
        case Apply(sign, (a, b)):
            mine = BINDING[sign]
            return bound(a, mine) + notation.signs[sign] + bound(b, mine, strict=sign in ("-", "%") or mine == 3)
    raise FormulaError(f"a formula cannot hold {e!r}")


class Written(str):
    """A line of mathematics: its text, which also has an `html` and a `latex` form. A notebook typesets it."""

    html: str
    latex: str

    def __new__(cls, text: str, html: str, latex: str) -> Written:
        made = super().__new__(cls, text)
        made.html, made.latex = html, latex
        return made

    def __getnewargs__(self) -> tuple[str, str, str]:      # type: ignore[override]
        return str(self), self.html, self.latex

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    def __repr__(self) -> str:
        return str(self)


__all__ = ["HTML", "HTML_LINE", "Html", "LATEX", "Latex", "TEXT", "Text", "Written", "path_words", "words", "write"]

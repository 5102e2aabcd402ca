"""What front ends keep of HTML in an output, and what is left to read once they have taken the tags away."""
from __future__ import annotations

import re
from html.parser import HTMLParser

# JupyterLab 4.6, packages/apputils/src/sanitizer.ts: what an output keeps in a notebook that is not trusted. Only what the kit uses of it;
# `sup` is kept there and escaped by `nbconvert --sanitize-html`, so it stands only where no other way writes an exponent.
TAGS = {"b", "br", "code", "details", "div", "i", "p", "pre", "span", "sub", "summary", "sup", "wbr"}
VOID = {"br", "wbr"}
BLOCKS = {"br", "details", "div", "p", "pre", "summary"}
LENGTH = r"-?(?:\d+|\d*\.\d+)(?:em|px|%)?"
SOLID = r"[1-4]px solid(?: #[0-9A-F]{6})?"
STYLES = {
    "align-items": "baseline", "background": "#[0-9A-F]{6}", "border": SOLID, "border-bottom": SOLID, "border-left": SOLID, "border-right": SOLID, "border-top": SOLID,
    "box-sizing": "border-box", "color": "#000", "display": "none|block|flex|grid|inline-block|inline-grid|inline-table", "flex-wrap": "wrap", "font-size": r"\d+%",
    "font-weight": "600", "gap": f"{LENGTH}(?: {LENGTH})?", "grid-column": r"\d(?:/\d)?", "grid-template": rf"auto/{LENGTH}(?: {LENGTH})+", "grid-template-columns": rf"{LENGTH}(?: (?:{LENGTH}|auto))*",
    "line-height": LENGTH, "margin": f"{LENGTH}(?: {LENGTH}){{0,3}}", "margin-left": LENGTH, "max-width": LENGTH, "overflow-wrap": "break-word", "padding": f"{LENGTH}(?: {LENGTH}){{0,3}}",
    "padding-left": LENGTH, "padding-right": LENGTH, "text-align": "center|right", "vertical-align": "middle", "white-space": "pre-wrap", "width": LENGTH, "word-break": "normal",
}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attributes}))
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attributes:
            if name == "style":
                self.wrong += [f"style {part}" for part in (value or "").split(";") if not _kept(part)]
            elif name != "class" or self.open:
                self.wrong.append(f"{tag} {name}")
        self.text += {"sub": "_", "code": ""}.get(tag, "\n" if tag in BLOCKS else "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> out of place")
        if tag in BLOCKS:
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(decl)

    handle_comment = handle_pi = handle_decl


def _kept(declaration: str) -> bool:
    name, _, value = declaration.partition(":")
    return bool(re.fullmatch(STYLES.get(name, "(?!)"), value))


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.wrong += [f"<{tag}> left open" for tag in reader.open]
    return reader


def lost(html: str) -> list[str]:
    """The tags, attributes and styles that a front end would take away, and tags that don't pair."""
    return _read(html).wrong


def tags(html: str) -> list[tuple[str, dict[str, str]]]:
    """Every tag with its attributes, in order."""
    return _read(html).tags


def lines(html: str) -> list[str]:
    """The lines that are left with the tags gone, single-spaced; an index stands after an underscore, as in text."""
    return [line for line in (spaced(line) for line in _read(html).text.split("\n")) if line]


def spaced(text: str) -> str:
    return " ".join(text.split())

"""The rule that no number is typed in prose where code could compute it, and what may hold digits all the same."""
from __future__ import annotations

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator

from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from mlsysim import Hardware, Models

DIGIT = re.compile(r"\S*[0-9¼-¾⅐-⅞]\S*")
PROSE_WORDS = 3      # a text in code with fewer is a value or a name, such as "40 GB"

NUMBER = r"\d+(?:\.\d+)*"
LISTED = rf"{NUMBER}(?:(?:, | and | or | to |[-–]){NUMBER})*"
YEAR = r"(?:19[5-9]\d|20[0-3]\d)"
PLACES = "chapters?|sections?|volumes?|figures?|tables?|equations?|appendix|algorithms?|pages?|questions?|exercises?"

# What a digit may be part of, each with what it is for. Everything else is computed: say("It takes {s.total}.", s=scenario).
ALLOWED = {
    "a heading's number": re.compile(rf"^#+ {NUMBER}\b", re.MULTILINE),
    "the number of a list's item": re.compile(r"^ *\d+\. ", re.MULTILINE),
    "a place in a text": re.compile(rf"\b(?:{PLACES})\s+{LISTED}\b(?! ?(?:%|[kMGTPE]i?B|[a-z]*bytes?|[a-z]*bits?|times)\b)", re.IGNORECASE),
    "an address": re.compile(r"(?<=\])\([^()\s]*\)|^\[[^\]]+\]:.*$|<?https?://[^\s<>)]+>?", re.MULTILINE),
    "a publication's identifier": re.compile(r"\barXiv:\d{4}\.\d{4,5}(?:v\d+)?\b|\bdoi:10\.\d{4,}/[^\s,;)]*[^\s,;).]"),
    "a publication's year": re.compile(rf"(?<=et al\.) {YEAR}\b|(?<=et al\.,) {YEAR}\b|(?<= and )[A-Z][\w’'-]+,? {YEAR}\b|\b[A-Z][\w’'-]+,? {YEAR}(?=[,.;:)]|$)|\({YEAR}\)", re.MULTILINE),
    "a number format": re.compile(r"\b(?:FP|BF|TF|INT|UINT|NF|float|bfloat)(?:4|8|16|32|64)\b|\b(?:1|2|4|8|16|32|64)-bit\b|\bE4M3\b|\bE5M2\b", re.IGNORECASE),
    "a term": re.compile(r"\bZeRO-[0-3]\b|\b1F1B\b|\bHBM(?:2e?|3e?|4)\b|\bGDDR[5-7]X?\b|\b(?:PCIe|NVLink) [3-6]\b|\bAdam8bit\b"),
    "a family of models": re.compile(r"\bGPT-[1-5]\b|\bT5\b|\bLlama [1-4](?:\.\d)?\b|\bQwen[23](?:\.5)?\b|\bGemma [1-3]\b|\bDeepSeek-V[1-3]\b"),
}

# A measure in words is a typed number too.
SPELT = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|sixteen|eighteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
MEASURES = "bytes?|bits?|(?:kilo|mega|giga|tera|peta)bytes?|[kMGTP]i?B|per ?cent|%|times|fold|(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|years?|FLOPs?|watts?|joules?|dollars?"
IN_WORDS = re.compile(rf"\b(?:{SPELT})[ -](?:{MEASURES})(?!\w)|\b(?:hundred|thousand|million|billion|trillion)\b", re.IGNORECASE)

CODE = re.compile(r"^```\w*\n(.*?)^```|(`+)(?!`)(.+?)(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL)
TAG = re.compile(r"<[/a-zA-Z!][^<>]*>")
MAKER = re.compile(r"^(?:NVIDIA|AMD|Google|Intel) (?:GeForce )?")
FIELD = re.compile(r"\{[A-Za-z_][^{}]*\}")


@functools.cache
def catalogue_names() -> re.Pattern[str]:
    """The names of the models and devices that the catalogue holds, as it writes them and as it is asked for them."""
    names = set[str]()
    for record in [record for catalogue in (Models, Hardware) for group in catalogue for record in group]:
        short = MAKER.sub("", record.name.partition(" (")[0])
        names |= {record.name, short, short.replace("-", " "), record.address.rpartition(".")[2]}
    with_digits = sorted((name for name in names if re.search(r"\d", name)), key=len, reverse=True)
    return re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, with_digits))})s?(?!\w|[.,]\d)")


def typed_numbers(text: str) -> list[str]:
    """The numbers typed in a paragraph of Markdown, each as the word it stands in."""
    left = CODE.sub(lambda match: " " if _is_code(match[1] or match[3]) else match[1] or match[3], text)
    for pattern in (ALLOWED["an address"], TAG, FIELD, catalogue_names(), *ALLOWED.values()):
        left = pattern.sub(" ", left)
    return [match.group() for match in DIGIT.finditer(left)] + [match.group() for match in IN_WORDS.finditer(left)]


def _is_code(text: str) -> bool:
    """Whether the text is Python with a name in it; a bare number or a quantity is not."""
    try:
        return any(isinstance(node, ast.Name) for node in ast.walk(ast.parse(text.strip())))
    except SyntaxError:
        return False


def prose(cell: NotebookNode) -> Iterator[str]:
    """What a cell says in sentences: all of a text cell; in code, comments, and texts of a few words or more."""
    if cell.cell_type == "markdown":
        yield cell.source
    elif cell.cell_type == "code":
        source = TransformerManager().transform_cell(cell.source)
        yield from (token.string for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.type == tokenize.COMMENT)
        yield from (text for text in _texts(ast.parse(source)) if len(text.split()) >= PROSE_WORDS)


def _texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{value}" for part in node.values)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _texts(part.value)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


def typed_in(cell: NotebookNode) -> list[str]:
    """The numbers typed in what a cell says."""
    return [number for text in prose(cell) for number in typed_numbers(text)]

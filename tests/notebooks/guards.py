"""What saved outputs may not hold, because it differs from run to run or from machine to machine, or shows that something failed."""
from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from .files import IN_HTML, LIVE, PICTURES

FLEETING = {
    "an address": re.compile(r"\b0x[0-9a-fA-F]{6,}\b"),
    "a uuid": re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b"),
    "a time": re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d(?::\d\d)?\b(?!\.\d)|\bWall time\b|\bCPU times\b|\d ?it/s\b"),
    "a path": re.compile(r"(?<![\w.])/(?:work|root|home|Users|tmp|usr|opt|var)/|\b[A-Z]:\\|site-packages|ipykernel_\d+|\.venv\b"),
    "a widget's bare repr": re.compile(r"^\s*\w+\((?:children|value|description|options)=", re.MULTILINE),
}


def faults(cell: NotebookNode) -> list[str]:
    """What is wrong with a code cell's saved outputs, in words."""
    found = []
    for output in cell.outputs:
        if output.output_type == "error" or output.get("name") == "stderr":
            found.append(f"an error: {output.get('evalue') or output.get('text')}")
        for text in _texts(output):
            found += [f"{what}: {match.group()}" for what, pattern in FLEETING.items() for match in pattern.finditer(text)]
    return found


def _texts(output: NotebookNode) -> Iterator[str]:
    yield output.get("text", "")
    for kind, data in output.get("data", {}).items():
        if kind not in (*PICTURES, LIVE):
            yield IN_HTML.sub("a picture", str(data))

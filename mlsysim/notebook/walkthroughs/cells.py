"""A walk as static notebook cells with slide tags, for `nbconvert --to slides` and for a notebook of one's own."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .steps import Scene
from .telling import notes, scene_html


def slide_cell(source: str, slide_type: str) -> Any:
    """A text cell with a slide tag: "slide", "fragment", "notes" or the like."""
    from nbformat.v4 import new_markdown_cell
    return new_markdown_cell(source, metadata={"slideshow": {"slide_type": slide_type}})


def cells(scenes: Iterable[Scene]) -> list[Any]:
    """A slide for each scene, whose steps are fragments, and the speaker's notes to it."""
    return [cell for scene in scenes for cell in (slide_cell(scene_html(scene, level=2, slide=True), "slide"), slide_cell(notes(scene), "notes"))]


__all__ = ["cells", "slide_cell"]

"""What a notebook adds to a scenario: controls, plots and words. The only package that needs ipywidgets or matplotlib."""
from __future__ import annotations

from typing import TYPE_CHECKING

from ..front_door import front_door

if TYPE_CHECKING:
    from .panel import Panel as Panel, explore as explore
    from .plots import curves as curves, feasibility_map as feasibility_map, in_words as in_words, stacked_parts as stacked_parts, waterfall as waterfall, zero_stages as zero_stages
    from .prose import ask as ask, say as say
    from .slides.figures import slide_axes as slide_axes
    from .walkthroughs.widget import Walkthrough as Walkthrough, walkthrough as walkthrough

_HOMES = {
    "panel": ("Panel", "explore"),
    "plots": ("curves", "feasibility_map", "in_words", "stacked_parts", "waterfall", "zero_stages"),
    "prose": ("ask", "say"),
    "slides.figures": ("slide_axes",),
    "walkthroughs.widget": ("Walkthrough", "walkthrough"),
}
__getattr__, __dir__ = front_door(__name__, globals(), _HOMES)
__all__ = __dir__()      # noqa: PLE0605

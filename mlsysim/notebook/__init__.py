"""What a notebook adds to a scenario: controls, plots and words. The only package that needs ipywidgets or matplotlib."""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

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
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)      # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        import difflib
        near = difflib.get_close_matches(name, _HOME_OF, n=1)
        raise AttributeError(f"mlsysim.notebook has no {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    value = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

"""Axes for a figure that fills a slide, with letters that are read from the last row."""
from __future__ import annotations

from matplotlib.axes import Axes

from ..plots.canvas import axes

SIZE = (6.4, 3.1)      # inches: a slide shows it almost twice as wide as a notebook, letters with it


def slide_axes() -> Axes:
    """Axes of the shape of a slide, for the plots of this package: `zero_stages(scenario, ax=slide_axes())`."""
    with axes(None, SIZE) as made:
        return made


__all__ = ["slide_axes"]

"""Plots of scenarios: each draws on matplotlib axes and returns them, says itself in words and numbers, and takes its numbers from the scenario's own formulas."""
from .canvas import in_words
from .curves import curves
from .maps import feasibility_map
from .stacks import stacked_parts, zero_stages
from .waterfalls import waterfall

__all__ = ["curves", "feasibility_map", "stacked_parts", "in_words", "waterfall", "zero_stages"]

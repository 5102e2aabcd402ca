"""The changes that are tried where a residual network's step does not fit, from the gentlest on, each with what it costs."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...scenario_parts.fitting import Change
from ...solving import NoSolutionError, solve_for


def changes(step: Any) -> Iterator[Change]:
    """Every change that can be made, whether it makes the step fit or not."""
    if step.precision == "fp32":
        yield Change("autocast", {"precision": "autocast"}, "16-bit convolutions: rounding", step.variant(precision="autocast"))
    try:
        images = solve_for(step, "microbatch", largest=True, fits_with_most=True)
    except NoSolutionError:
        return
    if images < step.microbatch:
        yield Change(f"{images} images at a time", {"microbatch": images}, f"another batch, or more microbatches: {images} images in place of {step.microbatch}, whose normalization averages over fewer",
                     step.variant(microbatch=images))


__all__ = ["changes"]

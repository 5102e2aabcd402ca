"""Measures the most that PyTorch's CPU allocator holds at once while something runs."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .libraries import library


def peak_bytes(run: Callable[[], Any]) -> int:
    """The most bytes that were allocated at once, beyond those before, while `run()` ran: from the profiler's record of every allocation."""
    profiler = library("torch.profiler")
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    record = sorted((event.start_ns(), event.nbytes()) for event in profile.profiler.kineto_results.events() if event.name() == "[memory]")
    held = peak = 0
    for _, change in record:
        held += change
        peak = max(peak, held)
    return peak


__all__ = ["peak_bytes"]

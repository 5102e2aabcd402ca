"""PyTorch and transformers, imported when they are first needed, or the words that say how to get them."""
from __future__ import annotations

import importlib
from typing import Any

INSTALL = 'pip install "mlsysim-kit[measure]"'


class MeasureExtraMissing(ImportError):
    """A measurement was asked for, and a library of the extra `measure` is not installed."""


def library(name: str) -> Any:
    """The imported library. Raises MeasureExtraMissing with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MeasureExtraMissing(f"measuring needs {name}, which cannot be imported here ({error}); install it with: {INSTALL}") from error


__all__ = ["INSTALL", "MeasureExtraMissing", "library"]

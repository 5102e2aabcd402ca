"""Runs real blocks and models on the CPU and counts the bytes that training holds, to stand beside what the kit predicts.

Needs the extra `measure`: pip install "mlsysim-kit[measure]". PyTorch is imported when a measurement runs, never before.
"""
from __future__ import annotations

from .comparison import Comparison, compare_block, compare_model, compare_peak, compare_stored_state
from .libraries import MeasureExtraMissing
from .models import NotBuiltHere
from .peak import peak_bytes
from .saved import SavedTensors, Storage
from .state import Step, measure_step

__all__ = ["Comparison", "MeasureExtraMissing", "NotBuiltHere", "SavedTensors", "Step", "Storage", "compare_block", "compare_model", "compare_peak", "compare_stored_state", "measure_step", "peak_bytes"]

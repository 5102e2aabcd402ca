"""Runs real blocks and models on the CPU and counts the bytes that training holds, to stand beside what the kit predicts.

Needs the extra `measure`: pip install "mlsysim-kit[measure]". PyTorch is imported when a measurement runs, never before.
"""
from __future__ import annotations

from .comparison import Comparison, compare_block, compare_block_step, compare_model, compare_peak, compare_stored_state
from .libraries import MeasureExtraMissing
from .models import NotBuiltHere
from .peak import peak_bytes
from .saved import SavedTensors, Storage
from .skipping import skip_without_extra
from .state import Step, measure_step
from .table import SideBySide, side_by_side

__all__ = ["Comparison", "MeasureExtraMissing", "NotBuiltHere", "SavedTensors", "SideBySide", "Step", "Storage", "compare_block", "compare_block_step", "compare_model",
           "compare_peak", "compare_stored_state", "measure_step", "peak_bytes", "side_by_side", "skip_without_extra"]

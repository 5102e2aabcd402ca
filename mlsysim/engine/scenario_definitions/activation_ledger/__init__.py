"""What a transformer's forward pass keeps for the backward pass, tensor by tensor, with its formula, its reason and what recomputation leaves of it."""
from __future__ import annotations

from .scenario import ActivationLedgerScenario

__all__ = ["ActivationLedgerScenario"]

"""Training memory of one accelerator in a parallel run: `TrainingMemoryScenario` by the closed form, `LedgerTrainingMemoryScenario` by the ledger, and `TrainingMemoryModel` that solves for it."""
from .ledger import LedgerTrainingMemoryScenario
from .model import TrainingMemoryModel
from .scenario import TrainingMemoryScenario

__all__ = ["LedgerTrainingMemoryScenario", "TrainingMemoryModel", "TrainingMemoryScenario"]

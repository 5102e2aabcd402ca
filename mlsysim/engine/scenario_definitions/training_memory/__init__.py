"""Training memory of one accelerator in a parallel run: `TrainingMemoryScenario`, and `TrainingMemoryModel` that solves for it."""
from .model import TrainingMemoryModel
from .scenario import TrainingMemoryScenario

__all__ = ["TrainingMemoryModel", "TrainingMemoryScenario"]

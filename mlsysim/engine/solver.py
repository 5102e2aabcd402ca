"""The front door of models: every one by name."""
from .scenario_definitions.training_memory import TrainingMemoryModel

__all__ = ["TrainingMemoryModel"]

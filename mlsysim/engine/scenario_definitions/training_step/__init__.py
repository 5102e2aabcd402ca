"""The peak of a training step on one accelerator: what is held throughout, and what comes and goes at the loss, in the backward pass and at the update."""
from .scenario import TrainingStepScenario

__all__ = ["TrainingStepScenario"]

"""The peak of a training step of a residual network, its activations counted layer by layer."""
from .scenario import ImageTrainingStepScenario

__all__ = ["ImageTrainingStepScenario"]

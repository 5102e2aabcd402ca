"""The front door of scenarios: every scenario class by name."""
from .scenario_definitions.training import AdaptedMatrix, TrainingStateFitScenario

__all__ = ["AdaptedMatrix", "TrainingStateFitScenario"]

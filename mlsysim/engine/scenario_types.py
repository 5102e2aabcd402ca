"""The front door of scenarios: every scenario class by name."""
from .scenario_definitions.activation_ledger import ActivationLedgerScenario
from .scenario_definitions.fault_tolerance import CheckpointIntervalScenario
from .scenario_definitions.image_training_step import ImageTrainingStepScenario
from .scenario_definitions.stored_state import ParameterMatrix, ParameterVector, StoredStateScenario
from .scenario_definitions.training import AdaptedMatrix, TrainingStateFitScenario
from .scenario_definitions.training_memory import LedgerTrainingMemoryScenario, TrainingMemoryScenario
from .scenario_definitions.training_step import TrainingStepScenario

__all__ = ["ActivationLedgerScenario", "AdaptedMatrix", "CheckpointIntervalScenario", "ImageTrainingStepScenario", "LedgerTrainingMemoryScenario", "ParameterMatrix", "ParameterVector", "StoredStateScenario", "TrainingMemoryScenario", "TrainingStateFitScenario", "TrainingStepScenario"]

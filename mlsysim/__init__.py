"""A teaching kit for the quantitative side of machine-learning systems: scenarios whose every number carries its equation."""
from __future__ import annotations

from typing import TYPE_CHECKING

from .front_door import front_door

if TYPE_CHECKING:
    from .engine.comparison import compare as compare
    from .engine.conformance import check_scenario as check_scenario
    from .engine.declarations import derived as derived, parametrised as parametrised, requires as requires, warns as warns
    from .engine.derivation import MissingInputError as MissingInputError
    from .engine.expression import Table as Table, all_of as all_of, any_of as any_of, case as case, ceil as ceil, choose as choose, exponential as exponential, floor as floor, is_given as is_given, maximum as maximum, minimum as minimum, not_ as not_, square_root as square_root, total_of as total_of
    from .engine.inputs import DefinitionError as DefinitionError, Given as Given, InputError as InputError, given as given
    from .engine.record import Record as Record
    from .engine.scenario import About as About, Presentation as Presentation, Scenario as Scenario
    from .engine.scenario_types import ActivationLedgerScenario as ActivationLedgerScenario, AdaptedMatrix as AdaptedMatrix, CheckpointIntervalScenario as CheckpointIntervalScenario, ImageTrainingStepScenario as ImageTrainingStepScenario, LedgerTrainingMemoryScenario as LedgerTrainingMemoryScenario, ParameterMatrix as ParameterMatrix, ParameterVector as ParameterVector, StoredStateScenario as StoredStateScenario, TrainingMemoryScenario as TrainingMemoryScenario, TrainingStateFitScenario as TrainingStateFitScenario, TrainingStepScenario as TrainingStepScenario
    from .engine.sensitivities import sensitivity as sensitivity
    from .engine.solver import TrainingMemoryModel as TrainingMemoryModel
    from .engine.solving import NoSolutionError as NoSolutionError, solve_for as solve_for
    from .engine.sweeping import sweep as sweep
    from .hardware import Compute as Compute, Hardware as Hardware, HardwareNode as HardwareNode, Link as Link, Memory as Memory
    from .models import EncoderDecoder as EncoderDecoder, Models as Models, ResNet as ResNet, Stage as Stage, VisionTransformer as VisionTransformer, Workload as Workload
    from .scenarios import Scenarios as Scenarios
    from .units import Quantity as Quantity

_HOMES = {
    "engine.comparison": ("compare",),
    "engine.conformance": ("check_scenario",),
    "engine.declarations": ("derived", "parametrised", "requires", "warns"),
    "engine.derivation": ("MissingInputError",),
    "engine.expression": ("Table", "all_of", "any_of", "case", "ceil", "choose", "exponential", "floor", "is_given", "maximum", "minimum", "not_", "square_root", "total_of"),
    "engine.inputs": ("DefinitionError", "Given", "InputError", "given"),
    "engine.record": ("Record",),
    "engine.scenario": ("About", "Presentation", "Scenario"),
    "engine.scenario_types": ("ActivationLedgerScenario", "AdaptedMatrix", "CheckpointIntervalScenario", "ImageTrainingStepScenario", "LedgerTrainingMemoryScenario", "ParameterMatrix", "ParameterVector", "StoredStateScenario", "TrainingMemoryScenario", "TrainingStateFitScenario", "TrainingStepScenario"),
    "engine.sensitivities": ("sensitivity",),
    "engine.solver": ("TrainingMemoryModel",),
    "engine.solving": ("NoSolutionError", "solve_for"),
    "engine.sweeping": ("sweep",),
    "hardware": ("Compute", "Hardware", "HardwareNode", "Link", "Memory"),
    "models": ("EncoderDecoder", "Models", "ResNet", "Stage", "VisionTransformer", "Workload"),
    "scenarios": ("Scenarios",),
    "units": ("Quantity",),
}
__getattr__, __dir__ = front_door(__name__, globals(), _HOMES)
__all__ = __dir__()      # noqa: PLE0605

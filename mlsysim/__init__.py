"""A teaching kit for the quantitative side of machine-learning systems: scenarios whose every number carries its equation."""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine.comparison import compare
    from .engine.conformance import check_scenario
    from .engine.derivation import MissingInputError, derived, parametrised, requires, warns
    from .engine.expression import Table, all_of, any_of, case, ceil, choose, exponential, floor, is_given, maximum, minimum, not_, square_root, total_of
    from .engine.inputs import DefinitionError, Given, InputError, given
    from .engine.record import Record
    from .engine.scenario import About, Presentation, Scenario
    from .engine.scenario_types import AdaptedMatrix, TrainingStateFitScenario
    from .engine.sensitivities import sensitivity
    from .engine.solver import TrainingMemoryModel
    from .engine.solving import solve_for
    from .engine.sweeping import sweep
    from .hardware import Hardware, HardwareNode, Memory
    from .models import Models, Workload
    from .scenarios import Scenarios
    from .units import Quantity, units

_HOMES = {
    "engine.comparison": ("compare",),
    "engine.conformance": ("check_scenario",),
    "engine.derivation": ("MissingInputError", "derived", "parametrised", "requires", "warns"),
    "engine.expression": ("Table", "all_of", "any_of", "case", "ceil", "choose", "exponential", "floor", "is_given", "maximum", "minimum", "not_", "square_root", "total_of"),
    "engine.inputs": ("DefinitionError", "Given", "InputError", "given"),
    "engine.record": ("Record",),
    "engine.scenario": ("About", "Presentation", "Scenario"),
    "engine.scenario_types": ("AdaptedMatrix", "TrainingStateFitScenario"),
    "engine.sensitivities": ("sensitivity",),
    "engine.solver": ("TrainingMemoryModel",),
    "engine.solving": ("solve_for",),
    "engine.sweeping": ("sweep",),
    "hardware": ("Hardware", "HardwareNode", "Memory"),
    "models": ("Models", "Workload"),
    "scenarios": ("Scenarios",),
    "units": ("Quantity", "units"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)      # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        import difflib
        near = difflib.get_close_matches(name, _HOME_OF, n=1)
        raise AttributeError(f"mlsysim has no {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    value = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

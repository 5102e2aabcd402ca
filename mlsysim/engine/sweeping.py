"""Sweeps: the quantities of a scenario at many values of its inputs, all at once through their formulas."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .declarations import Parametrised
from .expression import FormulaError
from .inputs import InputError
from .record import Path, Record

if TYPE_CHECKING:
    from .columns import Shown
    from .scenario import Scenario


def sweep(scenario: Scenario, /, *quantities: str, zipped: bool = False, **inputs: Any) -> Any:
    """The scenario's quantities at every combination of values of some inputs: `sweep(scenario, "total", "fits", batch_size=[1, 2, 4])`.

    quantities: names of quantities; by default the whole and the answer that the scenario's breakdown leads with.
    inputs: several values each, as a list, an array, or a Quantity that holds an array; an input of an input goes by its
    path, `**{"workload.layers": [12, 24]}`. zipped: take the first value of every input together, then the second ones,
    in place of every combination.

    Returns a pandas DataFrame where pandas is installed, otherwise a `SweepTable` with the same columns: one row a point,
    one column an input or quantity (`table["total"]`, under a heading with its unit, `total (GB)`), and `error`, which says
    what construction says where a point cannot be; such a point has no numbers. With Dask arrays for inputs, it returns a `LazySweep`:
    Dask arrays by name, nothing computed yet.

    Raises InputError for an unknown name, for values of another kind or unit than the input's, and for zipped values of
    different lengths; ImportError where NumPy is missing.
    """
    try:
        import numpy
    except ImportError:
        raise ImportError("sweep needs NumPy, which is not installed; write pip install numpy") from None
    from .arrays import is_dask
    from .axes import Axis, declaration
    from .blocks import Blocks
    if not isinstance(scenario, Record):
        raise InputError(f"sweep takes a scenario with its inputs, not {scenario!r}; write sweep(MyScenario(...), ...)")
    kind = type(scenario)
    shown = [_quantity(kind, name) for name in quantities or _answers(kind)]
    if not inputs:
        raise InputError(f"{kind.__name__}: a sweep takes several values of some input; write sweep(scenario, {next(iter(kind.inputs))}=[...])")
    axes = []
    for name, values in inputs.items():
        path = tuple(name.split("."))
        declared = declaration(scenario, path, name)
        holder: Any = scenario.at(path[:-1])
        axes.append(Axis(kind if len(path) == 1 else type(holder) if holder is not None else _holder(kind, path), name, declared, values))
    if zipped and len(lengths := {len(axis) for axis in axes}) > 1:
        raise InputError(f"{kind.__name__}: zipped inputs have one length; here " + ", ".join(f"{axis.name} has {len(axis)}" for axis in axes) + f" ({len(lengths)} lengths)")
    with numpy.errstate(all="ignore"):
        if any(is_dask(axis.numbers) for axis in axes):
            from .lazy_sweeping import swept_lazily
            return swept_lazily(scenario, shown, axes, zipped)
        return Blocks(scenario, shown, axes, zipped).table()


def _quantity(kind: Any, name: str) -> Shown:
    from .columns import Shown
    path = tuple(name.split("."))
    try:
        declared = kind.declaration(path)
    except FormulaError as error:
        raise InputError(str(error)) from None
    if isinstance(declared, Parametrised):
        raise InputError(f"{kind.__name__}.{name} takes an argument; sweep a quantity without one")
    if getattr(declared, "kind", "") in ("record", "rows", "text"):
        raise InputError(f"{kind.__name__}.{name} is no quantity; name one of its own, such as {name}.parameters")
    return Shown(name, path, declared)


def _answers(kind: Any) -> list[str]:
    """The quantities a sweep shows by default."""
    leading = [name for name in (kind.presentation.whole, kind.presentation.answer) if name]
    return leading or [name for name, declared in kind.quantities.items() if not isinstance(declared, Parametrised)]


def _holder(kind: Any, path: Path) -> Any:
    for name in path[:-1]:
        kind = kind.inputs[name].record_type
    return kind


__all__ = ["sweep"]

"""Prints how fast and how large the kit is, as ratios to what it is measured against: `python -m tests.benchmarks`."""

from __future__ import annotations

import compileall
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / "mlsysim"


class Measured(NamedTuple):
    """A figure, in which unit, and what it should reach; no target where the figure is for information."""

    what: str
    figure: float
    unit: str
    target: float | None
    at_least: bool = False

    @property
    def reached(self) -> bool:
        return self.target is None or (self.figure >= self.target if self.at_least else self.figure <= self.target)


def median_of(run: Callable[[], Any], times: int) -> float:
    """The median of the processor's times of one run in seconds, after one to warm up."""
    run()
    return statistics.median(_worked(run) for _ in range(times))


def ratio_of(first: Callable[[], Any], second: Callable[[], Any], pairs: int) -> float:
    """The median of the ratios of the processor's times of two runs that follow each other."""
    first(), second()
    return statistics.median(_worked(first) / _worked(second) for _ in range(pairs))


def _timed(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _worked(run: Callable[[], Any]) -> float:
    """The processor's time for a run, which other programs do not lengthen."""
    start = time.process_time()
    run()
    return time.process_time() - start


def started(statement: str) -> float:
    """How long a fresh interpreter takes for a statement."""
    return _timed(lambda: subprocess.run([sys.executable, "-c", statement], check=True))


def importing(pairs: int = 25) -> Iterator[Measured]:
    """Pairs of runs, one straight after the other, both from compiled bytecode; the median of their ratios."""
    compileall.compile_dir(PACKAGE, quiet=1)
    started("import pint"), started("import mlsysim")
    both = [(started("import pint"), started("import mlsysim")) for _ in range(pairs)]
    yield Measured("python -c 'import mlsysim' over python -c 'import pint'", statistics.median(ours / theirs for theirs, ours in both), "times", 1.3)
    both = [(started("import pint"), started("from mlsysim import Scenarios")) for _ in range(pairs)]
    yield Measured("python -c 'from mlsysim import Scenarios' over python -c 'import pint'", statistics.median(ours / theirs for theirs, ours in both), "times", None)


def evaluating() -> Iterator[Measured]:
    """Every quantity of a newly constructed scenario, every input of it given anew."""
    from mlsysim import MissingInputError, Scenarios
    from mlsysim.engine.declarations import Parametrised
    given = Scenarios.Gpt2MixedPrecisionAdamOnH100
    kind, inputs = type(given), given.given_inputs()
    names = [name for name, declared in kind.quantities.items() if not isinstance(declared, Parametrised)]

    def run() -> None:
        made = kind(**inputs)
        for name in names:
            try:
                getattr(made, name)
            except MissingInputError:
                pass
    yield Measured(f"all {len(names)} quantities of a TrainingStateFitScenario, from construction", 1e3 * median_of(run, 500), "ms", 1.5)


def drawing() -> Iterator[Measured]:
    """The breakdown of newly constructed scenarios."""
    from mlsysim import Scenarios
    from mlsysim.scenarios import Entry, Shelf
    shelf = {name: getattr(Scenarios, name) for name, entry in vars(Shelf).items() if isinstance(entry, Entry)}
    sizes = {name: len(scenario._repr_html_().encode()) / 1e3 for name, scenario in shelf.items()}
    fullest = max(sizes, key=lambda name: sizes[name])
    for name, most in (("Gpt2Fp32AdamOnH100", 25.0), (fullest, 40.0)):
        scenario = shelf[name]
        yield Measured(f"_repr_html_ of {name}", 1e3 * median_of(lambda scenario=scenario: scenario.variant()._repr_html_(), 100), "ms", 5.0)  # type: ignore[misc]
        yield Measured(f"size of that HTML{', the fullest of the shelf' if name == fullest else ''}", sizes[name], "kB", most)


def sweeping(points: int = 1_000_000) -> Iterator[Measured]:
    """`total` and `fits` at a million points, by a sweep and by the same arithmetic written in NumPy."""
    import numpy

    from mlsysim import Scenarios, sweep
    from mlsysim.units import units
    scenario = Scenarios.Gpt2Fp32AdamOnH100
    parameters, optimizer = scenario.number(("workload", "parameters")), scenario.number(("optimizer_bytes_per_parameter",))
    capacity = scenario.number(("hardware", "memory", "capacity"))
    widths = numpy.linspace(1.0, 8.0, points)

    def total_and_fits(parameters: Any, widths: Any) -> Any:
        weights = parameters * widths
        gradients = parameters * widths
        optimizer_state = parameters * optimizer
        total = weights + gradients + optimizer_state
        return total, total <= capacity

    def one_by_hand() -> Any:
        return total_and_fits(parameters, widths)

    def one_swept() -> Any:
        return sweep(scenario, "total", "fits", bytes_per_value=units.Quantity(widths, "byte"))

    few = numpy.linspace(1.0, 8.0, int(points**0.5))
    counts = numpy.round(numpy.linspace(1e9, 1e11, int(points**0.5)))

    def grid_by_hand() -> Any:
        across, along = numpy.meshgrid(few, counts, indexing="ij")
        return total_and_fits(along, across)

    def grid_swept() -> Any:
        return sweep(scenario, "total", "fits", bytes_per_value=units.Quantity(few, "byte"), **{"workload.parameters": counts})

    for what, by_hand, swept in (("one input", one_by_hand, one_swept), ("every combination of two inputs", grid_by_hand, grid_swept)):
        total, fits = by_hand()
        table = swept()
        assert numpy.array_equal(table["fits"], fits.reshape(-1)) and numpy.allclose(table["total"] / table["total"].iloc[0], total.reshape(-1) / total.flat[0], rtol=1e-12)
        yield Measured(f"speed of a sweep of {points:,} points, {what}, over NumPy by hand", ratio_of(by_hand, swept, 40), "times", 0.3, at_least=True)


def main() -> int:
    missed = 0
    for group in (importing, evaluating, drawing, sweeping):
        for measured in group():
            missed += not measured.reached
            bound = "" if measured.target is None else f"at {'least' if measured.at_least else 'most'} {measured.target:g}"
            print(f"{measured.figure:8.3g} {measured.unit:5}  {bound:12} {'' if measured.reached else 'MISSED'}  {measured.what}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

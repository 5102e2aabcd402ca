"""Imports in the package run one way, and `import mlsysim` brings in nothing heavier than pint."""

import ast
import graphlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "mlsysim"

# From the ground up. A module may import from the layers before its own, and from its own layer without a cycle.
LAYERS = (
    ("units",),
    ("engine.dimension", "engine.expression", "engine.evaluation"),
    ("engine.figures", "engine.notation"),
    ("engine.inputs", "engine.record"),
    ("engine.derivation",),
    ("engine.scenario", "engine.compiled", "engine.display"),
    ("models", "hardware"),
    ("engine.scenario_definitions",),
    ("engine.scenario_types", "engine.solver"),
    ("scenarios",),
    ("",),
    ("notebook", "homework"),
)
FAMILIES = "engine.scenario_definitions"


def modules() -> dict[str, Path]:
    """Every module of the package by its name below `mlsysim`; the package itself is ""."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES = modules()


def is_within(module: str, room: str) -> bool:
    return module == room or (room != "" and module.startswith(room + "."))


def layer(module: str) -> int | None:
    """Which layer the module stands in; None for a package that only gathers rooms of several layers, or an unplaced module."""
    return next((level for level, rooms in enumerate(LAYERS) if any(is_within(module, room) for room in rooms)), None)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING"


def imports(module: str) -> set[str]:
    """The modules of the package that this one imports, also inside functions; imports for the type checker alone don't count."""
    file = MODULES[module]
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    found = set()

    def look(node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            found.update(name.name.partition(".")[2] for name in node.names if name.name.partition(".")[0] == "mlsysim")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if package else []
                base = ".".join([*above, *filter(None, [node.module])])
            elif base.partition(".")[0] == "mlsysim":
                base = base.partition(".")[2]
            else:
                return
            for name in node.names:
                inner = f"{base}.{name.name}".removeprefix(".")
                found.add(inner if inner in MODULES else base)
        children = node.orelse if is_type_checking(node) else ast.iter_child_nodes(node)
        for child in children:
            look(child)

    look(ast.parse(file.read_text(encoding="utf-8")))
    return found - {module}


def test_the_package_is_read() -> None:
    assert {"units", "engine.expression", "engine.scenario", "engine.scenario_definitions.training"} <= MODULES.keys()
    assert "units" in imports("engine.scenario")


def test_every_module_has_a_layer() -> None:
    gathering = {"engine"}
    unplaced = {module for module in MODULES if layer(module) is None} - gathering
    assert not unplaced, f"place these modules in LAYERS: {sorted(unplaced)}"
    assert not imports("engine"), "mlsysim/engine/__init__.py gathers rooms of several layers: it imports nothing"


@pytest.mark.parametrize("module", [module for module in MODULES if layer(module) is not None])
def test_a_module_imports_from_below(module: str) -> None:
    above = sorted(
        other for other in imports(module)
        if (level := layer(other)) is not None and level > layer(module)  # type: ignore[operator]
    )
    assert not above, f"mlsysim.{module} imports from a layer above its own: {above}"


@pytest.mark.parametrize("module", [module for module in MODULES if module.startswith(FAMILIES + ".")])
def test_families_of_scenarios_stand_apart(module: str) -> None:
    others = sorted(other for other in imports(module) if other.startswith(FAMILIES + "."))
    assert not others, f"mlsysim.{module} imports another family of scenarios: {others}"


def test_there_is_no_cycle() -> None:
    graph = {module: imports(module) for module in MODULES}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"modules import one another: {' <- '.join(error.args[1])}")


# What pint requires, by import name; with these alone installed, the import must work and ask for nothing more.
PINT = ("pint", "flexcache", "flexparser", "platformdirs", "typing_extensions")
REFUSING = """
import json, sys
asked, finders = set(), sys.meta_path[:]
class OnlyPint:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in sys.stdlib_module_names or root in {allowed!r}:
            return next((spec for finder in finders if (spec := finder.find_spec(name, path, target))), None)
        asked.add(root)
sys.meta_path[:] = [OnlyPint()]
import {package}
print(json.dumps([sorted(asked), sorted(sys.modules)]))
"""


def import_alone(package: str) -> tuple[set[str], set[str]]:
    """What a fresh interpreter with only pint and its requirements asks for in vain, and what it loads, on `import package`."""
    script = REFUSING.format(allowed=(*PINT, "mlsysim"), package=package)
    run = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    asked, loaded = json.loads(run.stdout)
    return set(asked), set(loaded)


def test_the_import_brings_in_nothing_beyond_pint() -> None:
    asked_by_pint, loaded_by_pint = import_alone("pint")
    asked, loaded = import_alone("mlsysim")
    assert "mlsysim.units" in loaded
    assert asked <= asked_by_pint, "`import mlsysim` asks for a package that pint does not ask for"
    foreign = {name for name in loaded - loaded_by_pint if name.partition(".")[0] not in {*sys.stdlib_module_names, "mlsysim"}}
    assert not foreign, "`import mlsysim` loads more of another package than `import pint` does"

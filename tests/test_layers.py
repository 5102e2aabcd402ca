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

# From the ground up, room by room, and in a room layer by layer. A module imports from the layers before its own, and from its own
# without a cycle. An import inside a function, by which a method opens a display when it is asked for, may reach up in its own room.
ROOMS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("front_door",), ("units",)),
    (
        ("engine.expression",),
        ("engine.dimension", "engine.evaluation"),
        ("engine.figures", "engine.notation"),
        ("engine.inputs", "engine.printing"),
        ("engine.record",),
        ("engine.declarations", "engine.guards", "engine.tracing", "engine.derivation"),
        ("engine.writing",),
        ("engine.bar", "engine.waiting", "engine.verdict", "engine.breakdown", "engine.display"),
        ("engine.catalogue_views", "engine.catalogue"),
        ("engine.arrays", "engine.axes", "engine.columns", "engine.examples", "engine.frames", "engine.gradient", "engine.points", "engine.reading", "engine.tables"),
        ("engine.scenario",),
        ("engine.reference", "engine.comparison", "engine.conformance"),
        ("engine.blocks", "engine.lazy_sweeping", "engine.sweeping", "engine.solving", "engine.sensitivities"),
    ),
    (("models", "hardware"),),
    (("engine.scenario_parts",),),
    (("engine.scenario_definitions",),),
    (("engine.scenario_types", "engine.solver"),),
    (("scenarios",),),
    (("",),),
    (("notebook", "homework", "measure"),),
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


def place(module: str) -> tuple[int, int] | None:
    """The room and the layer in it where the module stands; None for one that is in no room."""
    for room, layers in enumerate(ROOMS):
        for layer, names in enumerate(layers):
            if any(is_within(module, name) for name in names):
                return room, layer
    return None


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING"


def imports(module: str) -> tuple[set[str], set[str]]:
    """The modules of the package that this one imports: when it is loaded, and inside functions. The type checker's own don't count."""
    file = MODULES[module]
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    loading: set[str] = set()
    later: set[str] = set()

    def look(node: ast.AST, found: set[str]) -> None:
        if isinstance(node, ast.Import):
            found.update(name.name.partition(".")[2] for name in node.names if name.name.partition(".")[0] == "mlsysim")
        elif isinstance(node, ast.ImportFrom) and (base := imported_from(node, package)) is not None:
            for name in node.names:
                inner = f"{base}.{name.name}".removeprefix(".")
                found.add(inner if inner in MODULES else base)
        inside = later if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) else found
        for child in node.orelse if is_type_checking(node) else ast.iter_child_nodes(node):  # type: ignore[attr-defined]
            look(child, inside)

    look(ast.parse(file.read_text(encoding="utf-8")), loading)
    return loading - {module}, later - {module}


def imported_from(node: ast.ImportFrom, package: str) -> str | None:
    """The module below `mlsysim` after `from`; None for one of another package."""
    named = (node.module or "").split(".") if node.module else []
    if node.level:
        parts = package.split(".") if package else []
        return ".".join(parts[: len(parts) - node.level + 1] + named)
    return ".".join(named[1:]) if named[0] == "mlsysim" else None


def test_the_package_is_read() -> None:
    assert {"units", "engine.expression", "engine.scenario", "engine.scenario_definitions.training"} <= MODULES.keys()
    loading, later = imports("engine.scenario")
    assert "engine.derivation" in loading and "engine.display" in later


def test_every_module_has_a_place() -> None:
    homeless = {module for module in MODULES if place(module) is None} - {"engine"}
    assert not homeless, "give these modules a place in ROOMS"
    assert imports("engine") == (set(), set()), "mlsysim/engine/__init__.py holds several rooms, so it imports nothing"


@pytest.mark.parametrize("module", [module for module in MODULES if place(module)])
def test_a_module_imports_from_below(module: str) -> None:
    room, layer = place(module) or (-1, -1)
    loading, later = imports(module)
    above = [other for other in loading if (stands := place(other)) and stands > (room, layer)]
    above += [other for other in later if (stands := place(other)) and stands[0] > room]
    assert not above


def family(module: str) -> str:
    """The family of scenarios that the module belongs to, a file or a folder; "" for every other module."""
    return module.removeprefix(FAMILIES + ".").partition(".")[0] if module.startswith(FAMILIES + ".") else ""


@pytest.mark.parametrize("module", [module for module in MODULES if family(module)])
def test_families_of_scenarios_stand_apart(module: str) -> None:
    others = [other for other in set.union(*imports(module)) if family(other) not in ("", family(module))]
    assert not others


def test_there_is_no_cycle() -> None:
    graph = {module: imports(module)[0] for module in MODULES}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"modules import one another: {' <- '.join(error.args[1])}")


# What pint requires, by import name; with these alone installed, all must work and ask for nothing more.
PINT = ("pint", "flexcache", "flexparser", "platformdirs", "typing_extensions")
WITH_PINT_ALONE = """
import json, sys
asked, finders = set(), sys.meta_path[:]
class OnlyPint:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root in sys.stdlib_module_names or root in {allowed!r}:
            return next((spec for finder in finders if (spec := finder.find_spec(name, path, target))), None)
        asked.add(root)
sys.meta_path[:] = [OnlyPint()]
{statement}
print(json.dumps([sorted(asked), sorted(sys.modules)]))
"""


def after(statement: str) -> tuple[set[str], set[str]]:
    """What a fresh interpreter with only pint and its requirements asks for in vain, and what it has loaded, after the statement."""
    script = WITH_PINT_ALONE.format(allowed=(*PINT, "mlsysim"), statement=statement)
    run = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    asked, loaded = json.loads(run.stdout)
    return set(asked), set(loaded)


@pytest.mark.parametrize("statement", [
    "import mlsysim",
    "from mlsysim import Scenarios; Scenarios.Gpt2Fp32AdamOnH100._repr_html_()",
])  # fmt: skip
def test_nothing_beyond_pint_is_brought_in(statement: str) -> None:
    asked_by_pint, loaded_by_pint = after("import pint")
    asked, loaded = after(statement)
    assert "mlsysim" in loaded
    assert asked <= asked_by_pint
    foreign = {name for name in loaded - loaded_by_pint if name.partition(".")[0] not in {*sys.stdlib_module_names, "mlsysim"}}
    assert not foreign

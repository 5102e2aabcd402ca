"""Plays Binder: asks repo2docker what it would do with this repository, and does the Python part of it in a fresh virtual environment.

    python -m tests.binder

A copy of the tracked files stands in for the clone, and the packages of repo2docker's base image that matter here come from the
package index, at the image's versions. Then each step of the image that repo2docker takes from `binder/` is run, the image's own
server is asked for the start notebook in JupyterLab, and every notebook is run. Prints what each step takes on disk.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from importlib.util import find_spec
from pathlib import Path

from tests.notebooks.chapters import launch_link
from tests.notebooks.files import REPOSITORY, START

# What of the base image a notebook's reader meets, by the names that conda and the index share.
BASE = ("ipykernel", "ipywidgets", "jupyter_server", "jupyterlab", "notebook")
START_SECONDS = 60
SIZES = """
import importlib.metadata, json
def size(distribution):
    return sum(file.stat().st_size for part in distribution.files or [] if (file := distribution.locate_file(part)).is_file())
print(json.dumps({d.metadata["Name"]: [d.version, size(d), d.read_text("direct_url.json") or ""] for d in importlib.metadata.distributions()}))
"""


class BinderFailed(RuntimeError):
    """A step that Binder would take went wrong: names the step, and holds what it printed."""


def dockerfile(repository: Path = REPOSITORY) -> str:
    """The recipe of the image that repo2docker makes of a repository. Raises BinderFailed where it does not accept it."""
    asked = subprocess.run(
        [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "--user-id", "1000", "--user-name", "jovyan", str(repository)],
        capture_output=True, text=True, check=False)
    if asked.returncode:
        raise BinderFailed(f"repo2docker does not accept the repository:\n{asked.stdout}{asked.stderr}")
    return asked.stdout + asked.stderr


def steps(recipe: str) -> list[str]:
    """The commands that the recipe runs in the repository once it is copied: those that follow from `binder/`."""
    _, _, after = recipe.partition("# Run assemble scripts!")
    return re.findall(r"^RUN (.+)$", after, re.MULTILINE)


def server_command(recipe: str) -> list[str]:
    """What the image starts when nobody says otherwise."""
    (command,) = re.findall(r"^CMD (\[.*\])$", recipe, re.MULTILINE)
    return list(json.loads(command))


def base_versions(python: str) -> dict[str, str]:
    """The versions that the base image of that Python holds of BASE, as repo2docker locks them."""
    spec = find_spec("repo2docker")
    assert spec is not None and spec.origin is not None
    lock = (Path(spec.origin).parent / "buildpacks" / "conda" / f"environment.py-{python}-linux-64.lock").read_text(encoding="utf-8")
    return {name: version for name, version in re.findall(r"/([\w-]+)-([\d.]+)-[^-]+\.conda", lock) if name in BASE}


class Image:
    """The Python part of the image, in a folder."""

    def __init__(self, folder: Path):
        self.clone, self.environment = folder / "clone", folder / "environment"
        self.variables = {
            **os.environ, "HOME": str(folder / "home"), "REPO_DIR": str(self.clone), "PATH": f"{self.environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "KERNEL_PYTHON_PREFIX": str(self.environment), "NB_PYTHON_PREFIX": str(self.environment),
        }
        self.variables.pop("PYTHONPATH", None)
        (folder / "home").mkdir()
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            if (REPOSITORY / name).is_file():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(REPOSITORY / name, self.clone / name)
        venv.create(self.environment, with_pip=True)

    def run(self, command: str | list[str], *, where: Path | None = None) -> str:
        """What a command prints. Raises BinderFailed."""
        started = time.monotonic()
        ran = subprocess.run(command, shell=isinstance(command, str), cwd=where or self.clone, env=self.variables, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, check=False)
        if ran.returncode:
            raise BinderFailed(f"{command}\n{ran.stdout}{ran.stderr}")
        print(f"{time.monotonic() - started:6.1f} s  {command if isinstance(command, str) else ' '.join(command)}"[:160], flush=True)
        return ran.stdout

    def distributions(self) -> dict[str, tuple[str, int, str]]:
        """Version, bytes on disk and origin of each installed distribution."""
        asked = subprocess.run([self.environment / "bin" / "python", "-c", SIZES], env=self.variables, capture_output=True, text=True, check=True)
        return {name: (version, size, origin) for name, (version, size, origin) in json.loads(asked.stdout).items()}


def check_packages(image: Image, before: dict[str, tuple[str, int, str]]) -> None:
    """The base stays as it is, this checkout is installed and not the index's package of that name, and bytecode is there. Raises BinderFailed."""
    after = image.distributions()
    if moved := [f"{name} {before[name][0]} -> {after[name][0]}" for name in before if name in after and after[name][0] != before[name][0]]:
        raise BinderFailed(f"binder/ changes what the base image brings: {', '.join(moved)}")
    origin = json.loads(after["mlsysim-kit"][2] or "{}") if "mlsysim-kit" in after else {}
    if origin.get("url") != image.clone.as_uri() or "mlsysim" in after:
        raise BinderFailed(f"binder/ does not install this checkout: mlsysim-kit comes from {origin.get('url')}, and mlsysim is{'' if 'mlsysim' in after else ' not'} installed")
    package = Path(image.run(["python", "-c", "import mlsysim, pathlib; print(pathlib.Path(mlsysim.__file__).parent)"], where=image.clone / "notebooks").strip())
    if not package.is_relative_to(image.environment):
        raise BinderFailed(f"notebooks import {package}")
    sources = list(package.rglob("*.py"))
    if bare := [file for file in sources if not list((file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"))]:
        raise BinderFailed(f"no bytecode for {len(bare)} of {len(sources)} files, {bare[0]} the first")


def print_sizes(before: dict[str, tuple[str, int, str]], after: dict[str, tuple[str, int, str]]) -> None:
    megabytes = {name: size / 1e6 for name, (_, size, _) in after.items()}
    added = sorted((name for name in after if name not in before), key=lambda name: -megabytes[name])
    print("\ninstalled by binder/, bytecode included:")
    for name in added:
        print(f"  {name:20} {after[name][0]:10} {megabytes[name]:7.1f} MB")
    print(f"  {'together':31} {sum(megabytes[name] for name in added):7.1f} MB, beside {sum(size for _, size, _ in before.values()) / 1e6:.1f} MB of JupyterLab and what it needs\n")


def check_launch(image: Image, command: list[str]) -> None:
    """The image's server shows the start notebook in JupyterLab at the address that the launch link names. Raises BinderFailed."""
    place = launch_link(REPOSITORY / "notebooks" / f"{START}.ipynb").partition("?urlpath=")[2]
    runtime = Path(image.variables["HOME"]) / "runtime"
    arguments = ["--ip", "127.0.0.1", "--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.port=18999", "--ServerApp.port_retries=100"]
    log = runtime.with_suffix(".log")
    with log.open("w") as said:
        server = subprocess.Popen([image.environment / "bin" / command[0], *command[1:2], *arguments], cwd=image.clone, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                  env=image.variables | {"JUPYTER_RUNTIME_DIR": str(runtime)})
    try:
        deadline = time.monotonic() + START_SECONDS
        while not (running := list(runtime.glob("jpserver-*.json"))):
            if server.poll() is not None or time.monotonic() > deadline:
                raise BinderFailed(f"{' '.join(command)} does not start:\n{log.read_text()}")
            time.sleep(0.1)
        address = json.loads(running[0].read_text())["url"]
        for path, words in ((place, "jupyter-config-data"), (place.replace("lab/tree", "api/contents"), '"nbformat"')):
            with urllib.request.urlopen(address + path, timeout=START_SECONDS) as answer:
                if words not in answer.read().decode():
                    raise BinderFailed(f"/{path} is not the start notebook")
        print(f"{'':8}  {' '.join(command)} shows /{place}", flush=True)
    finally:
        server.terminate()
        server.wait(timeout=START_SECONDS)


def main() -> int:
    argparse.ArgumentParser(prog="python -m tests.binder", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            image = Image(Path(folder).resolve())
            recipe = dockerfile(image.clone)
            versions = base_versions((image.clone / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-"))
            image.run(["python", "-m", "pip", "install", "--quiet", *(f"{name}=={version}" for name, version in versions.items())])
            before = image.distributions()
            for step in steps(recipe):
                image.run(step)
            check_packages(image, before)
            print_sizes(before, image.distributions())
            check_launch(image, server_command(recipe))
            for notebook in sorted((image.clone / "notebooks").glob("*.ipynb")):
                image.run(["jupyter", "execute", "--kernel_name=python3", notebook.name], where=notebook.parent)
        except BinderFailed as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

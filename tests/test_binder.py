"""What Binder makes of the repository, asked of repo2docker itself; `python -m tests.binder` also carries it out."""
from __future__ import annotations

import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests import binder
from tests.notebooks.chapters import launch_link
from tests.notebooks.files import REPOSITORY, beside_chapters


@pytest.fixture(scope="module")
def recipe() -> str:
    return binder.dockerfile()


def test_repo2docker_installs_this_checkout_and_then_prepares_it(recipe: str) -> None:
    install, *rest = binder.steps(recipe)
    assert install == '${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"'
    assert rest == ["chmod +x binder/postBuild", "./binder/postBuild"]
    lines = (REPOSITORY / "binder" / "requirements.txt").read_text(encoding="utf-8").split()
    assert lines == [".[notebook]"], "the checkout itself, and nothing from the index by the name of mlsysim"


def test_the_python_is_one_that_the_package_and_binder_know() -> None:
    runtime = (REPOSITORY / "binder" / "runtime.txt").read_text(encoding="utf-8").strip()
    lowest = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]
    assert lowest == f">={runtime.removeprefix('python-')}"
    assert binder.base_versions(runtime.removeprefix("python-")).keys() == set(binder.BASE)


@pytest.mark.parametrize("notebook", beside_chapters(), ids=lambda file: file.stem)
def test_a_launch_link_opens_its_notebook_in_jupyterlab(notebook: Path) -> None:
    link = urlsplit(launch_link(notebook))
    assert (link.hostname, link.path.split("/")[1:3]) == ("mybinder.org", ["v2", "gh"]) and len(link.path.split("/")) == 6
    (place,) = parse_qs(link.query)["urlpath"]
    assert place.startswith("lab/tree/") and (REPOSITORY / place.removeprefix("lab/tree/")) == notebook


def test_owner_and_repository_stand_in_one_place() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    where = project["tool"]["mlsysim"]["binder"]["repository"]
    holders = [file for folder in ("mlsysim", "notebooks", "binder", ".ci") for file in (REPOSITORY / folder).rglob("*")
               if file.suffix in (".py", ".ipynb", ".md", ".txt", "") and file.is_file() and (where in (text := file.read_text(encoding="utf-8")) or "mybinder.org" in text)]
    assert not holders

"""Breaks the kit on purpose, in copies of the repository, and shows which test notices each break.

    python -m tests.mutations [WORD ...]

With words only the breaks whose description holds one of them. Fails where a break passes unnoticed, and where the tests fail
without any.
"""
from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutations.breaks import MUTATIONS, Mutation

REPOSITORY = Path(__file__).resolve().parents[2]
FOUND = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - (.*))?$", re.MULTILINE)
PYTEST_FOUND_SOMETHING, PYTEST_STOPPED_BY_AN_ERROR = 1, 2
WORKERS = 2


@dataclass(frozen=True)
class Outcome:
    """What pytest said: the first test that failed, what it said, how long all took; no test where all passed."""

    test: str
    words: str
    seconds: float


class MutationError(RuntimeError):
    """A break that cannot be made, or tests that cannot be run: says which, and what to mend."""


def copy_of(repository: Path, folder: Path) -> Path:
    """A copy of the repository as it stands, without what git ignores."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=repository, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (repository / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / name, folder / name)
    return folder


def mutate(repository: Path, mutation: Mutation) -> None:
    """Make the break. Raises MutationError where its text does not stand once in its file."""
    file = repository / mutation.file
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if text.count(mutation.old) != 1:
        raise MutationError(f"{mutation.what}: {mutation.old!r} stands {text.count(mutation.old)} times in {mutation.file}; bring tests/mutations/breaks.py in step")
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")


def run(repository: Path, tests: Sequence[str]) -> Outcome:
    """Run tests of a copy with the copy's own package, up to the first that fails. Raises MutationError where pytest runs none."""
    started = time.monotonic()
    # Bytecode of the copy could be taken for that of the text it had a moment before.
    environment = os.environ | {"PYTHONPATH": str(repository), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "400"}
    ran = subprocess.run([sys.executable, "-m", "pytest", "-x", "-q", "--color=no", "--tb=no", "-rfE", "-p", "no:cacheprovider", *tests],
                         cwd=repository, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    if ran.returncode == 0:
        return Outcome("", "", seconds)
    found = FOUND.search(ran.stdout)
    if ran.returncode not in (PYTEST_FOUND_SOMETHING, PYTEST_STOPPED_BY_AN_ERROR) or found is None:
        raise MutationError(f"pytest {' '.join(tests)} did not run:\n{ran.stdout}{ran.stderr}")
    return Outcome(found[1], found[2] or "", seconds)


def unbroken(repository: Path, mutations: Sequence[Mutation]) -> float:
    """Run the tests of all mutations as they stand, and return the seconds it took. Raises MutationError where one fails, since it would then notice anything."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(copy_of(repository, Path(folder)), sorted({test for mutation in mutations for test in mutation.tests}))
    if outcome.test:
        raise MutationError(f"{outcome.test} fails without any break: {outcome.words}")
    return outcome.seconds


def tried(repository: Path, mutation: Mutation) -> Outcome:
    """Make one break in a fresh copy and run the tests that are there to notice it. Raises MutationError."""
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_of(repository, Path(folder))
        mutate(copy, mutation)
        return run(copy, mutation.tests)


def check(repository: Path, mutations: Sequence[Mutation]) -> int:
    """Try all breaks and print the table. Returns 1 where one passed unnoticed, or could not be tried."""
    noticed = 0
    with ThreadPoolExecutor(WORKERS) as workers:
        without = workers.submit(unbroken, repository, mutations)
        trials = [workers.submit(tried, repository, mutation) for mutation in mutations]
        for mutation, trial in zip(mutations, trials, strict=True):
            try:
                outcome = trial.result()
            except MutationError as error:
                print(f"          {error}", flush=True)
                continue
            noticed += bool(outcome.test)
            print(f"{outcome.seconds:6.1f} s  {mutation.what}")
            said = f"noticed by {outcome.test}" if outcome.test else f"PASSED UNNOTICED by {' '.join(mutation.tests)}"
            print(f"          {said}", flush=True)
            if outcome.words:
                print(f"          {outcome.words[:140]}", flush=True)
        try:
            print(f"{without.result():6.1f} s  without any break, all of these tests passed")
        except MutationError as error:
            print(error)
            return 1
    print(f"\n{noticed} of {len(mutations)} breaks noticed")
    return int(noticed < len(mutations))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    words = parser.parse_args().words
    chosen = [one for one in MUTATIONS if not words or any(word in one.what for word in words)]
    if not chosen:
        parser.error(f"no break is described by {' or '.join(words)}")
    return check(REPOSITORY, chosen)


if __name__ == "__main__":
    sys.exit(main())

"""Runs the notebooks, and writes down what follows from them.

    python -m tests.notebooks regenerate [NOTEBOOK ...]    run, save the outputs, say what differs; then the index and the README's table
    python -m tests.notebooks check [NOTEBOOK ...]         the same without writing: what differs makes it fail
    python -m tests.notebooks written                      write the index of symbols and the README's table only, without running

Without names all notebooks in notebooks/ and solutions/ are run, each from a fresh kernel. Those in notebooks/measured/ are left
as they are where the extra `measure` is not installed.
"""
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from mlsysim.measure.skipping import INSTALL, lacking

from .chapters import README, NotebookHeadError, readme_in_step
from .differences import differences
from .execution import NotebookFailed, run
from .files import REPOSITORY, is_generated, is_measured, named, notebooks, read, saved_form


def renew(file: Path, *, write: bool) -> bool:
    """Run one notebook, say what differs, and save it if asked to. Whether all is as it was. Raises NotebookFailed."""
    before, started = read(file), time.monotonic()
    after = run(before, file)
    seconds = time.monotonic() - started
    text = saved_form(after, before)
    told = differences(before, after)
    same = text == file.read_text(encoding="utf-8")
    state = "as saved" if same else "outputs differ" if told else "outputs as saved, but not in the saved form"
    print(f"{named(file)}: {state} ({seconds:.1f} s)", *(f"  {line}" for one in told for line in one.splitlines()), sep="\n", flush=True)
    if write and not same:
        file.write_text(text, encoding="utf-8")
    return same


def renew_written(*, write: bool) -> bool:
    """Write what follows from the notebooks, the index and the README's table. Whether all is as it was."""
    from . import symbols

    same = True
    for file, make in ((symbols.FILE, symbols.written), (README, lambda: readme_in_step(README.read_text(encoding="utf-8")))):
        text = make()
        in_step = file.exists() and file.read_text(encoding="utf-8") == text
        print(f"{named(file)}: {'as saved' if in_step else 'out of step with the notebooks' if not write else 'written'}")
        if write and not in_step:
            file.write_text(text, encoding="utf-8")
        same = same and in_step
    return same


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.notebooks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("regenerate", "check", "written"))
    parser.add_argument("notebooks", nargs="*", type=Path, metavar="NOTEBOOK")
    options = parser.parse_args()
    write = options.what != "check"
    same, failed = True, False
    if options.what != "written":
        for file in [one.resolve() for one in options.notebooks] or [one for one in notebooks() if not is_generated(read(one))]:
            if is_measured(file) and lacking():
                print(f"{named(file)}: left as it is, since {' and '.join(lacking())} cannot be found; install with {INSTALL}")
                failed = failed or bool(options.notebooks)      # asked for by name
                continue
            try:
                same = renew(file, write=write) and same
            except NotebookFailed as failure:
                print(failure)
                failed = True
    if not failed and (not options.notebooks or any(file.resolve().is_relative_to(REPOSITORY) for file in options.notebooks)):
        try:
            same = renew_written(write=write) and same
        except NotebookHeadError as error:
            print(error)
            failed = True
    return int(failed or not write and not same)


if __name__ == "__main__":
    sys.exit(main())

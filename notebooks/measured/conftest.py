"""Has pytest run the notebooks of this folder where the extra `measure` is installed, and otherwise say that they were left out."""
from __future__ import annotations

from typing import Any

from mlsysim.measure.skipping import INSTALL, lacking

LACKING = lacking()
collect_ignore_glob = ["*.ipynb"] if LACKING else []


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if LACKING:
        terminalreporter.section("left out")
        terminalreporter.line(f"notebooks/measured: not run, since {' and '.join(LACKING)} cannot be found; install with {INSTALL}, then run pytest tests/measure. "
                              "tests/test_measured_notebook.py holds the figures saved there against the ledger.")

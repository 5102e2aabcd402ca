"""The notebook of measurements, run cell by cell: what it measures here is what is saved in it."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.measure
def test_it_measures_what_is_saved() -> None:
    run = subprocess.run([sys.executable, "-m", "pytest", "notebooks/measured"], cwd=REPOSITORY, capture_output=True, text=True)
    assert run.returncode == 0 and "measure_it_yourself.ipynb" in run.stdout, run.stdout + run.stderr

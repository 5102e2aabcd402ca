"""Runs a notebook from a fresh kernel, as a reader's "restart and run all" does."""
from __future__ import annotations

import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from .files import REPOSITORY, named

CELL_SECONDS = 60


class NotebookFailed(RuntimeError):
    """A cell raised an error: names the notebook and the cell, and holds the traceback."""


def run(notebook: NotebookNode, file: Path) -> NotebookNode:
    """A copy of the notebook with the outputs that it gives in its folder, with this repository's package. Raises NotebookFailed."""
    fresh: NotebookNode = nbformat.from_dict(notebook)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(fresh, timeout=CELL_SECONDS, kernel_name="python3", record_timing=False, store_widget_state=False, extra_arguments=["--log-level=ERROR"],
                            resources={"metadata": {"path": str(file.parent)}})
    with tempfile.TemporaryDirectory() as settings:
        environment = os.environ | {
            "IPYTHONDIR": settings,      # a person's own start-up files change no output
            "PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")])),
        }
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            raise NotebookFailed(f"{named(file)}:\n{error}") from None
    return fresh

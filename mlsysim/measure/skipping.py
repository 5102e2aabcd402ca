"""What a notebook of measurements does where the extra `measure` is not installed: it says so, and its cells are skipped in words."""
from __future__ import annotations

import importlib.util

LIBRARIES = ("torch", "transformers")
NAMES = {"torch": "PyTorch"}
INSTALL = "pip install -e '.[measure]'"


def lacking() -> list[str]:
    """The libraries of the extra that are not installed, as people call them."""
    importlib.invalidate_caches()      # one may have been installed since
    return [NAMES.get(name, name) for name in LIBRARIES if importlib.util.find_spec(name) is None]


def skip_without_extra() -> None:
    """Call it in a notebook's first cell. Where the extra is missing it prints what to install, and every later cell prints that it is skipped.

    Cells that begin with % or ! run, so that the extra can be installed from the notebook; once it is there, cells run.
    """
    missing = lacking()
    if not missing:
        return
    print(f"{' and '.join(missing)} cannot be found here, and this notebook measures with {'it' if len(missing) == 1 else 'them'}. All cells below are skipped.\n"
          f"To run them, install the extra `measure`, in the folder of the README:\n\n    {INSTALL}\n\n"
          "The README says how to get PyTorch's small build. Then run this notebook again from its first cell.")
    from IPython import get_ipython
    shell = get_ipython()
    if shell is not None and _skipped not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_skipped)


def _skipped(lines: list[str]) -> list[str]:
    """A cell's lines, or in their place one that says why they do not run."""
    missing = lacking()
    if not missing or "".join(lines).lstrip().startswith(("%", "!")):
        return lines
    told = f"Skipped: {' and '.join(missing)} cannot be found here. Install the extra: {INSTALL}"
    return [f"print({told!r})\n"]


__all__ = ["INSTALL", "LIBRARIES", "lacking", "skip_without_extra"]

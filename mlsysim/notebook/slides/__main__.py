"""Slides from a notebook, in a folder that any browser opens without a network.

    python -m mlsysim.notebook.slides NOTEBOOK OUT_DIR

Open OUT_DIR/index.html. Arrow keys and remote controls step, S opens the speaker's notes, and ?print-pdf at the end of the
address is for printing. Slides show the outputs that were saved; code is shown of cells tagged show-code only.
"""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .deck import SlidesError, make_deck


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mlsysim.notebook.slides", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK", help="a notebook with slide tags, run and saved")
    parser.add_argument("folder", type=Path, metavar="OUT_DIR", help="where the slides go")
    options = parser.parse_args()
    try:
        print(make_deck(options.notebook, options.folder))
    except SlidesError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

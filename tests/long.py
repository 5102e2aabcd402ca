"""The runs that take too long for every day, one after the other.

    python -m tests.long

Fails where one of them does, and says how long each took.
"""
from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

RUNS = ("tests.mutations", "tests.binder")


def main() -> int:
    argparse.ArgumentParser(prog="python -m tests.long", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    told, failed = [], False
    for name in RUNS:
        print(f"\npython -m {name}\n", flush=True)
        started = time.monotonic()
        code = subprocess.run([sys.executable, "-m", name], cwd=Path(__file__).resolve().parents[1], stdin=subprocess.DEVNULL, check=False).returncode
        failed = failed or code != 0
        told.append(f"{time.monotonic() - started:6.0f} s  {name}: {'failed' if code else 'passed'}")
    print("", *told, sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

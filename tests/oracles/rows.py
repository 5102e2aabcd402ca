"""A published number: what it is of, its value in base units, how closely it must be met."""
from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FACTS = Path(__file__).resolve().parents[1] / "facts" / "oracles.json"

# By how a unit is spelt; makers' and sources' GB that turned out to be GiB are marked so in the rows themselves.
SCALES = {
    "": 1, "fraction": 1, "%": 0.01, "x": 1, "bytes": 1, "B/param": 1, "params": 1, "M params": 1e6, "B params": 1e9, "T params": 1e12,
    "GB (1e9)": 1e9, "TB (1e12)": 1e12, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "KB": 2**10, "MB": 2**20, "GB as printed": 2**30,
    "GB/s": 1e9, "TB/s": 1e12, "TFLOP/s": 1e12, "TOPS": 1e12, "W": 1,
}


@dataclass(frozen=True)
class Row:
    """One row of `oracles.json`."""

    id: str
    topic: str
    inputs: dict[str, Any]
    quantity: str
    value: Any
    unit: str
    tolerance_rel: float | None
    source: str
    note: str
    evidence: str
    check: str

    @property
    def scale(self) -> float:
        """How many base units one of the row's unit is."""
        spelt = [self.unit, self.unit.partition(" (")[0], self.unit.partition(" ")[0]]
        return next(float(SCALES[name]) for name in spelt if name in SCALES)

    @property
    def expected(self) -> float:
        """The published value in base units."""
        return float(self.value) * self.scale

    def met_by(self, got: float, expected: float) -> bool:
        """Whether a value is within the row's tolerance; a tolerance of zero allows for rounding of floats alone."""
        return abs(got - expected) <= max(self.tolerance_rel or 0, 1e-12) * abs(expected)


def read(file: Path = FACTS) -> list[Row]:
    """All rows of a file."""
    return [Row(**row) for row in json.loads(file.read_text(encoding="utf-8"))]

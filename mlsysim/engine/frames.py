"""A sweep's table as a pandas DataFrame: its headings carry units, and its columns also go by the plain name of their input or quantity."""
from __future__ import annotations

from typing import Any

import pandas

from .columns import heading_of


class SweepFrame(pandas.DataFrame):      # type: ignore[misc]  # pandas is not typed here
    """A DataFrame with units in its headings: `table["total"]` is the column `total (GB)`, and `attrs["units"]` tells the unit by heading."""

    @property
    def _constructor(self) -> Any:
        return SweepFrame

    def __repr__(self) -> str:
        with _in_full():
            return str(super().__repr__())

    def _repr_html_(self) -> Any:
        with _in_full():
            return super()._repr_html_()

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(heading_of(key, self.columns) if isinstance(key, str) else key)


def _in_full() -> Any:
    """An error is of no use when its end, which says what to write, is cut off."""
    return pandas.option_context("display.max_colwidth", None)


__all__ = ["SweepFrame"]

"""A sweep's values by cell and group: of each repetition, and their interval."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from dumbbell.metrics import METRICS, Metric
from dumbbell.statistics import Interval, mean_interval
from dumbbell.sweeps import SweepResult

__all__ = ["CellValues"]


class CellValues:
    """The repetitions' values of each cell.

    Parameters
    ----------
    result
        The sweep; INVALID runs are left out.
    """

    def __init__(self, result: SweepResult) -> None:
        self.result = result
        rows = result.rows
        self.columns: Mapping[str, list[float | None]] = {
            name: rows[name].to_pylist() for name in rows.column_names if name in METRICS
        }
        self.seeds: list[int] = rows["seed"].to_pylist()
        self.at: dict[tuple[int, int], list[int]] = {}
        keys = zip(
            rows["cell"].to_pylist(), rows["group"].to_pylist(), rows["verdict"].to_pylist(),
            strict=True,
        )  # fmt: skip
        for index, (cell, group, verdict) in enumerate(keys):
            if verdict != "INVALID":
                self.at.setdefault((cell, group), []).append(index)
        self.interval = cache(self._interval)

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that have a value in some run."""
        return [
            METRICS[name]
            for name, values in self.columns.items()
            if any(value is not None for value in values)
        ]

    def values(self, metric: str, cell: int, group: int) -> dict[int, float]:
        """Return the repetitions' values by seed, in the metric's shown unit."""
        column, scale = self.columns[metric], METRICS[metric].scale
        found = ((self.seeds[index], column[index]) for index in self.at.get((cell, group), ()))
        return {
            seed: scale * value
            for seed, value in found
            if value is not None and not np.isnan(value)
        }

    def _interval(self, metric: str, cell: int, group: int) -> Interval:
        """Return the mean of a cell's repetitions with its interval, in the shown unit."""
        return mean_interval(self.values(metric, cell, group).values())

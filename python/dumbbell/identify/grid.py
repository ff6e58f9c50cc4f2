"""Bins of a series on a regular grid: empty ones are missing in the series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.identify.floats import Floats

__all__ = ["Grid"]

#: A flow that lasts longer than this many of its bins is idle most of the time: they are merged.
MAX_POINTS = 1 << 17


@dataclass(frozen=True)
class Grid:
    """Where bins are.

    Attributes
    ----------
    bins
        Columns of a series; NaN for null.
    places
        The grid's point of each bin, not decreasing, from 0.
    count
        Points.
    start_s, step_s
        Time of the first point, and the distance of points.
    """

    bins: Mapping[str, Floats]
    places: npt.NDArray[np.int64]
    count: int
    start_s: float
    step_s: float

    @classmethod
    def of(cls, bins: Mapping[str, Floats], carries: str) -> Grid | None:
        """Make a grid from the first bin to the last that carries data; None for too few.

        Parameters
        ----------
        bins
            Columns of a flow's series.
        carries
            The column that says whether it does.
        """
        carrying = np.flatnonzero(bins[carries])
        if len(carrying) < 2:
            return None
        kept = {name: values[: carrying[-1] + 1] for name, values in bins.items()}
        step_s = float(bins["bin_us"][0]) * 1e-6
        index = np.rint(kept["time_us"] * 1e-6 / step_s).astype(np.int64)
        start_s = float(index[0]) * step_s
        places = index - index[0]
        factor = int(places[-1]) // MAX_POINTS + 1
        places = places // factor
        if places[-1] < 1:
            return None
        return cls(kept, places, int(places[-1]) + 1, start_s, step_s * factor)

    @property
    def time_s(self) -> Floats:
        """Times of the points."""
        return self.start_s + np.arange(self.count, dtype=np.float64) * self.step_s

    def total(self, name: str) -> Floats:
        """Return the sum of a column at each point."""
        found: Floats = np.bincount(self.places, np.nan_to_num(self.bins[name]), self.count).astype(
            np.float64
        )
        return found

    def largest(self, name: str) -> Floats:
        """Return the largest value of a column at each point, 0 without one."""
        found = np.zeros(self.count)
        np.maximum.at(found, self.places, np.nan_to_num(self.bins[name]))
        return found

    def held(self, name: str) -> Floats:
        """Return the last value of a column until each point."""
        rows = np.zeros(self.count, dtype=np.int64)
        np.maximum.at(rows, self.places, np.arange(len(self.places)))
        return np.nan_to_num(self.bins[name][np.maximum.accumulate(rows)])

    def interpolated(self, name: str) -> Floats:
        """Return a column's values, and between them a straight line; 0 without any."""
        values = self.bins[name]
        known = ~np.isnan(values)
        if not known.any():
            return np.zeros(self.count)
        found: Floats = np.interp(np.arange(self.count), self.places[known], values[known])
        return found

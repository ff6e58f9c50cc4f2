"""Time series reduced to as many points as a figure shows, without losing a peak."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["TimeGrid", "mean_at_each_sample"]

FloatArray = npt.NDArray[np.float64]


class TimeGrid:
    """The times at which all series of a run are drawn.

    Parameters
    ----------
    duration_s
        Of the run.
    sample_s
        Between two samples.
    max_points
        Of a series. A run with more samples is cut into half as many equal bins, of two points
        each.
    """

    def __init__(self, duration_s: float, sample_s: float, max_points: int) -> None:
        samples = max(1, math.ceil(duration_s / sample_s))
        self.is_exact = samples <= max_points
        self.bins = samples if self.is_exact else max_points // 2
        self.bin_s = sample_s if self.is_exact else duration_s / self.bins

    @property
    def time_s(self) -> FloatArray:
        """The times, s: those of the samples, or the middles of each bin's two halves."""
        if self.is_exact:
            return self.bin_s * np.arange(1, self.bins + 1, dtype=np.float64)
        return self.bin_s * (0.25 + 0.5 * np.arange(2 * self.bins, dtype=np.float64))

    def extremes(self, time_s: FloatArray, values: FloatArray) -> FloatArray:
        """Return each bin's smallest and largest value, in the order in which they occurred.

        Parameters
        ----------
        time_s, values
            Samples in order of time; NaN is a missing one.

        Returns
        -------
        array
            One value per time of `time_s`; NaN in a bin without samples.
        """
        starts, at, kept = self._bins_of(time_s, values)
        out = np.full((self.bins, 1 if self.is_exact else 2), np.nan)
        if kept.size:
            low = np.minimum.reduceat(kept, starts)
            high = np.maximum.reduceat(kept, starts)
            if self.is_exact:
                out[at, 0] = high
            else:
                rises = first_place(kept, starts, low) <= first_place(kept, starts, high)
                out[at, 0], out[at, 1] = np.where(rises, low, high), np.where(rises, high, low)
        return out.ravel()

    @property
    def middles_s(self) -> FloatArray:
        """The middle of each bin, s."""
        return self.bin_s * np.arange(0.5, self.bins, dtype=np.float64)

    def means(self, time_s: FloatArray, values: FloatArray) -> FloatArray:
        """Return each bin's mean, at `middles_s`: for rates, whose extremes are single bursts.

        A flow that ends before the run has no rate afterwards: of its last bin the samples with
        data count, if they fill half of it.
        """
        starts, at, kept = self._bins_of(time_s, values)
        out = np.full(self.bins, np.nan)
        if not kept.size:
            return out
        counts = np.diff(np.append(starts, kept.size))
        out[at] = np.add.reduceat(kept, starts) / counts
        last = kept[starts[-1] :]
        if at[-1] < self.bins - 1 and at.size > 1:
            sent = last[: 1 + np.max(np.flatnonzero(last), initial=-1)]
            out[at[-1]] = sent.mean() if 2 * sent.size >= np.median(counts[:-1]) else np.nan
        return out

    def _bins_of(
        self, time_s: FloatArray, values: FloatArray
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], FloatArray]:
        """Return where each bin's samples start, which bins have any, and the samples."""
        known = np.isfinite(values)
        kept = values[known]
        # A sample stands for the time before it: the one at the end belongs to the last bin.
        bins = np.clip(np.ceil(time_s[known] / self.bin_s - 1e-6) - 1, 0, self.bins - 1)
        at, starts = np.unique(bins.astype(np.intp), return_index=True)
        return starts, at, kept


def first_place(
    values: FloatArray, starts: npt.NDArray[np.intp], wanted: FloatArray
) -> npt.NDArray[np.intp]:
    """Return where in each bin the wanted value first occurs."""
    counts = np.diff(np.append(starts, values.size))
    places = np.where(values == np.repeat(wanted, counts), np.arange(values.size), values.size)
    found: npt.NDArray[np.intp] = np.minimum.reduceat(places, starts)
    return found


def mean_at_each_sample(time_s: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the flows that have a value at each time."""
    known = np.isfinite(values)
    times, which = np.unique(time_s[known], return_inverse=True)
    sums = np.bincount(which, weights=values[known], minlength=times.size)
    return times, sums / np.bincount(which, minlength=times.size)

"""How tcptrace's count of packets in flight differs from the kernel's (finding A5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.statistics import Interval, paired_difference

__all__ = ["COLUMNS", "Counts", "compare_counts"]

FloatArray = npt.NDArray[np.float64]

#: Columns of the flows' table: tcptrace's count, the kernel's, and retransmissions since the start.
COLUMNS = ("outstanding_pkts", "inflight_pkts", "retransmitted_pkts")


@dataclass(frozen=True)
class Counts:
    """The two counts over whole seconds of a flow's life.

    Attributes
    ----------
    lossy_seconds, quiet_seconds
        Seconds with and without retransmissions.
    excess_lossy, excess_quiet
        How far tcptrace's mean count is above the kernel's in those, relatively: 0.1 is a tenth.
    difference_pkts
        Tcptrace's count minus the kernel's in the seconds with retransmissions, with its interval
        over the seconds.
    """

    lossy_seconds: int
    quiet_seconds: int
    excess_lossy: float
    excess_quiet: float
    difference_pkts: Interval


def compare_counts(series: Iterable[tuple[FloatArray, ...]]) -> Counts:
    """Compare the two counts of several flows.

    Parameters
    ----------
    series
        For each flow, the time in s and the columns of `COLUMNS`.
    """
    parts = (by_second(*flow) for flow in series)
    lossy, outstanding, inflight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Counts(
        lossy_seconds=int(np.sum(lossy)),
        quiet_seconds=int(np.sum(~lossy)),
        excess_lossy=excess(outstanding[lossy], inflight[lossy]),
        excess_quiet=excess(outstanding[~lossy], inflight[~lossy]),
        difference_pkts=paired_difference(inflight[lossy], outstanding[lossy]).interval,
    )


def by_second(
    time_s: FloatArray, outstanding: FloatArray, inflight: FloatArray, retransmitted: FloatArray
) -> tuple[npt.NDArray[np.bool_], FloatArray, FloatArray]:
    """Return for each second whether it has retransmissions, and the mean of both counts.

    `retransmitted` counts from the start.
    """
    if time_s.size == 0:
        return np.zeros(0, dtype=bool), np.zeros(0), np.zeros(0)
    second = time_s.astype(int)
    starts = np.flatnonzero(np.diff(second, prepend=-1))
    samples = np.diff(starts, append=second.size)
    # A counter's growth from a second's first sample to that of the next, if there is one.
    grown = np.diff(retransmitted[starts], append=retransmitted[-1])
    return (
        grown > 0,
        np.add.reduceat(outstanding, starts) / samples,
        np.add.reduceat(inflight, starts) / samples,
    )


def excess(outstanding: FloatArray, inflight: FloatArray) -> float:
    """Return how far one mean is above the other, relatively."""
    below = float(np.sum(inflight))
    return float(np.sum(outstanding)) / below - 1 if below > 0 else 0.0

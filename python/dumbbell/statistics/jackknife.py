"""The interval of a figure that is not the mean of its repetitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dumbbell.statistics.interval import LEVEL, Interval
from dumbbell.statistics.mean_interval import student_interval

__all__ = ["jackknife_interval"]


def jackknife_interval(
    estimate: Callable[[Sequence[int]], float], count: int, level: float = LEVEL
) -> Interval:
    """Return a figure of repetitions with its interval, by leaving each of them out once.

    The pseudo-values n·θ - (n - 1)·θ_(-i) are treated as independent draws, whose standard error
    gives Student's interval around θ. For the mean it is exactly `mean_interval` of few values.

    Parameters
    ----------
    estimate
        The figure of some repetitions, which are given by their places from 0.
    count
        How many repetitions there are.
    level
        Confidence level, 0 to 1.

    References
    ----------
    Tukey: "Bias and confidence in not quite large samples", Annals of Mathematical Statistics
    29(2), 1958.
    """
    whole = estimate(range(count))
    if count < 2:
        return Interval(whole, -math.inf, math.inf, level, count, "too few")
    without = [estimate([n for n in range(count) if n != left_out]) for left_out in range(count)]
    pseudo = np.array([count * whole - (count - 1) * each for each in without])
    if np.ptp(pseudo) <= 1e-12:
        return Interval(whole, whole, whole, level, count, "all equal")
    half = student_interval(pseudo, level).half_width
    return Interval(whole, whole - half, whole + half, level, count, "jackknife")

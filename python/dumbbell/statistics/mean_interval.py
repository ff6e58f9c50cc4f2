"""The mean of repetitions with its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from dumbbell.statistics.interval import LEVEL, Interval, Values, known
from dumbbell.statistics.student_t import student_quantile

__all__ = [
    "MIN_BOOTSTRAP", "RESAMPLES", "SEED", "interval_within", "mean_interval", "student_interval",
]  # fmt: skip

#: Values from which on the bootstrap is used; below, resamples repeat too few values.
MIN_BOOTSTRAP = 10
#: Resamples: the ends of a 95 % interval are then the 250th of 9,999 from either side.
RESAMPLES = 9_999
#: Values that are resampled at a time: they and what is computed of them fit in a core's cache.
AT_A_TIME = 1 << 16
#: Values up to which their resamples are remembered.
FEW = 100
#: Seed of the resamples, the same in every call, so that equal values have equal intervals.
SEED = 20_260_101

FloatArray = npt.NDArray[np.float64]


def mean_interval(values: Values, level: float = LEVEL) -> Interval:
    """Return the mean of independent repetitions with its confidence interval.

    From 10 values on by the bootstrap of the studentized mean (bootstrap-t): with t* = (x̄* - x̄)/s*
    over resamples of the values, the interval is [x̄ - s·t*_{1-α/2}, x̄ - s·t*_{α/2}], s the
    standard error. For fewer, or if there are only two different values, by Student's t:
    x̄ ± s·t_{n-1, 1-α/2}. If all values are equal, the interval has no width.

    Parameters
    ----------
    values
        One per repetition; None and NaN are left out.
    level
        Confidence level, 0 to 1.

    Returns
    -------
    Interval
        `method` says how it was computed.

    References
    ----------
    Student: "The probable error of a mean", Biometrika 6, 1908. Efron, Tibshirani: "An introduction
    to the bootstrap", 1993, §12.5. docs/statistics.md says why it is not the BCa interval of §14.3.
    """
    x = np.asarray(known(values), dtype=np.float64)
    if x.size < MIN_BOOTSTRAP or np.unique(x).size < 3:
        return student_interval(x, level)
    mean, error = float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size)
    lower, upper = np.quantile(studentized_means(x), [(1 - level) / 2, (1 + level) / 2])
    return Interval(
        mean, mean - error * float(upper), mean - error * float(lower), level, x.size, "bootstrap-t"
    )


def student_interval(x: FloatArray, level: float = LEVEL) -> Interval:
    """Return the mean of values, all known, with its interval by Student's t."""
    n = x.size
    mean = float(x.mean()) if n else math.nan
    if n < 2:
        return Interval(mean, -math.inf, math.inf, level, n, "too few")
    if np.all(x == x[0]):
        return Interval(float(x[0]), float(x[0]), float(x[0]), level, n, "all equal")
    half = student_quantile(n - 1, (1 + level) / 2) * float(x.std(ddof=1)) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, level, n, "Student t")


def interval_within(values: Values, level: float = LEVEL) -> Interval:
    """Return the mean of values with its interval by Student's t, cut where it leaves the values.

    For bands over time, each point of which has a few values that are often skewed: with one
    outlier of ten, the bootstrap's interval reaches far beyond every value. A mean lies within the
    values, and so do the ends here.
    """
    x = np.asarray(known(values), dtype=np.float64)
    interval = student_interval(x, level)
    if not interval.bounded:
        return interval
    low, high = max(interval.low, float(x.min())), min(interval.high, float(x.max()))
    return replace(interval, low=low, high=high)


def studentized_means(x: FloatArray) -> FloatArray:
    """Return (x̄* - x̄)/s* of resamples of some values, except resamples without variance."""
    moments = [moments_of(x, some) for some in (few_picks if x.size <= FEW else picks)(x.size)]
    means, deviations = (np.concatenate(each) for each in zip(*moments, strict=True))
    errors = deviations / math.sqrt(x.size)
    # Leave out resamples of a single value, in which rounding errors may look like variance.
    spread = errors > 1e-12 * np.ptp(x)
    studentized: FloatArray = (means[spread] - x.mean()) / errors[spread]
    return studentized


def moments_of(x: FloatArray, some: npt.NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
    """Return the mean and the standard deviation of each of some resamples."""
    resamples = x.take(some, mode="clip")  # none is outside; other modes look twice
    means = resamples.mean(axis=1)
    return means, resamples.std(axis=1, ddof=1, mean=means[:, np.newaxis])


def picks(n: int) -> Iterator[npt.NDArray[np.intp]]:
    """Yield which of n values each resample holds, some resamples at a time."""
    random = np.random.default_rng(SEED)
    step = max(1, AT_A_TIME // n)
    for first in range(0, RESAMPLES, step):
        yield random.integers(0, n, (min(step, RESAMPLES - first), n))


@lru_cache(maxsize=32)
def few_picks(n: int) -> list[npt.NDArray[np.intp]]:
    """Return the same of few values: as many as each cell of a sweep has."""
    return list(picks(n))

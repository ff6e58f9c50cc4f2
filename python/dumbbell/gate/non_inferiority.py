"""Whether a metric worsened by more than its tolerance, or by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from dumbbell.gate.tolerance import Tolerance
from dumbbell.metrics.observation import FloatArray
from dumbbell.statistics.student_t import student_cdf

__all__ = ["Shift", "beyond_bound", "beyond_tolerance", "p_more_missing"]

#: With as many repetitions as `Shift.reps_to_settle` says, the chance that they settle it.
POWER = 0.8
#: More repetitions are not suggested.
MOST_REPS = 1000


@dataclass(frozen=True)
class Shift:
    """A mean that should not be above 0, and how well it is known.

    Attributes
    ----------
    mean
        The mean.
    squared_error
        Square of its standard error.
    freedom
        Degrees of freedom.
    reps
        Repetitions that it was measured with.
    """

    mean: float
    squared_error: float
    freedom: float
    reps: int

    @property
    def p(self) -> float:
        """How likely such values are if the true mean is 0: the one-sided p of Student's t."""
        # Rounding of equal values is not spread.
        if self.squared_error <= (1e-12 * self.mean) ** 2:
            return 0.0 if self.mean > 0 else 1.0
        return student_cdf(-self.mean / math.sqrt(self.squared_error), self.freedom)

    def reps_to_settle(self, level: float) -> int | None:
        """Return how many repetitions would likely bring p below a level.

        With n repetitions t is √(n / reps) times as large, if the mean and the spread stay the
        same; it has to exceed the quantile of `level` by that of the power, 0.8.

        Returns
        -------
        int or None
            None if the mean is not above 0, or more than 1,000 would be needed.
        """
        if self.mean <= 0 or self.squared_error <= 0 or self.reps < 2:
            return None
        t = self.mean / math.sqrt(self.squared_error)
        power = NormalDist().inv_cdf(POWER)
        for reps in range(self.reps, MOST_REPS + 1):
            freedom = self.freedom * (reps - 1) / (self.reps - 1)
            if student_cdf(power - t * math.sqrt(reps / self.reps), freedom) <= level:
                return reps
        return None


def beyond_tolerance(
    before: Sequence[float] | FloatArray,
    after: Sequence[float] | FloatArray,
    worse: Literal["higher", "lower"],
    tolerance: Tolerance,
    *,
    paired: bool,
) -> Shift | None:
    """Return by how much a metric worsened beyond its tolerance.

    The mean of s·(after - before) - (relative·|before| + absolute), where s is 1 if higher is worse
    and else -1. Paired: by Student's t, over the pairs. Not paired: by Welch's, with the tolerance
    on the baseline's side.

    Parameters
    ----------
    before, after
        A value per repetition; pairs in the same order.
    worse
        Which way is worse.
    tolerance
        How much worse it may become.
    paired
        Whether the repetitions had the same seeds.

    Returns
    -------
    Shift or None
        None with fewer than two values on a side.

    References
    ----------
    Non-inferiority by a shifted t test: Wellek, "Testing Statistical Hypotheses of Equivalence and
    Noninferiority", 2nd ed., 2010, §1.5. Welch, Biometrika 34, 1947.
    """
    sign = 1.0 if worse == "higher" else -1.0
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    allowed = sign * x + tolerance.relative * np.abs(x) + tolerance.absolute
    reps = min(x.size, y.size)
    if reps < 2:
        return None
    if paired:
        excess = sign * y - allowed
        return Shift(float(excess.mean()), float(excess.var(ddof=1)) / reps, reps - 1, reps)
    squares = [float(values.var(ddof=1)) / values.size for values in (sign * y, allowed)]
    mean, squared_error = float((sign * y).mean() - allowed.mean()), sum(squares)
    if squared_error == 0:
        return Shift(mean, 0.0, 1, reps)
    sizes = (y.size, x.size)
    freedom = squared_error**2 / sum(s**2 / (n - 1) for s, n in zip(squares, sizes, strict=True))
    return Shift(mean, squared_error, freedom, reps)


def beyond_bound(shortfalls: Sequence[float]) -> Shift:
    """Return by how much values miss a bound, from the shortfall of each."""
    x = np.asarray(shortfalls, dtype=np.float64)
    squared_error = float(x.var(ddof=1)) / x.size if x.size > 1 else 0.0
    return Shift(float(x.mean()), squared_error, max(x.size - 1, 1), x.size)


def p_more_missing(before: int, after: int, repetitions: tuple[int, int]) -> float:
    """Return how likely this many more missing values are: Fisher's exact test, one-sided.

    Parameters
    ----------
    before, after
        How many repetitions have no value.
    repetitions
        How many there are before and after.
    """
    if after == 0 or before * repetitions[1] >= after * repetitions[0]:
        return 1.0
    total, missing = sum(repetitions), before + after
    ways = sum(
        math.comb(missing, n) * math.comb(total - missing, repetitions[1] - n)
        for n in range(after, min(missing, repetitions[1]) + 1)
    )
    return ways / math.comb(total, repetitions[1])

"""Whether a metric became worse by more than its tolerance, or by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from dumbbell.gate.tolerance import Tolerance
from dumbbell.metrics.observation import FloatArray
from dumbbell.optional import optional

__all__ = ["p_beyond_bound", "p_more_missing", "p_worse"]


def p_worse(
    before: Sequence[float] | FloatArray,
    after: Sequence[float] | FloatArray,
    worse: Literal["higher", "lower"],
    tolerance: Tolerance,
    *,
    paired: bool,
) -> float:
    """Return how likely such values are if the metric did not worsen by more than the tolerance.

    One-sided t test of the mean of s·(after - before) - (relative·|before| + absolute), where s is
    1 when higher is worse and else -1. Paired: Student's, over the pairs. Not paired: Welch's, with
    the tolerance on the baseline's side. Without any spread the answer is 0 or 1.

    Parameters
    ----------
    before, after
        A value per repetition; those of one index are a pair if they are paired.
    worse
        Which way is worse.
    tolerance
        How much worse it may become.
    paired
        Whether the repetitions had the same seeds.

    Returns
    -------
    float
        The p value; 1 with fewer than two values on a side.

    References
    ----------
    Non-inferiority by a shifted t test: Wellek, "Testing Statistical Hypotheses of Equivalence and
    Noninferiority", 2nd ed., 2010, §1.5. Welch, Biometrika 34, 1947.
    """
    sign = 1.0 if worse == "higher" else -1.0
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    allowed = sign * x + tolerance.relative * np.abs(x) + tolerance.absolute
    if min(x.size, y.size) < 2:
        return 1.0
    if paired:
        excess = sign * y - allowed
        return p_above_zero(excess.mean(), excess.var(ddof=1) / excess.size, excess.size - 1)
    squares = [float(values.var(ddof=1)) / values.size for values in (sign * y, allowed)]
    mean, squared_error = float((sign * y).mean() - allowed.mean()), sum(squares)
    if squared_error == 0:
        return p_above_zero(mean, 0.0, 1)
    sizes = (y.size, x.size)
    freedom = squared_error**2 / sum(s**2 / (n - 1) for s, n in zip(squares, sizes, strict=True))
    return p_above_zero(mean, squared_error, freedom)


def p_beyond_bound(shortfalls: Sequence[float]) -> float:
    """Return how likely such shortfalls of a bound are if their mean is zero or less.

    Student's one-sided t test; with a single value, or without spread, 0 or 1.
    """
    x = np.asarray(shortfalls, dtype=np.float64)
    squared_error = float(x.var(ddof=1)) / x.size if x.size > 1 else 0.0
    return p_above_zero(float(x.mean()), squared_error, max(x.size - 1, 1))


def p_above_zero(mean: float, squared_error: float, freedom: float) -> float:
    """Return the one-sided p of a mean above 0."""
    # Rounding of equal values is no spread.
    if squared_error <= (1e-12 * mean) ** 2:
        return 0.0 if mean > 0 else 1.0
    special = optional("scipy.special", extra="gate", purpose="the gate's t test")
    return float(special.stdtr(freedom, -mean / math.sqrt(squared_error)))


def p_more_missing(before: int, after: int, repetitions: tuple[int, int]) -> float:
    """Return how likely so many more missing values are by chance: Fisher's exact test, one-sided.

    Parameters
    ----------
    before, after
        How many repetitions have no value.
    repetitions
        How many there are before and after.
    """
    if after == 0 or before * repetitions[1] >= after * repetitions[0]:
        return 1.0
    stats = optional("scipy.stats", extra="gate", purpose="the gate's exact test")
    total = sum(repetitions)
    return float(stats.hypergeom.sf(after - 1, total, before + after, repetitions[1]))

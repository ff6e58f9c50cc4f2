"""How two sets of repetitions differ in their means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.statistics.effect_size import effect_size
from dumbbell.statistics.interval import LEVEL, Interval, Values, known
from dumbbell.statistics.mean_interval import student_interval
from dumbbell.statistics.student_t import student_cdf, student_quantile

__all__ = ["Difference", "paired_difference", "unpaired_difference"]

#: Relative differences up to this are rounding errors.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Difference:
    """The mean of b minus that of a.

    Attributes
    ----------
    interval
        Of b - a.
    p
        Probability of a difference at least this far from 0, either way, if the true one is 0; None
        with fewer than two pairs, or two values on a side.
    effect
        `effect_size`: the difference in standard deviations; None where that is not defined,
        for lack of values or of spread.
    """

    interval: Interval
    p: float | None
    effect: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**self.interval.to_dict(), "p": self.p, "effect_size": self.effect}


def paired_difference(a: Values, b: Values, level: float = LEVEL) -> Difference:
    """Return the mean of b - a over pairs, with its interval.

    What a pair has in common, its seed and so the flows' starts, cancels in the difference.

    Parameters
    ----------
    a, b
        A value per pair, in the same order; a pair with None or NaN is left out.
    level
        Confidence level of the interval.

    Returns
    -------
    Difference
        Interval and p by Student's t of the differences, so that they agree; effect by
        `effect_size`. Not by the bootstrap: differences of pairs are rarely skewed and often have
        an outlier, which makes a studentized interval several times as wide.

    Raises
    ------
    ValueError
        a and b differ in length.
    """
    pairs = [
        (first, second)
        for first, second in zip(a, b, strict=True)
        if len(known([first, second])) == 2
    ]
    x, y = (np.array([pair[side] for pair in pairs], dtype=np.float64) for side in (0, 1))
    differences = y - x
    # Values that differ only by rounding are equal.
    differences[np.abs(differences) <= ROUNDING * np.maximum(np.abs(x), np.abs(y))] = 0
    n = differences.size
    interval = student_interval(differences, level)
    squared_error = float(np.var(differences, ddof=1)) / n if n > 1 else math.nan
    p = p_of_t(interval.mean, squared_error, n - 1) if n > 1 else None
    return Difference(interval, p, effect_size(np.zeros(n), differences))


def unpaired_difference(a: Values, b: Values, level: float = LEVEL) -> Difference:
    """Return the mean of b minus that of a, which are not paired, with its interval.

    By Welch's t, which does not require equal variances. The effect is `effect_size` without pairs.

    Parameters
    ----------
    a, b
        Values; None and NaN are left out.
    level
        Confidence level of the interval.

    References
    ----------
    Welch: "The generalization of 'Student's' problem when several different population variances
    are involved", Biometrika 34, 1947.
    """
    x, y = (np.array(known(values), dtype=np.float64) for values in (a, b))
    n = min(x.size, y.size)
    mean = float(y.mean() - x.mean()) if n else math.nan
    effect = effect_size(x, y, paired=False)
    if n < 2:
        return Difference(Interval(mean, -math.inf, math.inf, level, n, "too few"), None, effect)
    squares = [float(np.var(values, ddof=1)) / values.size for values in (x, y)]
    squared_error = sum(squares)
    if squared_error == 0:
        interval = Interval(mean, mean, mean, level, n, "all equal")
        return Difference(interval, p_of_t(mean, 0, 1), effect)
    freedom = squared_error**2 / sum(
        square**2 / (values.size - 1) for square, values in zip(squares, (x, y), strict=True)
    )
    half = student_quantile(freedom, (1 + level) / 2) * math.sqrt(squared_error)
    interval = Interval(mean, mean - half, mean + half, level, n, "Welch t")
    return Difference(interval, p_of_t(mean, squared_error, freedom), effect)


def p_of_t(mean: float, squared_error: float, freedom: float) -> float:
    """Return the two-sided p of a mean against 0; without variance it is 0 or 1."""
    if squared_error == 0:
        return 1.0 if mean == 0 else 0.0
    return 2 * student_cdf(-abs(mean) / math.sqrt(squared_error), freedom)

"""How large a difference is compared with the spread of the repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["cliffs_delta", "effect_size", "hedges_g"]

Values = Sequence[float] | npt.NDArray[np.float64]


def effect_size(a: Values, b: Values, *, paired: bool = True) -> float | None:
    """Return the difference b - a in standard deviations, corrected for few values.

    Paired, Cohen's d_z: the mean of the differences over their standard deviation. Unpaired,
    `hedges_g`. Both times Hedges' correction J = 1 - 3/(4·ν - 1), ν the degrees of freedom.
    0.2 is called small, 0.5 medium and 0.8 large; simulated pairs often differ by several.

    Parameters
    ----------
    a, b
        Values; a pair has the same index in both.
    paired
        Whether they are pairs.

    Returns
    -------
    float or None
        0 if nothing differs; None with fewer than two values, or without variance.

    References
    ----------
    Cohen: "Statistical power analysis for the behavioral sciences", 2nd ed. 1988, §2.3.5; Hedges:
    "Distribution theory for Glass's estimator of effect size and related estimators", 1981.
    """
    if not paired:
        return hedges_g(a, b)
    differences = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    if differences.size < 2:
        return None
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    return over_deviation(mean, deviation, differences.size - 1)


def hedges_g(a: Values, b: Values) -> float | None:
    """Hedges' g: (mean of b - mean of a) / pooled standard deviation, corrected for few values.

    References
    ----------
    Hedges 1981, as above.
    """
    x, y = (np.asarray(values, dtype=np.float64) for values in (a, b))
    freedom = x.size + y.size - 2
    if min(x.size, y.size) < 2:
        return None
    squares = float(np.sum((x - x.mean()) ** 2) + np.sum((y - y.mean()) ** 2))
    return over_deviation(float(y.mean() - x.mean()), math.sqrt(squares / freedom), freedom)


def over_deviation(mean: float, deviation: float, freedom: int) -> float | None:
    """Return mean / deviation with Hedges' correction; None without variance."""
    if mean == 0:
        return 0.0
    # Rounding errors of equal values are not variance.
    if deviation <= 1e-12 * abs(mean):
        return None
    return mean / deviation * (1 - 3 / (4 * freedom - 1))


def cliffs_delta(a: Values, b: Values) -> float | None:
    """Cliff's delta: P(b > a) - P(b < a) over all pairs of a value of each.

    -1 to 1; 1 if every b is above every a. It assumes nothing about the distributions.

    Returns
    -------
    float or None
        None if a side has no values.

    References
    ----------
    Cliff: "Dominance statistics: ordinal analyses to answer ordinal questions", 1993.
    """
    x, y = (np.asarray(values, dtype=np.float64) for values in (a, b))
    if not x.size or not y.size:
        return None
    return float(np.mean(np.sign(y[:, None] - x[None, :])))

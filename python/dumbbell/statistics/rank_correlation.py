"""Whether one quantity grows with another, for any shape of the curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["spearman"]


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's rank correlation: Pearson's of the ranks, ties sharing their mean rank.

    1 if y always grows with x, -1 if it always falls, 0 if all values on a side are equal.

    References
    ----------
    Spearman: "The proof and measurement of association between two things", 1904.
    """
    a, b = mean_ranks(x), mean_ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sum(a * b)) / scale if scale > 0 else 0.0


def mean_ranks(values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Rank values from 0; equal ones get the mean of their ranks."""
    x = np.asarray(values, dtype=np.float64)
    below = np.sum(x[None, :] < x[:, None], axis=1)
    equal = np.sum(x[None, :] == x[:, None], axis=1)
    ranks: npt.NDArray[np.float64] = below + (equal - 1) / 2
    return ranks

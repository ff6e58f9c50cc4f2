"""Correction for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p values so that the chance of any false alarm among them stays below a level.

    Step down: the i-th smallest of m is multiplied by m - i + 1; none falls below the one before
    it, and none exceeds 1. It is valid however the comparisons depend on one another.

    Parameters
    ----------
    p_values
        One per comparison.

    Returns
    -------
    list of float
        Adjusted, in the same order, to be compared with the level itself, 0.05.

    References
    ----------
    Holm: "A simple sequentially rejective multiple test procedure", Scand. J. Statistics 6, 1979.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted

"""Jain's fairness index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["jain"]


def jain(rates: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Jain's fairness index, (Σx)² / (n·Σx²).

    1 when all are equal, 1/n when one has everything. Nothing to share (all zero) counts as equal.

    Parameters
    ----------
    rates
        One rate per flow.

    References
    ----------
    Jain, Chiu, Hawe: "A quantitative measure of fairness and discrimination", DEC-TR-301, 1984;
    RFC 5166 §2.3.1 and RFC 9743 §5 use it for congestion control.
    """
    x = np.asarray(rates, dtype=np.float64)
    squares = float(np.sum(x * x))
    return 1.0 if squares == 0 else float(np.sum(x)) ** 2 / (x.size * squares)

"""Jain's fairness index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dumbbell.statistics.mean import IN_ORDER, sum_of

if TYPE_CHECKING:
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
    if isinstance(rates, list) and len(rates) < IN_ORDER:
        squares = sum_of([rate * rate for rate in rates])
    else:
        import numpy as np

        rates = np.asarray(rates, dtype=np.float64)
        squares = sum_of(rates * rates)
    return 1.0 if squares == 0 else sum_of(rates) ** 2 / (len(rates) * squares)

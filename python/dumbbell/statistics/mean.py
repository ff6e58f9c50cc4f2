"""The mean of a few numbers, and a share of a total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["mean", "share", "sum_of"]

#: Fewer numbers numpy adds one after the other; more in another order, with another last digit.
IN_ORDER = 8


def mean(values: Sequence[float] | npt.NDArray[np.float64]) -> float | None:
    """Mean, Σx / n; None without values.

    The same as `numpy.mean` without its checks, which take longer than a run's few flows; every run
    is measured.
    """
    return sum_of(values) / len(values) if len(values) else None


def sum_of(values: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Sum, the same as `numpy.sum`; of a list of few numbers without numpy, which loads slowly."""
    if isinstance(values, list) and len(values) < IN_ORDER:
        total = 0.0
        for value in values:
            total += value
        return total
    import numpy as np

    return float(np.add.reduce(np.asarray(values, dtype=np.float64)))


def share(part: float, total: float) -> float:
    """Part of a total, 0 to 1: part / total, and 0 when there is no total."""
    return part / total if total > 0 else 0.0

"""The mean of a few numbers, and a part of a total."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["mean", "share"]


def mean(values: Sequence[float] | npt.NDArray[np.float64]) -> float | None:
    """Mean, Σx / n; None of nothing.

    What `numpy.mean` computes, without the questions that it asks first: they take longer than
    the values of a run's flows, and every run is measured.
    """
    x = np.asarray(values, dtype=np.float64)
    return float(np.add.reduce(x) / x.size) if x.size else None


def share(part: float, total: float) -> float:
    """Part of a total, 0 to 1: part / total, and 0 when there is no total."""
    return part / total if total > 0 else 0.0

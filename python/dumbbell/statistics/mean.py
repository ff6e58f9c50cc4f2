"""The mean of a few numbers, and a share of a total."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["mean", "share"]


def mean(values: Sequence[float] | npt.NDArray[np.float64]) -> float | None:
    """Mean, Σx / n; None without values.

    The same as `numpy.mean` without its checks, which take longer than a run's few flows; every run
    is measured.
    """
    x = np.asarray(values, dtype=np.float64)
    return float(np.add.reduce(x) / x.size) if x.size else None


def share(part: float, total: float) -> float:
    """Part of a total, 0 to 1: part / total, and 0 when there is no total."""
    return part / total if total > 0 else 0.0

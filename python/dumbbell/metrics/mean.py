"""The mean of a few numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["mean"]


def mean(values: Sequence[float] | npt.NDArray[np.float64]) -> float | None:
    """Mean, Σx / n; None of nothing.

    What `numpy.mean` computes, without the questions that it asks first: they take longer than
    the values of a run's flows, and every run is measured.
    """
    x = np.asarray(values, dtype=np.float64)
    return float(np.add.reduce(x) / x.size) if x.size else None

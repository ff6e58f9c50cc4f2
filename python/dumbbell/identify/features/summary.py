"""Summaries of samples that may be few."""

from __future__ import annotations

import numpy as np

from dumbbell.identify.floats import Floats

__all__ = ["log_ratio", "median", "quantiles"]


def median(values: Floats) -> float:
    """Return the median; NaN of nothing."""
    return float(np.median(values)) if len(values) else float("nan")


def quantiles(values: Floats, at: tuple[float, ...]) -> list[float]:
    """Return quantiles; NaN of nothing."""
    if not len(values):
        return [float("nan")] * len(at)
    return [float(value) for value in np.quantile(values, at)]


def log_ratio(above: Floats | float, below: Floats | float, least: float) -> Floats:
    """Return the logarithm of a ratio; neither term counts as less than ``least``."""
    found: Floats = np.log(np.maximum(above, least) / np.maximum(below, least))
    return found

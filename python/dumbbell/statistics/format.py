"""Repetitions as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.statistics.interval import Interval
from dumbbell.statistics.mean_interval import mean_interval

__all__ = ["MIN_INTERVAL", "mean_and_interval", "write_interval"]

#: Fewest repetitions for which an interval is written; of two, it would be ±12.7 standard errors.
MIN_INTERVAL = 3


def mean_and_interval(values: Sequence[float], digits: int = 2) -> str:
    """Return the mean of repetitions as text, from three on with its 95 % interval.

    ``2.00`` for one, ``2.00 (1.00–3.00)`` with both values for two, and `write_interval` for more.
    """
    if len(values) >= MIN_INTERVAL:
        return write_interval(mean_interval(values), digits)
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def write_interval(interval: Interval, digits: int = 2) -> str:
    """Return an interval as text: ``2.00 ± 0.30``, or with its ends if it is not symmetric.

    ``2.00 ± <0.01`` is one that the digits cannot say, ``2.00 ± 0.00`` that of equal values.
    ``2.00 [1.71, 2.40]`` is an interval by the bootstrap, which follows the skew of the values.
    """
    mean = f"{interval.mean:.{digits}f}"
    if not interval.bounded:
        return mean
    if interval.method == "bootstrap-t":
        return f"{mean} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
    half_width = f"{interval.half_width:.{digits}f}"
    if interval.half_width > 0 and float(half_width) == 0:
        half_width = f"<{10**-digits:.{digits}f}"
    return f"{mean} ± {half_width}"

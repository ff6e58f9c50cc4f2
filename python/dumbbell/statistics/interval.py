"""A mean with its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["LEVEL", "Interval", "Values", "known"]

#: A value per repetition; None and NaN if a run has no value.
Values: TypeAlias = Iterable[float | None] | npt.NDArray[np.float64]

#: Default confidence level.
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval.

    Attributes
    ----------
    mean
        Of the values; NaN if there are none.
    low, high
        Ends of the interval; -inf and inf for fewer than two values, which have no known spread.
    level
        Confidence level, 0 to 1.
    n
        Number of values.
    method
        How it was computed: ``Student t``, ``bootstrap-t``, ``bootstrap``, ``jackknife``,
        ``all equal`` or ``too few``.
    """

    mean: float
    low: float
    high: float
    level: float
    n: int
    method: str

    @property
    def bounded(self) -> bool:
        """Whether it has ends: two values or more."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half the distance of the ends; inf without ends."""
        return (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        """Whether a value is outside."""
        return not self.low <= value <= self.high

    def scaled(self, factor: float) -> Interval:
        """Return it in another unit: `factor` is above 0."""
        return Interval(
            self.mean * factor, self.low * factor, self.high * factor,
            self.level, self.n, self.method,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON, with None for what is not finite."""
        ends = {
            key: value if math.isfinite(value) else None
            for key, value in (("mean", self.mean), ("low", self.low), ("high", self.high))
        }
        return {**ends, "level": self.level, "n": self.n, "method": self.method}


def known(values: Values) -> list[float]:
    """Return the values that are neither None nor NaN."""
    return [float(value) for value in values if value is not None and not math.isnan(value)]

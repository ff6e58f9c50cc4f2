"""A mean, and where the true one is likely to be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["LEVEL", "Interval", "Values", "known"]

#: A value per repetition; None and NaN where a run has no value.
Values: TypeAlias = Iterable[float | None] | npt.NDArray[np.float64]

#: Confidence level of every interval that says no other.
LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval.

    Attributes
    ----------
    mean
        Of the values; NaN when there is none.
    low, high
        Ends of the interval; -inf and inf when there are fewer than two values, which say nothing
        of how far the next one would be.
    level
        Confidence level, 0 to 1.
    n
        How many values.
    method
        How it was found: ``Student t``, ``bootstrap-t``, ``all equal`` or ``too few``.
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
        """Half the distance of the ends; inf without."""
        return (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        """Whether a value lies outside."""
        return not self.low <= value <= self.high

    def scaled(self, factor: float) -> Interval:
        """Return it in another unit: `factor` is above 0."""
        return Interval(
            self.mean * factor, self.low * factor, self.high * factor,
            self.level, self.n, self.method,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON: what is not finite is None."""
        ends = {
            key: value if math.isfinite(value) else None
            for key, value in (("mean", self.mean), ("low", self.low), ("high", self.high))
        }
        return {**ends, "level": self.level, "n": self.n, "method": self.method}


def known(values: Values) -> list[float]:
    """Return the values that are there: not None and not NaN."""
    return [float(value) for value in values if value is not None and not math.isnan(value)]

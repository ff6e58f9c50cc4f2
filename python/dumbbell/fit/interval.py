"""A value that is not known exactly."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Interval"]


@dataclass(frozen=True)
class Interval:
    """A value, and where it lies with a probability of 90 %."""

    low: float
    value: float
    high: float

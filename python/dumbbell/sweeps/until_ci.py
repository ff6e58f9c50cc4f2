"""Repeat until a metric's confidence interval is tight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.errors import ScenarioError, nearest
from dumbbell.metrics import METRICS
from dumbbell.statistics import mean_interval

__all__ = ["MIN_REPS", "Tightness", "check_metric"]

#: Fewer say next to nothing of their own spread.
MIN_REPS = 5


@dataclass(frozen=True)
class Tightness:
    """How far a confidence interval may reach to each side of its mean.

    Attributes
    ----------
    limit
        Part of the mean if `is_relative`, else in the metric's unit.
    is_relative
        Whether it was written as a percentage.
    """

    limit: float
    is_relative: bool

    @classmethod
    def parse(cls, text: str) -> Tightness:
        """Read ``2%``, of the mean, or ``0.01``, in the metric's unit.

        Raises
        ------
        ScenarioError
            It is neither, or not above zero.
        """
        number, percent, rest = str(text).strip().partition("%")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if rest or not 0 < value < math.inf:
            raise ScenarioError(
                f"until-ci `{text}` is no limit; say `2%` of the mean, or a number in the "
                "metric's unit",
                key="until_ci",
            )
        return cls(value / 100 if percent else value, bool(percent))

    def more(self, values: Sequence[Sequence[float | None]], most: int) -> int:
        """Return how many repetitions to add; 0 when every interval is tight.

        The width falls as 1/sqrt(n), so n·(width/limit)² repetitions are likely to do; at most as
        many again are added at a time, for the first estimate is a rough one.

        Parameters
        ----------
        values
            The metric's, of each group, one per repetition; None where there is none.
        most
            How many may be added.
        """
        wanted = 0
        for of_group in values:
            known = [value for value in of_group if value is not None]
            if not known:
                continue  # no run has this metric, and no other one will
            n, excess = len(of_group), self.excess(known)
            if excess > 1:
                likely = n * excess**2 if math.isfinite(excess) else math.inf
                wanted = max(wanted, math.ceil(min(likely, 2 * n)) - n, 1)
        return min(wanted, most)

    def excess(self, values: Sequence[float]) -> float:
        """Return the interval's half width over what it may be; at most 1 when it is tight."""
        interval = mean_interval(values)
        half = max(interval.high - interval.mean, interval.mean - interval.low)
        limit = self.limit * abs(interval.mean) if self.is_relative else self.limit
        if half == 0:
            return 0.0
        return half / limit if limit > 0 else math.inf


def check_metric(name: str) -> None:
    """Refuse a metric that there is not."""
    if name not in METRICS:
        raise ScenarioError(f"unknown metric `{name}`{nearest(name, METRICS)}", key="metric")

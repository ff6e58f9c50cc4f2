"""Repeat until a metric's confidence interval is narrow enough."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.quantity import NUMBER
from dumbbell.metrics import METRICS
from dumbbell.statistics import mean_interval

__all__ = ["MIN_REPS", "Precision"]

#: Fewer hardly show their spread.
MIN_REPS = 5


@dataclass(frozen=True)
class Precision:
    """How far a confidence interval may extend to each side of its mean.

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
    def parse(cls, text: str, metric: str) -> Precision:
        """Read ``2%``, of the mean, or ``0.5Mbit/s``, in a unit of the metric.

        A number alone is a limit only of a metric without unit: ``0.01`` of Jain's index.

        Raises
        ------
        ScenarioError
            It is neither, or not positive.
        """
        scales = scales_of(metric)
        match = NUMBER.fullmatch(text)
        value = 0.0 if match is None else float(match[1])
        unit = "" if match is None else match[2]
        if not 0 < value < math.inf or unit not in {"%", *scales}:
            *_, shown = scales
            width = f"a width in {shown}, like `0.5{shown}`" if shown else "a width, like `0.01`"
            raise ScenarioError(
                f"invalid until-ci `{text}`: use `2%` of the mean, or {width}", key="until_ci"
            )
        return cls(value / 100 if unit == "%" else value * scales[unit], unit == "%")

    def more(self, values: Sequence[Sequence[float | None]], most: int) -> int:
        """Return how many repetitions to add; 0 if every interval is narrow enough.

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


def scales_of(metric: str) -> dict[str, float]:
    """Return the units that a metric's limit may have, the one of tables last, in its own unit."""
    known = METRICS[metric]
    if known.unit == "1":
        return {"": 1.0}  # `%` is of the mean, also where tables show another
    return {known.unit: 1.0} | ({known.shown_unit: 1 / known.scale} if known.shown_unit else {})

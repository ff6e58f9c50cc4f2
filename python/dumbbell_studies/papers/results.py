"""Measurements of a paper's runs, by point and seed, and curves of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from dumbbell.figures import Curve, style_of
from dumbbell.metrics import METRICS, Observation, Warmup
from dumbbell.run import Run, worst

__all__ = ["Results", "group_values"]

#: A run's point in a paper's experiment, and what is measured of it.
P = TypeVar("P", bound=Hashable)
M = TypeVar("M")


def group_values(run: Run, group: int = 0, warmup: Warmup | None = None) -> Callable[[str], float]:
    """Return a function from a metric's name to its value for a group of a run.

    Unknown values are NaN. A metric of the whole run has the same value for every group.
    """
    obs = Observation(run, warmup)

    def value(name: str) -> float:
        found = METRICS[name].observe(obs)
        if isinstance(found, list):
            found = found[group]
        return math.nan if found is None else float(found)

    return value


class Results(Generic[P, M]):
    """All measurements; a point has one for each seed.

    Parameters
    ----------
    measured
        By point, one for each seed.
    runs
        The runs themselves, in the same order.
    """

    def __init__(
        self,
        measured: Mapping[P, Sequence[M]],
        runs: Mapping[P, Sequence[Run]] | None = None,
    ) -> None:
        self.measured = dict(measured)
        self.runs = dict(runs or {})

    def __contains__(self, point: P) -> bool:
        """Whether a point was run."""
        return point in self.measured

    @property
    def seeds(self) -> int:
        """How many seeds every point has."""
        return min((len(values) for values in self.measured.values()), default=0)

    def repetitions(self, points: Iterable[P] | None = None) -> list[dict[P, M]]:
        """Return the measurements at some points, or at all of them, by seed."""
        wanted = [point for point in points or self.measured if point in self.measured]
        seeds = min((len(self.measured[point]) for point in wanted), default=0)
        return [{point: self.measured[point][i] for point in wanted} for i in range(seeds)]

    def values(self, point: P, what: Callable[[M], float]) -> list[float]:
        """Return a value of each seed."""
        return [what(measured) for measured in self.measured[point]]

    def mean(self, point: P, what: Callable[[M], float]) -> float:
        """Return the mean over the seeds."""
        return float(np.mean(self.values(point, what)))

    def verdict(self, *points: P) -> str:
        """Return the worst verdict of the runs at some points."""
        return worst([run.verdict.status for point in points for run in self.runs.get(point, ())])

    def curve(
        self,
        cc: str,
        at: Sequence[float],
        points: Sequence[P],
        what: Callable[[M], float],
        *,
        label: str = "",
        color: str = "",
        dashed: bool = False,
    ) -> Curve:
        """Return the means at some points as a curve, with bars from the smallest to the largest.

        Parameters
        ----------
        cc
            The congestion control algorithm that gives the curve its name, colour and marker.
        at
            Each point's position on the x axis.
        points, what
            The points, and the value that is drawn.
        label, color, dashed
            Replace those of the congestion control algorithm.
        """
        seeds = [self.values(point, what) for point in points]
        several = all(len(values) > 1 for values in seeds)
        style = style_of(cc)
        return Curve(
            label or style.label,
            np.array(at, dtype=float),
            np.array([np.mean(values) for values in seeds]),
            color or style.color,
            style.marker,
            low=np.array([min(values) for values in seeds]) if several else None,
            high=np.array([max(values) for values in seeds]) if several else None,
            dashed=dashed,
        )

    def bars(self, *points: P) -> str:
        """Return the caption's text on error bars, or why there are none."""
        seeds = min((len(self.measured[point]) for point in points), default=self.seeds)
        if seeds > 1:
            return f"Mean of {seeds} seeds; bars: smallest and largest."
        return "One seed, so there are no error bars; `--seeds 10` gives them."

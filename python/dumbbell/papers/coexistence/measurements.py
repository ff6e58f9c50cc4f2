"""What the experiment measures, from our runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dumbbell.papers.coexistence.points import Point
from dumbbell.run import Run
from dumbbell.run.groups import sum_known

__all__ = ["Measured", "Measurements"]


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes
    ----------
    bbr_mbps, cubic_mbps
        Goodput; 0 of a CUBIC that is not there.
    rtos
        Retransmission timeouts of both; NaN where a kernel does not count them.
    verdict
        OK, WARN or INVALID.
    """

    bbr_mbps: float
    cubic_mbps: float
    rtos: float
    verdict: str

    @property
    def total_mbps(self) -> float:
        """Both together."""
        return self.bbr_mbps + self.cubic_mbps


class Measurements:
    """All runs, by point; a value is the mean over the repetitions.

    Parameters
    ----------
    runs
        By the names of `points.Point.run_name`.
    """

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self.measured: dict[Point, list[Measured]] = {}
        for run in runs.values():
            self.measured.setdefault(point_of(run), []).append(measure(run))

    @property
    def buffers(self) -> tuple[float, ...]:
        """The buffers that were run, smallest first."""
        return tuple(sorted({point.buffer_bdp for point in self.measured}))

    def values(self, point: Point, what: Callable[[Measured], float]) -> list[float]:
        """Return a value of each repetition."""
        return [what(measured) for measured in self.measured[point]]

    def means(self, what: Callable[[Measured], float], *, with_cubic: bool) -> list[float]:
        """Return the mean over the repetitions at each buffer."""
        return [
            float(np.mean(self.values(Point(with_cubic, buffer), what))) for buffer in self.buffers
        ]


def point_of(run: Run) -> Point:
    """Return where a run lies."""
    return Point(len(run.scenario.groups) > 1, float(run.scenario.buffer.amount))


def measure(run: Run) -> Measured:
    """Measure a run."""
    flows = run.summary["flows"]
    mbps = [flow["goodput_bps"] / 1e6 for flow in flows]
    rtos = sum_known(flow["rto_count"] for flow in flows)
    return Measured(
        bbr_mbps=mbps[0],
        cubic_mbps=mbps[1] if len(mbps) > 1 else 0.0,
        rtos=float("nan") if rtos is None else rtos,
        verdict=run.verdict.status,
    )

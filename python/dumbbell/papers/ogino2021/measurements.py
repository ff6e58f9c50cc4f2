"""What the paper measures, from our runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dumbbell.papers.ogino2021.in_flight import Counts, compare_counts
from dumbbell.papers.ogino2021.points import Point
from dumbbell.run import Run
from dumbbell.run.groups import sum_known
from dumbbell.run.series import share_of_time

__all__ = ["COPA", "RIVAL", "Kind", "Measured", "Measurements"]

#: Groups of every run.
COPA, RIVAL = 0, 1


@dataclass(frozen=True)
class Kind:
    """The flows of one kind in one run.

    Attributes
    ----------
    throughput_mbps
        Mean of the flows' goodput.
    rtt_mean_ms, rtt_max_ms
        Mean and largest RTT.
    outstanding_pkts
        Mean per flow of tcptrace's inflight.
    rto_count
        Of all flows; NaN where a kernel does not count them.
    rwnd_limited_share
        Share of the flows' time in which the receive window limited them.
    retransmitted_pkts
        Of all flows.
    """

    throughput_mbps: float
    rtt_mean_ms: float
    rtt_max_ms: float
    outstanding_pkts: float
    rto_count: float
    rwnd_limited_share: float
    retransmitted_pkts: int = 0


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes
    ----------
    copa, rival
        Either kind's flows.
    default_share
        Share of the time, of all its flows, that Copa was in default mode.
    verdict
        OK, WARN or INVALID.
    counts
        How tcptrace's count of Copa's packets in flight differs from the kernel's; None where the
        paper says nothing of it.
    """

    copa: Kind
    rival: Kind
    default_share: float
    verdict: str
    counts: Counts | None = None

    @property
    def total_mbps(self) -> float:
        """Throughput of a pair: one flow of each kind."""
        return self.copa.throughput_mbps + self.rival.throughput_mbps

    @property
    def competitive_share(self) -> float:
        """Share of the time that Copa was not in default mode."""
        return 1 - self.default_share

    @property
    def rival_share(self) -> float:
        """Share of the throughput that Copa's rival got."""
        return self.rival.throughput_mbps / self.total_mbps if self.total_mbps else 0.0


class Measurements:
    """All runs, by point; a value is the mean over the seeds.

    Parameters
    ----------
    runs
        By the names of `points.Point.run_name`.
    """

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self.runs: dict[Point, list[Run]] = {}
        for run in runs.values():
            self.runs.setdefault(point_of(run), []).append(run)

    @cached_property
    def measured(self) -> dict[Point, list[Measured]]:
        """What was measured in each run of each point."""
        return {point: [measure(run) for run in runs] for point, runs in self.runs.items()}

    def repetitions(self) -> list[dict[Point, Measured]]:
        """Return the measurements by seed: each is one repetition of the experiment."""
        count = min((len(runs) for runs in self.measured.values()), default=0)
        return [{point: runs[i] for point, runs in self.measured.items()} for i in range(count)]

    def buffers(self, rival: str, n: int) -> tuple[float, ...]:
        """Return the buffers of a pair that were run, smallest first."""
        return tuple(sorted(p.buffer_bdp for p in self.runs if (p.rival, p.n) == (rival, n)))

    def values(self, point: Point, what: Callable[[Measured], float]) -> list[float]:
        """Return a value of each seed's run."""
        return [what(measured) for measured in self.measured[point]]

    def mean(self, point: Point, what: Callable[[Measured], float]) -> float:
        """Return the mean over the seeds."""
        return float(np.mean(self.values(point, what)))

    def means(
        self, rival: str, n: int, buffers: Iterable[float], what: Callable[[Measured], float]
    ) -> list[float]:
        """Return the mean over the seeds at each buffer."""
        return [self.mean(Point(rival, n, buffer), what) for buffer in buffers]


def point_of(run: Run) -> Point:
    """Return where a run lies."""
    copa, rival = run.scenario.groups
    return Point(rival.cc.name, copa.flows, float(run.scenario.buffer.amount))


def measure(run: Run) -> Measured:
    """Measure a run."""
    kinds = [
        measure_kind([flow for flow in run.summary["flows"] if flow["group"] == group])
        for group in (COPA, RIVAL)
    ]
    return Measured(
        copa=kinds[COPA],
        rival=kinds[RIVAL],
        default_share=share_of_time(run, COPA, "mode", "default"),
        verdict=run.verdict.status,
        counts=compare_counts([run], COPA) if point_of(run)[:2] == ("cubic", 1) else None,
    )


def measure_kind(flows: list[dict[str, Any]]) -> Kind:
    """Measure the flows of one kind."""
    lifetime_us = sum(flow["end_us"] - flow["start_us"] for flow in flows)
    rto_count = sum_known(flow["rto_count"] for flow in flows)
    return Kind(
        throughput_mbps=float(np.mean([flow["goodput_bps"] for flow in flows])) / 1e6,
        rtt_mean_ms=float(np.mean([flow["rtt_mean_us"] for flow in flows])) / 1e3,
        rtt_max_ms=max(flow["rtt_max_us"] for flow in flows) / 1e3,
        outstanding_pkts=float(np.mean([flow["outstanding_mean_pkts"] for flow in flows])),
        rto_count=math.nan if rto_count is None else rto_count,
        rwnd_limited_share=sum(flow["rwnd_limited_us"] for flow in flows) / max(lifetime_us, 1),
        retransmitted_pkts=sum(flow["retransmitted_pkts"] for flow in flows),
    )

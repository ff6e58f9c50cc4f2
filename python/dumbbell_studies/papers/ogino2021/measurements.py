"""What is measured of a run."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.run import Run
from dumbbell_studies.papers.inflight_counts import COLUMNS, Counts, compare_counts
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP, COPA, RIVAL, Point
from dumbbell_studies.papers.results import Results, group_values
from dumbbell_studies.papers.series import first_flow, flow_series, share_of_time

__all__ = ["Kind", "Measured", "measure", "points_of"]


@dataclass(frozen=True)
class Kind:
    """The flows of one kind in one run.

    Attributes
    ----------
    mbps
        Mean goodput of the flows.
    rtt_ms
        Mean RTT.
    outstanding_pkts
        Mean per flow of tcptrace's inflight.
    rtos
        Retransmission timeouts of all flows; NaN where a kernel does not count them.
    rwnd_limited
        Share of the flows' time in which the receive window limited them.
    resent_pkts
        Retransmissions of all flows.
    """

    mbps: float
    rtt_ms: float
    outstanding_pkts: float
    rtos: float = 0.0
    rwnd_limited: float = 0.0
    resent_pkts: float = 0.0


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes
    ----------
    copa, rival
        Either kind's flows.
    default_share
        Share of the time, of all its flows, that Copa was in default mode.
    counts
        How tcptrace's count of Copa's packets in flight differs from the kernel's; None where the
        paper does not speak of it.
    """

    copa: Kind
    rival: Kind
    default_share: float
    counts: Counts | None = None

    @property
    def total_mbps(self) -> float:
        """Throughput of a pair: one flow of each kind."""
        return self.copa.mbps + self.rival.mbps

    @property
    def competitive_share(self) -> float:
        """Share of the time that Copa was not in default mode."""
        return 1 - self.default_share

    @property
    def rival_share(self) -> float:
        """Share of the throughput that Copa's rival got."""
        return self.rival.mbps / self.total_mbps if self.total_mbps else 0.0


def measure(point: Point, run: Run) -> Measured:
    """Measure a run."""
    copa, rival = (measure_kind(run, group) for group in (COPA, RIVAL))
    counts = None
    if (point.rival, point.n) == ("cubic", 1):
        counts = compare_counts([flow_series(run, first_flow(run, COPA), *COLUMNS)])
    return Measured(copa, rival, share_of_time(run, COPA, "mode", "default"), counts)


def measure_kind(run: Run, group: int) -> Kind:
    """Measure the flows of one kind."""
    metric = group_values(run, group)
    return Kind(
        mbps=metric("goodput_per_flow_bps") / 1e6,
        rtt_ms=metric("rtt_mean_us") / 1e3,
        outstanding_pkts=metric("outstanding_mean_pkts") / run.scenario.groups[group].flows,
        rtos=metric("rto_count"),
        rwnd_limited=metric("rwnd_limited_share"),
        resent_pkts=run.groups[group]["retransmitted_pkts"],
    )


def points_of(results: Results[Point, Measured], rival: str, n: int) -> list[Point]:
    """Return the points of a pair that were run, smallest buffer first."""
    return [Point(rival, n, b) for b in BUFFERS_BDP if Point(rival, n, b) in results]

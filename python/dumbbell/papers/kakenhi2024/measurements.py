"""What the report measures, from our runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dumbbell.metrics import jain
from dumbbell.papers.kakenhi2024.points import Alone, Interval, Mixed
from dumbbell.run import Run
from dumbbell.series import flow_series

__all__ = ["AloneMeasured", "IntervalMeasured", "Measurements", "MixedMeasured"]

#: Jain's index is over this last part of a run: C2's "fairness between flows", not their start-up.
LATE_S = 60.0
#: A lone flow has filled the link when a second's goodput is this much of the link.
FILLED = 0.9


@dataclass(frozen=True)
class AloneMeasured:
    """A run of one congestion control alone.

    Attributes
    ----------
    queue_delay_ms
        Mean queueing delay of the packets.
    drop_pct
        Packets dropped of those offered to the bottleneck.
    utilization
        Of the link, start-up included.
    jain
        Of the flows' goodput over the last 60 s.
    filled_s
        When a second first saw nine tenths of the link as goodput; NaN if none did.
    verdict
        OK, WARN or INVALID.
    """

    queue_delay_ms: float
    drop_pct: float
    utilization: float
    jain: float
    filled_s: float
    verdict: str


@dataclass(frozen=True)
class IntervalMeasured:
    """A CUBIC flow of a run, between its first loss and its last.

    Attributes
    ----------
    interval_s
        Mean time between two losses.
    rtt_s
        Mean RTT.
    rate_pkts_per_s
        Goodput, in segments.
    """

    interval_s: float
    rtt_s: float
    rate_pkts_per_s: float


@dataclass(frozen=True)
class MixedMeasured:
    """A run against CUBIC.

    Attributes
    ----------
    of_fair
        Goodput of one of the rival's flows over an equal share: 1 is fair.
    queue_delay_ms
        Mean queueing delay.
    verdict
        OK, WARN or INVALID.
    """

    of_fair: float
    queue_delay_ms: float
    verdict: str


class Measurements:
    """All runs, by point; a value is the mean over the seeds.

    Parameters
    ----------
    runs
        By the names of the points' `run_name`.
    """

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self.alone: dict[Alone, list[AloneMeasured]] = {}
        self.intervals: dict[Interval, list[IntervalMeasured]] = {}
        self.mixed: dict[Mixed, list[MixedMeasured]] = {}
        for name, run in runs.items():
            kind, rest = name.split("-", 1)
            if kind == "alone":
                self.alone.setdefault(alone_point(rest), []).append(measure_alone(run))
            elif kind == "interval":
                self.intervals.setdefault(interval_point(rest), []).extend(measure_intervals(run))
            else:
                self.mixed.setdefault(mixed_point(rest), []).append(measure_mixed(run))

    def alone_mean(self, point: Alone, what: Callable[[AloneMeasured], float]) -> float:
        """Return the mean over the seeds."""
        return float(np.mean([what(measured) for measured in self.alone[point]]))

    def flow_counts(self) -> tuple[int, ...]:
        """Return the flow counts that were run, smallest first."""
        return tuple(sorted({point.flows for point in self.alone}))

    def of_fair(self, point: Mixed) -> float:
        """Return the mean over the seeds of the rival's share, over a fair one."""
        return float(np.mean([measured.of_fair for measured in self.mixed[point]]))


def alone_point(text: str) -> Alone:
    """Return the point of a run's name."""
    cc, flows, buffer = matched(r"(\w+)-n(\d+)-([\d.]+)bdp", text)
    return Alone(cc, int(flows), float(buffer))


def interval_point(text: str) -> Interval:
    """Return the point of a run's name."""
    rtt, flows, buffer = matched(r"(\w+)-n(\d+)-([\d.]+)bdp", text)
    return Interval(rtt, int(flows), float(buffer))


def mixed_point(text: str) -> Mixed:
    """Return the point of a run's name."""
    cc, rival, cubic, buffer = matched(r"(\w+)-(\d+)to(\d+)-([\d.]+)bdp", text)
    return Mixed(cc, (int(rival), int(cubic)), float(buffer))


def matched(pattern: str, text: str) -> tuple[str, ...]:
    """Return the groups of a pattern that a name of ours matches."""
    found = re.match(pattern, text)
    if found is None:
        raise ValueError(f"`{text}` is no run of this report")
    return found.groups()


def measure_alone(run: Run) -> AloneMeasured:
    """Measure a run of one congestion control alone."""
    bottleneck = run.summary["bottleneck"]
    flows = range(run.scenario.groups[0].flows)
    series = [flow_series(run, flow, "goodput_bps") for flow in flows]
    late = [float(np.mean(values[time_s > LATE_S])) for time_s, values in series]
    link_bps = bottleneck["link_rate_bps"]
    time_s = series[0][0]
    total = np.sum([values for _, values in series], axis=0) if len(series) == 1 else np.zeros(0)
    filled = time_s[: total.size][moving_mean(total, 10) >= FILLED * link_bps]
    return AloneMeasured(
        queue_delay_ms=bottleneck["queue_delay_mean_us"] / 1e3,
        drop_pct=100 * bottleneck["dropped_pkts"] / max(bottleneck["offered_pkts"], 1),
        utilization=bottleneck["utilization"],
        jain=jain(late),
        filled_s=float(filled[0]) if filled.size else float("nan"),
        verdict=run.verdict.status,
    )


def moving_mean(values: np.ndarray, width: int) -> np.ndarray:
    """Return the mean of each value and those before it, up to `width`."""
    if values.size == 0:
        return values
    sums = np.cumsum(np.concatenate([np.zeros(width), values]))
    means: np.ndarray = (sums[width:] - sums[:-width]) / width
    return means


def measure_intervals(run: Run) -> list[IntervalMeasured]:
    """Measure each flow of a run that lost often enough."""
    mss_bits = 8 * int(run.scenario.groups[0].mss)
    found = []
    for flow in range(run.scenario.groups[0].flows):
        time_s, rtt_us, goodput = flow_series(run, flow, "rtt_us", "goodput_bps")
        starts = time_s[loss_starts(run, flow)]
        if starts.size < 5:
            continue
        inside = (time_s > starts[0]) & (time_s <= starts[-1])
        found.append(
            IntervalMeasured(
                interval_s=float(starts[-1] - starts[0]) / (starts.size - 1),
                rtt_s=float(np.nanmean(rtt_us[inside])) / 1e6,
                rate_pkts_per_s=float(np.mean(goodput[inside])) / mss_bits,
            )
        )
    return found


def loss_starts(run: Run, flow: int) -> np.ndarray:
    """Return at which of a flow's samples it has just begun to recover from losses."""
    table = run.flows
    rows = np.asarray(table["flow"].to_numpy()) == flow
    states = np.asarray(table["ca_state"].to_pylist(), dtype=str)[rows]
    recovering = np.isin(states, ["recovery", "loss"])
    return np.flatnonzero(recovering & ~np.concatenate([[False], recovering[:-1]]))


def measure_mixed(run: Run) -> MixedMeasured:
    """Measure a run against CUBIC."""
    flows = run.summary["flows"]
    rates = [flow["goodput_bps"] for flow in flows]
    rival = [flow["goodput_bps"] for flow in flows if flow["group"] == 0]
    return MixedMeasured(
        of_fair=float(np.mean(rival)) / float(np.mean(rates)),
        queue_delay_ms=run.summary["bottleneck"]["queue_delay_mean_us"] / 1e3,
        verdict=run.verdict.status,
    )

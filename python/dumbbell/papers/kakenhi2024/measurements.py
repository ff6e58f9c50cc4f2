"""What the report measures, from our runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.papers.kakenhi2024.points import Alone, Interval, Mixed
from dumbbell.run import Run
from dumbbell.run.series import flow_series, to_floats
from dumbbell.statistics import jain

__all__ = ["AloneMeasured", "IntervalMeasured", "Measurements", "MixedMeasured"]

FloatArray = npt.NDArray[np.float64]

#: Of a flow with fewer losses the mean time between them says little.
FEWEST_LOSSES = 5
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
    queue_delay_p95_ms
        Its 95th percentile.
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
    queue_delay_p95_ms: float


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
        self.intervals: dict[Interval, list[list[IntervalMeasured]]] = {}
        self.mixed: dict[Mixed, list[MixedMeasured]] = {}
        for name, run in runs.items():
            kind, rest = name.split("-", 1)
            if kind == "alone":
                self.alone.setdefault(alone_point(rest), []).append(measure_alone(run))
            elif kind == "interval":
                self.intervals.setdefault(interval_point(rest), []).append(measure_intervals(run))
            else:
                self.mixed.setdefault(mixed_point(rest), []).append(measure_mixed(run))

    def alone_mean(self, point: Alone, what: Callable[[AloneMeasured], float]) -> float:
        """Return the mean over the seeds."""
        return float(np.mean([what(measured) for measured in self.alone[point]]))

    def interval_flows(self, point: Interval) -> list[IntervalMeasured]:
        """Return the flows of all seeds."""
        return [flow for flows in self.intervals[point] for flow in flows]

    def flow_counts(self) -> tuple[int, ...]:
        """Return the flow counts that were run, smallest first."""
        return tuple(sorted({point.flows for point in self.alone}))

    def of_fair(self, point: Mixed) -> float:
        """Return the mean over the seeds of the rival's share, over a fair one."""
        return float(np.mean([measured.of_fair for measured in self.mixed[point]]))


def alone_point(text: str) -> Alone:
    """Return the point of a run's name."""
    cc, flows, buffer, spread = matched(r"(\w+)-n(\d+)-([\d.]+)bdp-spread(\w+)-", text)
    return Alone(cc, int(flows), float(buffer), spread)


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
        raise ValueError(f"`{text}` is not the name of a run of this report")
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
        queue_delay_p95_ms=bottleneck["queue_delay_p95_us"] / 1e3,
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
    for rows in rows_by_flow(run):
        starts_s = loss_starts_s(rows)
        if starts_s.size < FEWEST_LOSSES:
            continue
        inside = (rows.time_s > starts_s[0]) & (rows.time_s <= starts_s[-1])
        found.append(
            IntervalMeasured(
                interval_s=float(starts_s[-1] - starts_s[0]) / (starts_s.size - 1),
                rtt_s=float(np.nanmean(rows.rtt_us[inside])) / 1e6,
                rate_pkts_per_s=float(np.mean(rows.goodput_bps[inside])) / mss_bits,
            )
        )
    return found


class FlowRows(NamedTuple):
    """A flow's samples, in order of time.

    Attributes
    ----------
    time_s, rtt_us, goodput_bps
        As the table `flows` has them.
    recovering
        Whether the flow recovers from losses.
    """

    time_s: FloatArray
    rtt_us: FloatArray
    goodput_bps: FloatArray
    recovering: npt.NDArray[np.bool_]


def rows_by_flow(run: Run) -> list[FlowRows]:
    """Return each flow's samples; the table is read once."""
    table = run.flows
    flow = np.asarray(table["flow"].to_numpy())
    order = np.argsort(flow, kind="stable")
    ends = np.cumsum(np.bincount(flow, minlength=run.scenario.groups[0].flows))[:-1]
    states = table["ca_state"].combine_chunks()
    if pa.types.is_dictionary(states.type):
        states = states.dictionary_decode()
    recovering = pc.is_in(states, value_set=pa.array(["recovery", "loss"]))
    columns = (
        to_floats(table["time_us"]) / 1e6,
        to_floats(table["rtt_us"]),
        to_floats(table["goodput_bps"]),
        np.asarray(recovering.to_numpy(zero_copy_only=False)),
    )
    parts = [np.split(column[order], ends) for column in columns]
    return [FlowRows(*flow_columns) for flow_columns in zip(*parts, strict=True)]


def loss_starts_s(rows: FlowRows) -> FloatArray:
    """Return when a flow began to recover from losses."""
    begins = rows.recovering & ~np.concatenate([[False], rows.recovering[:-1]])
    starts: FloatArray = rows.time_s[begins]
    return starts


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

"""What is measured of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.figures import to_floats
from dumbbell.metrics import Warmup
from dumbbell.models import trajectory_mean_pkts
from dumbbell.run import Run
from dumbbell_studies.papers.kakenhi2024.runs import Alone, Interval, Point
from dumbbell_studies.papers.results import group_values

__all__ = [
    "AloneMeasured",
    "IntervalMeasured",
    "Measured",
    "loss_starts_s",
    "measure",
    "measure_intervals",
    "rows_by_flow",
]

FloatArray = npt.NDArray[np.float64]

#: Of a flow with fewer losses the mean time between them says little.
FEWEST_LOSSES = 5
#: Jain's index is over what follows, 60 s: C2's "fairness between flows", not their start-up.
START_UP = Warmup.parse("60s")


class AloneMeasured(NamedTuple):
    """A run of one congestion control algorithm alone.

    Attributes
    ----------
    queue_delay_ms, queue_delay_p95_ms
        Queueing delay of the packets: mean and 95th percentile.
    drop_pct
        Packets dropped of those offered to the bottleneck.
    utilization
        Of the link, start-up included.
    jain
        Of the flows' goodput over the last 60 s.
    """

    queue_delay_ms: float
    queue_delay_p95_ms: float
    drop_pct: float
    utilization: float
    jain: float


class IntervalMeasured(NamedTuple):
    """A CUBIC flow of a run, between its first loss and its last.

    Attributes
    ----------
    intervals_s
        Times between its losses, in their order.
    rtt_s, base_rtt_s
        Mean RTT, and the lowest of the run.
    rate_pkts_per_s
        Goodput, in segments.
    """

    intervals_s: tuple[float, ...]
    rtt_s: float
    base_rtt_s: float
    rate_pkts_per_s: float

    @property
    def interval_s(self) -> float:
        """Mean time between two losses."""
        return float(np.mean(self.intervals_s))

    def predict_pkts_per_s(self) -> float:
        """Return the model's throughput: the mean of CUBIC's trajectory over these intervals."""
        window = trajectory_mean_pkts(self.intervals_s, self.rtt_s, self.base_rtt_s)
        return window / self.rtt_s


#: Of a run against CUBIC: goodput of one of the rival's flows over an equal share, 1 is fair. Of
#: CUBIC flows among themselves: each of them that lost often enough.
Measured = AloneMeasured | list[IntervalMeasured] | float


def measure(point: Point, run: Run) -> Measured:
    """Measure a run."""
    if isinstance(point, Alone):
        return measure_alone(run)
    if isinstance(point, Interval):
        return measure_intervals(run)
    rates = [flow["goodput_bps"] for flow in run.summary["flows"]]
    return float(np.mean(rates[: point.mix[0]])) / float(np.mean(rates))


def measure_alone(run: Run) -> AloneMeasured:
    """Measure a run of one congestion control algorithm alone."""
    metric, late = group_values(run), group_values(run, warmup=START_UP)
    return AloneMeasured(
        queue_delay_ms=metric("queue_delay_mean_us") / 1e3,
        queue_delay_p95_ms=metric("queue_delay_p95_us") / 1e3,
        drop_pct=100 * metric("drop_rate"),
        utilization=metric("utilization"),
        jain=late("jain"),
    )


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
                intervals_s=tuple(np.diff(starts_s).tolist()),
                rtt_s=float(np.nanmean(rows.rtt_us[inside])) / 1e6,
                base_rtt_s=float(np.nanmin(rows.rtt_us)) / 1e6,
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

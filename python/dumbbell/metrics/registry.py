"""Every metric by its name, and all of them of a run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from dumbbell.metrics import (
    completion,
    convergence,
    delay,
    fairness,
    inflight,
    loss,
    oscillation,
    power,
    starvation,
    throughput,
)
from dumbbell.metrics.metric import Formula, Metric
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.warmup import Warmup

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["METRICS", "measure"]

#: Per unit: what it is shown in, and what a value is multiplied by for that.
_SHOWN = {"bit/s": ("Mbit/s", 1e-6), "us": ("ms", 1e-3), "bit/s^2": ("Mbit/s per ms", 1e-9)}
_PERCENT = ("%", 100.0)


def _of(
    per: Literal["run", "group"],
    name: str,
    unit: str,
    title: str,
    better: Literal["higher", "lower"] | None,
    formula: Formula,
    shown: tuple[str, float] | None = None,
) -> Metric:
    """Make a metric, shown in the customary unit."""
    shown_unit, scale = shown or _SHOWN.get(unit, ("" if unit == "1" else unit, 1.0))
    return Metric(name, unit, title, better, per, formula, shown_unit, scale)


_group = partial(_of, "group")
_run = partial(_of, "run")

_ALL = (
    _group("goodput_bps", "bit/s", "goodput", "higher", throughput.goodput_bps),
    _group(
        "goodput_per_flow_bps", "bit/s", "goodput per flow", "higher",
        throughput.goodput_per_flow_bps,
    ),
    _group("throughput_bps", "bit/s", "throughput", "higher", throughput.throughput_bps),
    _group("share", "1", "throughput share", None, throughput.goodput_share, _PERCENT),
    _run(
        "utilization", "1", "utilisation", "higher", throughput.bottleneck_utilization, _PERCENT
    ),
    _run("jain", "1", "Jain's index", "higher", fairness.jain_of_flows),
    _run("min_max_ratio", "1", "slowest to fastest flow", "higher", starvation.min_max_ratio),
    _group(
        "starved_time_share", "1", "time starved", "lower", starvation.starved_time_share, _PERCENT
    ),
    _run("convergence_time_s", "s", "convergence time", "lower", convergence.convergence_time_s),
    _run("converged", "1", "converged", "higher", convergence.converged),
    _group("oscillation", "1", "oscillation", "lower", oscillation.oscillation),
    _group("rtt_mean_us", "us", "mean RTT", "lower", delay.rtt_mean_us),
    _group("rtt_p50_us", "us", "median RTT", "lower", delay.rtt_p50_us),
    _group("rtt_p95_us", "us", "RTT, 95th percentile", "lower", delay.rtt_p95_us),
    _group("rtt_p99_us", "us", "RTT, 99th percentile", "lower", delay.rtt_p99_us),
    _run("queue_delay_mean_us", "us", "mean queueing delay", "lower", delay.queue_delay_mean_us),
    _run(
        "queue_delay_p50_us", "us", "queueing delay, median", "lower", delay.queue_delay_p50_us
    ),
    _run(
        "queue_delay_p95_us", "us", "queueing delay, 95th percentile", "lower",
        delay.queue_delay_p95_us,
    ),
    _run(
        "queue_delay_p99_us", "us", "queueing delay, 99th percentile", "lower",
        delay.queue_delay_p99_us,
    ),
    _group("power", "bit/s^2", "power", "higher", power.power),
    _group("inflight_mean_pkts", "pkts", "mean inflight", None, inflight.inflight_mean_pkts),
    _run("drop_rate", "1", "drop rate", "lower", loss.drop_rate, _PERCENT),
    _group(
        "retransmission_rate", "1", "retransmission rate", "lower", loss.retransmission_rate,
        _PERCENT,
    ),
    _group("rto_count", "1", "RTOs", "lower", loss.rto_count),
    _group("fct_mean_s", "s", "mean flow completion time", "lower", completion.fct_mean_s),
    _group(
        "fct_p95_s", "s", "flow completion time, 95th percentile", "lower", completion.fct_p95_s
    ),
)  # fmt: skip

#: Every metric by its name, in the order of tables.
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}


def measure(run: Run, warmup: Warmup | None = None) -> list[dict[str, Any]]:
    """Return every metric of a run, a row per group.

    Parameters
    ----------
    run
        The run.
    warmup
        What to leave out of its beginning; see `Metric.of`.

    Returns
    -------
    list of dict
        By group: ``group`` (its index), ``cc`` (as the scenario names it, parameters included),
        ``flows``, ``verdict`` (the run's status), and
        every metric of `METRICS` by its name, a number or None. A run's metric is in each row.

    Raises
    ------
    ResultError
        There is a warm-up, and the run has no time series or is not longer than that.
    """
    obs = Observation(run, warmup)
    rows = [
        {
            "group": group["group"],
            "cc": str(run.scenario.groups[group["group"]].cc),
            "flows": group["flows"],
            "verdict": run.verdict.status,
        }
        for group in obs.groups
    ]
    for metric in METRICS.values():
        value = metric.formula(obs)
        values = value if isinstance(value, list) else [value] * len(rows)
        for row, of_group in zip(rows, values, strict=True):
            row[metric.name] = of_group
    return rows

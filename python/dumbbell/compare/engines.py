"""The two engines compared: the metrics of simulated runs and of runs on the kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.compare.comparison import Comparison, Sides
from dumbbell.metrics import METRICS

__all__ = [
    "METRIC_NAMES", "OPTIONAL_METRIC_NAMES", "TRAFFIC_METRIC_NAMES", "EngineSummary", "Rows",
    "Worst", "compare_engines", "engine_difference", "relative_difference", "summarize", "to_dict",
]  # fmt: skip

#: The metrics in which the engines are compared.
METRIC_NAMES = (
    "share", "rtt_p50_us", "rtt_p95_us", "inflight_mean_pkts", "retransmission_rate",
    "queue_delay_mean_us", "drop_rate",
)  # fmt: skip
#: Those in which they are compared where flows have traffic with an end.
TRAFFIC_METRIC_NAMES = (
    "fct_p50_s", "fct_p95_s", "fct_p99_s", "rpc_latency_p50_us", "rpc_latency_p95_us",
    "page_load_time_p50_s", "page_load_time_p95_s", "video_bitrate_bps", "stall_ratio",
    "one_way_delay_p50_us", "one_way_delay_p95_us", "late_or_lost_share",
)  # fmt: skip
#: All that only some scenarios have.
OPTIONAL_METRIC_NAMES = ("mark_rate", *TRAFFIC_METRIC_NAMES)

#: Of each engine: a mean of fewer says more of one run than of the engine.
MIN_RUNS = 2

#: The metrics of a run, a row per group, as `dumbbell.metrics.measure` has them.
Rows = Sequence[Mapping[str, Any]]


def compare_engines(
    cell: str,
    ccs: Sequence[str],
    simulator: Sequence[Rows],
    kernel: Sequence[Rows],
    names: Sequence[str] = (),
    *,
    paired: bool = False,
) -> list[Comparison]:
    """Compare runs of one scenario in both engines.

    Parameters
    ----------
    cell
        The scenario's name.
    ccs
        The congestion control algorithm of each group.
    simulator, kernel
        The metrics of each run.
    names
        What the groups are called; by default, by their algorithms.
    paired
        Whether the n-th runs of both have the same seed, and so the same starts and base RTTs. In
        virtual time most of what runs differ by comes from these.

    Returns
    -------
    list of Comparison
        Metric by metric, group by group: the kernel's runs are side A, the simulator's side B.
    """
    comparisons = []
    for metric in (METRICS[name] for name in (*METRIC_NAMES, *OPTIONAL_METRIC_NAMES)):
        for group in range(len(ccs)) if metric.of_groups else [None]:
            read = known_pairs if paired else known_each
            a, b = read(kernel, simulator, metric.name, group or 0)
            if metric.name in OPTIONAL_METRIC_NAMES and not (a or b):
                continue
            cc, name = ("", "") if group is None else (ccs[group], (names or ccs)[group])
            sides = Sides(a, b, paired=paired)
            comparisons.append(
                Comparison(cell, group, cc, cc, metric, sides, name_a=name, name_b=name)
            )
    return comparisons


def known_each(
    a: Iterable[Rows], b: Iterable[Rows], name: str, group: int
) -> list[tuple[float, ...]]:
    """Return a metric of the runs of either side that have it."""
    values = ([rows[group].get(name) for rows in runs] for runs in (a, b))
    return [tuple(float(value) for value in side if value is not None) for side in values]


def known_pairs(
    a: Iterable[Rows], b: Iterable[Rows], name: str, group: int
) -> list[tuple[float, ...]]:
    """Return a metric of the pairs of runs of which both have it."""
    pairs = [
        (float(x), float(y))
        for first, second in zip(a, b, strict=True)
        if (x := first[group].get(name)) is not None and (y := second[group].get(name)) is not None
    ]
    return [tuple(pair[side] for pair in pairs) for side in (0, 1)]


def engine_difference(entry: Comparison) -> float | None:
    """Return the mean of the simulator minus the kernel's; None without values."""
    return entry.difference.interval.mean if entry.a and entry.b else None


def relative_difference(entry: Comparison) -> float | None:
    """Return the difference over the kernel's mean."""
    difference = engine_difference(entry)
    kernel = float(np.mean(entry.a)) if entry.a else 0.0
    return difference / kernel if difference is not None and kernel else None


def to_dict(entry: Comparison) -> dict[str, Any]:
    """Return a comparison of the engines as `validate --json` has it."""
    interval = entry.difference.interval
    return {
        "metric": entry.metric.name,
        "group": entry.group,
        "cc": entry.cc_a or None,
        "name": entry.name_a or None,
        "simulator": list(entry.b),
        "kernel": list(entry.a),
        "difference": engine_difference(entry),
        "interval": [interval.low, interval.high] if interval.bounded else None,
        "excludes_zero": entry.excludes_zero,
    }


@dataclass(frozen=True)
class Worst:
    """The mean and the largest of some absolute differences.

    Attributes
    ----------
    mean
        Mean absolute difference.
    worst
        The largest.
    case, cc, name
        Where that is: the scenario, the group's algorithm and what it is called.
    """

    mean: float
    worst: float
    case: str
    cc: str
    name: str


@dataclass(frozen=True)
class EngineSummary:
    """All scenarios in a few numbers.

    Attributes
    ----------
    share
        Differences of throughput shares, in parts of 1; None when there is none.
    rtt_p50
        Differences of the median RTT, relative to the kernel's.
    excludes_zero, comparisons
        How many intervals exclude 0, of how many.
    left_out
        Scenarios that are in none of these: an engine has fewer than two valid runs.
    """

    share: Worst | None
    rtt_p50: Worst | None
    excludes_zero: int
    comparisons: int
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as `validate --json` has it."""
        return {
            "share": None if self.share is None else vars(self.share),
            "rtt_p50": None if self.rtt_p50 is None else vars(self.rtt_p50),
            "excludes_zero": self.excludes_zero,
            "comparisons": self.comparisons,
            "left_out": list(self.left_out),
        }


def summarize(comparisons: Iterable[Comparison]) -> EngineSummary:
    """Summarize the comparisons of all scenarios."""
    every = list(comparisons)
    listed = [entry for entry in every if min(len(entry.a), len(entry.b)) >= MIN_RUNS]
    kept = {entry.cell for entry in listed}
    shares = [(c, engine_difference(c)) for c in listed if c.metric.name == "share"]
    rtts = [(c, relative_difference(c)) for c in listed if c.metric.name == "rtt_p50_us"]
    with_interval = [entry for entry in listed if entry.difference.interval.bounded]
    return EngineSummary(
        share=worst_of(shares),
        rtt_p50=worst_of(rtts),
        excludes_zero=sum(entry.excludes_zero for entry in with_interval),
        comparisons=len(with_interval),
        left_out=tuple(dict.fromkeys(entry.cell for entry in every if entry.cell not in kept)),
    )


def worst_of(differences: Sequence[tuple[Comparison, float | None]]) -> Worst | None:
    """Return the mean and the largest of absolute differences."""
    there = [(abs(value), entry) for entry, value in differences if value is not None]
    if not there:
        return None
    worst, entry = max(there, key=lambda each: each[0])
    return Worst(
        float(np.mean([value for value, _ in there])), worst, entry.cell, entry.cc_a, entry.name_a
    )

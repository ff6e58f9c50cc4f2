"""What two engines are compared by: a few numbers of each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.run import Run
from dumbbell.statistics import share

__all__ = ["MEASURES", "Measure", "Values", "measure"]

#: One run's values, in the order of its groups; of the bottleneck's measures there is one. None
#: where the run does not tell.
Values = Mapping[str, Sequence[float | None]]


@dataclass(frozen=True)
class Measure:
    """A number of a run.

    Attributes
    ----------
    key
        Its name in JSON, with its unit unless it is a part of a whole, 0 to 1.
    label
        In a table.
    unit, scale
        In a table, and what a value is multiplied by for it.
    of_group
        From the run's metrics of a group and its flows to the value; None for the bottleneck's.
    of_link
        From the summary of the bottleneck to the value; None for a group's.
    """

    key: str
    label: str
    unit: str
    scale: float
    of_group: Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], float | None] | None = None
    of_link: Callable[[Mapping[str, Any]], float] | None = None


def mean_of_flows(key: str) -> Callable[[Any, Sequence[Mapping[str, Any]]], float | None]:
    """Return a measure: the mean over the flows that have an RTT of a quantile of it."""

    def mean(_group: Any, flows: Sequence[Mapping[str, Any]]) -> float | None:
        values = [flow[key] for flow in flows if flow["rtt_min_us"] > 0]
        return float(np.mean(values)) if values else None

    return mean


MEASURES = (
    Measure("share", "share", "%", 100, lambda group, _: group["share"]),
    Measure("rtt_p50_us", "RTT p50", "ms", 1e-3, mean_of_flows("rtt_p50_us")),
    Measure("rtt_p95_us", "RTT p95", "ms", 1e-3, mean_of_flows("rtt_p95_us")),
    Measure(
        "inflight_mean_pkts", "inflight", "pkts", 1, lambda group, _: group["inflight_mean_pkts"]
    ),
    Measure(
        "retransmitted_share", "retransmitted", "%", 100,
        lambda group, _: share(group["retransmitted_pkts"], group["sent_pkts"]),
    ),
    Measure(
        "queue_delay_mean_us", "queueing delay", "ms", 1e-3,
        of_link=lambda link: link["queue_delay_mean_us"],
    ),
    Measure(
        "dropped_share", "dropped", "%", 100,
        of_link=lambda link: share(link["dropped_pkts"], link["offered_pkts"]),
    ),
)  # fmt: skip


def measure(run: Run) -> dict[str, list[float | None]]:
    """Return a run's values by the keys of the measures."""
    values: dict[str, list[float | None]] = {}
    for entry in MEASURES:
        if entry.of_group is not None:
            values[entry.key] = [
                entry.of_group(group, flows_of(run, group["group"])) for group in run.groups
            ]
        elif entry.of_link is not None:
            values[entry.key] = [entry.of_link(run.summary["bottleneck"])]
    return values


def flows_of(run: Run, group: int) -> list[Mapping[str, Any]]:
    """Return the flows of a group."""
    return [flow for flow in run.summary["flows"] if flow["group"] == group]

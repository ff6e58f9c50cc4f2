"""What a run's counts amount to: each metric a function, with its formula and its source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "group_metrics",
    "jain",
    "mean_and_range",
    "share",
    "spearman",
    "sum_known",
    "utilization",
]


def jain(rates: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Jain's fairness index, (Σx)² / (n·Σx²).

    1 when all are equal, 1/n when one has everything. Nothing to share (all zero) counts as equal.

    Parameters
    ----------
    rates
        One rate per flow.

    References
    ----------
    Jain, Chiu, Hawe: "A quantitative measure of fairness and discrimination", DEC-TR-301, 1984;
    RFC 5166 §2.4 and RFC 9743 §5 use it for congestion control.
    """
    x = np.asarray(rates, dtype=np.float64)
    squares = float(np.sum(x * x))
    return 1.0 if squares == 0 else float(np.sum(x)) ** 2 / (x.size * squares)


def share(part: float, total: float) -> float:
    """Part of a total, 0 to 1: part / total, and 0 when there is no total."""
    return part / total if total > 0 else 0.0


def utilization(forwarded_bytes: int, link_rate_bps: int, duration_ns: int) -> float:
    """Forwarded bits over what the link carries in the time: 8·bytes / (rate·time).

    Wire bytes, so 1 is a link that never idles (RFC 5166 §2.1: throughput of the link).
    """
    return 8 * forwarded_bytes / (link_rate_bps * duration_ns / 1e9)


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Spearman's rank correlation: Pearson's of the ranks, ties sharing their mean rank.

    1 when y always grows with x, -1 when it always falls, 0 when all of either are equal.

    References
    ----------
    Spearman: "The proof and measurement of association between two things", 1904.
    """
    a, b = mean_ranks(x), mean_ranks(y)
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sum(a * b)) / scale if scale > 0 else 0.0


def mean_ranks(values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Rank values from 0; equal ones get the mean of their ranks."""
    x = np.asarray(values, dtype=np.float64)
    below = np.sum(x[None, :] < x[:, None], axis=1)
    equal = np.sum(x[None, :] == x[:, None], axis=1)
    ranks: npt.NDArray[np.float64] = below + (equal - 1) / 2
    return ranks


def group_metrics(flows: Sequence[Mapping[str, Any]], total_received_bytes: int) -> dict[str, Any]:
    """Aggregate the flows of a group.

    `goodput_bps` and `throughput_bps` have one denominator for the whole group: from its first
    flow's start to its last flow's end. Flows that live one after the other so never add up to more
    than the link carries. `goodput_per_flow_bps` is the mean of the flows' own goodputs, each over
    its own time. `share` is of bytes, not of rates: the parts of all groups sum to 1 whenever each
    of them ran. Counts are sums, None when the engine
    does not know a flow's; the RTT is the mean over flows of each flow's mean, inflight and
    outstanding the sum over flows of their averages, each over its own time.

    Parameters
    ----------
    flows
        `flows` of the summary, those of one group.
    total_received_bytes
        `received_bytes` of all groups, for the share.
    """
    goodput_bps = [flow["goodput_bps"] for flow in flows]
    received_bytes = sum(flow["received_bytes"] for flow in flows)
    with_rtt = [flow["rtt_mean_us"] for flow in flows if flow["rtt_min_us"] > 0]
    sums = {
        key: sum_known(flow[key] for flow in flows)
        for key in (
            "inflight_mean_pkts", "outstanding_mean_pkts", "sent_pkts", "retransmitted_pkts",
            "dropped_pkts", "lost_pkts", "rto_count",
        )
    }  # fmt: skip
    return {
        "goodput_bps": rate_bps(8 * received_bytes, flows),
        "goodput_per_flow_bps": float(np.mean(goodput_bps)) if flows else 0.0,
        "share": share(received_bytes, total_received_bytes),
        "jain": jain(goodput_bps),
        "rtt_mean_us": float(np.mean(with_rtt)) if with_rtt else 0.0,
        # A flow's throughput times its time are the bits that crossed the bottleneck.
        "throughput_bps": rate_bps(
            sum(flow["throughput_bps"] * lifetime_us(flow) / 1e6 for flow in flows), flows
        ),
        **sums,
    }


def sum_known(values: Iterable[float | None]) -> float | None:
    """Add up; None if any is None, for a sum of the others is not the sum."""
    total: float = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def rate_bps(bits: float, flows: Sequence[Mapping[str, Any]]) -> float:
    """Bits over the time from the flows' first start to their last end, bit/s."""
    if not flows:
        return 0.0
    span_us = max(flow["end_us"] for flow in flows) - min(flow["start_us"] for flow in flows)
    return bits * 1e6 / span_us if span_us > 0 else 0.0


def lifetime_us(flow: Mapping[str, Any]) -> int:
    """Return a flow's time, from its start to its end, µs."""
    return int(flow["end_us"]) - int(flow["start_us"])


def mean_and_range(values: Sequence[float]) -> str:
    """Write a mean, with the range when there are several repetitions: ``2.00 (1.00–3.00)``."""
    if len(values) == 1:
        return f"{values[0]:.2f}"
    return f"{np.mean(values):.2f} ({min(values):.2f}–{max(values):.2f})"

"""What a run's counts amount to: each metric a function, with its formula and its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["group_metrics", "jain", "share", "spearman", "utilization"]


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
    """Part of the total goodput, 0 to 1: part / total, and 0 when there is no total."""
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


def group_metrics(flows: Sequence[Mapping[str, Any]], total_goodput_bps: float) -> dict[str, Any]:
    """Aggregate the flows of a group.

    Rates and counts are sums; the RTT is the mean over flows of each flow's mean, inflight and
    outstanding the sum over flows of their time averages.

    Parameters
    ----------
    flows
        `flows` of the summary, those of one group.
    total_goodput_bps
        Goodput of all groups, for the share.
    """
    goodput_bps = [flow["goodput_bps"] for flow in flows]
    total = float(sum(goodput_bps))
    with_rtt = [flow["rtt_mean_us"] for flow in flows if flow["rtt_min_us"] > 0]
    sums = {
        key: sum(flow[key] for flow in flows)
        for key in (
            "throughput_bps", "inflight_mean_pkts", "outstanding_mean_pkts", "sent_pkts",
            "retransmitted_pkts", "dropped_pkts", "lost_pkts", "rto_count",
        )
    }  # fmt: skip
    return {
        "goodput_bps": total,
        "goodput_per_flow_bps": total / len(flows) if flows else 0.0,
        "share": share(total, total_goodput_bps),
        "jain": jain(goodput_bps),
        "rtt_mean_us": float(np.mean(with_rtt)) if with_rtt else 0.0,
        **sums,
    }

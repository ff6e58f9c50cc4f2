"""A group's metrics over the whole run, aggregated from its flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

from dumbbell.statistics import jain, mean, share

if TYPE_CHECKING:
    from dumbbell.records.rows import FlowRecord

__all__ = ["GroupRecord", "both_ways", "group_metrics", "sum_known", "utilization"]


class GroupRecord(TypedDict):
    """A group of a result: its congestion control algorithm, as loaded, and its metrics."""

    group: int
    cc: str
    build: str
    params: Mapping[str, int]
    needs_ecn: NotRequired[bool]
    declared: NotRequired[Mapping[str, Any]]
    source: NotRequired[Mapping[str, Any]]
    flows: int
    goodput_bps: float
    goodput_per_flow_bps: float
    #: A number, but None of programs whose wire bytes to the server are not known.
    throughput_bps: Any
    #: A number, but None where programs ran and data went both ways.
    share: Any
    jain: float
    rtt_mean_us: float
    inflight_mean_pkts: float
    outstanding_mean_pkts: float
    sent_pkts: int
    retransmitted_pkts: int
    dropped_pkts: int
    lost_pkts: int | None
    rto_count: int | None
    marked_pkts: NotRequired[int | None]
    transfers: NotRequired[Sequence[Mapping[str, Any]]]


def utilization(forwarded_bytes: int, link_rate_bps: int, duration_ns: int) -> float:
    """Forwarded bits over what the link carries in the time: 8·bytes / (rate·time).

    Wire bytes, so 1 is a link that never idles (RFC 5166 §2.1: throughput of the link).
    """
    return 8 * forwarded_bytes / (link_rate_bps * duration_ns / 1e9)


#: Requests of a download, whose wire bytes may be unknown without loss.
NEGLIGIBLE = 0.01
#: Counts of a flow that its `requests` have of the other direction.
OF_EACH_WAY = ("sent_pkts", "retransmitted_pkts", "dropped_pkts")


def group_metrics(
    flows: Sequence[FlowRecord], total_received_bytes: int, *, counts_both_ways: bool = False
) -> dict[str, Any]:
    """Aggregate the flows of a group.

    `goodput_bps` and `throughput_bps` have one denominator for the whole group: the time from its
    first flow's start to its last flow's end. So flows that run one after the other never add up to
    more than the link carries. `goodput_per_flow_bps` is the mean of the flows' own goodputs, each
    over its own time. `share` is of bytes, not of rates, so the shares of all groups add up to 1 no
    matter when each ran. Counts are sums, and None if the engine does not report a flow's. The RTT
    is the mean over flows of each flow's mean; inflight and outstanding are sums over flows of
    their averages, each over its own time.

    Parameters
    ----------
    flows
        `flows` of the summary, those of one group.
    total_received_bytes
        `received_bytes` of all groups, for the share.
    counts_both_ways
        Whether packets and wire bytes are of both directions, as payload is of programs.
    """
    flows = [both_ways(flow) for flow in flows] if counts_both_ways else flows
    goodput_bps = [flow["goodput_bps"] for flow in flows]
    received_bytes = sum(flow["received_bytes"] for flow in flows)
    with_rtt = [flow["rtt_mean_us"] for flow in flows if flow["rtt_min_us"] > 0]
    by_key: Sequence[Mapping[str, Any]] = flows
    sums = {
        key: sum_known(flow[key] for flow in by_key)
        for key in (
            "inflight_mean_pkts", "outstanding_mean_pkts", "sent_pkts", "retransmitted_pkts",
            "dropped_pkts", "lost_pkts", "rto_count",
        )
    }  # fmt: skip
    if any(flow.get("marked_pkts") is not None for flow in flows):
        sums["marked_pkts"] = sum_known(flow.get("marked_pkts") for flow in flows)
    return {
        "goodput_bps": rate_bps(8 * received_bytes, flows),
        "goodput_per_flow_bps": mean(goodput_bps) or 0.0,
        "share": share(received_bytes, total_received_bytes),
        "jain": jain(goodput_bps),
        "rtt_mean_us": mean(with_rtt) or 0.0,
        "throughput_bps": throughput_bps(flows),
        **sums,
    }


def both_ways(flow: FlowRecord) -> FlowRecord:
    """Return a flow of programs with the packets and wire bytes of both directions."""
    requests: Mapping[str, Any] | None = flow.get("requests")
    if requests is None:
        return flow
    one_way: Mapping[str, Any] = flow
    rates = [flow["throughput_bps"], requests.get("throughput_bps")]
    if requests["received_bytes"] <= NEGLIGIBLE * flow["received_bytes"]:
        rates = [rate for rate in rates if rate is not None]
    both = {key: one_way[key] + requests[key] for key in OF_EACH_WAY}
    return cast("FlowRecord", {**flow, **both, "throughput_bps": sum_known(rates)})


def throughput_bps(flows: Sequence[FlowRecord]) -> float | None:
    """Return the wire bytes over the time of all; None if those of a flow are not known.

    Those of programs to the server are not known without a link there, nor in earlier results.
    """
    # A flow's throughput times its time are the bits that crossed the bottleneck.
    bits = [
        None if (rate := flow["throughput_bps"]) is None else rate * lifetime_us(flow) / 1e6
        for flow in flows
    ]
    total = sum_known(bits)
    return None if total is None else rate_bps(total, flows)


def sum_known(values: Iterable[float | None]) -> float | None:
    """Return the sum; None if any value is None."""
    total: float = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def rate_bps(bits: float, flows: Sequence[FlowRecord]) -> float:
    """Bits over the time from the flows' first start to their last end, bit/s."""
    if not flows:
        return 0.0
    span_us = max(flow["end_us"] for flow in flows) - min(flow["start_us"] for flow in flows)
    return bits * 1e6 / span_us if span_us > 0 else 0.0


def lifetime_us(flow: FlowRecord) -> int:
    """Return a flow's time, from its start to its end, µs."""
    return flow["end_us"] - flow["start_us"]

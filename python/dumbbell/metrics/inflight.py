"""What the flows have in the network."""

from __future__ import annotations

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation

__all__ = ["inflight_mean_pkts"]


@register(unit="pkts", title="mean inflight", per="group")
def inflight_mean_pkts(obs: Observation) -> list[float | None]:
    """Mean inflight of a group: the sum over its flows of the time average of packets in flight.

    As Linux counts: sent, not acknowledged, not lost, plus retransmitted. After a warm-up the mean
    of the samples of the time series.

    References
    ----------
    RFC 6675 §2 ("pipe"); `tcp_packets_in_flight` of Linux.
    """
    if obs.whole:
        return [group["inflight_mean_pkts"] for group in obs.groups]
    values: list[float | None] = []
    for numbers in obs.members:
        samples = [obs.after_cut(number, "inflight_pkts") for number in numbers]
        there = [float(of_flow.mean()) for of_flow in samples if of_flow.size]
        values.append(sum(there) if there else None)
    return values

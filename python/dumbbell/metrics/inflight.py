"""What the flows have in the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation
from dumbbell.statistics import share

__all__ = ["inflight_mean_pkts", "outstanding_mean_pkts", "rwnd_limited_share"]


@register(unit="pkts", title="mean inflight", per="group")
def inflight_mean_pkts(obs: Observation) -> list[float | None]:
    """Mean inflight of a group: the sum over its flows of the time average of packets in flight.

    As Linux counts: sent, not acknowledged, not lost, plus retransmitted. After a warm-up the mean
    of the samples of the time series.

    References
    ----------
    RFC 6675 §2 ("pipe"); `tcp_packets_in_flight` of Linux.
    """
    return mean_pkts(obs, "inflight_mean_pkts", "inflight_pkts")


@register(unit="pkts", title="mean outstanding", per="group")
def outstanding_mean_pkts(obs: Observation) -> list[float | None]:
    """Mean outstanding of a group: the sum over its flows of the time average of packets unacked.

    Packets sent and not cumulatively acknowledged. What a receiver has behind a hole still counts,
    so it is above the mean inflight while losses are repaired. After a warm-up the mean of the
    samples of the time series.

    References
    ----------
    "Outstanding data" as tcptrace and Wireshark draw it; FlightSize of RFC 5681 §2.
    """
    return mean_pkts(obs, "outstanding_mean_pkts", "outstanding_pkts")


def mean_pkts(obs: Observation, key: str, column: str) -> list[float | None]:
    """Return a group's sum of its flows' time averages; None of programs, whose it is not known."""
    groups: Sequence[Mapping[str, Any]] = obs.groups
    are_programs = [group.client is not None for group in obs.run.scenario.groups]
    values: list[float | None] = []
    for numbers, group, is_program in zip(obs.members, groups, are_programs, strict=True):
        if is_program or obs.whole:
            values.append(None if is_program else group[key])
            continue
        samples = [obs.after_cut(number, column) for number in numbers]
        there = [float(of_flow.mean()) for of_flow in samples if of_flow.size]
        values.append(sum(there) if there else None)
    return values


@register(title="time limited by the receive window", per="group", shown=PERCENT)
def rwnd_limited_share(obs: Observation) -> list[float | None]:
    """Share of a group's time in which the receive window held its flows back.

    The flows' limited time / the flows' time, Σ / Σ. After a warm-up it is known only when there
    was none in the whole run.

    References
    ----------
    `tcpi_rwnd_limited` of Linux, a chronograph of the sender; RFC 9293 §3.8.6.
    """
    values: list[float | None] = []
    for numbers in obs.members:
        flows = [obs.flows[number] for number in numbers]
        limited = sum(flow["rwnd_limited_us"] for flow in flows)
        known = obs.whole or limited == 0
        time_us = sum(flow["end_us"] - flow["start_us"] for flow in flows)
        values.append(share(limited, time_us) if known else None)
    return values

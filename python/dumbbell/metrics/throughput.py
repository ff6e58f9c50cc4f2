"""What crosses the links, and for which flows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.metrics.link_observation import LinkObservation
from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import FloatArray, Observation
from dumbbell.run.directions import has_both_ways
from dumbbell.scenario import Link
from dumbbell.statistics import mean, share

__all__ = [
    "flow_rates_bps",
    "goodput_bps",
    "goodput_per_flow_bps",
    "goodput_share",
    "link_utilization",
    "throughput_bps",
]


def flow_rates_bps(obs: Observation, numbers: Sequence[int]) -> FloatArray:
    """Return the goodput of some flows, each over its own time after the cut, bit/s."""
    if obs.whole:
        return np.array([obs.flows[number]["goodput_bps"] for number in numbers])
    spans = [obs.span_us([number]) for number in numbers]
    return np.array(
        [
            obs.flow_bits[number] * 1e6 / (end - start) if end > start else 0.0
            for number, (start, end) in zip(numbers, spans, strict=True)
        ]
    )


@register(unit="bit/s", title="goodput", better="higher", per="group")
def goodput_bps(obs: Observation) -> list[float | None]:
    """Goodput of a group: 8 · bytes received / time.

    Bytes are payload that the receiving applications got in order, each once. The time is the
    group's: from its first flow's start, or the cut, to its last flow's end. Of programs it is of
    both ways together, over the client's run time.

    References
    ----------
    RFC 5166 §2.1.1; "goodput" as in RFC 2647 §3.17.
    """
    if obs.whole:
        return [group["goodput_bps"] for group in obs.groups]
    values: list[float | None] = []
    for numbers in obs.members:
        start, end = obs.span_us(numbers) if numbers else (0, 0)
        bits = float(obs.flow_bits[numbers].sum())
        values.append(bits * 1e6 / (end - start) if end > start else None)
    return values


@register(unit="bit/s", title="goodput per flow", better="higher", per="group")
def goodput_per_flow_bps(obs: Observation) -> list[float | None]:
    """Goodput of a group's average flow: the mean over its flows of 8 · bytes received / time.

    Each flow's is over its own time, from its start, or the cut, to its end. Of programs it is of
    both ways together.

    References
    ----------
    RFC 5166 §2.1.1.
    """
    if obs.whole:
        return [group["goodput_per_flow_bps"] for group in obs.groups]
    return [mean(flow_rates_bps(obs, numbers)) for numbers in obs.members]


@register(unit="bit/s", title="throughput", better="higher", per="group")
def throughput_bps(obs: Observation) -> list[float | None]:
    """Throughput of a group: 8 · wire bytes that crossed the last link of its route / time.

    Headers and retransmissions count. The time is that of `goodput_bps`. Of programs it is of both
    ways together, ACKs included. After a warm-up it is not known, because the time series do not
    have it.

    References
    ----------
    RFC 5166 §2.1.1.
    """
    return [group["throughput_bps"] if obs.whole else None for group in obs.groups]


@register(name="share", title="throughput share", per="group", shown=PERCENT)
def goodput_share(obs: Observation) -> list[float | None]:
    """Throughput share of a group: bytes its receivers got / bytes all receivers got.

    Of bytes, not of rates, so that the shares of all groups add up to 1 whenever each of them ran.
    Of groups that share no link, like downloads and uploads, it says how much went each way, not
    who got more of a link. None where programs ran and data went both ways:
    `server_to_client_share` and `client_to_server_share` are of each.

    References
    ----------
    The papers' "throughput share": Ware et al., "Modeling BBR's interactions with loss-based
    congestion control", IMC 2019.
    """
    if obs.whole:
        return [group["share"] for group in obs.groups]
    if has_both_ways(obs.run):
        return [None] * len(obs.members)
    total = float(obs.flow_bits.sum())
    return [share(float(obs.flow_bits[numbers].sum()), total) for numbers in obs.members]


@register(name="utilization", title="utilisation", better="higher", per="link", shown=PERCENT)
def link_utilization(obs: Observation) -> list[float | None]:
    """Utilisation of a link: bits forwarded / bits it could carry in the time.

    Wire bits, so 1 is a link that is never idle. After a warm-up, forwarded packets count as full
    ones; it is not known of a link that packets of several sizes or ACKs cross.

    References
    ----------
    RFC 5166 §2.1.1: throughput as a router-based metric, link utilisation.
    """
    return [utilization_of(link) for link in obs.links]


def utilization_of(link: LinkObservation) -> float | None:
    """Return the utilisation of a link."""
    if link.whole:
        return float(link.summary["utilization"])
    scenario = link.obs.run.scenario
    config = scenario.link(link.summary["name"])
    start_us, end_us = link.queue_span_us
    if config.has_medium:
        return None  # what it offered is counted for the whole run
    crossing = scenario.crossings[config.name]
    packet_bytes = {group.packet_bytes for group in crossing.groups}
    if len(packet_bytes) != 1 or crossing.acks or end_us <= start_us:
        return None
    bits = 8 * packet_bytes.pop() * link.counted("forwarded_pkts")
    return bits / capacity_bits(config, start_us, end_us)


def capacity_bits(link: Link, start_us: int, end_us: int) -> float:
    """Return what the link could carry from one time to another, whose rate may change."""
    if not link.rate_steps:
        return max(end_us - start_us, 0) * int(link.rate) / 1e6
    changes_us = [int(time) / 1000 for time, _ in link.rate_steps]
    rates_bps = [int(rate) for rate in link.rates]
    ends_us = np.clip([0, *changes_us, end_us], start_us, end_us)
    return float(np.dot(np.diff(ends_us), rates_bps)) / 1e6

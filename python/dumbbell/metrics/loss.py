"""Drops, marks, retransmissions and timeouts."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.link_observation import LinkObservation
from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation
from dumbbell.run.programs import has_no_tcp
from dumbbell.statistics import mean, share

__all__ = ["drop_rate", "mark_rate", "marks_per_rtt", "retransmission_rate", "rto_count"]


@register(title="drop rate", better="lower", per="link", shown=PERCENT)
def drop_rate(obs: Observation) -> list[float | None]:
    """Drop rate of a link: packets dropped / packets that arrived.

    After a warm-up, arrived packets are those forwarded, those dropped and the growth of the queue.
    Each segment of a super-packet (`gso`) counts.

    References
    ----------
    RFC 5166 §2.1.3: packet loss rate as a network-based metric.
    """
    return [drop_rate_of(link) for link in obs.links]


def drop_rate_of(link: LinkObservation) -> float | None:
    """Return the drop rate of a link."""
    if link.whole:
        return share(link.summary["dropped_pkts"], link.summary["offered_pkts"])
    dropped = link.counted("dropped_pkts")
    came = dropped + link.counted("forwarded_pkts") + growth_pkts(link)
    return dropped / came if came > 0 else None


def growth_pkts(link: LinkObservation) -> float:
    """Return by how much a queue grew; a super-packet is one packet there, and several segments."""
    groups = link.obs.run.scenario.groups
    if not any(group.gso for group in groups):
        return link.counted("backlog_pkts")
    return link.counted("backlog_bytes") / max(group.packet_bytes for group in groups)


@register(title="mark rate", per="link", shown=PERCENT)
def mark_rate(obs: Observation) -> list[float | None]:
    """Mark rate of a link: packets that it marked CE / packets forwarded.

    None of a link that cannot mark. Marks of another link do not count. After a warm-up it is known
    only if the whole run had none, because the time series do not have it.

    References
    ----------
    RFC 3168 §5; RFC 8257 §3.1.
    """
    return [mark_rate_of(link) for link in obs.links]


def mark_rate_of(link: LinkObservation) -> float | None:
    """Return the mark rate of a link."""
    marked = link.summary.get("marked_pkts")
    if marked is None or not (link.whole or marked == 0):
        return None
    return share(marked, link.summary["forwarded_pkts"])


@register(title="marks per RTT", per="group")
def marks_per_rtt(obs: Observation) -> list[float | None]:
    """Marks per round trip of a group: the mean over its flows of marked packets in a mean RTT.

    A scalable congestion control keeps it at any rate: 2 for DCTCP. None of a group whose packets
    no link of its way marks. After a warm-up it is known only if the whole run had none.

    References
    ----------
    RFC 9331 §4.3: the number of marks per round trip of a scalable congestion control.
    """
    return [
        mean([value for number in numbers if (value := marks_per_rtt_of(obs, number)) is not None])
        for numbers in obs.members
    ]


def marks_per_rtt_of(obs: Observation, number: int) -> float | None:
    """Return the marked packets of a flow in its mean RTT."""
    flow = obs.flows[number]
    marked, lasted_us = flow.get("marked_pkts"), flow["end_us"] - flow["start_us"]
    if marked is None or lasted_us <= 0 or not (obs.whole or marked == 0):
        return None
    return float(marked * flow["rtt_mean_us"] / lasted_us)


@register(title="retransmission rate", better="lower", per="group", shown=PERCENT)
def retransmission_rate(obs: Observation) -> list[float | None]:
    """Retransmission rate of a group: packets retransmitted / packets sent.

    Spurious retransmissions count. Of programs both ways count; None of those without TCP, whose
    retransmissions are not seen. After a warm-up it is not known of programs; of other groups, new
    packets sent are those received in order plus the growth of the packets outstanding; ACKs in
    flight make that inexact by up to a window.

    References
    ----------
    RFC 5166 §2.1.3; "retransmitted" as tcpRetransSegs of RFC 4022.
    """
    without = [all(has_no_tcp(obs.run.scenario, obs.flows[n]) for n in ns) for ns in obs.members]
    if obs.whole:
        return [
            None
            if has_none or group["retransmitted_pkts"] is None or group["sent_pkts"] is None
            else share(group["retransmitted_pkts"], group["sent_pkts"])
            for group, has_none in zip(obs.groups, without, strict=True)
        ]
    values: list[float | None] = []
    for numbers, group, has_none in zip(obs.members, obs.run.scenario.groups, without, strict=True):
        resent = sum(obs.grown(number, "retransmitted_pkts") for number in numbers)
        outstanding = sum(obs.grown(number, "outstanding_pkts") for number in numbers)
        received = float(obs.flow_bits[numbers].sum()) / (8 * int(group.mss))
        sent = received + outstanding + resent
        is_known = sent > 0 and not has_none
        values.append(float(np.clip(resent / sent, 0, 1)) if is_known else None)
    return values


@register(title="RTOs", better="lower", per="group")
def rto_count(obs: Observation) -> list[float | None]:
    """Retransmission timeouts of a group: the sum over its flows.

    After a warm-up it is known only if the whole run had none; the kernel does not report it for
    every flow.

    References
    ----------
    RFC 6298 §5; RFC 5166 §2.1.3.
    """
    return [
        group["rto_count"] if obs.whole or group["rto_count"] == 0 else None for group in obs.groups
    ]

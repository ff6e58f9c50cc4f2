"""Drops, retransmissions and timeouts."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation
from dumbbell.statistics import share

__all__ = ["drop_rate", "retransmission_rate", "rto_count"]


@register(title="drop rate", better="lower", shown=PERCENT)
def drop_rate(obs: Observation) -> float | None:
    """Drop rate of the bottleneck: packets dropped / packets that arrived.

    After a warm-up, arrived packets are those forwarded, those dropped and the growth of the queue.

    References
    ----------
    RFC 5166 §2.1.3: packet loss rate as a network-based metric.
    """
    if obs.whole:
        return share(obs.link["dropped_pkts"], obs.link["offered_pkts"])
    dropped = obs.counted("dropped_pkts")
    came = dropped + obs.counted("forwarded_pkts") + obs.counted("backlog_pkts")
    return dropped / came if came > 0 else None


@register(title="retransmission rate", better="lower", per="group", shown=PERCENT)
def retransmission_rate(obs: Observation) -> list[float | None]:
    """Retransmission rate of a group: packets retransmitted / packets sent.

    Spurious retransmissions count. After a warm-up, new packets sent are those received in order
    plus the growth of the packets outstanding; ACKs in flight make that inexact by up to a window.

    References
    ----------
    RFC 5166 §2.1.3; "retransmitted" as tcpRetransSegs of RFC 4022.
    """
    if obs.whole:
        return [
            None
            if group["retransmitted_pkts"] is None or group["sent_pkts"] is None
            else share(group["retransmitted_pkts"], group["sent_pkts"])
            for group in obs.groups
        ]
    values: list[float | None] = []
    for numbers, group in zip(obs.members, obs.run.scenario.groups, strict=True):
        resent = sum(obs.grown(number, "retransmitted_pkts") for number in numbers)
        outstanding = sum(obs.grown(number, "outstanding_pkts") for number in numbers)
        received = float(obs.flow_bits[numbers].sum()) / (8 * int(group.mss))
        sent = received + outstanding + resent
        values.append(float(np.clip(resent / sent, 0, 1)) if sent > 0 else None)
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

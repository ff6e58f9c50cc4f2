"""Throughput and delay in one number."""

from __future__ import annotations

from dumbbell.metrics.delay import rtt_mean_us
from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.throughput import goodput_bps

__all__ = ["power"]


@register(unit="bit/s^2", title="power", better="higher", per="group")
def power(obs: Observation) -> list[float | None]:
    """Power of a group: goodput / mean RTT.

    Largest, for a single sender, where the link is full and the queue empty.

    References
    ----------
    Giessler et al.: "Free buffer allocation – an investigation by simulation", Computer Networks 2,
    1978; Kleinrock: "Power and deterministic rules of thumb for probabilistic problems in computer
    communications", ICC 1979; RFC 5166 §2.1.
    """
    return [
        None if rate is None or not rtt_us else rate * 1e6 / rtt_us
        for rate, rtt_us in zip(goodput_bps(obs), rtt_mean_us(obs), strict=True)
    ]

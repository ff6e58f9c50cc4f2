"""What applications want to send."""

from __future__ import annotations

from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation
from dumbbell.scenario.routes import payload_rate_bps

__all__ = ["offered_load"]


@register(title="offered load", per="group", shown=PERCENT)
def offered_load(obs: Observation) -> list[float | None]:
    """Load that a group offers: payload that its applications had to send / what the link carries.

    8 · bytes / (C · time): of transfers that began, writes and datagrams; C is what the narrowest
    link of the route carries of payload of full segments, rate · mss / (mss + 66). The time is from
    the flows' start to their end. Of arrivals it is `load` but for chance; None where the network
    decides what is sent: bulk, requests, pages, video.

    References
    ----------
    Floyd, Kohler: "Internet research needs better models", HotNets-I 2002; the ρ of M/G/1.
    """
    loads: list[float | None] = []
    groups = zip(obs.run.scenario.groups, obs.members, strict=True)
    for index, (group, numbers) in enumerate(groups):
        offered = obs.measured("offered_bytes")[index]
        if group.traffic.declaration.sends_datagrams:
            size_bytes = int(group.traffic.value_of("size"))
            offered = [size_bytes * count for count in obs.measured("sent_datagrams")[index]]
        start_us, end_us = obs.span_us(numbers) if numbers else (0, 0)
        carried = payload_rate_bps(group, obs.run.scenario) * (end_us - start_us) / 1e6
        loads.append(8 * sum(offered) / carried if offered and carried else None)
    return loads

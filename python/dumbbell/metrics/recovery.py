"""How long it takes until a link is used again."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.throughput import capacity_bits
from dumbbell.scenario.group import HEADER_BYTES
from dumbbell.scenario.routes import has_data_over

__all__ = ["RECOVERED", "recovery_time_s"]

#: Part of what the bottleneck can carry from which on it counts as used.
RECOVERED = 0.8
#: The time over which that is looked at, µs.
WINDOW_US = 1_000_000


@register(unit="s", title="time to recover", better="lower")
def recovery_time_s(obs: Observation) -> float | None:
    """Time to recover: until the first second in which flows get 80 % of the bottleneck.

    From the start of the phase, or of the run, to the beginning of the first window of 1 s in which
    Σ bits received ≥ 0.8 · payload bits that the bottleneck could carry; windows begin with every
    sample. Of flows whose data cross the bottleneck; the payload is that of their largest segments.
    None without such a window, and of a bottleneck with a medium or trace: its rate is nominal.

    References
    ----------
    RFC 9743 §7.8 asks how a CCA reacts to transient events, RFC 5166 §2.3 for its
    responsiveness to changes; the threshold and the window are ours.
    """
    if obs.flow_table is None:
        return None
    scenario = obs.run.scenario
    link = scenario.link(obs.run.summary["bottleneck"]["name"])
    crosses = [has_data_over(link, group, scenario) for group in scenario.groups]
    if link.has_medium or not any(crosses):
        return None
    mss_bytes = max(
        int(group.mss) for group, does in zip(scenario.groups, crosses, strict=True) if does
    )
    bits = obs.received_bits
    if not all(crosses):
        is_counted = np.array([crosses[flow["group"]] for flow in obs.flows])
        bits = np.where(is_counted[obs.sample_flows], bits, 0.0)
    payload = RECOVERED * mss_bytes / (mss_bytes + HEADER_BYTES)
    begins = obs.instants
    instants = np.zeros(bits.size, np.intp)
    instants[begins[1:]] = 1
    np.cumsum(instants, out=instants)
    received = np.concatenate([[0.0], np.cumsum(np.bincount(instants, bits))])
    edges_us = np.concatenate([[0], obs.sample_times_us[begins]])
    for first in range(int(np.searchsorted(edges_us, obs.cut_us)), edges_us.size):
        start_us = int(edges_us[first])
        last = int(np.searchsorted(edges_us, start_us + WINDOW_US, "right")) - 1
        if start_us + WINDOW_US > obs.end_us:
            return None
        wanted = payload * capacity_bits(link, start_us, int(edges_us[last]))
        if last > first and received[last] - received[first] >= wanted:
            return (start_us - obs.cut_us) / 1e6
    return None

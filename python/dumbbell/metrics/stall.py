"""How long flows get nothing."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation

__all__ = ["delivery_gap_max_s"]


@register(unit="s", title="longest time without data", better="lower", per="group")
def delivery_gap_max_s(obs: Observation) -> list[float | None]:
    """Longest time without data: the longest run of samples in which a flow received nothing.

    The longest of the group's flows, from a flow's first data, or the cut, to its end; in whole
    sample intervals. Pauses of its application count too. None without time series.

    References
    ----------
    RFC 9743 §5.1.1 asks what a CCA does when nothing arrives; the definition is
    ours.
    """
    if obs.flow_table is None:
        return [None] * len(obs.groups)
    interval_us = int(obs.run.scenario.sample) // 1000
    return [
        max((gap_us(obs, number, interval_us) / 1e6 for number in numbers), default=None)
        for numbers in obs.members
    ]


def gap_us(obs: Observation, number: int, interval_us: int) -> int:
    """Return the longest time in which a flow received nothing, µs."""
    rows = obs.rows_by_flow[number]
    times_us, end_us = obs.sample_times_us[rows], obs.flows[number]["end_us"]
    end_us = min(end_us, obs.end_us) if obs.is_phase else end_us
    kept = slice(*np.searchsorted(times_us, (obs.cut_us, end_us), "right"))
    received = obs.received_bits[rows[kept]]
    heard = np.flatnonzero(received)
    if not heard.size:
        return received.size * interval_us
    first, last = int(heard[0]), int(heard[-1])
    gaps = (first if obs.cut_us else 0, received.size - 1 - last)
    between = int(np.diff(heard).max()) - 1 if heard.size > 1 else 0
    return max(*gaps, between) * interval_us

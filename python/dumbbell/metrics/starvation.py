"""Flows that get almost nothing."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.metric import PERCENT, register
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.throughput import flow_rates_bps

__all__ = ["STARVED", "min_max_ratio", "starved_time_share"]

#: Below this part of its fair share a flow starves.
STARVED = 0.1


@register(title="slowest to fastest flow", better="higher")
def min_max_ratio(obs: Observation) -> float | None:
    """Ratio of the slowest to the fastest flow: min x / max x, x the goodput of a flow.

    1 if all are equal; near 0 if one starves. Its inverse is the s for which the flows are s-fair.
    None for a single flow.

    References
    ----------
    Arun, Alizadeh, Balakrishnan: "Starvation in end-to-end congestion control", SIGCOMM 2022.
    """
    rates = flow_rates_bps(obs, [n for numbers in obs.members for n in numbers])
    if rates.size < 2 or rates.max() == 0:
        return None
    return float(rates.min() / rates.max())


@register(title="time starved", better="lower", per="group", shown=PERCENT)
def starved_time_share(obs: Observation) -> list[float | None]:
    """Share of the time in which a flow of the group starves: gets < 0.1 of its fair share.

    Over all windows of all its flows, the share with x_i < 0.1 · Σx / n, n the flows that live
    throughout the window, of all groups. Windows are of 1 s, or 10 base RTTs where that is more;
    windows with a single flow do not count.

    References
    ----------
    Starvation as in RFC 9743 §5 and Arun et al. 2022; the threshold and the windows are ours.
    """
    rates = obs.window_rates_bps(obs.cut_us)
    if rates is None:
        return [None] * len(obs.groups)
    alive = ~np.isnan(rates)
    count = alive.sum(axis=0)
    received = np.where(alive, rates, 0)
    fair = received.sum(axis=0) / np.maximum(count, 1)
    counted = alive & (count >= 2)
    starved = counted & (received < STARVED * fair)
    of_flows, all_of_flows = starved.sum(axis=1).tolist(), counted.sum(axis=1).tolist()
    sums = [
        (sum(of_flows[number] for number in numbers), sum(all_of_flows[n] for n in numbers))
        for numbers in obs.members
    ]
    return [windows / total if total else None for windows, total in sums]

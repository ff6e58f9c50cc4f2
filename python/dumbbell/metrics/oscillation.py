"""How steady the flows' rates are."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.statistics import mean

__all__ = ["oscillation"]


@register(title="oscillation", better="lower", per="group")
def oscillation(obs: Observation) -> list[float | None]:
    """Oscillation of a group: the mean over its flows of σ/μ, x a flow's goodput in windows.

    The coefficient of variation, 0 for a constant rate. Windows are of 1 s, or 10 base RTTs where
    that is more; those in which a flow starts or ends are left out, and so are flows that live in
    fewer than two or receive nothing.

    References
    ----------
    RFC 5166 §2.2.2; Floyd, Handley, Padhye, Widmer: "Equation-based congestion control for unicast
    applications", SIGCOMM 2000 (coefficient of variation by time scale).
    """
    rates = obs.window_rates_bps(obs.cut_us)
    if rates is None:
        return [None] * len(obs.groups)
    values: list[float | None] = []
    for numbers in obs.members:
        of_flows = [rates[number][~np.isnan(rates[number])] for number in numbers]
        values.append(mean([x.std() / x.mean() for x in of_flows if x.size >= 2 and x.any()]))
    return values

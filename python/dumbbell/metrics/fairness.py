"""How evenly the flows share the bottleneck."""

from __future__ import annotations

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.throughput import flow_rates_bps
from dumbbell.statistics import jain

__all__ = ["jain_of_flows"]


@register(name="jain", title="Jain's index", better="higher")
def jain_of_flows(obs: Observation) -> float:
    """Jain's fairness index of all flows' goodput: (Σx)² / (n·Σx²), x the goodput of a flow.

    Every flow of every group counts, each over its own time. 1 when all are equal, 1/n when one of
    n has everything.

    References
    ----------
    Jain, Chiu, Hawe: "A quantitative measure of fairness and discrimination", DEC-TR-301, 1984;
    RFC 5166 §2.3.1.
    """
    return jain(flow_rates_bps(obs, [n for numbers in obs.members for n in numbers]))

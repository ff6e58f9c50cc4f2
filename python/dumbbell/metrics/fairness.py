"""How evenly the flows share the bottleneck."""

from __future__ import annotations

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.throughput import flow_rates_bps
from dumbbell.run.directions import has_both_ways, sent_nothing
from dumbbell.statistics import jain, mean

__all__ = ["jain_of_flows"]


@register(name="jain", title="Jain's index", better="higher")
def jain_of_flows(obs: Observation) -> float | None:
    """Jain's fairness index of all flows' goodput: (Σx)² / (n·Σx²), x the goodput of a flow.

    Every flow of every group counts, each over its own time, but for programs that sent nothing. 1
    when all are equal, 1/n when one of n has everything. Of flows that share no link, like
    downloads and uploads, it compares what did not compete; `dumbbell run` prints that of each way
    too. None where programs ran and data went both ways, over two links.

    References
    ----------
    Jain, Chiu, Hawe: "A quantitative measure of fairness and discrimination", DEC-TR-301, 1984;
    RFC 5166 §2.3.1.
    """
    return None if has_both_ways(obs.run) else jain(flow_rates_bps(obs, competing(obs)))


def competing(obs: Observation) -> list[int]:
    """Return the numbers of all flows but those of programs that sent nothing."""
    numbers = (number for members in obs.members for number in members)
    return [each for each in numbers if not sent_nothing(obs.flows[each], obs.run.scenario)]


@register(name="fair_share_ratio", title="goodput over fair share", per="group")
def fair_share_ratio(obs: Observation) -> list[float | None]:
    """Goodput of a group's average flow over that of the average flow of all: x̄_g / x̄.

    Each flow's goodput is over its own time. 1 is the fair share, n that a group's only flow has
    everything among n. None without a second flow, and where programs ran and data went both ways.

    References
    ----------
    "Relative goodput" next to CUBIC as in Ware et al., "Modeling BBR's interactions with loss-based
    congestion control", IMC 2019; the fair share is that of Jain, Chiu, Hawe, DEC-TR-301, 1984.
    """
    everyone = flow_rates_bps(obs, competing(obs))
    fair = mean(everyone)
    if everyone.size < 2 or not fair or has_both_ways(obs.run):
        return [None] * len(obs.members)
    of_groups = (mean(flow_rates_bps(obs, numbers)) for numbers in obs.members)
    return [None if own is None else own / fair for own in of_groups]

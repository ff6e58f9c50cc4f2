"""What each flow of a scenario with several links would get by the rules of sharing."""

from __future__ import annotations

from dumbbell.models.allocations import ALLOCATIONS, Allocation, Demand
from dumbbell.scenario import Scenario
from dumbbell.scenario.routes import links_of

__all__ = ["reference_goodputs"]


def reference_goodputs(scenario: Scenario) -> dict[Allocation, tuple[float, ...]]:
    """Return the goodput per flow of each group, bit/s, by each rule of `ALLOCATIONS`.

    All flows are taken to send at once, as much as they get, and the links to have the rates that
    they start with. Headers are subtracted; what ACKs take of a link is not.

    Parameters
    ----------
    scenario
        The scenario.

    Returns
    -------
    dict
        Nothing for one link, where all rules give each flow the same, for one flow, and beside
        programs, which send what they like; a rule whose rates are not found is left out.
    """
    runs_programs = any(group.client is not None for group in scenario.groups)
    if len(scenario.links) < 2 or scenario.flow_count < 2 or runs_programs:
        return {}
    capacities = {link.name: int(link.rate) for link in scenario.links}
    demands = [
        Demand(tuple(link.name for link in links_of(group, scenario)), group.flows)
        for group in scenario.groups
    ]
    found = {}
    for allocation in ALLOCATIONS:
        try:
            rates = allocation.rates(capacities, demands)
        except ArithmeticError:
            continue
        found[allocation] = tuple(
            float(rate) * int(group.mss) / group.packet_bytes
            for rate, group in zip(rates, scenario.groups, strict=True)
        )
    return found

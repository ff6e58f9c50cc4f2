"""Whether what arrives is more than the links carry."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.run.verdict.reason import WARN, Reason
from dumbbell.scenario import Scenario
from dumbbell.scenario.routes import links_of

__all__ = ["check_load"]


def check_load(scenario: Scenario) -> Iterator[Reason]:
    """No link is offered more by arrivals than it carries."""
    offered = {link.name: 0.0 for link in scenario.links}
    for group in scenario.groups:
        bps = group.traffic.offered_bps(group, scenario)
        for link in links_of(group, scenario) if bps is not None else ():
            offered[link.name] += (bps or 0) * group.packet_bytes / int(group.mss)
    for link in scenario.links:
        load = offered[link.name] / int(link.rate)
        if load > 1:
            where = "the bottleneck" if scenario.is_dumbbell else f"link `{link.name}`"
            yield Reason(
                WARN,
                "load",
                f"arrivals offer {where} {load:.0%} of what it carries, so more and more transfers "
                "are under way at once and completion times grow with the length of the run; use "
                "a `load` below 100%",
            )

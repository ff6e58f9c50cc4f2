"""When a script starts the processes that send: one after the other, with the flows of each.

All of it can be said with groups and their `start`; this splits and shifts groups.
"""

from __future__ import annotations

import dataclasses

from dumbbell.base.quantities import Time
from dumbbell.scenario import Group, Scenario

__all__ = ["HOSTS", "in_turn", "later"]

#: Senders of saito2022, over which flows that are alike are divided.
HOSTS = 8
#: `iperf -P` starts its threads at once and each connects by itself: a process's flows start within
#: milliseconds (iperf 2, `Launch.cpp`).
TOGETHER = "5ms"
#: Copa, and the parameter by which it knows its base RTT.
COPA, KNOWN_RTT = "copa", "rtt_min_known_us"


def in_turn(
    scenario: Scenario, apart: str, *, iperf3: bool = False, rival_first: bool = False
) -> Scenario:
    """Start processes one after the other, and the flows of each together.

    Each group is a process. A lone group of many flows is divided over `HOSTS` hosts, a process
    each; the first flow stays the first.

    Parameters
    ----------
    scenario
        What to start.
    apart
        Time between the starts of two processes.
    iperf3
        As iperf 3 does, the flows of a process connect one after the other, a round trip each, send
        37 bytes and start when all have. So all start after as many round trips, and Copa knows the
        path's base RTT. The 37 bytes themselves are not sent.
    rival_first
        Copa's rival starts before it; only of two groups.
    """
    gap_ns = int(Time.parse(apart, "apart"))
    groups = []
    hosts = processes(scenario)
    turn = [1, 0] if rival_first and len(hosts) == 2 else range(len(hosts))
    for at, group in zip(turn, hosts, strict=True):
        start_ns = int(group.start) + at * gap_ns
        cc = group.cc
        if iperf3:
            base_rtt_ns = int(scenario.rtt if group.rtt is None else group.rtt)
            start_ns += group.flows * base_rtt_ns
            cc = cc.with_param(KNOWN_RTT, base_rtt_ns // 1000) if cc.name == COPA else cc
        groups.append(dataclasses.replace(group, cc=cc, start=f"{start_ns}ns", jitter=TOGETHER))
    return scenario.replace(groups=groups)


def processes(scenario: Scenario) -> list[Group]:
    """Return the groups, a lone group of many flows divided over the hosts."""
    groups = list(scenario.groups)
    if len(groups) > 1 or groups[0].flows % HOSTS or groups[0].flows == HOSTS:
        return groups
    return [dataclasses.replace(groups[0], flows=groups[0].flows // HOSTS)] * HOSTS


def later(scenario: Scenario, late: str, by: str) -> Scenario:
    """Start the flows of one congestion control algorithm later than all others."""
    groups = [
        dataclasses.replace(group, start=f"{int(group.start) + int(Time.parse(by, 'start'))}ns")
        if group.cc.name == late
        else group
        for group in scenario.groups
    ]
    return scenario.replace(groups=groups)

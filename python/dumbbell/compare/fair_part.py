"""What a group would get if the link were shared equally: what its goodput is measured by."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.group import HEADER_BYTES

__all__ = ["fair_bits", "part_of"]

#: Bytes of a datagram's packet around its payload: Ethernet 14, IP 20, UDP 8.
DATAGRAM_HEADER_BYTES = 42


def part_of(scenario: Scenario, summary: Mapping[str, Any], group: int) -> float:
    """Return what a group received, as a part of what it would get if all flows shared equally."""
    bits = sum(8.0 * flow["received_bytes"] for flow in summary["flows"] if flow["group"] == group)
    fair = fair_bits(scenario, group)
    return bits / fair if fair > 0 else 1.0


def fair_bits(scenario: Scenario, group: int) -> float:
    """Return the payload bits that a group would get of the only link, shared equally.

    Between any two changes the link's rate, without what datagrams take and without the time in
    which everything is lost, is divided by the flows that are there. Sources that pause count as
    flows, and get what they would get in their time.
    """
    link = scenario.links[0]
    end = int(scenario.time)
    edges = {0, end, *(int(at) for at, _ in link.rate_steps)}
    edges |= {min(int(at), end) for each in scenario.groups for at in (each.start, each.stop) if at}
    for outage in outages(scenario):
        edges |= set(outage)
    total = 0.0
    tested = scenario.groups[group]
    flows = [each for each in scenario.groups if each.traffic.name != "datagram"]
    for begin, until in pairwise(sorted(edge for edge in edges if edge <= end)):
        if not is_there(tested, begin, end) or is_out(scenario, begin):
            continue
        link_bps = rate_at(scenario, begin)
        rate = link_bps - sum(
            datagram_bps(each, link_bps) for each in scenario.groups
            if each.traffic.name == "datagram" and is_there(each, begin, end)
        )  # fmt: skip
        there = sum(each.flows for each in flows if is_there(each, begin, end))
        total += max(rate, 0.0) * (until - begin) / 1e9 * tested.flows / there
    payload = int(tested.mss) / (int(tested.mss) + HEADER_BYTES)
    return total * payload * duty(tested) * passing(scenario)


def is_there(group: Group, at: int, end: int) -> bool:
    """Whether a group's flows send at a time."""
    stop = end if group.stop is None else int(group.stop)
    return int(group.start) <= at < stop


def rate_at(scenario: Scenario, at: int) -> float:
    """Return the link's rate at a time, bit/s."""
    link = scenario.links[0]
    rate = int(link.rate)
    for since, to in link.rate_steps:
        if int(since) <= at:
            rate = int(to)
    return float(rate)


def datagram_bps(group: Group, rate_bps: float) -> float:
    """Return what sources of datagrams take of a link of a rate, bit/s on the wire."""
    values = group.traffic.params
    size = int(values["size"]) if "size" in values else 160
    on_wire = (size + DATAGRAM_HEADER_BYTES) / size
    if "rate" in values:
        return int(values["rate"]) * on_wire * group.flows
    burst = int(values.get("burst", 1))
    if "interval" not in values:
        return 0.0
    interval = int(values["interval"])
    sent_bps = burst * 8 * size * on_wire * group.flows * 1e9 / interval
    if group.flows == 1 or int(group.jitter) >= interval:
        return sent_bps
    # Pulses as long as their sources' starts differ: the link passes no more than its rate.
    return min(sent_bps, rate_bps * int(group.jitter) / interval)


def duty(group: Group) -> float:
    """Return the share of the time in which a source has something to send."""
    values = group.traffic.params
    if group.traffic.name != "onoff" or "burst" in values:
        return 1.0
    on, off = (int(values.get(name, 10**9)) for name in ("on", "off"))
    return on / (on + off)


def outages(scenario: Scenario) -> list[tuple[int, int]]:
    """Return the times in which everything is lost, of those that come once, ns."""
    once = (each.params for each in scenario.links[0].impair if each.name == "outage")
    found = []
    for params in once:
        if "on" not in params:
            at = int(params.get("at", 0))
            found.append((at, at + int(params["off"])))
    return found


def is_out(scenario: Scenario, at: int) -> bool:
    """Whether everything is lost at a time."""
    return any(begin <= at < end for begin, end in outages(scenario))


def passing(scenario: Scenario) -> float:
    """Return the share of the time between outages that come again and again."""
    share = 1.0
    for each in scenario.links[0].impair:
        if each.name == "outage" and "on" in each.params:
            on, off = int(each.params["on"]), int(each.params["off"])
            share *= on / (on + off)
        if each.name == "random_loss":
            share *= 1 - int(each.params["loss"]) / 1e9
    return share * (1 - scenario.links[0].loss.share)

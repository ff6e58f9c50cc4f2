"""Who got what, each way: a group's payload there and back, and how equally flows shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dumbbell.run.groups import rate_bps
from dumbbell.scenario.routes import links_back_of, links_of
from dumbbell.statistics import jain, share

if TYPE_CHECKING:
    from dumbbell.records.rows import FlowRecord
    from dumbbell.run.run import Run
    from dumbbell.scenario import Group, Scenario

    #: A group's index, its flows, what each carried one way, and whether that is its main way.
    Part = tuple[int, list[FlowRecord], list[int], bool]

__all__ = [
    "WAYS", "Got", "Way", "has_both_ways", "payload_link", "program_ways", "sent_nothing",
    "ways_of",
]  # fmt: skip

#: The ways of a path between a client and a server.
WAYS = ("server_to_client", "client_to_server")

#: What a group sends one way counts from this part of what it sends the other way on: less are
#: requests and reports, which compete with no flow.
COUNTS_FROM = 0.01


@dataclass(frozen=True)
class Got:
    """What a group got one way.

    Attributes
    ----------
    group
        Its index.
    flows
        How many.
    received_bytes
        Payload that arrived.
    goodput_bps
        That over the group's time.
    share
        That as a part of all payload that went this way.
    per_flow_bps
        Of each flow, over its time.
    rtt_mean_us, rtt_p95_us
        Of the group's flows, mean and largest; None without a sample.
    """

    group: int
    flows: int
    received_bytes: int
    goodput_bps: float
    share: float
    per_flow_bps: tuple[float, ...]
    rtt_mean_us: float | None
    rtt_p95_us: float | None


@dataclass(frozen=True)
class Way:
    """One way through the network.

    Attributes
    ----------
    links
        Names of the links that data cross.
    groups
        Those that sent data this way.
    jain
        Jain's index of the goodputs of the flows whose groups send no more the other way: ACKs of
        QUIC and requests compete with nothing, nor do programs that send nothing. None of fewer
        than two flows.
    """

    links: tuple[str, ...]
    groups: tuple[Got, ...]
    jain: float | None


def ways_of(run: Run) -> list[Way]:
    """Return each way that carried data, in the order of the groups."""
    found: dict[tuple[str, ...], list[Part]] = {}
    for index, group in enumerate(run.scenario.groups):
        flows = [flow for flow in run.summary["flows"] if flow["group"] == index]
        for links, carried, is_main in carried_by(flows, group, run.scenario):
            found.setdefault(links, []).append((index, flows, carried, is_main))
    return [way_of(links, parts) for links, parts in found.items()]


def program_ways(run: Run) -> dict[str, Way]:
    """Return the ways of a run of programs that carried data, by `WAYS`; none of other runs."""
    scenario = run.scenario
    group = next((group for group in scenario.groups if group.client is not None), None)
    if group is None:
        return {}
    found = {way.links: way for way in ways_of(run)}
    links = (links_of(group, scenario), links_back_of(group, scenario))
    names = [tuple(link.name for link in way) for way in links]
    return {
        way: found[crossed] for way, crossed in zip(WAYS, names, strict=True) if crossed in found
    }


def has_both_ways(run: Run) -> bool:
    """Whether programs ran, and data went both ways: shares of all data are of no link then."""
    return len(program_ways(run)) == len(WAYS)


def sent_nothing(flow: FlowRecord, scenario: Scenario) -> bool:
    """Whether a flow of programs carried nothing: it competed for nothing."""
    return scenario.groups[flow["group"]].client is not None and flow["received_bytes"] == 0


def payload_link(run: Run) -> str:
    """Return the most used link of those that most of the payload crosses.

    That of a download is the way to the client, even if requests use more of the way back.
    """
    ways = [way for way in ways_of(run) if way.links]
    if not ways:
        return str(run.bottleneck["name"])
    busiest = max(ways, key=lambda way: sum(got.received_bytes for got in way.groups))
    return max(busiest.links, key=lambda name: run.link(name)["utilization"])


def carried_by(
    flows: Sequence[FlowRecord], group: Group, scenario: Scenario
) -> Iterator[tuple[tuple[str, ...], list[int], bool]]:
    """Yield the links that a group's data crossed and the payload of each flow, there and back.

    And whether the group sent no more the other way.
    """
    up = [back["received_bytes"] if (back := flow.get("requests")) else 0 for flow in flows]
    down = [flow["received_bytes"] for flow in flows]
    if group.client is not None:  # whose bytes are of both ways
        down = [both - part for both, part in zip(down, up, strict=True)]
    if sum(down) >= COUNTS_FROM * sum(up):
        is_main = sum(down) >= sum(up) and not all(sent_nothing(flow, scenario) for flow in flows)
        yield tuple(link.name for link in links_of(group, scenario)), down, is_main
    if sum(up) > 0 and sum(up) >= COUNTS_FROM * sum(down):
        yield tuple(link.name for link in links_back_of(group, scenario)), up, sum(up) >= sum(down)


def way_of(links: tuple[str, ...], parts: Sequence[Part]) -> Way:
    """Return a way with what each group got."""
    total = sum(sum(carried) for _, _, carried, _ in parts)
    groups = tuple(got(index, flows, carried, total) for index, flows, carried, _ in parts)
    rates = [
        rate
        for each, (*_, is_main) in zip(groups, parts, strict=True)
        if is_main
        for rate in each.per_flow_bps
    ]
    return Way(links, groups, jain(rates) if len(rates) > 1 else None)


def got(index: int, flows: Sequence[FlowRecord], carried: Sequence[int], total: int) -> Got:
    """Return what a group got one way."""
    sampled = [flow for flow in flows if flow["rtt_min_us"] > 0]
    return Got(
        group=index,
        flows=len(flows),
        received_bytes=sum(carried),
        goodput_bps=rate_bps(8 * sum(carried), flows),
        share=share(sum(carried), total),
        per_flow_bps=tuple(
            rate_bps(8 * bytes_, [flow]) for bytes_, flow in zip(carried, flows, strict=True)
        ),
        rtt_mean_us=sum(f["rtt_mean_us"] for f in sampled) / len(sampled) if sampled else None,
        rtt_p95_us=max((f["rtt_p95_us"] for f in sampled), default=None),
    )

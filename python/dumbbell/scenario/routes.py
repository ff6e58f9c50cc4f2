"""Routes of groups: whether they lead over a scenario's links, and which groups use a link."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import check_text
from dumbbell.base.quantities.quantity import Time
from dumbbell.scenario.kinds import Kind

if TYPE_CHECKING:
    from dumbbell.scenario.group import Group
    from dumbbell.scenario.link import Link
    from dumbbell.scenario.scenario import Scenario

__all__ = [
    "Crossing", "LinkName", "LinkNames", "Route", "check_routes", "crossings_of", "groups_over",
    "has_data_over", "largest_packet_bytes", "largest_queued_bytes", "links_back_of", "links_of",
    "payload_rate_bps",
]  # fmt: skip

#: A link's name; results and axes (`link.access.rate`) have it.
LINK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", re.ASCII)

#: The largest pure ACK on the wire: Ethernet 14, IP 20, and a TCP header of 60 (RFC 9293 §3.1).
MAX_ACK_BYTES = 94
#: Links that an error lists.
MAX_LISTED = 10


@dataclass(frozen=True)
class Crossing:
    """The groups that cross a link, each list in the scenario's order.

    Attributes
    ----------
    groups
        Those whose data or ACKs cross it.
    data, acks
        Those whose data do, and those whose ACKs do.
    """

    groups: list[Group] = field(default_factory=list)
    data: list[Group] = field(default_factory=list)
    acks: list[Group] = field(default_factory=list)


def crossings_of(scenario: Scenario) -> Mapping[str, Crossing]:
    """Return who crosses each link, by its name."""
    found = {link.name: Crossing() for link in scenario.links}
    for group in scenario.groups:
        data = (scenario.links[0].name,) if group.route is None else group.route
        acks = group.back or ()
        for name in data:
            found[name].data.append(group)
        for name in acks:
            found[name].acks.append(group)
        for name in {*data, *acks}:
            found[name].groups.append(group)
    return found


def links_of(group: Group, scenario: Scenario) -> list[Link]:
    """Return the links that a group's data cross, in order."""
    if group.route is None:
        return list(scenario.links[:1])
    return [scenario.links_by_name[name] for name in group.route]


def links_back_of(group: Group, scenario: Scenario) -> list[Link]:
    """Return the links that a group's ACKs cross, in order."""
    return [scenario.links_by_name[name] for name in group.back or ()]


def payload_rate_bps(group: Group, scenario: Scenario) -> float:
    """Return how much payload of full segments the narrowest link of a group's route carries."""
    narrowest_bps = min(int(link.rate) for link in links_of(group, scenario))
    return narrowest_bps * int(group.mss) / group.packet_bytes


def groups_over(link: Link, scenario: Scenario) -> list[Group]:
    """Return the groups whose data or ACKs cross a link."""
    return scenario.crossings[link.name].groups


def has_data_over(link: Link, group: Group, scenario: Scenario) -> bool:
    """Whether a group's data cross a link."""
    if group.route is None:
        return link.name == scenario.links[0].name
    return link.name in group.route


def largest_packet_bytes(link: Link, scenario: Scenario) -> int:
    """Return the wire size of the largest packet that crosses a link."""
    crossing = scenario.crossings[link.name]
    # Of a group that crosses it both ways the data count.
    data = max((group.packet_bytes for group in crossing.data), default=0)
    back = max((largest_packet_back_bytes(group) for group in crossing.acks), default=0)
    return data if len(crossing.data) == len(crossing.groups) else max(data, back)


def largest_packet_back_bytes(group: Group) -> int:
    """Return the wire size of the largest packet on the way of a group's ACKs.

    Programs send data there too, and applications their requests, of which several may share a
    segment.
    """
    if group.client is None:
        if not group.traffic.declaration.has_requests:
            return MAX_ACK_BYTES
        request = group.traffic.value_of("request")
        around_bytes = group.packet_bytes - group.segment_bytes
        if isinstance(request, int) and request + around_bytes <= MAX_ACK_BYTES:
            return MAX_ACK_BYTES
    return max(group.packet_bytes, MAX_ACK_BYTES)


#: Payload of a super-packet: Linux's GSO_MAX_SIZE less its allowance for headers.
MAX_SUPER_PACKET_BYTES = 65_536 - 1 - 320


def largest_queued_bytes(link: Link, scenario: Scenario) -> int:
    """Return the wire size of the largest thing that a link's queue counts as one packet."""
    super_packets = (
        group.packet_bytes * max(1, MAX_SUPER_PACKET_BYTES // int(group.mss))
        for group in groups_over(link, scenario)
        if group.gso
    )
    return max(largest_packet_bytes(link, scenario), *super_packets, 0)


def check_routes(scenario: Scenario) -> None:
    """Refuse links and routes that make no network."""
    seen: set[str] = set()
    for index, link in enumerate(scenario.links):
        if link.name in seen:
            raise ScenarioError(
                f"two links are named `{link.name}`; give each a name of its own",
                key="name",
                link=index,
            )
        seen.add(link.name)
    for index, group in enumerate(scenario.groups):
        try:
            check_group(group, scenario)
        except ScenarioError as error:
            error.group = index
            raise
    for index, link in enumerate(scenario.links):
        if not groups_over(link, scenario):
            raise ScenarioError(
                f"no group uses the link `{link.name}`; add it to a `route` or `back`, or remove "
                "it",
                link=index,
            )


def check_group(group: Group, scenario: Scenario) -> None:
    """Refuse a group whose packets cannot go where it says."""
    if group.route is None and len(scenario.links) > 1:
        raise ScenarioError(
            f"the group has no `route`; name the links that its data cross: {listed(scenario)}"
        )
    for key in ("route", "back"):
        seen: set[str] = set()
        for name in getattr(group, key) or ():
            if name not in scenario.links_by_name:
                raise ScenarioError(
                    f"{key}: there is no link `{excerpt(name)}`; the links are {listed(scenario)}",
                    key=key,
                )
            if name in seen:
                raise ScenarioError(
                    f"{key} goes over `{name}` twice; a packet can cross a link only once", key=key
                )
            seen.add(name)
    check_delays(group, scenario)


def check_delays(group: Group, scenario: Scenario) -> None:
    """Refuse a base RTT that is shorter than the links' delays."""
    crossed = [*links_of(group, scenario), *links_back_of(group, scenario)]
    delays = [(link.name, link.delay) for link in crossed if link.delay]
    total = Time(sum(delay for _, delay in delays))
    shortest = scenario.shortest_rtt_of(group)
    if shortest >= total:
        return
    terms = " + ".join(f"`{name}` {delay}" for name, delay in delays)
    raise ScenarioError(
        f"the base RTT of `{group.called}`, {shortest}, is shorter than the delays of its links, "
        f"{total} ({terms}); use an `rtt` of at least `{total}`, or shorter delays",
        key="" if group.rtt is None else "rtt",
    )


def listed(scenario: Scenario) -> str:
    """Write the links' names."""
    names = [f"`{link.name}`" for link in scenario.links[:MAX_LISTED]]
    more = len(scenario.links) - len(names)
    return ", ".join([*names, *([f"{more} more"] if more else [])])


class LinkName(Kind[str]):
    """A link's name."""

    metavar = "NAME"

    def parse(self, value: Any, what: str) -> str:
        name = check_text(value, what)
        if not LINK_NAME.fullmatch(name):
            raise ScenarioError(
                f"invalid link name `{excerpt(name)}`: use 1 to 32 letters, digits, `-` and `_`",
                key=what,
            )
        return name


class Route(tuple[str, ...]):
    """Names of links, in the order in which packets cross them."""

    __slots__ = ()

    def __str__(self) -> str:
        return ", ".join(self)


class LinkNames(Kind[Route]):
    """The links of a route."""

    metavar = "LINK…"

    def parse(self, value: Any, what: str) -> Route:
        names = list(value) if isinstance(value, list | tuple) else None
        if not names or not all(isinstance(name, str) for name in names):
            raise ScenarioError(
                f'{what} must list links, e.g. `["access", "core"]`, not `{excerpt(value)}`',
                key=what,
            )
        return Route(names)

    def to_word(self, value: Route) -> list[str]:
        return list(value)

"""How much a scenario may have; what takes long is refused before it is read or run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dumbbell._core import MAX_ROWS
from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.scenario.group import MAX_FLOWS, Group
from dumbbell.scenario.link import Link
from dumbbell.scenario.trace import MAX_TIMES

if TYPE_CHECKING:
    from dumbbell.scenario.scenario import Scenario

__all__ = ["check_amount", "read_groups", "read_links"]

#: A network beyond this is a mistake.
MAX_LINKS = 1000
#: Most points of the groups' distributions, and changes of the groups' base RTTs: each group has
#: its own copy in the engine's input.
MAX_POINTS, MAX_RTT_CHANGES = 100_000, 1_000_000


def read_groups(
    groups: Iterable[Group | str | CongestionControlChoice | type],
) -> tuple[Group, ...]:
    """Return groups; a congestion control algorithm stands for one flow of it.

    A file's are made one after the other, and what would take too long is refused before the rest.
    """
    if isinstance(groups, str):
        raise ScenarioError(f"`groups` must be a list, not a string; use [{groups!r}]")
    found: list[Group] = []
    points = 0
    for group in groups:
        found.append(group if isinstance(group, Group) else Group(group))
        points += found[-1].traffic.point_count
        if points > MAX_POINTS:
            raise ScenarioError(
                f"the groups' distributions have more than {MAX_POINTS:,} points; use fewer",
                key="traffic",
                group=len(found) - 1,
            )
    return tuple(found)


def read_links(links: Iterable[Link]) -> tuple[Link, ...]:
    """Return the links as a tuple, as `read_groups`; refuse what is not a list of links."""
    if isinstance(links, Link):
        raise ScenarioError("`links` must be a list, not one link; use `links=[…]`", key="link")
    found: list[Link] = []
    times = 0
    for link in links:
        if not isinstance(link, Link):
            raise ScenarioError(
                f'`links` must list links, e.g. `dumbbell.Link("access", rate="20mbit")`, not '
                f"`{excerpt(link)}`",
                key="link",
            )
        found.append(link)
        if len(found) > MAX_LINKS:
            raise ScenarioError(f"there are more than {MAX_LINKS:,} links; use fewer", key="link")
        times += 0 if link.trace is None else link.trace.times
        if times > MAX_TIMES:
            raise ScenarioError(
                f"the links' traces have more than {MAX_TIMES:,} times; use shorter or fewer",
                key="trace",
                link=len(found) - 1,
            )
    return tuple(found)


def check_amount(scenario: Scenario) -> None:
    """Refuse more flows or rows than memory holds."""
    if scenario.flow_count > MAX_FLOWS:
        raise ScenarioError(
            f"the groups have {scenario.flow_count:,} flows; use at most {MAX_FLOWS:,} in all",
            key="flows",
        )
    followers = sum(group.rtt is None for group in scenario.groups)
    if followers * len(scenario.rtt_steps) > MAX_RTT_CHANGES:
        raise ScenarioError(
            f"{len(scenario.rtt_steps):,} changes of the base RTT of {followers:,} groups are more "
            f"than {MAX_RTT_CHANGES:,}; use fewer changes, or a group with several `flows`",
            key="rtt_steps",
        )
    if scenario.sample == 0:
        return
    # What waits of a group is sampled at each link that its data or ACKs cross.
    crossings = sum(
        max(len(each.route or ()), 1) + len(each.back or ()) for each in scenario.groups
    )
    counts = (
        (scenario.flow_count, "flow"), (len(scenario.links), "link"), (crossings, "link crossing"),
    )  # fmt: skip
    for count, noun in counts:
        rows = count * int(scenario.time) // int(scenario.sample)
        if rows > MAX_ROWS:
            raise ScenarioError(
                f"{pluralize(count, noun)} sampled every `{scenario.sample}` for "
                f"`{scenario.time}` make {rows:,} rows, "
                f"more than {MAX_ROWS:,}; use a longer `--sample`, or `0s` for none",
                key="sample",
            )

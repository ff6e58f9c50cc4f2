"""The scenario of an emulated path: a link each way, a group of programs, and competitors."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.congestion_control import congestion_controls
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.element import queue_disciplines
from dumbbell.scenario.fields import Field, fields_of
from dumbbell.scenario.group_labels import label_of
from dumbbell.scenario.link import BOTTLENECK, UNLIMITED, UP

__all__ = ["PATH_FIELDS", "competitor", "emulated_scenario", "rate_of"]

#: What the link up has from the link down, unless it is given.
SAME_BOTH_WAYS = ("rate", "buffer", "queue")
#: How long an emulation is measured at most.
LONGEST = "86400s"
#: Time series of a path that may last hours.
SAMPLE = "100ms"
RATES = ("rate", f"{UP}_rate")
#: Characters of a result's name.
LONGEST_NAME = 80
#: Fields of the path: of the link down, of the link up, and of the scenario.
PATH_FIELDS: Mapping[str, Field[Any, Any]] = {
    **{name: field for name, field in fields_of(Link).items() if name != "name"},
    **{f"{UP}_{name}": field for name, field in fields_of(Link).items() if name != "name"},
    **{name: fields_of(Scenario)[name] for name in ("rtt", "rtt_steps", "seed", "sample")},
}


def emulated_scenario(
    values: Mapping[str, Any],
    *,
    client: Sequence[str] | str,
    cc: str | None = None,
    mtu: str | int | None = None,
    competitors: Iterable[str | Group] = (),
    competitors_up: Iterable[str | Group] = (),
) -> Scenario:
    """Build the scenario of an emulated path.

    Parameters
    ----------
    values
        Fields of the path; those of the link from client to server begin with ``up_``. A rate may
        be ``none``.
    client
        The command, for the record.
    cc
        Congestion control of both hosts' sockets; by default the kernel's.
    mtu
        Of both hosts' devices: bytes, or with another unit.
    competitors
        Flows from the server's side to the client's: ``cubic``, ``cubic:2``, or groups.
    competitors_up
        The same from the client's side to the server's.
    """
    for name in values:
        if name not in PATH_FIELDS:
            hint = nearest(name, tuple(PATH_FIELDS))
            raise ScenarioError(f"an emulated path has no field `{excerpt(name)}`{hint}", key=name)
    values = {name: rate_of(value) if name in RATES else value for name, value in values.items()}
    check_has_queue(values)
    down = {name: values[name] for name in fields_of(Link) if name in values}
    up = {name: values[f"{UP}_{name}"] for name in fields_of(Link) if f"{UP}_{name}" in values}
    if "rate" not in down and "trace" not in down:
        down["rate"] = Scenario.rate.default
    for name in SAME_BOTH_WAYS:
        if name in down and not ("trace" in up and name == "rate"):
            up.setdefault(name, down[name])
    if "rate" not in up and "trace" not in up:
        up["rate"] = Scenario.rate.default
    of_scenario: dict[str, Any] = {"time": LONGEST, "sample": SAMPLE}
    of_scenario |= {name: value for name, value in values.items() if name in fields_of(Scenario)}
    for name in fields_of(Link):
        of_scenario.pop(name, None)
    where = f"{down.get('rate', 'a trace')}, {of_scenario.get('rtt', Scenario.rtt.default)}"
    of_scenario["name"] = f"{name_of(client)} over {where}"
    routes: dict[str, Any] = {"route": [BOTTLENECK], "back": [UP]}
    is_bytes = mtu is not None and f"{mtu}".isdecimal()
    given: dict[str, Any] = {"cc": cc, "mtu": f"{mtu}B" if is_bytes else mtu}
    programs = Group(
        client=client, **routes, **{name: value for name, value in given.items() if value}
    )
    upwards: dict[str, Any] = {"route": [UP], "back": [BOTTLENECK]}
    down_groups = [competitor(each, routes) for each in competitors]
    up_groups = [competitor(each, upwards) for each in competitors_up]
    return Scenario(
        [
            programs,
            *named_by_way(down_groups, "down", up_groups),
            *named_by_way(up_groups, "up", down_groups),
        ],
        links=[Link(BOTTLENECK, **down), Link(UP, **up)],
        **of_scenario,
    )


def check_has_queue(values: Mapping[str, Any]) -> None:
    """Refuse a queue of a link on which packets take no time: nothing ever waits there.

    Raises
    ------
    ScenarioError
        There is one, and no shaper is its discipline.
    """
    own = values.get("rate"), values.get(f"{UP}_rate", values.get("rate"))
    has_trace = "trace" in values, f"{UP}_trace" in values
    for prefix, rate, is_traced in zip(("", f"{UP}_"), own, has_trace, strict=True):
        is_used = not prefix and (own[1] != UNLIMITED or has_trace[1])  # by the way up
        queue = values.get(f"{prefix}queue")
        if rate != UNLIMITED or is_traced or is_used or (queue and is_shaper(queue)):
            continue
        for name in ("queue", "buffer"):
            if values.get(key := f"{prefix}{name}") is not None:
                raise ScenarioError(
                    f"{key} `{excerpt(str(values[key]))}` has nothing to hold with the rate "
                    f"`none`, at which packets take no time; use a rate, or omit {key}",
                    key=key,
                )


def is_shaper(queue: Any) -> bool:
    """Whether a queue discipline holds packets back by itself."""
    name = str(queue).partition(":")[0]
    found = queue_disciplines().get(name)
    return found is not None and found.holds_back and ":" in str(queue)


def rate_of(value: Any) -> Any:
    """Return a rate as a scenario takes it: ``none`` is one at which packets take no time."""
    return UNLIMITED if value == "none" else value


def named_by_way(groups: Sequence[Group], way: str, others: Sequence[Group]) -> list[Group]:
    """Name groups by their way where there is one of the same algorithm on the other."""
    on_other = {label_of(group.cc) for group in others}
    labels = [label_of(group.cc) for group in groups]
    return [
        replace(group, name=f"{label.rpartition('/')[2]} {way}")
        if label in on_other and labels.count(label) == 1 and not group.name
        else group
        for group, label in zip(groups, labels, strict=True)
    ]


def name_of(client: Sequence[str] | str) -> str:
    """Return what a result is called: the command, in a line that is not too long."""
    words = client if isinstance(client, str) else shlex.join(client)
    text = " ".join("".join(each if each.isprintable() else " " for each in words).split())
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def competitor(given: str | Group, routes: dict[str, Any]) -> Group:
    """Read a competing group: a congestion control algorithm, and after a colon how many flows."""
    if isinstance(given, Group):
        return replace(given, **routes)
    names = [name.strip() for name in given.split(",")]
    if len(names) > 1 and all(name.partition(":")[0] in congestion_controls() for name in names):
        option = "--with-up" if routes["route"] == [UP] else "--with"
        one_by_one = " ".join(f"{option} {name}" for name in names)
        raise ScenarioError(f"`{excerpt(given)}` is a list; use `{one_by_one}`", key="cc")
    name, _, flows = given.rpartition(":")
    if name and flows.isascii() and flows.isdecimal():
        return Group(name, flows=int(flows), **routes)
    if name.isascii() and name.isdecimal() and flows:
        raise ScenarioError(
            f"`{excerpt(given)}`: the number of flows comes last; use `{flows}:{name}`"
        )
    if name and "=" not in flows:
        raise ScenarioError(
            f"`{excerpt(given)}`: `{excerpt(flows)}` is not a number of flows; use e.g. `{name}:2`"
        )
    return Group(given, **routes)

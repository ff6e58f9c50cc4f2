"""What groups are called in tables and figures: their names, or labels that are short.

No two are alike. A label has of a group only what others lack, and no field that an
axis of a sweep changes: it is right in every cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import to_plain
from dumbbell.congestion_control.name_kinds import KERNELS_DEFAULT, is_python_class
from dumbbell.congestion_control.names import short_names
from dumbbell.congestion_control.quic import stack_of
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.link import BOTTLENECK, UP
from dumbbell.scenario.routes import links_of

if TYPE_CHECKING:
    from dumbbell.congestion_control import CongestionControlChoice
    from dumbbell.scenario import Group, Scenario

__all__ = [
    "ALTERNATIVES", "Varied", "group_labels", "label_of", "names_of_own", "plain_labels",
]  # fmt: skip

#: What axes change of each group: their values by field, by index of the group. A parameter is
#: ``cc.mode_window_rtts`` or ``traffic.load``.
Varied = Mapping[int, Mapping[str, Sequence[Any]]]

#: Congestion control algorithms that the label of a group lists, and what is between them.
MAX_ALTERNATIVES, ALTERNATIVES = 3, " / "
#: Fields that are named where no others differ.
LAST = ("flows", "metric")
#: What a group's route is called in a path of one link each way.
DIRECTIONS = {BOTTLENECK: "down", UP: "up"}
#: Fields that are never added to a label: one is the label itself, the other is its beginning.
NOT_DIFFERENT = ("name", "cc")


def group_labels(
    scenario: Scenario, varied: Varied | None = None, spell: Callable[[str], str] = str
) -> tuple[str, ...]:
    """Return what each group is called.

    Parameters
    ----------
    scenario
        The scenario.
    varied
        What axes change of it.
    spell
        How a congestion control algorithm is written: ``CUBIC`` for ``cubic``.

    Returns
    -------
    tuple of str
        ``("Thesis", "cubic")``, ``("copa", "cubic ×4")``, ``("mycc (a)", "mycc (b)")``,
        ``("cubic (rtt 20ms)", "cubic (rtt 80ms)")``, ``("cubic #0", "cubic #1")``.
    """
    changed = varied or {}
    labels = plain_labels(scenario, changed, spell)
    named = {index for index, group in enumerate(scenario.groups) if group.name}
    labels = distinguish(labels, named, lambda alike: differences(alike, scenario, changed))
    return tuple(distinguish(labels, named, lambda alike: [f" #{index}" for index in alike]))


def plain_labels(
    scenario: Scenario, varied: Varied | None = None, spell: Callable[[str], str] = str
) -> list[str]:
    """Return the groups' labels without what distinguishes equal ones; as `group_labels`."""
    groups, changed = scenario.groups, varied or {}
    swept = [value for each in changed.values() for value in each.get("cc", ())]
    short = short_names([each.name for each in (*(group.cc for group in groups), *swept)])

    own = names_of_own(scenario)

    def written(cc: CongestionControlChoice) -> str:
        return own.get(str(cc)) or spell(short[cc.name]) + str(cc).removeprefix(cc.name)

    def label(group: Group, varied: Mapping[str, Sequence[Any]]) -> str:
        # The name of an algorithm is not that of the others that an axis puts in its place.
        is_of_algorithm = "cc" in varied and str(group.cc) in own
        return (not is_of_algorithm and group.name) or plain_label(group, varied, written)

    return [label(group, changed.get(index, {})) for index, group in enumerate(groups)]


def names_of_own(scenario: Scenario) -> dict[str, str]:
    """Return the names that users gave to algorithms of theirs, by naming the group that has it.

    An algorithm that comes with dumbbell has its name: a group's own is its part then, like
    ``download``, unless it is that name, like ``CUBIC``.
    """
    names: dict[str, set[str]] = {}
    for group in scenario.groups:
        is_own = group.cc.is_file or is_python_class(group.cc.name)
        if group.name and (is_own or group.name.lower() == group.cc.name):
            names.setdefault(str(group.cc), set()).add(group.name)
    return {cc: found.pop() for cc, found in names.items() if len(found) == 1}


def plain_label(
    group: Group,
    varied: Mapping[str, Sequence[Any]],
    written: Callable[[CongestionControlChoice], str],
) -> str:
    """Return the label of a group beside which there is no other."""
    ccs = varied.get("cc", (without_params(group.cc, varied),))
    cc = alternatives(map(written, ccs))
    if group.client is not None:
        has_own = "cc" in varied or group.cc.name != KERNELS_DEFAULT
        return f"{group.client.title} {cc}" if has_own else group.client.title
    if group.traffic.declaration.sends_datagrams:  # no congestion control
        return str(group.traffic.params.get("preset", group.traffic.name))
    return cc


def without_params(
    cc: CongestionControlChoice, varied: Mapping[str, Sequence[Any]]
) -> CongestionControlChoice:
    """Return a choice without the parameters that axes change."""
    for name in cc.params:
        if f"cc.{name}" in varied:
            cc = cc.without_param(name)
    return cc


def alternatives(names: Iterable[str]) -> str:
    """Name a group that has one of several CCAs: ``copa / bbr / 2 more``."""
    found = list(dict.fromkeys(names))
    shown = found if len(found) <= MAX_ALTERNATIVES else found[: MAX_ALTERNATIVES - 1]
    more = [f"{len(found) - len(shown)} more"] if len(shown) < len(found) else []
    return ALTERNATIVES.join([*shown, *more])


def label_of(cc: CongestionControlChoice) -> str:
    """Return the label of a congestion control algorithm without its parameters."""
    return stack_of(cc.name) + PurePath(cc.name).name if cc.is_file else cc.name


def distinguish(
    labels: Sequence[str],
    named: Iterable[int],
    suffixes: Callable[[Sequence[int]], Sequence[str]],
) -> list[str]:
    """Append to equal labels what distinguishes them; a name stays as it is."""
    result, kept = list(labels), set(named)
    by_label: dict[str, list[int]] = {}
    for index, label in enumerate(labels):
        by_label.setdefault(label, []).append(index)
    for alike in by_label.values():
        if len(alike) > 1:
            for index, suffix in zip(alike, suffixes(alike), strict=True):
                result[index] += "" if index in kept else suffix
    return result


def differences(alike: Sequence[int], scenario: Scenario, varied: Varied) -> list[str]:
    """Return what distinguishes groups of one label: `` ×4``, `` (rtt 20ms)``.

    The fewest fields that do so; every field in which they differ, where none distinguish all.
    """
    groups = [scenario.groups[index] for index in alike]
    changed = [varied.get(index, {}) for index in alike]
    # What they send is named first, and the number of flows last: what they are like matters more.
    fields = sorted(fields_of(type(groups[0])), key=lambda name: (name in LAST, name != "traffic"))
    values = {
        name: written_values(name, groups, scenario, changed)
        for name in fields
        if name not in NOT_DIFFERENT and may_differ(name, groups, changed)
    }
    # What no axis changes of any group comes first.
    differing = sorted(
        (name for name in values if len(set(values[name])) > 1), key=lambda name: "" in values[name]
    )
    sets = (each for size in (1, 2) for each in combinations(differing, size))
    chosen = next((each for each in sets if is_telling(each, values)), tuple(differing))
    return [
        suffix({name: values[name][at] for name in chosen if values[name][at]})
        for at in range(len(groups))
    ]


def is_telling(names: Iterable[str], values: Mapping[str, Sequence[str]]) -> bool:
    """Whether no two groups have the same values of some fields."""
    of_groups = list(zip(*(values[name] for name in names), strict=True))
    return len(set(of_groups)) == len(of_groups)


def suffix(values: Mapping[str, str]) -> str:
    """Write values after a label: `` ×4 (rtt 20ms)``; one flow is not said."""
    flows = values.get("flows", "1")
    times = f" ×{flows}" if flows != "1" else ""
    # Traffic says what it is by itself.
    words = [
        value if name == "traffic" or value in DIRECTIONS.values() else f"{name} {value}"
        for name, value in values.items()
        if name != "flows"
    ]
    return f"{times} ({', '.join(words)})" if words else times


def may_differ(
    name: str, groups: Sequence[Group], changed: Sequence[Mapping[str, Sequence[Any]]]
) -> bool:
    """Whether groups have several values of a field, or axes change it or a part of it."""
    first = getattr(groups[0], name)
    if any(getattr(group, name) is not first for group in groups):
        return True
    return any(axis.partition(".")[0] == name for axes in changed for axis in axes)


def written_values(
    name: str,
    groups: Sequence[Group],
    scenario: Scenario,
    changed: Sequence[Mapping[str, Sequence[Any]]],
) -> list[str]:
    """Write each group's value of a field; nothing where an axis changes it."""
    both_ways = [link.name for link in scenario.links] == list(DIRECTIONS)
    is_told_by_kind = len({group.traffic.name for group in groups}) == len(groups)

    def written(group: Group, varied: Mapping[str, Sequence[Any]]) -> str:
        value = getattr(group, name)
        if name in varied:
            return ""
        if name == "traffic":
            for param in value.params:
                value = value.without_param(param) if f"traffic.{param}" in varied else value
            return value.name if is_told_by_kind else excerpt(value)
        if name == "route" and both_ways:
            return DIRECTIONS[links_of(group, scenario)[0].name]
        if name == "rtt" and value is None:
            return f"{scenario.rtt}{' at first' if scenario.rtt_steps else ''}"
        if isinstance(value, bool):
            return "on" if value else "off"
        return "none" if value is None else f"{excerpt(to_plain(value))}"

    return [written(group, axes) for group, axes in zip(groups, changed, strict=True)]

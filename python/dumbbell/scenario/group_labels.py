"""Labels of a scenario's groups in tables and figures: short, and no two alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import to_plain
from dumbbell.congestion_control.choice import KERNELS_DEFAULT
from dumbbell.scenario.fields import fields_of

if TYPE_CHECKING:
    from dumbbell.congestion_control import CongestionControlChoice
    from dumbbell.scenario import Group, Scenario

__all__ = ["group_labels", "label_of", "short_paths"]


def group_labels(scenario: Scenario) -> tuple[str, ...]:
    """Return a label for each group.

    A file is called by its name, with as much of its path as distinguishes it from the others;
    parameters follow, then the fields in which groups of one congestion control algorithm differ.

    Parameters
    ----------
    scenario
        The scenario.

    Returns
    -------
    tuple of str
        ``("copa", "cubic")``, ``("a/copa.bpf.c", "b/copa.bpf.c")``,
        ``("cubic (rtt 20ms)", "cubic (rtt 80ms)")``, ``("cubic #1", "cubic #2")``.
    """
    groups = scenario.groups
    files = short_paths([group.cc.name for group in groups if group.cc.is_file])
    labels = []
    for group in groups:
        if group.client is not None:
            has_own = group.cc.name != KERNELS_DEFAULT
            labels.append(f"{group.client.name} {group.cc}" if has_own else group.client.name)
            continue
        if group.traffic.declaration.sends_datagrams:  # no congestion control
            labels.append(str(group.traffic))
            continue
        name, colon, params = str(group.cc).partition(":")
        labels.append(files.get(name, name) + colon + params)
    labels = distinguish(labels, lambda alike: differences([groups[i] for i in alike], scenario))
    return tuple(distinguish(labels, lambda alike: [f"#{n + 1}" for n in range(len(alike))]))


def label_of(cc: CongestionControlChoice) -> str:
    """Return the label of a congestion control algorithm without its parameters."""
    return PurePath(cc.name).name if cc.is_file else cc.name


def distinguish(
    labels: Sequence[str], suffixes: Callable[[Sequence[int]], Sequence[str]]
) -> list[str]:
    """Append to equal labels what distinguishes them."""
    result = list(labels)
    for label in set(labels):
        alike = [i for i, other in enumerate(labels) if other == label]
        if len(alike) > 1:
            for i, suffix in zip(alike, suffixes(alike), strict=True):
                result[i] = f"{label} {suffix}".strip()
    return result


def differences(groups: Sequence[Group], scenario: Scenario) -> list[str]:
    """Return the fields in which each group differs from the others: ``(rtt 20ms)``."""

    def written(group: Group, name: str) -> str:
        value = getattr(group, name)
        if name == "traffic":
            kinds = {each.traffic.name for each in groups}
            return value.name if len(kinds) == len(groups) else excerpt(value)
        if name == "rtt" and value is None:
            return f"{scenario.rtt}{' at first' if scenario.rtt_steps else ''}"
        if isinstance(value, bool):
            return "on" if value else "off"
        return "none" if value is None else f"{excerpt(to_plain(value))}"

    # What they send is named first, and the number of flows last: what they are like matters more.
    fields = sorted(
        fields_of(type(groups[0])), key=lambda name: (name == "flows", name != "traffic")
    )
    names = [
        name
        for name in fields
        if name != "cc" and len({written(group, name) for group in groups}) > 1
    ]
    # One field is enough if it distinguishes all of them.
    for name in names:
        if len({written(group, name) for group in groups}) == len(groups):
            names = [name]
            break
    if not names:
        return [""] * len(groups)
    return [
        f"({', '.join(f'{prefix(name)}{written(group, name)}' for name in names)})"
        for group in groups
    ]


def prefix(name: str) -> str:
    """Return a field's name before its value; traffic says what it is by itself."""
    return "" if name == "traffic" else f"{name} "


def short_paths(paths: Sequence[str]) -> dict[str, str]:
    """Return a label for each file: its name, and the directories that distinguish namesakes.

    Parameters
    ----------
    paths
        As users wrote them.

    Returns
    -------
    dict
        Label by path: ``{"/x/6.1/net/tcp_bbr.c": "6.1/…/tcp_bbr.c", …}``.
    """
    labels = {}
    for path in dict.fromkeys(paths):
        file = PurePath(path)
        namesakes = {other for other in paths if PurePath(other).name == file.name} - {path}
        labels[path] = file.name
        if namesakes:
            labels[path] = with_directories(file, [PurePath(other) for other in namesakes])
    return labels


def with_directories(file: PurePath, others: Sequence[PurePath]) -> str:
    """Return a file's name after its nearest directory that no namesake has at that place."""
    above = file.parts[:-1][::-1]
    for depth, directory in enumerate(above):
        theirs = {other.parts[:-1][::-1][depth : depth + 1] for other in others}
        if (directory,) not in theirs:
            return f"{directory}/{'…/' if depth else ''}{file.name}"
    return str(file)

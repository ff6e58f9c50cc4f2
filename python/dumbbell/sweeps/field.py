"""What a sweep can vary: fields of a scenario, its links or its groups, and parameters.

``buffer``, ``link.access.rate``, ``copa.flows``, ``1.cc``, ``Thesis.rtt``,
``copa.mode_window_rtts``, ``traffic.load``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import check_range, expand_counts, is_count
from dumbbell.congestion_control import RecordedCongestionControl
from dumbbell.congestion_control.parameter_value import parse_integer
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import Shorthand, fields_of, suggest
from dumbbell.scenario.group_labels import Varied
from dumbbell.scenario.kinds import Kind, is_whole
from dumbbell.scenario.link import UP, key_of_up_link
from dumbbell.scenario.traffic import BULK, OfTraffic, TrafficChoice

__all__ = ["AxisField", "field_of", "groups_named", "varied_by"]

#: What sets a field that is not an axis.
INSTEAD = {
    "seed": "; use `reps`: each has the next seed", "name": "; use `--name 0=Thesis`",
    "metric": "; use `--set 0.metric=mos`, or write it in the scenario file",
    **dict.fromkeys(("route", "back"), "; write it in the scenario file"),
}  # fmt: skip
#: What is no axis, but can be set.
SETTABLE = ("metric",)
#: Before a parameter of the groups' traffic: `traffic.load`.
TRAFFIC = "traffic"


@dataclass(frozen=True)
class AxisField:
    """A field or parameter that an axis names.

    Attributes
    ----------
    name
        As the user wrote it: ``copa.mode_window_rtts``.
    key
        The field's own name: ``mode_window_rtts``.
    kind
        Of its values.
    groups
        Indices of the groups that have it; None for the scenario or a link.
    is_parameter
        Whether it is a congestion control algorithm's parameter.
    is_of_traffic
        Whether it is a parameter of the groups' traffic.
    link
        Index of the link that has it; None for the scenario or groups.
    """

    name: str
    key: str
    kind: Kind[Any]
    groups: tuple[int, ...] | None = None
    is_parameter: bool = False
    link: int | None = None
    is_of_traffic: bool = False

    @property
    def label_key(self) -> str:
        """What labels of groups call it: ``rtt``, ``cc.mode_window_rtts``, ``traffic.load``."""
        if self.is_of_traffic:
            return f"{TRAFFIC}.{self.key}"
        if self.is_parameter:
            return f"cc.{self.key}"
        return "rtt" if self.key == "rtt_steps" else self.key

    def groups_changed(self, scenario: Scenario) -> tuple[int, ...]:
        """Return the groups whose labels it changes: of the scenario's `rtt` those without one."""
        if self.groups is not None or self.link is not None:
            return self.groups or ()
        groups = enumerate(scenario.groups)
        return tuple(index for index, each in groups if getattr(each, self.label_key, "") is None)

    def parse(self, value: Any) -> Any:
        """Read one value: ``"2bdp"``, ``4``, ``Buffer("2bdp")``.

        Raises
        ------
        ScenarioError
            The field cannot have the value.
        """
        given = self.kind.from_text(value, self.name) if isinstance(value, str) else value
        return self.kind.parse(given, self.name)

    def expand(self, text: str) -> list[Any]:
        """Read a list as the command line has it: ``0.5..64bdp``, ``1,4``, ``copa,bbr``."""
        if not text.strip():
            raise ScenarioError(f"axis `{self.name}` has no values; use `{self.name}=…`")
        return [self.parse(part) for part in self.kind.split(text, self.name)]

    def set(
        self,
        words: dict[str, Any],
        links: list[dict[str, Any]],
        groups: list[dict[str, Any]],
        value: Any,
    ) -> None:
        """Put a value into a scenario's fields.

        Parameters
        ----------
        words, links, groups
            The scenario's own, and each link's and group's, by name.
        value
            One that `parse` returned.
        """
        if self.link is not None:
            links[self.link][self.key] = value
            return
        if self.groups is None:
            words[self.key] = value
            return
        for index in self.groups:
            if self.is_of_traffic:
                traffic = TrafficChoice.parse(groups[index].get("traffic", BULK))
                groups[index]["traffic"] = traffic.with_param(self.key, value)
            elif self.is_parameter:
                groups[index]["cc"] = groups[index]["cc"].with_param(self.key, value)
            else:
                groups[index][self.key] = value


def varied_by(fields: Iterable[tuple[AxisField, Sequence[Any]]], scenario: Scenario) -> Varied:
    """Return what fields with their values change of each group, for the labels of groups."""
    found: dict[int, dict[str, Sequence[Any]]] = {}
    for field, values in fields:
        for index in field.groups_changed(scenario):
            found.setdefault(index, {})[field.label_key] = values
    return found


def field_of(name: str, scenario: Scenario, *, is_set: bool = False) -> AxisField:
    """Find the field that an axis or a setting names.

    Parameters
    ----------
    name
        ``rate``; ``link.access.rate`` of a link; ``flows`` of every group; ``1.flows`` or
        ``copa.flows`` of some; with a parameter, ``copa.mode_window_rtts`` or
        ``0.mode_window_rtts``; ``traffic.load`` of the groups whose traffic has it, or
        ``0.traffic.load``.
    scenario
        Whose links and groups it may name.
    is_set
        Whether it is set once: by `--set`, not by an axis.

    Raises
    ------
    ScenarioError
        There is no such field, or it cannot vary.
    """
    name = name.strip()
    whose, dot, key = name.rpartition(".")
    if whose == "link" and scenario.is_dumbbell and key in fields_of(Link):
        return replace(field_of(key, scenario), name=name)  # its one link's
    if whose == "link":
        raise ScenarioError(
            f"`{excerpt(name)}` names no field of a link; use `link.NAME.FIELD`, like "
            f"`link.{scenario.links[0].name}.rate`",
            key="axis",
        )
    if whose.startswith("link."):
        return link_field(name, whose.removeprefix("link."), key, scenario)
    if whose == TRAFFIC or whose.endswith(f".{TRAFFIC}"):
        return traffic_field(name, whose.removesuffix(TRAFFIC).removesuffix("."), key, scenario)
    of_scenario, of_group = fields_of(Scenario).get(key), fields_of(Group).get(key)
    field = of_group if dot else of_scenario or of_group
    if field is not None and not field.is_axis and not (is_set and key in SETTABLE):
        raise ScenarioError(
            f"`{key}` cannot be {'set so' if is_set else 'an axis'}{INSTEAD.get(key, '')}",
            key="axis",
        )
    if not dot and isinstance(of_scenario, Shorthand) and not scenario.is_dumbbell:
        raise ScenarioError(
            f"`{key}` cannot be set for the whole of a scenario with links; use "
            f"`--set link.{scenario.links[0].name}.{key}=VALUE`, or with several values `--axis`",
            key="axis",
        )
    if dot:
        groups = groups_of_axis(whose, name, scenario)
    elif field is None:
        hint = of_up_link(name, scenario) or suggest(name, [Scenario, Group], axes_only=True)
        message = f"`{excerpt(name)}` is not a field of a scenario{hint}"
        raise ScenarioError(message, key="axis")
    else:
        groups = tuple(range(len(scenario.groups)))
    if field is None:
        unit = parameter_unit(name, key, groups, scenario)
        return AxisField(name, key, Integer(unit), groups, is_parameter=True)
    return AxisField(name, key, field.kind, None if field is of_scenario else groups)


def of_up_link(name: str, scenario: Scenario) -> str:
    """Return what an axis like ``up_rate`` is called; empty for another one."""
    key = key_of_up_link(name)
    if not key:
        return ""
    if any(link.name == UP for link in scenario.links):
        return f"; use `link.{UP}.{key}`"
    return f"; use the option `--{UP}-{key.replace('_', '-')}`, or a `[[link]]` in a scenario file"


def link_field(name: str, link: str, key: str, scenario: Scenario) -> AxisField:
    """Find a link's field."""
    field = fields_of(Link).get(key)
    if field is None or not field.is_axis:
        hint = suggest(key, [Link], axes_only=True)
        message = f"`{excerpt(name)}`: `{excerpt(key)}` is not a link's field that can vary{hint}"
        raise ScenarioError(message, key="axis")
    if scenario.is_dumbbell:
        raise ScenarioError(f"`{name}`: the scenario has no `[[link]]`; use `{key}`", key="axis")
    names = [each.name for each in scenario.links]
    if link not in names:
        raise ScenarioError(
            f"`{excerpt(name)}`: there is no link `{excerpt(link)}`{nearest(link, names)}",
            key="axis",
        )
    return AxisField(name, key, field.kind, link=names.index(link))


def traffic_field(name: str, whose: str, key: str, scenario: Scenario) -> AxisField:
    """Find a parameter of groups' traffic: of some, or of every group whose traffic has it."""
    having = [
        index
        for index, group in enumerate(scenario.groups)
        if key in group.traffic.declaration.parameters
    ]
    groups = groups_of_axis(whose, name, scenario) if whose else tuple(having)
    without = [scenario.groups[index].traffic for index in groups if index not in having]
    if not groups or without:
        known = {each for group in scenario.groups for each in group.traffic.declaration.parameters}
        of = f"`{without[0].name}`" if without else "no group's traffic"
        has = "has no" if without else "has a"
        near = nearest(key, sorted(known))
        raise ScenarioError(
            f"`{excerpt(name)}`: {of} {has} parameter `{excerpt(key)}`{near}", key="axis"
        )
    first = scenario.groups[groups[0]].traffic
    kind = OfTraffic(first.name, first.declaration.parameters[key])
    return AxisField(name, key, kind, groups, is_of_traffic=True)


def groups_of_axis(whose: str, name: str, scenario: Scenario) -> tuple[int, ...]:
    """Find the groups that an axis names."""
    try:
        return groups_named(whose, scenario)
    except ScenarioError as error:
        reason = str(error)
    if whose in scenario.links_by_name and name.rpartition(".")[2] in fields_of(Link):
        reason = f"`{whose}` is a link; use `link.{name}`"
    raise ScenarioError(f"axis `{excerpt(name)}`: {reason}", key="axis")


def groups_named(whose: str, scenario: Scenario) -> tuple[int, ...]:
    """Find groups by their index, their name or that of their congestion control algorithm."""
    groups = scenario.groups
    if is_count(whose) and int(whose) < len(groups):
        return (int(whose),)
    named = tuple(i for i, group in enumerate(groups) if group.name == whose)
    found = named or tuple(i for i, group in enumerate(groups) if group.cc.name == whose)
    # As tables and legends show it: no two groups have the same label.
    found = found or tuple(i for i, label in enumerate(scenario.group_labels) if label == whose)
    if not found:
        known = ", ".join(f"`{i}` ({group.called})" for i, group in enumerate(groups))
        runs = "is named or runs" if any(group.name for group in groups) else "runs"
        raise ScenarioError(f"no group {runs} `{excerpt(whose)}`; the groups are {known}")
    return found


def parameter_unit(name: str, key: str, groups: tuple[int, ...], scenario: Scenario) -> str:
    """Return a parameter's unit; refuse one that its congestion control algorithm does not have."""
    units = [""]
    for index in groups:
        cc = scenario.groups[index].cc
        if cc.is_kernels_own:
            raise ScenarioError(
                f"axis `{name}`: the kernel's own `{cc}` has no parameters", key="axis"
            )
        if isinstance(cc, RecordedCongestionControl):
            continue  # a result: the parameter was there, and the result says its unit
        parameters = {parameter.name: parameter for parameter in cc.description.parameters}
        if key not in parameters:
            raise ScenarioError(
                f"axis `{excerpt(name)}`: `{excerpt(key)}` is neither a group's field nor a "
                f"parameter of `{cc.name}`{suggest(key, [Group], parameters, axes_only=True)}",
                key="axis",
            )
        units.append(parameters[key].unit)
    return units[-1]


@dataclass(frozen=True)
class Integer(Kind[int]):
    """A congestion control algorithm's parameter."""

    of_unit: str = ""
    metavar: str = "N"

    def parse(self, value: Any, what: str) -> int:
        return int(value) if is_whole(value) else parse_integer(str(value), what, self.of_unit)

    def split(self, text: str, what: str) -> list[int]:
        """Split ``-1,0,5`` and ``2..16``, which doubles."""
        values: list[int] = []
        for part in (part.strip() for part in text.split(",")):
            check_range(part, what)
            values += expand_counts(part, what) if ".." in part else [self.parse(part, what)]
        return values

    def unit(self, values: Collection[Any]) -> str | None:  # noqa: ARG002
        return self.of_unit or None

    def numbers(self, values: Collection[Any]) -> tuple[float, ...]:
        return tuple(float(value) for value in values)

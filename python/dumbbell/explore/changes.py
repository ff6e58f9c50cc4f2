"""A scenario with some of its fields changed, as the page's controls name them.

A name is an axis of a sweep (``rate``, ``link.down.queue``, ``1.rtt``, ``0.mode_window_rtts``,
``1.traffic.load``), or a parameter of the element that an axis chooses: ``queue:target``,
``link.up.impair:0.loss``. An empty value unsets a field.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.distribution import first_of
from dumbbell.scenario.element import ElementChoice, ImpairmentChoice, Impairments, QueueChoice
from dumbbell.scenario.parameter import LIMIT
from dumbbell.scenario.traffic import BULK, LOAD, PRESET, TrafficChoice
from dumbbell.sweeps.field import AxisField, field_of

__all__ = ["Change", "changed", "picked"]

#: A control's name, and the text that it is set to.
Change = tuple[str, str]
#: What adds and removes a group, in place of a field's name.
ADD_GROUP, REMOVE_GROUP = "+group", "-group"
#: Elements by the axis that chooses one.
CHOICES: dict[str, type[ElementChoice]] = {
    "queue": QueueChoice, "traffic": TrafficChoice, "impair": ImpairmentChoice,
}  # fmt: skip


def changed(scenario: Scenario, changes: Sequence[Change]) -> Scenario:
    """Return a scenario with some fields changed, one after the other.

    It is checked at the end, and after a change of what has parameters: those that follow are of
    what was chosen.

    Raises
    ------
    ScenarioError
        There is no such field, or the fields do not fit together.
    """
    at = next((at for at, (name, _) in enumerate(changes) if is_of_structure(name)), len(changes))
    first, rest = changes[: at + 1], changes[at + 1 :]
    words = scenario.to_dict()
    links, tables = words.pop("link", []), words.pop("group")
    for table, group in zip(tables, scenario.groups, strict=True):
        table["cc"] = group.cc
    for name, value in first:
        if name == ADD_GROUP:
            tables.append({**tables[-1], "cc": value, "name": None})
        elif name == REMOVE_GROUP:
            remove_group(tables, value)
        else:
            set_field(scenario, words, links, tables, name, value)
    found = Scenario(
        [Group(**table) for table in tables], links=[Link(**link) for link in links], **words
    )
    return changed(found, rest) if rest else found


def is_of_structure(name: str) -> bool:
    """Whether a change decides which other fields there are."""
    return name in (ADD_GROUP, REMOVE_GROUP) or name.rpartition(".")[2] in ("cc", *CHOICES)


def remove_group(tables: list[dict[str, Any]], index: str) -> None:
    """Remove a group; the last one stays."""
    if not index.isdecimal() or int(index) >= len(tables):
        raise ScenarioError(f"there is no group {excerpt(index)}")
    if len(tables) < 2:
        raise ScenarioError("a scenario needs a group; change its algorithm instead")
    del tables[int(index)]


def set_field(
    scenario: Scenario,
    words: dict[str, Any],
    links: list[dict[str, Any]],
    tables: list[dict[str, Any]],
    name: str,
    value: str,
) -> None:
    """Set a field or a parameter in the words of a scenario."""
    axis, colon, parameter = name.partition(":")
    field = field_of(axis, scenario, is_set=True)
    if colon:
        value = element_with(scenario, axis, parameter, value)
    elif field.key in CHOICES and value and not field.is_of_traffic:
        if value == picked(choice_at(scenario, field)):
            return  # its parameters stay
        value = "+".join(complete(CHOICES[field.key], part) for part in value.split("+"))
    if value == "" or (field.is_parameter and is_default(scenario, field, value)):
        unset(field, words, links, tables)
    else:
        field.set(words, links, tables, field.parse(value))


def is_default(scenario: Scenario, field: AxisField, value: str) -> bool:
    """Whether a parameter's value is what every group's algorithm has without it, and no preset."""
    for index in field.groups or ():
        cc = scenario.groups[index].cc
        known = {each.name: each.default for each in cc.description.parameters}
        if cc.preset or known.get(field.key) != field.parse(value):
            return False
    return True


def unset(
    field: AxisField,
    words: dict[str, Any],
    links: list[dict[str, Any]],
    tables: list[dict[str, Any]],
) -> None:
    """Put a field back to its default."""
    if field.link is not None:
        links[field.link].pop(field.key, None)
    elif field.groups is None:
        words.pop(field.key, None)
    for index in field.groups or ():
        table = tables[index]
        if field.is_parameter:
            table["cc"] = table["cc"].without_param(field.key)
        elif field.is_of_traffic:
            table["traffic"] = TrafficChoice.parse(table["traffic"]).without_param(field.key)
        else:
            table.pop(field.key, None)


def choice_at(scenario: Scenario, field: AxisField) -> Any:
    """Return what a scenario has chosen at a field: a queue, impairments, an application."""
    if field.groups is not None:
        return getattr(scenario.groups[field.groups[0]], field.key)
    return getattr(scenario if field.link is None else scenario.links[field.link], field.key)


def picked(chosen: Any) -> str:
    """Return what a picker has of a choice: its name, with its preset; empty of anything else."""
    if not isinstance(chosen, ElementChoice):
        return ""
    preset = chosen.params.get(PRESET)
    return f"{chosen.name}:{PRESET}={preset}" if preset else chosen.name


def element_with(scenario: Scenario, axis: str, parameter: str, value: str) -> str:
    """Return the text of a queue or impairments with one parameter changed.

    Raises
    ------
    ScenarioError
        There is none, or it does not have the parameter.
    """
    chosen = choice_at(scenario, field_of(axis, scenario, is_set=True))
    place, dot, name = parameter.rpartition(".")
    if not dot:
        if not isinstance(chosen, QueueChoice):
            raise ScenarioError(f"`{excerpt(axis)}` has no parameters; choose a queue first")
        return with_parameter(chosen, name, value)
    if not isinstance(chosen, Impairments) or not place.isdecimal() or int(place) >= len(chosen):
        raise ScenarioError(f"there is no impairment `{excerpt(parameter)}`")
    parts = [str(each) for each in chosen]
    parts[int(place)] = with_parameter(chosen[int(place)], name, value)
    return "+".join(parts)


def with_parameter(chosen: ElementChoice, name: str, value: str) -> str:
    """Return the text of a choice with a parameter changed; an empty value is its default."""
    parameters = chosen.declaration.parameters
    shown = {each: parameters[each].show(set_to) for each, set_to in chosen.params.items()}
    shown[name] = value
    rest = ",".join(f"{each}={text}" for each, text in shown.items() if text)
    return f"{chosen.name}:{rest}" if rest else chosen.name


def complete(kind: type[ElementChoice], text: str) -> str:
    """Return a choice with an example of each parameter that has no default and is not set."""
    name, _, rest = text.strip().partition(":")
    element = kind.known().get(name)
    if element is None:
        return text  # reading it says what is wrong
    given = {part.partition("=")[0].strip() for part in rest.split(",")}
    parts = [rest] if rest else []
    for each, parameter in element.parameters.items():
        if parameter.must_be_set and each != LIMIT and each not in given:
            parts.append(f"{each}={first_of(parameter.examples)}")
    if element.takes_load and not given & {LOAD, "gap"}:
        parts.insert(0, f"{LOAD}=30%")
    whole = f"{name}:{','.join(parts)}" if parts else name
    optional = [each for each in element.parameters if each not in given and each != LIMIT]
    tried = (
        f"{whole}{',' if parts else ':'}{each}={first_of(element.parameters[each].examples)}"
        for each in optional
    )
    # Some need one parameter of several, which only their check knows.
    return whole if runs(kind, whole) else next((t for t in tried if runs(kind, t)), whole)


def runs(kind: type[ElementChoice], text: str) -> bool:
    """Whether a scenario can have a choice."""
    try:
        Scenario(
            [Group("cubic", traffic=text if kind is TrafficChoice else BULK)],
            queue=text if kind is QueueChoice else None,
            impair=text if kind is ImpairmentChoice else "",
        )
    except ScenarioError:
        return False
    return True

"""The scenario that arguments and options make."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.quantities.quantity import NUMBER, Loss, Rate, Size, Time, is_count
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import Shorthand, fields_of
from dumbbell.scenario.group_name import GroupName
from dumbbell.terminal.console import note
from dumbbell.terminal.field_options import OPTION_FIELDS, Fields
from dumbbell.terminal.up_link import add_up_link, axis_names, first_values, of_up_link

if TYPE_CHECKING:
    from dumbbell.sweeps.field import AxisField

__all__ = ["base_of_axes", "base_scenario", "single_values"]

#: Between the values of a list, or the ends of a range.
BETWEEN_VALUES = re.compile(r",|\.\.")
#: Units of quantities.
UNITS = {"bdp", "pkt", *Rate.units, *Time.units, *Size.units, *Loss.units}
#: Written after an option that takes no value.
FLAG_WORDS = ("true", "false", "yes", "no", "on", "off")


def single_values(fields: Fields, command: str) -> dict[str, Any]:
    """Return what options set; refuse lists of values.

    Parameters
    ----------
    fields
        By field, as written.
    command
        Which takes one value of each.
    """
    for name, text in fields.items():
        field = OPTION_FIELDS[name]
        if not field.per_group and isinstance(text, str) and field.kind.is_list(text):
            values = len(field.kind.split(text, name))
            instead = "; use `dumbbell sweep`" if command == "run" else ""
            raise ScenarioError(
                f"`{field.option} {text}` lists {values} values, but `dumbbell {command}` takes "
                f"one{instead}",
                key=name,
            )
    return {name: OPTION_FIELDS[name].from_option(value) for name, value in fields.items()}


def base_of_axes(
    what: list[str],
    constants: Mapping[str, Any],
    lists: Mapping[str, str],
    settings: Sequence[str] | None = None,
    uploads: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> tuple[Scenario, dict[str, str]]:
    """Build the scenario whose fields vary, and name its axes.

    Parameters
    ----------
    what, settings, uploads, names
        As `base_scenario` takes them.
    constants, lists
        By field: one value, as Python has it, or several as they were written.
    """
    base = base_scenario(what, {**first_values(lists), **constants}, settings, uploads, names)
    has_up_link = bool(uploads) or bool(of_up_link({**constants, **lists}))
    names = axis_names(list(lists), has_up_link=has_up_link)
    return base, dict(zip(names, lists.values(), strict=True))


def base_scenario(
    what: list[str],
    values: Mapping[str, Any],
    settings: Sequence[str] | None = None,
    uploads: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
) -> Scenario:
    """Build the scenario that arguments and options name.

    Parameters
    ----------
    what
        Congestion control algorithms, or one scenario file.
    values
        By field, as Python has them; they replace a file's.
    settings
        Fields of single links and groups, as ``--set`` has them.
    uploads
        Congestion control algorithms of ``--upload``.
    names
        Names of groups and the title, as ``--name`` has them.
    """
    refuse_values(what, values)
    words: dict[str, Any] = {}
    links: list[dict[str, Any]] = []
    tables: list[dict[str, Any]] = [{"cc": cc} for cc in split_mix(what)]
    files = [word for word in what if word.endswith(".toml")]
    if files:
        if len(what) > 1:
            raise ScenarioError(
                f"scenario file `{files[0]}` cannot be combined with other arguments"
            )
        # Through the file's words, so that an option replaces a value before it is checked against
        # the others.
        words = Scenario.from_toml(files[0]).to_dict()
        links, tables = words.pop("link", []), words.pop("group")
    tables += [{"cc": cc} for cc in uploads or ()]
    of_up = of_up_link(values)
    for name, value in values.items():
        if name in fields_of(Scenario):
            check_settable(name, value, links, files)
            words[name] = value
        elif name not in of_up:
            set_of_groups(name, value, tables)
    if of_up or uploads:
        add_up_link(words, links, tables, of_up, uploads or (), "".join(files))
    if names:
        set_names(names, words, tables, scenario_to_name(files, links, tables))
    if settings:
        set_fields(settings, words, links, tables, scenario_to_name(files, links, tables))
    return Scenario(
        [Group(**table) for table in tables], links=[Link(**link) for link in links], **words
    )


def scenario_to_name(
    files: Sequence[str],
    links: Sequence[Mapping[str, Any]],
    tables: Sequence[Mapping[str, Any]],
) -> Scenario:
    """Return a scenario with the links and groups that settings may name."""
    read = Scenario.from_toml(files[0]) if files else None
    if read is not None and len(read.links) >= len(links) and len(read.groups) == len(tables):
        named = zip(read.groups, tables, strict=True)
        return read.replace(
            groups=[replace(group, name=table.get("name")) for group, table in named]
        )
    kept = ("cc", "name", "route", "back")
    groups = [Group(**{key: table[key] for key in kept if key in table}) for table in tables]
    return Scenario(
        groups, links=[Link(link["name"], rate=link.get("rate") or "1mbit") for link in links]
    )


def set_names(
    names: Sequence[str],
    words: dict[str, Any],
    tables: Sequence[dict[str, Any]],
    scenario: Scenario,
) -> None:
    """Set the names of groups and the title that `--name` has.

    Without a group it is the name of the only one, or of several the title; and the title where it
    cannot be a group's.
    """
    from dumbbell.sweeps.field import groups_named

    given: dict[int | None, str] = {}
    for text in names:
        whose, equals, name = (part.strip() for part in text.rpartition("="))
        # With one group there is no doubt whose it is; a title may have what a name cannot.
        is_only = len(tables) == 1 and not GroupName().problem_of(name)
        index = 0 if is_only and not equals else None
        if equals:
            try:
                found = groups_named(whose, scenario)
            except ScenarioError as error:
                raise ScenarioError(f"`--name {text}`: {error}", key="name") from None
            if len(found) > 1:
                message = f"`--name {text}`: `{whose}` are {len(found)} groups; name each by its "
                raise ScenarioError(f"{message}number, like `{found[0]}={name}`", key="name")
            index = found[0]
        elif len(tables) > 1 and len(each_name := name.split(",")) == len(tables):
            check_listed_names(name, each_name)
        if index in given:
            twice = f"`--name {text}`: the group is named twice; give it one name"
            titles = (
                f"`--name` gives two titles, `{given[index]}` and `{name}`; a group's name is "
                f"`--name 0={name}`"
            )
            raise ScenarioError(titles if index is None else twice, key="name")
        given[index] = name
        if index is None and len(tables) > 1 and len(name.split()) == 1:  # a title has more words
            note(f"`{name}` is the title; a group's name is `--name 0={name}`")
        (words if index is None else tables[index])["name"] = name


def check_listed_names(name: str, names: Sequence[str]) -> None:
    """Refuse a list of names, which would be the title: a title has a space after its commas."""
    if not any(each != each.strip() for each in names):
        one_by_one = " ".join(f"--name {at}={each}" for at, each in enumerate(names))
        raise ScenarioError(f"`--name {name}` names no group; use `{one_by_one}`", key="name")


def refuse_values(what: Sequence[str], values: Mapping[str, Any]) -> None:
    """Refuse what belongs to an option: `true` and the like, a unit, a further value."""
    for word in what:
        if word.lower() in FLAG_WORDS:
            raise ScenarioError(
                f"`{word}` is not a congestion control algorithm; an option like `--json` takes no "
                f"value: remove `{word}`"
            )

        parts = BETWEEN_VALUES.split(word)
        if word in UNITS:
            bare = [text for text in values.values() if isinstance(text, str) and is_count(text)]
            raise ScenarioError(
                f"`{word}` is a unit; write it behind its number, without a space: "
                f"`{(bare or ['2'])[0]}{word}`"
            )
        if all(each and each[2] in ("", *UNITS) for each in map(NUMBER.fullmatch, parts)):
            raise ScenarioError(
                f"`{word}` is a value; write it behind its option, and a list without spaces, "
                "like `--buffer 1,2bdp`"
            )


def check_settable(
    name: str, value: Any, links: Sequence[Mapping[str, Any]], files: Sequence[str]
) -> None:
    """Refuse an option of the only link for a file that has links."""
    field = fields_of(Scenario)[name]
    if links and isinstance(field, Shorthand):
        raise ScenarioError(
            f"`{field.option}` cannot be combined with the links of {files[0]}; use "
            f"`--set link.{links[0]['name']}.{name}={value}`",
            key=name,
        )


def set_fields(
    settings: Sequence[str],
    words: dict[str, Any],
    links: list[dict[str, Any]],
    tables: list[dict[str, Any]],
    scenario: Scenario,
) -> None:
    """Set what `--set` has, before the scenario is made: all is checked together."""
    for table, group in zip(tables, scenario.groups, strict=True):
        table["cc"] = group.cc
    for field, value in changes_of(settings, scenario):
        field.set(words, links, tables, value)


def changes_of(settings: Sequence[str], scenario: Scenario) -> list[tuple[AxisField, Any]]:
    """Return the fields of `--set` and their values, CCAs before parameters."""
    changes: dict[str, tuple[AxisField, Any]] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ScenarioError(f"`--set {text}` sets nothing; use `--set NAME=VALUE`", key="set")
        if name in changes:
            raise ScenarioError(f"`--set {name}` is given twice; give it once", key="set")
        # Most runs set nothing, and the package of sweeps takes long to load.
        from dumbbell.sweeps.field import field_of

        field = field_of(name, scenario, is_set=True)
        changes[name] = (field, field.parse(value))
    return sorted(changes.values(), key=lambda change: change[0].key != "cc")


def split_mix(what: list[str]) -> list[str]:
    """Return a group for each argument; ``copa+cubic`` alone is two."""
    # A mix may be longer than any path, for which Path.exists() raises an error.
    if len(what) == 1 and "+" in what[0] and not os.path.exists(what[0]):  # noqa: PTH110
        return what[0].split("+")
    return what


def set_of_groups(name: str, value: Any, tables: Sequence[dict[str, Any]]) -> None:
    """Set a field of every group."""
    for table, each in zip(tables, per_group(name, value, len(tables)), strict=True):
        table[name] = each


def per_group(name: str, value: Any, groups: int) -> list[Any]:
    """Return each group's value of an option."""
    field = OPTION_FIELDS[name]
    if not (field.per_group and isinstance(value, str)):
        return [value] * groups
    values = field.kind.split(value, name)
    if len(values) not in (1, groups):
        raise ScenarioError(
            f"`{field.option} {value}` lists {len(values)} values for "
            f"{pluralize(groups, 'group')}; "
            "use one, or one per group",
            key=name,
        )
    return (values * groups)[:groups]

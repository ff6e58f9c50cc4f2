"""`--up-rate` and the like: a second link, for ACKs and uploads, in one command.

A scenario file says the same by two `[[link]]`, `bottleneck` and `up`, and each group's `route` and
`back`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.scenario import Link, Scenario
from dumbbell.scenario.fields import Field, Shorthand, fields_of
from dumbbell.scenario.link import BOTTLENECK, UP

__all__ = ["UP_FIELDS", "WAY_BACK", "add_up_link", "axis_names", "first_values", "of_up_link"]

#: Panel of `--help`.
WAY_BACK = "Way back"
RATE = f"{UP}_rate"
#: Either makes the link.
MAKES_LINK = (RATE, f"{UP}_trace")


def up_field(field: Field[Any, Any]) -> Field[Any, Any]:
    """Return a field of the second link as commands have it."""
    is_rate = field.name == Link.rate.name
    made: Field[Any, Any] = Field(
        field.kind,
        None if field.default is ... else field.default,
        doc=(
            "Capacity of a second link, `up`, which ACKs cross, and the data of `--upload`; "
            "Ethernet, IP and TCP headers count."
            if is_rate
            else f"`{field.name}` of that link."
        ),
        panel=WAY_BACK,
        example=field.example,
        default_note="no second link" if is_rate else field.default_note.partition(";")[0],
        axis=field.is_axis,
    )
    made.name = f"{UP}_{field.name}"
    return made


#: The second link's fields, by option.
UP_FIELDS: Mapping[str, Field[Any, Any]] = {
    f"{UP}_{name}": up_field(field)
    for name, field in fields_of(Link).items()
    if field.has_option or name == "delay"
}


def of_up_link(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what options set of the second link, by option."""
    return {name: value for name, value in values.items() if name in UP_FIELDS}


def add_up_link(
    words: dict[str, Any],
    links: list[dict[str, Any]],
    tables: Sequence[dict[str, Any]],
    values: Mapping[str, Any],
    uploads: Sequence[str],
    file: str,
) -> None:
    """Make two links of a scenario with one, and lead the groups over them.

    Parameters
    ----------
    words, links, tables
        The scenario's own fields, its links' and its groups'; uploads are the last groups.
    values
        What options set of the second link.
    uploads
        Congestion control algorithms of `--upload`.
    file
        The scenario file, if there is one.
    """
    given = next(iter(values), "")
    option = UP_FIELDS[given].option if given else "--upload"
    if links:
        key = given.removeprefix(f"{UP}_") or "rate"
        raise ScenarioError(
            f"`{option}` cannot be combined with the links of {file}; use "
            f"`--set link.{links[-1]['name']}.{key}=…`",
            key=given,
        )
    if not any(name in values for name in MAKES_LINK):
        raise ScenarioError(
            f"`{option}` needs the link of the way back: add `{UP_FIELDS[RATE].option} 10mbit`",
            key=RATE,
        )
    names = [name for name, field in fields_of(Scenario).items() if isinstance(field, Shorthand)]
    only = {name: words.pop(name) for name in names if name in words}
    if not only.get("trace"):
        only["rate"] = only.get("rate") or Scenario.rate.default
    parsed = {name: UP_FIELDS[name].parse(value) for name, value in values.items()}
    up = {name.removeprefix(f"{UP}_"): value for name, value in parsed.items()}
    links += [{"name": BOTTLENECK, **only}, {"name": UP, **up}]
    downloads = len(tables) - len(uploads)
    for index, table in enumerate(tables):
        there, back = (BOTTLENECK, UP) if index < downloads else (UP, BOTTLENECK)
        table |= {"route": [there], "back": [back]}


def first_values(lists: Mapping[str, str]) -> dict[str, Any]:
    """Return the first value of each list of the second link's: there is no link without a rate."""
    found = {}
    for name, text in of_up_link(lists).items():
        field = UP_FIELDS[name]
        found[name] = field.from_option(field.kind.split(text, name)[0])
    return found


def axis_names(names: Sequence[str], *, has_up_link: bool) -> list[str]:
    """Return the axes that options name: of two links, `rate` is `link.bottleneck.rate`."""
    of_scenario = fields_of(Scenario)

    def named(name: str) -> str:
        if name in UP_FIELDS:
            return f"link.{UP}.{name.removeprefix(f'{UP}_')}"
        if has_up_link and isinstance(of_scenario.get(name), Shorthand):
            return f"link.{BOTTLENECK}.{name}"
        return name

    return [named(name) for name in names]

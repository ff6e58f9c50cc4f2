"""Axes on the command line: fields with several values, and those of `--axis`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.terminal.field_options import OPTION_FIELDS, Fields

__all__ = ["RANGE", "constants_and_lists", "other_axes"]

#: Between axes that change together; impairments have `+` between them too, but no `=` after a
#: name.
JOINED = re.compile(r"\+(?=\s*[\w.]+\s*=)")

RANGE = "A list `a,b,c`, a doubling range `a..b` or even steps `a..b/n`."


def constants_and_lists(
    fields: Fields, kept: Container[str] = ()
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fields that options set to one value, and the lists of the others.

    Parameters
    ----------
    fields
        By field, as written.
    kept
        Fields that are lists even with one value.
    """
    constants: dict[str, Any] = {}
    lists: dict[str, str] = {}
    for name, text in fields.items():
        field = OPTION_FIELDS[name]
        if field.per_group or not isinstance(text, str):
            constants[name] = text
            continue
        values = field.kind.split(text, name)
        if len(values) > 1 or name in kept:
            if not field.is_axis:
                raise ScenarioError(f"`{field.option} {text}`: {name} takes one value", key=name)
            lists[name] = text
        else:
            constants[name] = field.from_option(values[0])
    return constants, lists


def other_axes(
    given: Iterable[str], named: Container[str]
) -> tuple[dict[str, str], list[list[str]]]:
    """Return the axes of `--axis`, and the names of those that `+` joins: they change together."""
    axes: dict[str, str] = {}
    joined = []
    for text in given:
        names = []
        for part in JOINED.split(text):
            name, equals, values = (word.strip() for word in part.partition("="))
            if not equals or not name:
                raise ScenarioError(f"axis `{text}` has no values; use `--axis NAME=VALUES`")
            if name in axes or name in named:
                raise ScenarioError(f"axis `{name}` is given twice; list all its values in one")
            axes[name] = values
            names.append(name)
        if len(names) > 1:
            joined.append(names)
    return axes, joined

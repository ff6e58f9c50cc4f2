"""The tables of docs/scenario.md, from the declarations of the fields."""

from __future__ import annotations

import json
from typing import Any

from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import FLOWS, PATH, RUN, Field, fields_of

__all__ = ["field_tables"]

OWNERS = {owner.__name__: owner for owner in (Scenario, Link, Group)}
PANELS = (PATH, FLOWS, RUN)


def field_tables() -> dict[str, str]:
    """Return the table of each class and panel of ``--help`` that has fields, by name."""
    return {
        f"{owner}_{panel}".lower(): table(owner, panel)
        for owner in OWNERS
        for panel in PANELS
        if any(field.panel == panel for field in fields_of(OWNERS[owner]).values())
    }


def table(owner: str, panel: str) -> str:
    """Return the table of a class's fields in a panel of ``--help``."""
    fields = [field for field in fields_of(OWNERS[owner]).values() if field.panel == panel]
    rows = ["| field | default | example | what it is |", "|---|---|---|---|"]
    return "\n".join([*rows, *(row(field) for field in fields), ""])


def row(field: Field[Any, Any]) -> str:
    """Return a field's row."""
    value, _, note = field.default_text.partition(", ")
    is_value = field.default not in (None, "", ...)
    default = ", ".join(filter(None, (f"`{value}`" if is_value else value, note)))
    example = json.dumps(field.example) if not isinstance(field.example, str) else field.example
    notes = [field.doc]
    notes += [] if field.is_axis else ["Not an axis of sweeps."]
    # Names have an option that is not a field's own.
    notes += [] if field.has_option or "`--" in field.doc else ["No command-line option."]
    return f"| `{field.name}` | {default} | `{example}` | {' '.join(notes)} |"

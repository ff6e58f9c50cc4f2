"""The tables of docs/scenario.md, from the declarations of the fields.

``python tools/field_tables.py`` writes them; ``make docs`` runs it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import FLOWS, PATH, RUN, Field, fields_of

__all__ = ["with_tables"]

PAGE = Path(__file__).with_name("scenario.md")
#: Between these lines of the page stands the table of a class and a panel.
TABLE = re.compile(r"(<!-- fields of (\w+), (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
OWNERS = {owner.__name__: owner for owner in (Scenario, Link, Group)}
PANELS = (PATH, FLOWS, RUN)


def with_tables(page: str) -> str:
    """Return the page with its tables as they are now."""
    return TABLE.sub(lambda found: f"{found[1]}{table(found[2], found[3])}{found[4]}", page)


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
    notes += [] if field.has_option else ["No command-line option."]
    return f"| `{field.name}` | {default} | `{example}` | {' '.join(notes)} |"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

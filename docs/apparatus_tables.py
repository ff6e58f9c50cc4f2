"""Writes the tables of apparatus.md: ``python docs/apparatus_tables.py``; ``make docs`` runs it."""

from __future__ import annotations

import re
from pathlib import Path

from dumbbell.papers.apparatus import ELEMENTS
from dumbbell.papers.presets import PRESETS

__all__ = ["with_tables"]

PAGE = Path(__file__).with_name("apparatus.md")
#: Between these lines of the page stands a table.
TABLES = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- /table -->\n)", re.DOTALL)


def rows(head: list[str], body: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def elements() -> str:
    """Return the table of elements."""
    return rows(
        ["element", "levels", "what it is", "source", "may matter for"],
        [
            [
                f"`{element.id}`",
                "; ".join(level.name for level in element.levels) or "not in dumbbell yet",
                element.what,
                element.source,
                ", ".join(element.findings),
            ]
            for element in ELEMENTS.values()
        ],
    )


def presets() -> str:
    """Return the table of presets."""
    return rows(
        ["preset", "adds", "is in the plain set-up already", "not known"],
        [
            [
                f"`{preset.name}`: {preset.what}",
                "; ".join(f"`{each.element}`: {each.level}" for each in preset.setup) or "nothing",
                "; ".join(preset.as_plain),
                "; ".join(preset.unknown),
            ]
            for preset in PRESETS.values()
        ],
    )


def with_tables(page: str) -> str:
    """Return a page with the tables that belong between its marks."""
    tables = {"elements": elements, "presets": presets}
    return TABLES.sub(lambda found: f"{found[1]}{tables[found[2]]()}{found[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

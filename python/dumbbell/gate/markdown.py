"""The gate's findings as Markdown, for a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dumbbell.gate.gate import Gate
from dumbbell.gate.text import (
    CHANGE_COLUMNS,
    CRITERION_COLUMNS,
    change_row,
    changes,
    criterion_row,
    headline,
    outline,
    unmet,
)

__all__ = ["to_markdown"]

#: Rows of a table: GitHub cuts a comment at 65,536 characters.
MOST_ROWS = 100
#: What Markdown reads as more than itself.
MARKS = re.compile(r"[|*_<>\[\]]")


def to_markdown(gate: Gate) -> str:
    """Return the outcome, what changed, and which criteria are not met."""
    parts = [f"### {headline(gate)}", "\n".join(f"- {plain(line)}" for line in outline(gate))]
    rows = [change_row(comparison) for comparison in changes(gate)]
    if rows:
        parts.append(table(CHANGE_COLUMNS, rows))
    rows = [criterion_row(outcome) for outcome in unmet(gate)]
    if rows:
        parts.append(table(CRITERION_COLUMNS, rows))
    return "\n\n".join(parts) + "\n"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table, its first rows."""
    head = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines = ["| " + " | ".join(map(plain, row)) + " |" for row in rows[:MOST_ROWS]]
    more = [f"\n… and {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
    return "\n".join([*head, *lines, *more])


def plain(text: str) -> str:
    """Put a text on one line and keep Markdown from reading marks into it.

    What is between backticks is code already, where a table's bar alone has to be escaped.
    """
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:  # one backtick too many
        parts = ["\\`".join(parts)]
    return "`".join(
        part.replace("|", r"\|") if at % 2 else MARKS.sub(r"\\\g<0>", part)
        for at, part in enumerate(parts)
    )

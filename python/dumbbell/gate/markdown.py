"""The gate's findings as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dumbbell.gate.gate import Gate
from dumbbell.gate.sentences import (
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
    """Keep Markdown from reading marks into a text."""
    return "".join(f"\\{mark}" if mark in "|*_<>[]" else mark for mark in escaped(text))


def escaped(text: str) -> Iterable[str]:
    """Return a text on one line."""
    return " ".join(text.split())

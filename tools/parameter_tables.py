"""Tables of every congestion control's parameters and state series, for the guide's pages."""

from __future__ import annotations

from pathlib import Path

import dumbbell

__all__ = ["write_parameter_tables"]


def write_parameter_tables(directory: Path) -> None:
    """Write ``<name>.md`` for each built-in congestion control, from what its C file declares."""
    directory.mkdir(exist_ok=True)
    for name in dumbbell.congestion_controls():
        (directory / f"{name}.md").write_text(tables(dumbbell.describe(name)), encoding="utf-8")


def tables(described: dumbbell.Description) -> str:
    """Write the two tables of a congestion control; a table without rows is left out."""
    parts = []
    if described.parameters:
        rows = [
            f"| `{p.name}` | {p.default} | {p.min} … {p.max} | {p.unit} | {p.doc} |"
            for p in described.parameters
        ]
        parts.append(
            "| parameter | default | range | unit | what it is |\n|---|---|---|---|---|\n"
            + "\n".join(rows)
        )
    if described.series:
        rows = [f"| `{s.name}` | {s.unit} | {s.doc} |" for s in described.series]
        parts.append("| series | unit | what it is |\n|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"

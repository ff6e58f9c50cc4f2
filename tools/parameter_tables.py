"""Tables of each algorithm's parameters and state series, for the guide's pages."""

from __future__ import annotations

import dumbbell

__all__ = ["parameter_tables"]


def parameter_tables() -> dict[str, str]:
    """Return the tables of each built-in algorithm, from what its C file declares."""
    return {name: tables(dumbbell.describe(name)) for name in dumbbell.congestion_controls()}


def tables(described: dumbbell.Description) -> str:
    """Write the two tables of an algorithm; a table without rows is left out."""
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

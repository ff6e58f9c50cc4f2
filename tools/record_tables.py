"""The tables of docs/format-run.md: the values of each record, as the engines declare them."""

from __future__ import annotations

from markdown_tables import markdown_table

from dumbbell.records.declared import RecordField, fields_of, schema

__all__ = ["record_tables"]

ONLY = {"simulator": "simulator only", "kernel": "kernel engine only"}


def record_tables() -> dict[str, str]:
    """Return the table of each record, by name."""
    names = [record["name"] for record in schema()["records"]]
    return {
        f"record_{name}": markdown_table(("key", "meaning"), map(row, fields_of(name).values()))
        for name in names
    }


def row(field: RecordField) -> tuple[str, str]:
    """Return a value's row."""
    only = f" ({ONLY[field.engine]})" if field.engine else ""
    return f"`{field.name}`", f"{field.doc.removesuffix('.')}{only}"

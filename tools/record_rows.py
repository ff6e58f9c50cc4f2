"""Writes `python/dumbbell/records/rows.pyi`: a `TypedDict` for each record of the engines.

The build runs it, so that a type checker knows what the engine that was built reports.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dumbbell.records.declared import COUNT, FLAG, REAL, TEXT, WHOLE, RecordField, fields_of, schema
from dumbbell.records.rows import class_name

STUB = Path(__file__).parents[1] / "python/dumbbell/records/rows.pyi"
HEAD = '''"""Rows of results as their readers see them; written by tools/record_rows.py."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

def class_name(record: str) -> str: ...
'''
TYPES = {COUNT: "int", WHOLE: "int", REAL: "float", TEXT: "str", FLAG: "bool"}


def stub() -> str:
    """Return the stub."""
    return HEAD + "".join(record_class(each["name"], each["doc"]) for each in schema()["records"])


def record_class(name: str, doc: str) -> str:
    """Return the class of a record."""
    lines = [f"\nclass {class_name(name)}(TypedDict):", f'    """{doc}"""\n']
    for field in fields_of(name).values():
        lines += [f"    {field.name}: {annotation(field)}", f'    """{field.doc}"""']
    return "\n".join([*lines, ""])


def annotation(field: RecordField) -> str:
    """Return the type of a value."""
    kind = type_of(field.kind)
    if field.if_any:
        return f"NotRequired[{kind}]"
    return f"{kind} | None" if field.nullable else kind


def type_of(kind: Any) -> str:
    """Return the type of a kind."""
    match kind:
        case {"list": each}:
            return f"Sequence[{type_of(each)}]"
        case {"record": name}:
            return class_name(name)
        case {"named": each} | {"map": each}:
            return f"Mapping[str, {type_of(each)}]"
        case "object":
            return "Mapping[str, object]"
        case _:
            return TYPES[kind]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    STUB.write_text(stub(), encoding="utf-8")

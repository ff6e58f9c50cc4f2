"""Rows of results as their readers see them: a `TypedDict` for each record of the engines.

``FlowRecord`` is a row of ``flows``, ``LinkRecord`` of ``links``. Type checkers read `rows.pyi`,
which the build writes; these are for who looks at run time.
"""

from __future__ import annotations

from typing import Any, TypedDict

from dumbbell.records.declared import fields_of, schema

__all__ = ["class_name"]


def class_name(record: str) -> str:
    """Return the name of a record's class.

    Examples
    --------
    >>> class_name("calibrated_rtt")
    'CalibratedRttRecord'
    """
    return "".join(word.capitalize() for word in record.split("_")) + "Record"


def __getattr__(name: str) -> Any:
    for record in schema()["records"]:
        if class_name(record["name"]) == name:
            # Its values have types for type checkers alone.
            return TypedDict(name, dict.fromkeys(fields_of(record["name"]), Any))  # type: ignore[operator]
    raise AttributeError(name)

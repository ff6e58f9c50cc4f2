"""Reads the declarations of what the engines report."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell import _core

__all__ = ["COUNT", "FLAG", "REAL", "TEXT", "WHOLE", "RecordField", "fields_of", "schema"]

#: Kinds of single values.
COUNT, WHOLE, REAL, TEXT, FLAG = "count", "whole", "real", "text", "flag"


@dataclass(frozen=True)
class RecordField:
    """One value of a record.

    Attributes
    ----------
    name
        Its key, with its unit.
    kind
        A kind of single values, or of which values it consists: ``{"list": …}``, ``{"map": …}``,
        ``{"named": …}``, ``{"record": name}``.
    nullable
        Whether the engines have a word for its absence.
    if_any
        Whether the key is missing where there is nothing to report.
    engine
        The engine that reports it; None: both.
    is_free
        Whether users choose the text, in any length.
    doc
        What it means, in Markdown.
    """

    name: str
    kind: Any
    nullable: bool
    if_any: bool
    engine: str | None
    is_free: bool
    doc: str

    @property
    def may_be_null(self) -> bool:
        """Whether it is null where there is nothing to report, if it is there."""
        return self.nullable and not (self.if_any and isinstance(self.kind, dict))


@functools.cache
def schema() -> Mapping[str, Any]:
    """Return all declarations."""
    document: Mapping[str, Any] = json.loads(_core.schema())
    return document


@functools.cache
def fields_of(record: str) -> Mapping[str, RecordField]:
    """Return the values of a record by their keys, in their order."""
    (declared,) = (each for each in schema()["records"] if each["name"] == record)
    return {each["name"]: RecordField(**each) for each in declared["fields"]}

"""Refuses a record that does not follow its declaration: a result may be anyone's."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from dumbbell.base.quantities.printable import printable
from dumbbell.records.declared import COUNT, FLAG, REAL, TEXT, WHOLE, RecordField, fields_of

__all__ = ["Unexpected", "check_record", "check_value", "is_of"]

#: Largest count and largest real number: what arrays of counts take.
MAX_COUNT = 2**63 - 1
#: Longest text: a line that explains a parameter.
TEXT_LENGTH = 1024
#: Most values by names of ours, and the names.
MAX_NAMED = 100
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
WORDS = {WHOLE: "whole numbers", COUNT: "counts", TEXT: "texts"}


class Unexpected(Exception):
    """A value that no engine reports; the message names its place."""


def check_record(
    record: str,
    value: Any,
    place: str = "",
    *,
    engine: str | None = None,
    without: Collection[str] = (),
) -> None:
    """Refuse a record whose keys or values are others.

    Parameters
    ----------
    record
        Its name.
    value
        What is to be such a record.
    place
        Where it is, for the message: ``flows[0].``.
    engine
        The engine that is to have made it just now: it has all its keys and no other, and texts
        that users choose are escaped in place. None: any version of any engine.
    without
        Keys that are not looked at.

    Raises
    ------
    Unexpected
        A key is missing or unknown, or a value is of another type.
    """
    if not isinstance(value, dict):
        raise Unexpected(f"`{place.rstrip('.') or record}` is not an object")
    fields = fields_of(record)
    if engine is not None and not value.keys() <= fields.keys():
        raise Unexpected(f"`{place.rstrip('.') or record}` has an unknown key")
    for key, field in fields.items():
        if key in without:
            continue
        found, kind = value.get(key), field.kind
        if key not in value and not is_missing(field, engine):
            raise Unexpected(f"`{place}{key}` is missing")
        if found is None and (key not in value or field.may_be_null):
            continue
        if engine is not None and field.engine not in (None, engine):
            raise Unexpected(f"`{place}{key}` is not reported by the {engine}")
        if isinstance(kind, str) and not field.is_free and is_of(kind, found):  # nearly all
            continue
        check_value(kind, found, f"{place}{key}", engine, is_free=field.is_free)
        if engine is not None and field.is_free and isinstance(found, str):
            value[key] = printable(found, limit_bytes=TEXT_LENGTH // 2)


def is_missing(field: RecordField, engine: str | None) -> bool:
    """Whether a record may lack a value."""
    return field.if_any or (engine is None and field.nullable)


def check_value(
    kind: Any, value: Any, at: str, engine: str | None = None, *, is_free: bool = False
) -> None:
    """Refuse a value of another kind."""
    if isinstance(kind, dict) and "list" in kind and isinstance(value, list):
        for index, entry in enumerate(value):
            check_value(kind["list"], entry, f"{at}[{index}]", engine, is_free=is_free)
    elif isinstance(kind, dict) and "record" in kind:
        check_record(kind["record"], value, f"{at}.", engine=engine)
    elif not is_single(kind, value, is_free=is_free):
        raise Unexpected(f"`{at}` {what_is_wrong(kind, value, is_free=is_free)}")


def is_single(kind: Any, value: Any, *, is_free: bool) -> bool:
    """Whether a value is of a kind that consists of no records."""
    if isinstance(kind, str):
        if kind == "object":
            return isinstance(value, dict)
        return isinstance(value, str) if kind == TEXT and is_free else is_of(kind, value)
    match kind:
        case {"named": each}:
            return is_map(each, value) and len(value) <= MAX_NAMED and all(map(is_name, value))
        case {"map": each}:
            return is_map(each, value) and all(is_of(TEXT, key) for key in value)
    return False


def what_is_wrong(kind: Any, value: Any, *, is_free: bool) -> str:
    """Return what a value is not."""
    match kind:
        case {"list": _}:
            return "is not a list of words" if is_free else "is not a list"
        case {"named": each} | {"map": each}:
            return f"is not an object with {WORDS[each]}"
        case "object":
            return "is not an object"
        case _ if is_free:
            return "is not text"
    return f"cannot be {value!r:.40}"


def is_map(kind: str, value: Any) -> bool:
    """Whether a value is an object with single values of a kind."""
    return isinstance(value, dict) and all(is_of(kind, each) for each in value.values())


def is_name(name: Any) -> bool:
    """Whether a key is a name of ours."""
    return isinstance(name, str) and NAME.fullmatch(name) is not None


def is_of(kind: str, value: Any) -> bool:
    """Whether a value is of a kind of single values."""
    if type(value) is int:
        if kind == WHOLE:
            return -(2**63) <= value < 2**64
        return kind in (COUNT, REAL) and 0 <= value <= MAX_COUNT
    if kind == FLAG:
        return type(value) is bool
    if kind == TEXT:
        is_short = isinstance(value, str) and len(value) <= TEXT_LENGTH
        return is_short and printable(value) == value
    # Sums of them must be finite, too; NaN is not in the range.
    return kind == REAL and isinstance(value, float) and 0 <= value <= MAX_COUNT

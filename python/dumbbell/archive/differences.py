"""What differs between two documents, two tables or two texts: the first place, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

import pyarrow as pa

__all__ = ["document_differences", "table_difference", "text_difference"]

#: Columns that say where a row is.
PLACES = ("time_us", "flow", "cell", "rep", "group")


def document_differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield each field that differs: ``flows[0].sent_pkts: 7406 in the archive, 7410 here``."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            yield from document_differences(
                before.get(key), after.get(key), f"{path}.{key}" if path else str(key)
            )
    elif isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip_longest(before, after)):
            yield from document_differences(old, new, f"{path}[{index}]")
    elif before != after or type(before) is not type(after):
        yield f"`{path}`: {json.dumps(before)} in the archive, {json.dumps(after)} here"


def table_difference(before: pa.Table, after: pa.Table) -> str | None:
    """Return which columns differ, and where first; None if the tables are equal."""
    if before.column_names != after.column_names:
        missing = [name for name in before.column_names if name not in after.column_names]
        added = [name for name in after.column_names if name not in before.column_names]
        parts = [f"no column `{name}` here" for name in missing]
        parts += [f"column `{name}` only here" for name in added]
        return ", ".join(parts) or "columns in another order"
    rows = min(before.num_rows, after.num_rows)
    first = {
        name: row
        for name in before.column_names
        if (row := first_difference(before[name].slice(0, rows), after[name].slice(0, rows)))
        is not None
    }
    lengths = ""
    if before.num_rows != after.num_rows:
        lengths = f"{before.num_rows:,} rows in the archive, {after.num_rows:,} here"
    if not first:
        return lengths or None
    name = min(first, key=lambda each: first[each])
    row = first[name]
    place = ", ".join(f"{key} {before[key][row]}" for key in PLACES if key in before.column_names)
    others = [f"`{each}`" for each in first if each != name]
    return "; ".join(
        filter(
            None,
            (
                f"column `{name}` differs first in row {row}{f' ({place})' if place else ''}: "
                f"{before[name][row]} in the archive, {after[name][row]} here",
                f"also {', '.join(others)}" if others else "",
                lengths,
            ),
        )
    )


def first_difference(before: pa.ChunkedArray, after: pa.ChunkedArray) -> int | None:
    """Return the first row in which two columns of one length differ."""
    if before.equals(after):
        return None
    low, high = 0, len(before)  # equal up to `low`, not up to `high`
    while high - low > 1:
        middle = (low + high) // 2
        part = slice_equal(before, after, low, middle)
        low, high = (middle, high) if part else (low, middle)
    return low


def slice_equal(before: pa.ChunkedArray, after: pa.ChunkedArray, start: int, end: int) -> bool:
    """Whether rows of two columns are equal."""
    return bool(before.slice(start, end - start).equals(after.slice(start, end - start)))


def text_difference(before: str, after: str) -> str | None:
    """Return the first line that differs; None if the texts are equal."""
    for number, (old, new) in enumerate(
        zip_longest(before.splitlines(), after.splitlines()), start=1
    ):
        if old != new:
            said = [text if text is None else text.strip() for text in (old, new)]
            there, here = ("no line" if text is None else f"`{text}`" for text in said)
            return f"line {number}: {there} in the archive, {here} here"
    return None

"""Refuses a table that does not follow its declaration: a result may be anyone's."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.base.quantities.printable import printable
from dumbbell.records.check import Unexpected

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ANY", "LABEL", "TEXT", "Column", "Extent", "arrow_type", "columns_in", "conform", "schema_of",
]  # fmt: skip

#: Kinds of columns, besides the names of Arrow's types of numbers: words of which few differ, other
#: text, and what is either a number or a word.
LABEL, TEXT, ANY = "label", "text", "any"
#: Longest word of a label.
LABEL_LENGTH = 256

#: By what columns count: the largest value, or all words.
Extent = Mapping[str, int | Collection[str]]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    kind
        `LABEL`, `TEXT`, `ANY`, or Arrow's name of its type: ``uint32``.
    of
        What its values are of, which bounds them: a key of the result's `Extent`.
    has_gaps
        Whether values may be missing.
    may_be_absent
        Whether results of earlier versions lack it.
    is_ordered
        Whether no value is below the one before it.
    words
        What a label may be; empty: any word.
    pattern
        A regular expression of text; empty: any text.
    after
        The column whose values are not above this one's.
    """

    kind: str
    of: str = ""
    has_gaps: bool = False
    may_be_absent: bool = False
    is_ordered: bool = False
    words: tuple[str, ...] = ()
    pattern: str = ""
    after: str = ""


#: What is not declared: a state series, a queue discipline's statistic.
UNDECLARED = Column(ANY, has_gaps=True)


def schema_of(columns: Mapping[str, Column]) -> pa.Schema:
    """Return declared columns as Arrow has them, labels as text."""
    import pyarrow as pa  # slow to import

    return pa.schema(
        [
            pa.field(name, arrow_type(column.kind), nullable=column.has_gaps)
            for name, column in columns.items()
        ]
    )


def columns_in(schema: pa.Schema) -> dict[str, Column]:
    """Return the columns that a table of an engine's declares by having them."""
    return {field.name: Column(kind_in(field.type), has_gaps=field.nullable) for field in schema}


def kind_in(found: pa.DataType) -> str:
    """Return the kind of column that has a type."""
    import pyarrow as pa

    if pa.types.is_dictionary(found):
        return LABEL
    return TEXT if found == pa.string() else str(found)


@functools.cache
def arrow_type(kind: str) -> pa.DataType:
    """Return a kind of column as Arrow has it."""
    import pyarrow as pa

    return pa.string() if kind in (LABEL, TEXT) else pa.type_for_alias(kind)


def conform(table: pa.Table, columns: Mapping[str, Column], extent: Extent) -> pa.Table:
    """Return a table with its declared columns in their types.

    Parameters
    ----------
    table
        As it was read.
    columns
        What is declared; others may be numbers or words.
    extent
        What the result has, of which the columns count.

    Raises
    ------
    Unexpected
        It lacks a column, or one has another type, gaps, or values that the result cannot have.
    """
    names = table.column_names
    if len(set(names)) < len(names):
        raise Unexpected("has two columns of one name")
    for name, column in columns.items():
        if name not in names and not column.may_be_absent:
            raise Unexpected(f"has no column `{name}`")
    for at, name in enumerate(names):
        column, found = columns.get(name, UNDECLARED), table.column(at)
        try:
            values = in_type(found, column.kind)
            check_values(values, column, extent)
        except Unexpected as unexpected:
            raise Unexpected(f"its column `{printable(name)}` {unexpected}") from None
        if values is not found:
            table = table.set_column(at, name, values)
    check_spans(table, columns)
    return table


def in_type(values: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """Return a column in its declared type, which may have been written in a similar one."""
    import pyarrow as pa

    found = values.type
    if kind not in (ANY, LABEL) and found == arrow_type(kind):
        return values
    is_number = pa.types.is_integer(found) or pa.types.is_floating(found)
    if kind == ANY:
        if not (is_number or is_label(found) or pa.types.is_boolean(found)):
            raise Unexpected(f"is of the type {found}")
        return values
    wanted = arrow_type(kind)
    if kind == LABEL and is_label(found):
        return values
    are_whole = pa.types.is_integer(found) and pa.types.is_integer(wanted)
    if not (are_whole or (is_number and pa.types.is_floating(wanted))):
        raise Unexpected(f"is of the type {found}, not {wanted}")
    try:
        return values.cast(wanted)
    except pa.ArrowException:
        raise Unexpected("has values that the run cannot have") from None


def is_label(kind: pa.DataType) -> bool:
    """Whether a type is that of words, numbered or not."""
    import pyarrow as pa

    return bool((pa.types.is_dictionary(kind) and kind.value_type == pa.string())
                or kind == pa.string())  # fmt: skip


def check_values(values: pa.ChunkedArray, column: Column, extent: Extent) -> None:
    """Refuse gaps, disorder, and values or words that the result does not have."""
    if values.null_count and not column.has_gaps:
        raise Unexpected("has gaps")
    bound = extent.get(column.of)
    if column.kind in (LABEL, ANY) and is_label(values.type):
        known = bound if isinstance(bound, Collection) else column.words
        check_words(words_in(values), known)
    elif column.pattern:
        check_text(values, column.pattern)
    elif isinstance(bound, int):
        check_numbers(values, bound, is_ordered=column.is_ordered)


def words_in(values: pa.ChunkedArray) -> set[Any]:
    """Return the words of a column."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        return {word for chunk in values.chunks for word in chunk.dictionary.to_pylist()}
    return set(values.unique().to_pylist()) - {None}


def check_words(words: set[Any], known: Collection[str]) -> None:
    """Refuse words that are not known, and any on which a terminal would act."""
    for word in words:
        is_plain = word is not None and len(word) <= LABEL_LENGTH and printable(word) == word
        if not is_plain or (known and word not in known):
            raise Unexpected(f"has `{printable(str(word), limit_bytes=40)}`, which no run has")


def check_text(values: pa.ChunkedArray, pattern: str) -> None:
    """Refuse text that does not match."""
    import pyarrow.compute as pc

    matches = pc.match_substring_regex(values, pattern)
    if not pc.all(pc.fill_null(matches, fill_value=True)).as_py() and len(values):
        raise Unexpected("has values that the run cannot have")


def check_spans(table: pa.Table, columns: Mapping[str, Column]) -> None:
    """Refuse what ends before it begins."""
    for name, column in columns.items():
        if not column.after:
            continue
        import pyarrow.compute as pc

        if pc.any(pc.less(table[name], table[column.after])).as_py():
            raise Unexpected(f"its column `{name}` has values below those of `{column.after}`")


def check_numbers(values: pa.ChunkedArray, most: int, *, is_ordered: bool) -> None:
    """Refuse numbers below 0 or above the largest, or out of order."""
    # Without Arrow's own functions, which take longer to load than a short run takes.
    last = 0
    for chunk in values.chunks:
        numbers = (chunk.drop_null() if chunk.null_count else chunk).to_numpy()
        if not numbers.size:
            continue
        if numbers.min() < 0 or numbers.max() > most:
            raise Unexpected("has values that the run cannot have")
        if is_ordered and (numbers[0] < last or (numbers[1:] < numbers[:-1]).any()):
            raise Unexpected("is not in order")
        last = numbers[-1]

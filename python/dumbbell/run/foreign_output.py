"""Reads the output of a run of foreign code, which may have been tampered with.

It is a file in memory (`isolation.worker.write_output`). Its numbers may be wrong, as those of any
congestion control; but it has the tables, columns and types of a run of this scenario, and nothing
in it is interpreted but JSON.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from dumbbell._core import ENGINE_VERSION, MAX_ROWS
from dumbbell.base.quantities.printable import printable
from dumbbell.congestion_control.isolation.protocol import BrokenAnswer, parse_json
from dumbbell.records.check import Unexpected, check_record
from dumbbell.records.columns import LABEL, Column, Extent, conform
from dumbbell.run.columns import BY_GROUP, COLUMNS, STATE, TRANSFERS, extent_of
from dumbbell.run.engine import SIMULATOR
from dumbbell.run.transfers import has_transfers
from dumbbell.scenario import Scenario
from dumbbell.scenario.element import queue_disciplines

__all__ = ["read_output"]

#: Largest file: more than the tables of `MAX_ROWS` rows.
OUTPUT_BYTES = 1 << 38
#: Largest index and summary: for each group (and for the rest), and for each flow. Parsed, JSON may
#: take twenty times its length.
GROUP_INDEX_BYTES = 1 << 20
FLOW_INDEX_BYTES = 1 << 13
#: Longest name of a column, or of a value of a state.
NAME_LENGTH = 256

TYPES = {
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
}


def read_output(
    output: int, place: Any, scenario: Scenario
) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Return the summary and the tables; the tables are not copied.

    Parameters
    ----------
    output
        The file; the process that wrote it has ended.
    place
        Where its index is, as the process says.
    scenario
        What ran.

    Raises
    ------
    BrokenAnswer
        It is not the output of such a run.
    """
    try:
        # Also no process that it gave the file to can change it.
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
        fcntl.fcntl(output, fcntl.F_ADD_SEALS, seals)
    except OSError:
        raise BrokenAnswer("an output that is still in use") from None
    status = os.fstat(output)
    # A file with holes would grow in this process as it is read.
    if not 0 < status.st_size <= min(OUTPUT_BYTES, status.st_blocks * 512):
        raise BrokenAnswer(f"an output of {status.st_size:,} bytes")
    file = File(mmap.mmap(output, 0, prot=mmap.PROT_READ))
    index_bytes = (1 + len(scenario.groups)) * GROUP_INDEX_BYTES
    index_bytes += scenario.flow_count * FLOW_INDEX_BYTES
    index = parse_json(file.at(place, index_bytes).to_pybytes())
    if not isinstance(index, dict) or set(index) != {"summary", "tables"}:
        raise BrokenAnswer("an output without a summary or tables")
    summary = parse_json(file.at(index["summary"], index_bytes).to_pybytes())
    check_summary(summary, scenario)
    return summary, read_tables(file, index["tables"], scenario, extent_of(summary))


def check_summary(summary: Any, scenario: Scenario) -> None:
    """Refuse a summary that is not one of a simulation of the scenario.

    Raises
    ------
    BrokenAnswer
        A key is missing or unknown, or a value is of another type or not of this scenario.
    """
    try:
        check_record("summary", summary, engine=SIMULATOR)
    except Unexpected as unexpected:
        raise BrokenAnswer(f"a summary in which {unexpected}") from None
    resolved = scenario.resolve()
    facts = [summary[key] for key in ("engine", "engine_version", "seed", "duration_ns")]
    if facts != [SIMULATOR, ENGINE_VERSION, resolved["seed"], resolved["duration_ns"]]:
        raise BrokenAnswer("a summary of another run")
    if sorted(link["name"] for link in summary["links"]) != sorted(
        link["name"] for link in resolved["links"]
    ):
        raise BrokenAnswer("a summary of other links")
    if summary["bottleneck"] not in summary["links"]:
        raise BrokenAnswer("a summary whose bottleneck is not one of its links")
    groups = [entry["group"] for entry in summary["congestion_controls"]]
    if groups != list(range(len(scenario.groups))):
        raise BrokenAnswer("a summary of other groups")
    flows = [(flow["flow"], flow["group"]) for flow in summary["flows"]]
    groups = [number for number, group in enumerate(scenario.groups) for _ in range(group.flows)]
    if flows != list(enumerate(groups)):
        raise BrokenAnswer("a summary of other flows")


class File:
    """The mapped file.

    Parameters
    ----------
    mapped
        All of it.
    """

    def __init__(self, mapped: mmap.mmap) -> None:
        self.buffer = pa.py_buffer(mapped)

    def at(self, place: Any, limit_bytes: int = OUTPUT_BYTES) -> pa.Buffer:
        """Return a part, by its offset and length."""
        if not (isinstance(place, list) and [type(number) for number in place] == [int, int]):
            raise BrokenAnswer("a place of another form")
        start, length = place
        if not (0 <= start <= len(self.buffer) and 0 <= length <= limit_bytes):
            raise BrokenAnswer("a place outside its output")
        if start + length > len(self.buffer):
            raise BrokenAnswer("a place outside its output")
        return self.buffer.slice(start, length)


def read_tables(file: File, tables: Any, scenario: Scenario, extent: Extent) -> dict[str, pa.Table]:
    """Return the tables by name, if they are those of a run of the scenario."""
    if not isinstance(tables, list) or len(tables) > len(COLUMNS) - 1 + len(scenario.groups):
        raise BrokenAnswer("tables of another form")
    read = {}
    for entry in tables:
        match entry:
            case [str(name), list(columns)] if name not in read:
                read[name] = read_table(name, file, columns, scenario, extent)
            case _:
                raise BrokenAnswer("a table of another form")
    series = set(read) - {TRANSFERS}
    if series and not {"flows", "queue"} <= series:
        raise BrokenAnswer("tables without those of flows and queue")
    if (BY_GROUP in series) != (bool(series) and len(scenario.groups) > 1):
        raise BrokenAnswer(f"a table `{BY_GROUP}` that is missing or unexpected")
    if bool(series) != (scenario.sample > 0):
        raise BrokenAnswer("tables without a request, or none")
    if (TRANSFERS in read) != has_transfers(scenario):
        raise BrokenAnswer("transfers that no application made, or none of them")
    return read


def columns_of(name: str, scenario: Scenario) -> Mapping[str, Column]:
    """Return the columns that a table of the simulator begins with."""
    if name == "queue":
        return {**COLUMNS[name], **statistics_of(scenario)}
    if name in ("flows", BY_GROUP, TRANSFERS):
        return COLUMNS[name]
    kind, _, rest = name.partition("-")
    group, _, cc = rest.partition("-")
    groups = {str(number) for number in range(len(scenario.groups))}
    if kind != STATE or group not in groups or not is_plain(cc) or "/" in cc or "\\" in cc:
        raise BrokenAnswer("a table that no run has")
    return COLUMNS[STATE]


def is_plain(text: Any) -> bool:
    """Whether it is a short text without anything that a terminal acts on."""
    return isinstance(text, str) and 0 < len(text) <= NAME_LENGTH and printable(text) == text


def read_table(
    name: str, file: File, columns: list[Any], scenario: Scenario, extent: Extent
) -> pa.Table:
    """Return a table."""
    fields, arrays = [], []
    expected = columns_of(name, scenario)
    for entry in columns:
        field, array = read_column(file, entry)
        kind = LABEL if pa.types.is_dictionary(field.type) else str(field.type)
        if field.name in expected and expected[field.name].kind != kind:
            raise BrokenAnswer(f"a column `{field.name}` of another type")
        fields.append(field)
        arrays.append(array)
    names = [field.name for field in fields]
    if names[: len(expected)] != list(expected):
        raise BrokenAnswer(f"a table {name} with other columns")
    if expected is not COLUMNS[STATE] and len(names) > len(expected):
        raise BrokenAnswer(f"a table {name} with more columns")
    if len({len(array) for array in arrays}) != 1:
        raise BrokenAnswer("columns of different lengths")
    batch = pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
    try:
        return conform(pa.Table.from_batches([batch]), expected, extent)
    except Unexpected as unexpected:
        raise BrokenAnswer(f"a table {name} that no run has: {unexpected}") from None


def statistics_of(scenario: Scenario) -> Mapping[str, Column]:
    """Return the columns that the links' queue disciplines declare."""
    known = queue_disciplines()
    names = (
        name for link in scenario.links if link.queue for name in known[link.queue.name].series
    )
    return dict.fromkeys(names, Column("uint64", has_gaps=True))


def read_column(file: File, entry: Any) -> tuple[pa.Field, pa.Array]:
    """Return a column."""
    match entry:
        case [str(name), str(type_name), bool(nullable), int(rows), valid, values, labels]:
            pass
        case _:
            raise BrokenAnswer("a column of another form")
    if not is_plain(name) or type_name not in TYPES or not 0 <= rows <= MAX_ROWS:
        raise BrokenAnswer("a column that cannot be")
    kind = TYPES[type_name]
    bits = None if valid is None else file.at(valid)
    buffer = file.at(values)
    if buffer.size < rows * kind.byte_width or (bits is not None and bits.size * 8 < rows):
        raise BrokenAnswer(f"a column `{name}` that is cut off")
    array = pa.Array.from_buffers(kind, rows, [bits, buffer])
    if array.null_count and not nullable:
        raise BrokenAnswer(f"a column `{name}` with gaps")
    if labels is not None:
        array = label(name, array, labels)
    return pa.field(name, array.type, nullable), array


def label(name: str, codes: pa.Array, labels: Any) -> pa.DictionaryArray:
    """Return a state's values as labels."""
    if not (isinstance(labels, list) and len(labels) <= 256 and all(map(is_plain, labels))):
        raise BrokenAnswer(f"a column `{name}` with other labels")
    try:
        return pa.DictionaryArray.from_arrays(codes, pa.array(labels, pa.string()))
    except pa.ArrowException:
        raise BrokenAnswer(f"a column `{name}` with values that have no label") from None

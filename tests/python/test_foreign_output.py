"""The output of a process of foreign code is read only if it is that of the run."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dumbbell
from dumbbell import _core
from dumbbell.congestion_control.isolation import worker
from dumbbell.congestion_control.isolation.protocol import (
    BrokenAnswer,
    FrameReader,
    frame,
    parse_json,
)
from dumbbell.run.columns import COLUMNS
from dumbbell.run.foreign_output import read_output

SCENARIO = dumbbell.Scenario(["copa", "cubic"], time="1s", loss="1%", ecn_threshold="20pkt")


def memory_file(data: bytes = b"") -> int:
    descriptor = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(descriptor, data)
    return descriptor


@pytest.fixture(scope="module")
def honest() -> tuple[bytes, Any, Any]:
    """Return what an honest process writes: the file, its index and the summary."""
    descriptor = memory_file()
    kept, worker.OUTPUT = worker.OUTPUT, descriptor
    try:
        start, length = worker.write_output(_core.run(SCENARIO.to_json()))
    finally:
        worker.OUTPUT = kept
    data = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    os.close(descriptor)
    index = json.loads(data[start : start + length])
    start, length = index["summary"]
    return data, index, json.loads(data[start : start + length])


def read(data: bytes, index: Any, summary: Any | None = None) -> Any:
    """Read a file with another index, and perhaps another summary."""
    if summary is not None:
        text = json.dumps(summary).encode()
        index = index | {"summary": [len(data), len(text)]}
        data += text
    text = index if isinstance(index, bytes) else json.dumps(index).encode()
    descriptor = memory_file(data + text)
    try:
        return read_output(descriptor, [len(data), len(text)], SCENARIO)
    finally:
        os.close(descriptor)


def test_an_honest_output_gives_the_engine_s_tables(honest) -> None:
    data, index, summary = honest
    read_summary, tables = read(data, index)
    assert read_summary == summary
    output = _core.run(SCENARIO.to_json())
    assert list(tables) == output.table_names()
    for name, table in tables.items():
        expected = pa.Table.from_batches([pa.record_batch(output.table(name))])
        assert table.equals(expected)
        assert table.schema.equals(expected.schema)
    for name in ("flows", "queue"):
        assert list(COLUMNS[name]) == tables[name].column_names


def column(index: Any, table: int, number: int) -> Any:
    return index["tables"][table][1][number]


def set_column(number: int, field: int, value: Any) -> Callable[[Any], None]:
    return lambda index: column(index, 0, number).__setitem__(field, value)


TABLES: dict[str, Callable[[Any], Any]] = {
    "no tables": lambda index: index.__setitem__("tables", []),
    "tables are no list": lambda index: index.__setitem__("tables", {}),
    "one twice": lambda index: index["tables"].append(index["tables"][0]),
    "another name": lambda index: index["tables"][0].__setitem__(0, "../flows"),
    "a state of no group": lambda index: index["tables"][2].__setitem__(0, "state-7-copa"),
    "a state with a path": lambda index: index["tables"][2].__setitem__(0, "state-0-a/b"),
    "a column missing": lambda index: index["tables"][0][1].pop(),
    "columns in another order": lambda index: index["tables"][0][1].reverse(),
    "a column of another type": set_column(2, 1, "uint8"),
    "a type that no table has": set_column(2, 1, "list<int64>"),
    "too many rows": set_column(2, 3, 1 << 60),
    "fewer rows": set_column(2, 3, 1),
    "negative rows": set_column(2, 3, -1),
    "values outside": set_column(2, 5, [1 << 40, 8]),
    "values at a negative place": set_column(2, 5, [-8, 8]),
    "values cut off": set_column(2, 5, [0, 8]),
    "a place that is no place": set_column(2, 5, "here"),
    "labels where none belong": set_column(2, 6, ["a"]),
    "too few labels": set_column(14, 6, []),
    "labels for a terminal": set_column(14, 6, ["\x1b[2J"] * 5),
    "labels that are no text": set_column(14, 6, [1] * 5),
    "a name for a terminal": lambda index: column(index, 2, 2).__setitem__(0, "\u202e"),
    "a name that is none": lambda index: column(index, 2, 2).__setitem__(0, 5),
    "a flag that is none": set_column(2, 2, "yes"),
    "another key": lambda index: index.__setitem__("more", 1),
}


def test_rows_of_no_flow_or_time_of_the_run_are_refused(honest) -> None:
    data, index, _ = honest
    for number, type_name, value in ((1, "<u4", 10**9), (0, "<i8", -1), (0, "<i8", 2**63 - 1)):
        changed = copy.deepcopy(index)
        rows = column(changed, 0, number)[3]
        start = len(data)
        extra = np.full(rows, value, type_name).tobytes()
        column(changed, 0, number)[5] = [start, len(extra)]
        with pytest.raises(BrokenAnswer, match="values that the run cannot have"):
            read(data + extra, changed)
    changed = copy.deepcopy(index)
    rows = column(changed, 0, 0)[3]
    extra = np.arange(rows, 0, -1, dtype="<i8").tobytes()
    column(changed, 0, 0)[5] = [len(data), len(extra)]
    with pytest.raises(BrokenAnswer, match="`time_us` is not in order"):
        read(data + extra, changed)
    changed = copy.deepcopy(index)
    gaps = bytes(rows)
    column(changed, 0, 0)[2] = True
    column(changed, 0, 0)[4] = [len(data), len(gaps)]
    with pytest.raises(BrokenAnswer, match=r"column `time_us` .*gaps"):
        read(data + gaps, changed)


@pytest.mark.parametrize("what", TABLES)
def test_wrong_tables_are_refused(what: str, honest) -> None:
    data, index, _ = honest
    index = copy.deepcopy(index)
    TABLES[what](index)
    with pytest.raises(BrokenAnswer):
        read(data, index)


SUMMARIES: dict[str, Callable[[Any], Any]] = {
    "another engine": lambda summary: summary.__setitem__("engine", "kernel"),
    "another seed": lambda summary: summary.__setitem__("seed", 77),
    "another duration": lambda summary: summary.__setitem__("duration_ns", 1),
    "a flow missing": lambda summary: summary["flows"].pop(),
    "flows are a number": lambda summary: summary.__setitem__("flows", 3),
    "a flow twice": lambda summary: summary["flows"].__setitem__(1, summary["flows"][0]),
    "a group missing": lambda summary: summary["congestion_controls"].pop(),
    "a key missing": lambda summary: summary["flows"][0].pop("sent_pkts"),
    "a key unknown": lambda summary: summary["flows"][0].__setitem__("more", 1),
    "a text for a number": lambda summary: summary["flows"][0].__setitem__("sent_pkts", "1"),
    "a negative count": lambda summary: summary["flows"][0].__setitem__("sent_pkts", -1),
    "a huge count": lambda summary: summary["flows"][0].__setitem__("sent_pkts", 1 << 70),
    "a nested number": lambda summary: summary["flows"][0].__setitem__("rtt_mean_us", [1]),
    "a count that arrays do not take": (
        lambda summary: summary["flows"][0].__setitem__("start_us", 1 << 63)
    ),
    "a number whose sum is infinite": (
        lambda summary: summary["flows"][0].__setitem__("throughput_bps", 1e308)
    ),
    "infinity": lambda summary: summary["flows"][0].__setitem__("rtt_mean_us", float("inf")),
    "null": lambda summary: summary["flows"][0].__setitem__("rtt_mean_us", None),
    "a name for a terminal": lambda summary: summary["flows"][0].__setitem__("cc", "\x1b[2J"),
    "no link": lambda summary: summary.__setitem__("bottleneck", None),
    "no parameters": lambda summary: summary["congestion_controls"][0].__setitem__("params", 1),
    "no declaration": lambda summary: summary["congestion_controls"][0].pop("declared"),
    "an emulation": lambda summary: summary.__setitem__("emulation", {}),
}


@pytest.mark.parametrize("what", SUMMARIES)
def test_wrong_summaries_are_refused(what: str, honest) -> None:
    data, index, summary = honest
    summary = copy.deepcopy(summary)
    SUMMARIES[what](summary)
    with pytest.raises(BrokenAnswer):
        read(data, index, summary)


@pytest.mark.parametrize("index", [b"", b"[" * 100_000, b"\xff", b"1", b'{"summary": NaN}'])
def test_an_index_that_is_none_is_refused(index: bytes, honest) -> None:
    with pytest.raises(BrokenAnswer):
        read(honest[0], index)


def test_an_index_that_would_take_gigabytes_is_not_parsed(honest) -> None:
    data, index, summary = honest
    many = b"[" + b"{}," * 2_000_000 + b"{}]"
    with pytest.raises(BrokenAnswer, match="a place outside its output"):
        read(data, many)
    with pytest.raises(BrokenAnswer, match="a place outside its output"):
        read(data, index, summary | {"more": "x" * 6_000_000})


def test_a_file_with_holes_or_in_use_is_refused(honest) -> None:
    data, index, _ = honest
    text = json.dumps(index).encode()
    with_hole = memory_file(data + text)
    os.ftruncate(with_hole, 1 << 30)
    with pytest.raises(BrokenAnswer, match="1,073,741,824 bytes"):
        read_output(with_hole, [len(data), len(text)], SCENARIO)
    os.close(with_hole)


def test_frames_are_read_however_they_are_cut() -> None:
    data = frame({"at": [0.5, None]}) + frame({"done": [1, 2]})
    reader = FrameReader()
    found = [each for byte in data for each in reader.feed(bytes([byte]))]
    assert found == [("at", [0.5, None]), ("done", [1, 2])]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"x" + data[1:],
        lambda data: data[:-1] + b"!",
        lambda data: data[:4] + b"\xff\xff\xff\xff" + data[8:],
        lambda data: data[:8] + b"\0\0\0\0" + data[12:],
    ],
)
def test_damaged_frames_are_refused(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(BrokenAnswer):
        FrameReader().feed(damage(frame({"at": 1})))


def test_all_answers_together_are_bounded() -> None:
    data = frame({"at": 1})
    reader = FrameReader(total_bytes=10 * len(data))
    for _ in range(10):
        reader.feed(data)
    with pytest.raises(BrokenAnswer, match="more than it may"):
        reader.feed(data)


@pytest.mark.parametrize("text", [b"[" * 1_000_000, b"1" * 10_000, b"Infinity", b"\x80", b"{"])
def test_json_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(BrokenAnswer):
        parse_json(text)

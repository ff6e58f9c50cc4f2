"""What happened to every packet at every link of a run: queued, sent, marked, dropped, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq

from dumbbell import _core
from dumbbell._core import ENGINE_VERSION
from dumbbell.base.arrow_file import arrow_file
from dumbbell.base.errors import CaptureError, ResultError
from dumbbell.base.writing import check_replacing, replacing
from dumbbell.capture_analysis.analysis import ANALYSIS_SCHEMA_VERSION
from dumbbell.capture_analysis.analyze import capture_path, joined

__all__ = ["FORMATS", "PacketLog", "check_format", "packet_log"]

#: Files that a log is written to, by the end of their names.
FORMATS = (".arrow", ".parquet", ".csv")
#: Rows that are kept at most; 60 bytes of memory each.
MAX_ROWS = 20_000_000
#: What happens to a packet at a link.
EVENTS = ("enqueue", "dequeue", "drop", "loss")
#: Columns of a row that are its flow's.
OF_FLOW = ("protocol", "source", "source_port", "destination", "destination_port")


class PacketLog:
    """The events at the links of a capture, in order of time.

    Parameters
    ----------
    reading
        How the reading went.
    events
        A row per event, with the number of its flow.
    flows
        A row per flow, by number.

    Attributes
    ----------
    reading
        Counts of what was read; `first_ns`: the zero of `time_us`, ns since 1970;
        `unmatched_pkts`: packets that left a link without having arrived there; `dropped_rows`:
        rows missing for lack of memory.
    events
        A row per event. `time_us`: when; `link`; `event`: ``enqueue``, ``dequeue`` (the last bit is
        on the wire), ``drop``, or ``loss`` behind the link; `reason` of a drop: ``full queue``,
        ``active queue management``, ``impairment``; `protocol`, `source`, `source_port`,
        `destination`, `destination_port`; `wire_bytes`; `ecn`: the ECN field with which it arrived;
        `marked`: the link set CE; `in_link_us`: since it arrived; `backlog_pkts`, `backlog_bytes`:
        what is in the link afterwards, the packet on the wire included.
    """

    def __init__(self, reading: Mapping[str, Any], events: pa.Table, flows: pa.Table) -> None:
        self.reading = reading
        self.events = with_flows(events, flows)

    def __repr__(self) -> str:
        return f"<PacketLog of {self.events.num_rows:,} events>"

    def to_dict(self) -> dict[str, Any]:
        """Return what `analyze --packet-log --json` prints: docs/format-analysis.md."""
        links = []
        for name in self.events["link"].combine_chunks().dictionary_decode().unique().to_pylist():
            rows = self.events.filter(pc.equal(self.events["link"], name))
            counts = pc.value_counts(rows["event"].combine_chunks().dictionary_decode())
            events = {entry["values"]: entry["counts"] for entry in counts.to_pylist()}
            links.append(
                {
                    "link": name,
                    **{f"{event}_count": events.get(event, 0) for event in EVENTS},
                    "marked_pkts": pc.sum(rows["marked"]).as_py() or 0,
                    "backlog_max_pkts": pc.max(rows["backlog_pkts"]).as_py(),
                    "backlog_max_bytes": pc.max(rows["backlog_bytes"]).as_py(),
                }
            )
        return {
            "schema_version": ANALYSIS_SCHEMA_VERSION,
            "engine_version": ENGINE_VERSION,
            "reading": dict(self.reading),
            "links": links,
        }

    def save(self, path: str | Path) -> Path:
        """Write the log to a file, in the format that the end of its name says.

        Raises
        ------
        ResultError
            It cannot be written, or the name has another end.
        """
        path = check_format(Path(path))
        with replacing(path) as new, arrow_file(new, "wb") as stream:
            if path.suffix == ".arrow":
                pyarrow.feather.write_feather(self.events, stream, compression="zstd")
            elif path.suffix == ".parquet":
                pq.write_table(self.events, stream, compression="zstd")
            else:
                pyarrow.csv.write_csv(plain(self.events), stream)
        return path


def packet_log(capture: str | Path) -> PacketLog:
    """Read what happened to every packet at every link.

    Parameters
    ----------
    capture
        A capture of a run, made at its links, or the directory of the run.

    Raises
    ------
    CaptureError
        The file cannot be read, or has no packets at links.

    Examples
    --------
    >>> import dumbbell
    >>> dumbbell.packet_log("missing.pcapng")
    Traceback (most recent call last):
    dumbbell.base.errors.CaptureError: missing.pcapng: cannot be read: no such file or directory
    """
    path = capture_path(capture)
    try:
        summary, tables = _core.packet_log(path, MAX_ROWS)
    except _core.CaptureError as error:
        raise CaptureError(str(error)) from None
    reading = json.loads(summary)
    names = [interface["name"] for interface in reading["interfaces"]]
    if not any(name.endswith(("-in", "-out")) for name in names):
        raise CaptureError(
            f"{path}: has no capture points at links; use the capture of `dumbbell run --capture`"
        )
    return PacketLog(reading, joined(tables["packets"]), joined(tables["flows"]))


def check_format(path: Path) -> Path:
    """Refuse a file whose name does not say its format, or that cannot be written."""
    if path.suffix not in FORMATS:
        raise ResultError(f"{path}: unknown format; use a name that ends in {', '.join(FORMATS)}")
    check_replacing(path, is_file=True)
    return path


def with_flows(events: pa.Table, flows: pa.Table) -> pa.Table:
    """Replace the number of the flow by its columns, dictionaries of flows."""
    numbers = events["flow"].combine_chunks()
    position = events.schema.get_field_index("flow")
    table = events.remove_column(position)
    for offset, name in enumerate(OF_FLOW):
        values = flows[name].combine_chunks()
        column = pa.DictionaryArray.from_arrays(numbers.cast(pa.int32()), values)
        if pa.types.is_integer(values.type):
            column = column.dictionary_decode()
        table = table.add_column(position + offset, name, column)
    return table


def plain(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries."""
    for position, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(
                position, field.name, table[field.name].cast(field.type.value_type)
            )
    return table

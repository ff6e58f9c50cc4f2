"""The tables of a saved analysis, which may be anyone's: they have the columns of the engine's."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from dumbbell import _core
from dumbbell.base.errors import ResultError
from dumbbell.records.check import Unexpected
from dumbbell.records.columns import Column, columns_in, conform

__all__ = ["check_table"]

#: The header of a capture file of Ethernet (pcap, little-endian) with no packets after it.
EMPTY_CAPTURE = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
#: Columns that analyses of version 0.1.0 do not have.
LATER = ("keep_alive_pkts", "accecn_ce_pkts", "near_rtt_us", "unseen_original_pkts")
#: Columns that have a value in each row: what it is of, and when.
WHOLE = (
    "connection", "point", "is_initiator", "source", "source_port", "destination",
    "destination_port", "pkts", "payload_bytes", "time_us", "bin_us",
)  # fmt: skip


@functools.cache
def declared() -> Mapping[str, Mapping[str, Column]]:
    """Return the columns of each table, as the engine makes them of a capture without packets."""
    descriptor = os.memfd_create("capture", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, EMPTY_CAPTURE)
        path = f"/proc/{os.getpid()}/fd/{descriptor}"
        _, tables = _core.analyze(path, json.dumps({"segments": []}))
    finally:
        os.close(descriptor)
    found = {name: columns_in(pa.table(batches[0]).schema) for name, batches in tables.items()}
    return {
        table: {
            name: replace(column, has_gaps=name not in WHOLE, may_be_absent=name in LATER)
            for name, column in columns.items()
        }
        for table, columns in found.items()
    }


def check_table(directory: Path, name: str, table: pa.Table) -> pa.Table:
    """Return a table that was read, in its types.

    Raises
    ------
    ResultError
        It is not one of an analysis.
    """
    try:
        return conform(table, declared()[name], {})
    except Unexpected as unexpected:
        raise ResultError(
            f"{directory / name}.parquet: is damaged: {unexpected}; analyze the capture again"
        ) from None

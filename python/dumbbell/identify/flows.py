"""The flows of an analysed capture, each with what is needed for its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dumbbell.identify.floats import Floats

__all__ = ["Flow", "flows_of"]

#: Columns of ``series`` that a trace is made of.
SERIES = (
    "time_us", "bin_us", "rtt_us", "near_rtt_us", "inflight_sack_bytes", "payload_bytes",
    "unique_bytes", "retransmitted_pkts", "unseen_original_pkts", "window_bytes",
)  # fmt: skip


@dataclass(frozen=True)
class Flow:
    """A direction of a connection at one point.

    Attributes
    ----------
    row, ack_row
        Of the data's direction and of the other one, in ``connections``.
    bins
        Columns of the data's direction in ``series``.
    """

    row: Mapping[str, Any]
    ack_row: Mapping[str, Any] | None
    bins: Mapping[str, Floats]


def flows_of(connections: pa.Table, series: pa.Table) -> Iterator[Flow]:
    """Go through the data's direction of each connection and point of a table.

    Parameters
    ----------
    connections
        Rows with ``is_data``, as :attr:`Analysis.best` has them.
    series
        Of the same capture.
    """
    columns = {name: numbers(series, name) for name in SERIES}
    places = parts(series)
    rows = connections.to_pylist()
    acks = {(row["connection"], row["point"]): row for row in rows if not row["is_data"]}
    for row in rows:
        if not row["is_data"]:
            continue
        part = places.get((row["connection"], row["point"], row["is_initiator"]), slice(0, 0))
        yield Flow(
            row,
            acks.get((row["connection"], row["point"])),
            {name: values[part] for name, values in columns.items()},
        )


def numbers(table: pa.Table, name: str) -> Floats:
    """Return a column as floating-point numbers; NaN for null."""
    # Without pandas, which takes longer to load than a gigabyte to read.
    values: Floats = table[name].to_numpy().astype(np.float64)
    return values


def parts(series: pa.Table) -> dict[tuple[int, str, bool], slice]:
    """Return where each direction's rows are; the table has them together."""
    if series.num_rows == 0:
        return {}
    connection = series["connection"].to_numpy()
    encoded = series["point"].combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    point, names = encoded.indices.to_numpy(), encoded.dictionary.to_pylist()
    side = series["is_initiator"].to_numpy()
    is_new = (np.diff(connection) != 0) | (np.diff(point) != 0) | (side[1:] != side[:-1])
    starts = np.concatenate(([0], np.flatnonzero(is_new) + 1))
    ends = np.append(starts[1:], len(connection))
    return {
        (int(connection[start]), names[point[start]], bool(side[start])): slice(
            int(start), int(end)
        )
        for start, end in zip(starts, ends, strict=True)
    }

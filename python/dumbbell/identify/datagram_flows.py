"""The flows of UDP of a capture, each with what is needed for its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dumbbell.identify.floats import Floats
from dumbbell.identify.flows import numbers

__all__ = ["DatagramFlow", "datagram_flows_of"]

#: Columns of ``series`` that a trace is made of.
SERIES = (
    "time_us", "bin_us", "data_pkts", "data_bytes", "ack_pkts", "ack_bytes", "largest_ack_bytes",
    "spin_rtt_us",
)  # fmt: skip


@dataclass(frozen=True)
class DatagramFlow:
    """A flow of UDP at one point.

    Attributes
    ----------
    row
        Of the flow, in ``flows``.
    bins
        Columns of its rows in ``series``.
    """

    row: Mapping[str, Any]
    bins: Mapping[str, Floats]


def datagram_flows_of(flows: pa.Table, series: pa.Table) -> Iterator[DatagramFlow]:
    """Go through the flows of a table."""
    columns = {name: numbers(series, name) for name in SERIES}
    number = series["flow"].to_numpy()
    for row in flows.to_pylist():
        low, high = np.searchsorted(number, [row["flow"], row["flow"] + 1])
        yield DatagramFlow(row, {name: values[low:high] for name, values in columns.items()})

"""A flow's time series from a capture at its sender, in the paper's units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.base.errors import CaptureError
from dumbbell.capture_analysis import Analysis, analyze
from dumbbell.figures import to_floats
from dumbbell.run import Run
from dumbbell_studies.papers.series import first_flow

__all__ = ["CapturedFlow", "read_first_flows"]

FloatArray = npt.NDArray[np.float64]

#: The engines' sample interval.
INTERVAL = "10ms"


@dataclass(frozen=True)
class CapturedFlow:
    """A flow's time series, from a capture.

    Attributes
    ----------
    time_s
        Since the start of the run; ends of the bins.
    outstanding_pkts, inflight_pkts
        In flight as tcptrace and as Linux counts, in full segments.
    rtt_ms
        Mean of the bin's samples; NaN without any.
    retransmitted_pkts
        Since the start.
    """

    time_s: FloatArray
    outstanding_pkts: FloatArray
    inflight_pkts: FloatArray
    rtt_ms: FloatArray
    retransmitted_pkts: FloatArray


def read_first_flows(run: Run) -> dict[int, CapturedFlow]:
    """Read the first flow of each group from a run's capture at the senders.

    Raises
    ------
    CaptureError
        There is no capture, or it has no packets of a group.
    """
    if run.capture is None:
        raise CaptureError("the run has no capture")
    analysis = analyze(run.capture, interval=INTERVAL)
    start_ns = pc.min(analysis.connections["first_ns"]).as_py()
    flows = {}
    for group in range(len(run.scenario.groups)):
        row = first_connection(analysis, group)
        started_us = run.summary["flows"][first_flow(run, group)]["start_us"]
        # The capture's clock starts with its first packet, the run's does not.
        shift_us = started_us - (row["first_ns"] - start_ns) / 1e3
        series = sent_at(analysis.series, f"sender-{group}", row["connection"])
        flows[group] = captured_flow(series, row["largest_segment_bytes"], shift_us)
    return flows


def first_connection(analysis: Analysis, group: int) -> dict[str, Any]:
    """Return the row of a group's first flow at its sender: that with the lowest port."""
    rows = sent_at(analysis.connections, f"sender-{group}").sort_by("source_port").slice(0, 1)
    if rows.num_rows == 0:
        raise CaptureError(f"{analysis.path}: contains no packets of the senders of group {group}")
    row: dict[str, Any] = rows.to_pylist()[0]
    return row


def sent_at(table: pa.Table, point: str, connection: int | None = None) -> pa.Table:
    """Return the initiators' rows at a point."""
    mask = pc.and_(pc.equal(table["point"], point), table["is_initiator"])
    if connection is not None:
        mask = pc.and_(mask, pc.equal(table["connection"], connection))
    return table.filter(mask)


def captured_flow(series: pa.Table, segment_bytes: int, shift_us: float) -> CapturedFlow:
    """Convert a connection's series to the paper's units, repeating values over empty bins."""
    width_us = series["bin_us"][0].as_py()
    bins = np.rint(to_floats(series["time_us"]) / width_us).astype(int)
    bins -= bins[0]
    count = int(bins[-1]) + 1
    # For each bin, the last row at or before it.
    last = np.zeros(count, dtype=int)
    last[bins] = np.arange(bins.size)
    last = np.maximum.accumulate(last)
    retransmitted, rtt_us = np.zeros(count), np.full(count, np.nan)
    retransmitted[bins] = to_floats(series["retransmitted_pkts"])
    rtt_us[bins] = to_floats(series["rtt_us"])
    first_us = float(series["time_us"][0].as_py()) + shift_us
    return CapturedFlow(
        time_s=(first_us + width_us * np.arange(1, count + 1)) / 1e6,
        outstanding_pkts=to_floats(series["inflight_bytes"])[last] / segment_bytes,
        inflight_pkts=to_floats(series["inflight_sack_bytes"])[last] / segment_bytes,
        rtt_ms=rtt_us / 1e3,
        retransmitted_pkts=np.cumsum(retransmitted),
    )

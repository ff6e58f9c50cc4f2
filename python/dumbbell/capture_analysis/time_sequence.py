"""The time-sequence plot: data sent and acknowledged, packet by packet.

Introduced by Stevens and made common by tcptrace.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.capture_analysis.analysis import Analysis
from dumbbell.figures import Curve, Figure
from dumbbell.figures.floats import to_floats

__all__ = ["draw_time_sequence"]

FloatArray = npt.NDArray[np.float64]

#: Extent of the detail before and after the first retransmission, in RTTs.
BEFORE_RTTS, AFTER_RTTS = 2.0, 4.0
#: For a connection without any RTT sample, s.
DEFAULT_RTT_S = 0.1
#: Packets of the detail, at most; more would be a solid bar.
MAX_STROKES = 2500

SENT, ACKED, WINDOW, RESENT, DISORDERED, SACKED = (
    "#404040", "#009e73", "#e69f00", "#d55e00", "#cc79a7", "#9fc9e6",
)  # fmt: skip


@dataclass(frozen=True)
class Sequence:
    """A connection's packets: data one way, everything the other way."""

    data: pa.Table
    acks: pa.Table

    def between(self, start_s: float, end_s: float) -> Sequence:
        """Return the packets of an interval."""
        return Sequence(cut(self.data, start_s, end_s), cut(self.acks, start_s, end_s))


def draw_time_sequence(analysis: Analysis, connection: int) -> list[Figure]:
    """Draw a connection from its first packet to its last, and a detail of it.

    The detail shows the first retransmission, or the first round trips without one.
    """
    row = analysis.row_of(connection)
    table = analysis.segments_of(connection)
    forward = pc.equal(table["is_initiator"], row["is_initiator"])
    sequence = Sequence(
        data=table.filter(pc.and_(forward, pc.greater(table["bytes"], 0))),
        acks=table.filter(pc.invert(forward)),
    )
    if sequence.data.num_rows == 0:
        return []
    start_s, end_s = detail(sequence, (row["rtt_mean_us"] or DEFAULT_RTT_S * 1e6) / 1e6)
    title = f"Time sequence of connection {connection}"
    return [
        Figure(
            name=f"time-sequence-{connection}",
            title=title,
            x_label="time (s)",
            y_label="sequence number (MB)",
            curves=tuple(whole(sequence)),
        ),
        Figure(
            name=f"time-sequence-{connection}-detail",
            title=f"{title}, {start_s:.3f} to {end_s:.3f} s",
            x_label="time (s)",
            y_label="sequence number (MB)",
            curves=tuple(strokes(sequence.between(start_s, end_s))),
            y_from_zero=False,
        ),
    ]


def detail(sequence: Sequence, rtt_s: float) -> tuple[float, float]:
    """Return start and end of the detail."""
    data = sequence.data
    resent = data.filter(pc.equal(data["kind"].cast(pa.string()), "retransmission"))
    time_s = seconds(data)
    start_s = float(time_s[0])
    if resent.num_rows:
        start_s = max(start_s, float(seconds(resent)[0]) - BEFORE_RTTS * rtt_s)
    end_s = start_s + (BEFORE_RTTS + AFTER_RTTS) * rtt_s
    inside = time_s[(time_s >= start_s) & (time_s <= end_s)]
    return start_s, float(inside[MAX_STROKES]) if inside.size > MAX_STROKES else end_s


def whole(sequence: Sequence) -> list[Curve]:
    """Draw sent, acknowledged and allowed data as lines, retransmissions as points."""
    curves = []
    originals = of_kind(sequence.data, "data")
    if originals.num_rows:
        curves.append(Curve("sent", seconds(originals), ends_mb(originals), SENT))
    time_s, acked_mb, allowed_mb = acknowledged(sequence.acks)
    if time_s.size:
        curves.append(Curve("acknowledged", time_s, acked_mb, ACKED))
        curves.append(Curve("allowed by the window", time_s, allowed_mb, WINDOW, dashed=True))
    disordered = of_kind(sequence.data, "out_of_order")
    if disordered.num_rows:
        time_s, end = seconds(disordered), ends_mb(disordered)
        curves.append(Curve("out of order", time_s, end, DISORDERED, marker="s", shape="points"))
    return [*without_far_window(curves), *resent(sequence)]


def strokes(sequence: Sequence) -> list[Curve]:
    """Draw each packet as a stroke from its first to its last byte."""
    curves = []
    time_s, acked_mb, allowed_mb = acknowledged(sequence.acks)
    sacks = of_kind(sequence.acks, "sack")
    if sacks.num_rows:
        curves.append(stroke("SACKed", sacks, SACKED))
    for kind, label, color in (
        ("data", "sent", SENT), ("out_of_order", "out of order", DISORDERED),
    ):  # fmt: skip
        table = of_kind(sequence.data, kind)
        if table.num_rows:
            curves.append(stroke(label, table, color))
    if time_s.size:
        curves.append(Curve("acknowledged", *steps(time_s, acked_mb), ACKED, shape="strokes"))
        window = steps(time_s, allowed_mb)
        curves.append(Curve("allowed by the window", *window, WINDOW, shape="strokes"))
    return [*without_far_window(curves), *resent(sequence)]


def resent(sequence: Sequence) -> list[Curve]:
    """Draw retransmissions as points, which stand out among thousands of packets."""
    table = of_kind(sequence.data, "retransmission")
    if table.num_rows == 0:
        return []
    time_s, end = seconds(table), ends_mb(table)
    return [Curve("retransmitted", time_s, end, RESENT, marker="o", shape="points")]


def without_far_window(curves: list[Curve]) -> list[Curve]:
    """Leave the window out where it is so high that the sent data would look flat."""
    others = [curve for curve in curves if curve.color != WINDOW]
    high = max((np.nanmax(curve.y) for curve in others if curve.y.size), default=0.0)
    low = min((np.nanmin(curve.y) for curve in others if curve.y.size), default=0.0)
    near = high + (high - low)
    return [c for c in curves if c.color != WINDOW or (c.y.size and np.nanmin(c.y) <= near)]


def stroke(label: str, table: pa.Table, color: str) -> Curve:
    """Draw a table's packets as strokes."""
    time_s, end = seconds(table), ends_mb(table)
    start = to_floats(table["seq"]) / 1e6
    gap = np.full(time_s.size, np.nan)
    x = np.column_stack([time_s, time_s, gap]).ravel()
    y = np.column_stack([start, end, gap]).ravel()
    return Curve(label, x, y, color, shape="strokes")


def steps(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Hold each value until the next."""
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def acknowledged(acks: pa.Table) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the times of ACKs, what they acknowledged, and what the window then allowed."""
    is_packet = pc.not_equal(acks["kind"].cast(pa.string()), "sack")
    table = acks.filter(pc.and_(is_packet, pc.is_valid(acks["ack"])))
    acked = to_floats(table["ack"])
    allowed = acked + np.nan_to_num(to_floats(table["window_bytes"]))
    return seconds(table), acked / 1e6, allowed / 1e6


def of_kind(table: pa.Table, kind: str) -> pa.Table:
    """Return the packets of a kind."""
    return table.filter(pc.equal(table["kind"].cast(pa.string()), kind))


def seconds(table: pa.Table) -> FloatArray:
    """Return when the packets were captured."""
    return to_floats(table["time_us"]) / 1e6


def ends_mb(table: pa.Table) -> FloatArray:
    """Return the sequence numbers after the packets' last bytes."""
    return (to_floats(table["seq"]) + to_floats(table["bytes"])) / 1e6


def cut(table: pa.Table, start_s: float, end_s: float) -> pa.Table:
    """Return the packets of an interval."""
    time_us = table["time_us"]
    after, before = pc.greater_equal(time_us, start_s * 1e6), pc.less_equal(time_us, end_s * 1e6)
    return table.filter(pc.and_(after, before))

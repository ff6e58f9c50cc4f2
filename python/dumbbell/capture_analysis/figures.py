"""Figures of an analysis: throughput, RTT and in-flight over time, and the time sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dumbbell.capture_analysis.analysis import Analysis
from dumbbell.capture_analysis.time_sequence import draw_time_sequence
from dumbbell.plots import Curve, Figure
from dumbbell.plots.style import CONNECTION_COLORS
from dumbbell.run.series import to_floats

__all__ = ["connection_label", "draw_figures"]

FloatArray = npt.NDArray[np.float64]

#: More curves than these cannot be told apart; what is drawn are the connections with most payload.
MAX_CURVES, MAX_IN_FLIGHT = 8, 4
#: Bins of a rate, at most: narrower ones show single packets rather than a rate.
RATE_BINS = 300
TOTAL_COLOR = "#404040"


def draw_figures(analysis: Analysis) -> list[Figure]:
    """Draw every figure that the analysis has the data of.

    Parameters
    ----------
    analysis
        A time sequence is drawn of each connection whose packets were kept.
    """
    shown = [n for n in analysis.largest if analysis.row_of(n)["payload_bytes"] > 0]
    if not shown:
        return []
    figures = [
        draw_throughput(analysis, shown),
        draw_rtt(analysis, shown),
        draw_in_flight(analysis, shown),
    ]
    figures = [figure for figure in figures if figure.curves]
    for connection in kept_connections(analysis):
        figures += draw_time_sequence(analysis, connection)
    return figures


def kept_connections(analysis: Analysis) -> list[int]:
    """Return the connections whose packets were kept."""
    table = analysis.tables.get("segments")
    return [] if table is None else sorted(set(table["connection"].unique().to_pylist()))


def connection_label(analysis: Analysis, connection: int) -> str:
    """Name a connection in a legend."""
    row = analysis.row_of(connection)
    return f"{connection}: {endpoint(row['source'], row['source_port'])}"


def endpoint(address: str, port: int) -> str:
    """Write an endpoint; an IPv6 address in brackets (RFC 3986 §3.2.2)."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def draw_throughput(analysis: Analysis, connections: Sequence[int]) -> Figure:
    """Draw the payload of each connection per second, and of all together."""
    curves = []
    for number, color in zip(connections[:MAX_CURVES], CONNECTION_COLORS, strict=False):
        time_s, mbps = rate_mbps(analysis, [number])
        curves.append(Curve(connection_label(analysis, number), time_s, mbps, color))
    if len(connections) > 1:
        time_s, mbps = rate_mbps(analysis, connections)
        curves.append(
            Curve(f"all {len(connections)} together", time_s, mbps, TOTAL_COLOR, dashed=True)
        )
    return Figure(
        name="throughput",
        title=f"Throughput{left_out(connections, MAX_CURVES)}",
        x_label="time (s)",
        y_label="throughput (Mbit/s)",
        curves=tuple(curves),
        caption="Payload captured per second, retransmissions included.",
    )


def rate_mbps(analysis: Analysis, connections: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the summed rate of connections over time, in the widest bin that any of them has."""
    parts = [analysis.series_of(number) for number in connections]
    times = np.concatenate([to_floats(part["time_us"]) for part in parts])
    amounts = np.concatenate([to_floats(part["payload_bytes"]) for part in parts])
    if times.size == 0:
        return times, amounts
    widest = max(float(to_floats(part["bin_us"]).max()) for part in parts if part.num_rows)
    width = widest * max(1.0, np.ceil((times.max() - times.min()) / widest / RATE_BINS))
    first = int(times.min() // width)
    bins = (times // width).astype(np.int64) - first
    total = np.bincount(bins, weights=amounts)
    at_s = (np.arange(total.size) + first + 0.5) * width / 1e6
    return at_s, total * 8 / width


def draw_rtt(analysis: Analysis, connections: Sequence[int]) -> Figure:
    """Draw the RTT of each connection."""
    curves = []
    for number, color in zip(connections[:MAX_CURVES], CONNECTION_COLORS, strict=False):
        part = analysis.series_of(number)
        rtt_ms = to_floats(part["rtt_us"]) / 1e3
        known = np.isfinite(rtt_ms)
        if known.any():
            time_s = to_floats(part["time_us"]) / 1e6
            label = connection_label(analysis, number)
            curves.append(Curve(label, time_s[known], rtt_ms[known], color))
    return Figure(
        name="rtt",
        title=f"RTT{left_out(connections, MAX_CURVES)}",
        x_label="time (s)",
        y_label="RTT (ms)",
        curves=tuple(curves),
        caption="From data to the ACK that covers it, never of data that was sent twice (Karn); "
        "without the handshake's sample, which the table's RTT includes.",
    )


def draw_in_flight(analysis: Analysis, connections: Sequence[int]) -> Figure:
    """Draw what is in flight by both definitions."""
    curves = []
    for number, color in zip(connections[:MAX_IN_FLIGHT], CONNECTION_COLORS, strict=False):
        part = analysis.series_of(number)
        time_s = to_floats(part["time_us"]) / 1e6
        label = connection_label(analysis, number)
        for column, what, dashed in (
            ("inflight_bytes", "not acknowledged (tcptrace)", True),
            ("inflight_sack_bytes", "in flight by SACK (Linux)", False),
        ):
            kilobytes = to_floats(part[column]) / 1e3
            known = np.isfinite(kilobytes)
            if known.any():
                curves.append(
                    Curve(
                        f"{label}, {what}", time_s[known], kilobytes[known],
                        lighter(color) if dashed else color, dashed=dashed,
                    )
                )  # fmt: skip
    return Figure(
        name="inflight",
        title=f"In flight, by both definitions{left_out(connections, MAX_IN_FLIGHT)}",
        x_label="time (s)",
        y_label="in flight (kB)",
        curves=tuple(curves),
        caption="Highest sent minus cumulatively acknowledged, as tcptrace counts; and without "
        "what was SACKed or lost, as Linux counts.",
    )


def lighter(color: str) -> str:
    """Mix a colour with as much white."""
    parts = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{(part + 255) // 2:02x}" for part in parts)


def left_out(connections: Sequence[int], most: int) -> str:
    """Say that not all connections are drawn."""
    return f", {most} of {len(connections)} connections" if len(connections) > most else ""

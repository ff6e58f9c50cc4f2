"""Figures of an analysis: throughput, RTT and in-flight over time, and the time sequence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dumbbell.capture_analysis.analysis import Analysis
from dumbbell.capture_analysis.connection_table import connection_label
from dumbbell.capture_analysis.time_sequence import draw_time_sequence
from dumbbell.congestion_control.name_kinds import split_preset
from dumbbell.congestion_control.quic import split_params
from dumbbell.figures import Curve, Figure, group_colors
from dumbbell.figures.floats import to_floats
from dumbbell.figures.style import CONNECTION_COLORS, shades

__all__ = ["draw_figures", "draw_overview", "looks_of", "name_of", "rate_bin_us", "rate_mbps"]

FloatArray = npt.NDArray[np.float64]

#: More curves cannot be distinguished; those of the connections with most payload are drawn.
MAX_CURVES, MAX_IN_FLIGHT = 8, 4
#: Bins of a rate, at most: narrower ones show single packets rather than a rate.
RATE_BINS = 300
TOTAL_COLOR = "#404040"


def draw_overview(analysis: Analysis) -> list[Figure]:
    """Draw throughput, RTT and in-flight of the connections with most payload."""
    shown = [n for n in analysis.largest if analysis.row_of(n)["payload_bytes"] > 0]
    if not shown:
        return []
    draws = (draw_throughput, draw_rtt, draw_in_flight)
    return [figure for figure in (draw(analysis, shown) for draw in draws) if figure.curves]


def draw_figures(analysis: Analysis) -> list[Figure]:
    """Draw the overview, and the time sequence of each connection whose segments were kept."""
    figures = draw_overview(analysis)
    for connection in kept_connections(analysis) if figures else ():
        figures += draw_time_sequence(analysis, connection)
    return figures


def kept_connections(analysis: Analysis) -> list[int]:
    """Return the connections whose segments were kept."""
    table = analysis.tables.get("segments")
    return [] if table is None else sorted(set(table["connection"].unique().to_pylist()))


def looks_of(analysis: Analysis, connections: Sequence[int]) -> list[tuple[int, str, str]]:
    """Return each connection with its label and colour: its CCA's, if known."""
    groups = [analysis.group_of(number) for number in connections]
    names = [name_of(cc) for cc in analysis.congestion_controls]
    free = {
        group: shades(color, groups.count(group)) for group, color in enumerate(group_colors(names))
    }
    others = list(CONNECTION_COLORS)
    return [
        (n, connection_label(analysis, n), (others if g is None else free[g]).pop(0))
        for n, g in zip(connections, groups, strict=True)
    ]


def name_of(cc: str) -> str:
    """Return the name of an algorithm without its parameters and preset."""
    return split_preset(split_params(cc)[0])[0]


def draw_throughput(analysis: Analysis, connections: Sequence[int]) -> Figure:
    """Draw the payload of each connection per second, and of all together."""
    curves = []
    bin_us = rate_bin_us(analysis, connections)
    for number, label, color in looks_of(analysis, connections[:MAX_CURVES]):
        time_s, mbps = rate_mbps(analysis, [number], bin_us)
        curves.append(Curve(label, time_s, mbps, color))
    if len(connections) > 1:
        time_s, mbps = rate_mbps(analysis, connections, bin_us)
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


def rate_bin_us(analysis: Analysis, connections: Sequence[int]) -> float:
    """Return how wide the bins of rates are: the same for all, so that none is above the total.

    They are as wide as any connection's own, and as an RTT: a window may leave in no time. A figure
    has `RATE_BINS` at most.
    """
    parts = [part for part in map(analysis.series_of, connections) if part.num_rows]
    if not parts:
        return 1.0
    times = np.concatenate([to_floats(part["time_us"]) for part in parts])
    widest = max(float(to_floats(part["bin_us"]).max()) for part in parts)
    rtts = (analysis.row_of(number)["rtt_min_us"] or 0.0 for number in connections)
    least = max((times.max() - times.min()) / RATE_BINS, *rtts)
    return float(widest * max(1.0, np.ceil(least / widest)))


def rate_mbps(
    analysis: Analysis, connections: Sequence[int], bin_us: float
) -> tuple[FloatArray, FloatArray]:
    """Return the summed rate of connections over time, with the 0 before and after."""
    parts = [analysis.series_of(number) for number in connections]
    times = np.concatenate([to_floats(part["time_us"]) for part in parts])
    amounts = np.concatenate([to_floats(part["payload_bytes"]) for part in parts])
    if times.size == 0:
        return times, amounts
    first = int(times.min() // bin_us)
    total = np.bincount((times // bin_us).astype(np.int64) - first, weights=amounts)
    before = min(first, 1)
    end = to_floats(analysis.series["time_us"]).max(initial=0.0) // bin_us
    total = np.pad(total, (before, int(first + total.size <= end)))
    places = np.arange(total.size, dtype=np.float64)
    at_s: FloatArray = (places + first - before + 0.5) * bin_us / 1e6
    return at_s, total * 8 / bin_us


def draw_rtt(analysis: Analysis, connections: Sequence[int]) -> Figure:
    """Draw the RTT of each connection."""
    curves = []
    for number, label, color in looks_of(analysis, connections[:MAX_CURVES]):
        part = analysis.series_of(number)
        rtt_ms = to_floats(part["rtt_us"]) / 1e3
        known = np.isfinite(rtt_ms)
        if known.any():
            time_s = to_floats(part["time_us"]) / 1e6
            curves.append(Curve(label, time_s[known], rtt_ms[known], color))
    return Figure(
        name="rtt",
        title=f"RTT{left_out(connections, MAX_CURVES)}",
        x_label="time (s)",
        y_label="RTT (ms)",
        curves=tuple(curves),
        caption="From data to the ACK that covers it, never of retransmitted data (Karn's "
        "algorithm); without the handshake's sample, which the RTT in the table includes.",
    )


def draw_in_flight(analysis: Analysis, connections: Sequence[int]) -> Figure:
    """Draw the data in flight by both definitions."""
    curves = []
    for number, label, color in looks_of(analysis, connections[:MAX_IN_FLIGHT]):
        part = analysis.series_of(number)
        time_s = to_floats(part["time_us"]) / 1e6
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
                        shades(color, 2)[1] if dashed else color, dashed=dashed,
                    )
                )  # fmt: skip
    return Figure(
        name="inflight",
        title=f"In flight, by both definitions{left_out(connections, MAX_IN_FLIGHT)}",
        x_label="time (s)",
        y_label="in flight (kB)",
        curves=tuple(curves),
        caption="Highest sent minus cumulatively acknowledged, as tcptrace counts; and the same "
        "without SACKed and lost data, as Linux counts.",
    )


def left_out(connections: Sequence[int], most: int) -> str:
    """Say that not all connections are drawn."""
    return f", {most} of {len(connections)} connections" if len(connections) > most else ""

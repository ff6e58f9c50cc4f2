"""The picture of an answer: packets in flight and RTT over time, with what the reason names."""

from __future__ import annotations

import numpy as np

from dumbbell.capture_analysis.connection_table import endpoint
from dumbbell.figures import Curve, Figure
from dumbbell.figures.figure import Mark
from dumbbell.figures.style import CONNECTION_COLORS
from dumbbell.identify.features.rhythm import dips_of
from dumbbell.identify.identification import Identification, Identified
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = ["draw_identification"]

#: Connections that are drawn, at most.
MAX_DRAWN = 8
#: Losses that are marked, at most: more are a grey surface.
MAX_MARKS = 40
LOSS_COLOR, DIP_COLOR, BDP_COLOR = "#b03030", "#3060b0", "#808080"


def draw_identification(found: Identification) -> list[Figure]:
    """Draw the connections with most payload: in flight, and RTT, each with its marks."""
    figures: list[Figure] = []
    for each in found.connections:
        if each.trace is None or each.rounds is None:
            continue
        figures += [draw_inflight(each, each.trace, each.rounds)]
        figures += [draw_rtt(each, each.trace, each.rounds)]
        if len(figures) >= 2 * MAX_DRAWN:
            break
    return figures


def draw_inflight(which: Identified, trace: Trace, rounds: Rounds) -> Figure:
    """Draw packets in flight, with losses and pauses marked."""
    start_s = rounds.time_s
    curves = [
        Curve("most in a round trip", start_s, rounds.window_pkts, CONNECTION_COLORS[0]),
        Curve("least", start_s, rounds.least_pkts, CONNECTION_COLORS[0], dashed=2, optional=True),
    ]
    marks = [
        Mark(float(rounds.time_s[first]), "loss", LOSS_COLOR)
        for first, _ in rounds.losses[:MAX_MARKS]
    ]
    marks += [
        Mark(dip.start_s, f"{dip.least_pkts:.0f} packets", DIP_COLOR)
        for dip in dips_of(trace)
        if not dip.follows_loss
    ]
    if "bdp_pkts" in which.measured:
        level = np.full(2, which.measured["bdp_pkts"])
        ends = np.array([start_s[0], start_s[-1]])
        curves.append(Curve("1 BDP", ends, level, BDP_COLOR, dashed=1))
    return Figure(
        name=f"inflight-{'udp-' if which.protocol == 'udp' else ''}{which.connection}",
        title=heading(which),
        x_label="time (s)",
        y_label="in flight (packets)",
        curves=tuple(curves),
        marks=tuple(marks),
        caption=which.reason,
    )


def draw_rtt(which: Identified, trace: Trace, rounds: Rounds) -> Figure:
    """Draw the RTT."""
    return Figure(
        name=f"rtt-{which.connection}",
        title=heading(which),
        x_label="time (s)",
        y_label="RTT (ms)",
        curves=(
            Curve("mean of a round trip", rounds.time_s, 1e3 * rounds.rtt_s, CONNECTION_COLORS[1]),
            Curve(
                "shortest",
                np.array([rounds.time_s[0], rounds.time_s[-1]]),
                np.full(2, 1e3 * trace.base_rtt_s),
                BDP_COLOR,
                dashed=1,
            ),
        ),
        caption="Of the whole path, interpolated between samples.",
    )


def heading(which: Identified) -> str:
    """Name a connection and its answer."""
    chance = "" if which.probability is None else f" ({100 * which.probability:.0f} %)"
    name = which.verdict + (chance if which.algorithm else "")
    return f"{which.connection}: {endpoint(which.source, which.source_port)}: {name}"

"""Figures 2 to 12."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dumbbell.figures import Curve, Figure, buffer_colors, style_of
from dumbbell_studies.papers.ogino2021.measurements import Measured, points_of
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP, COPA, RIVAL, Point
from dumbbell_studies.papers.results import Results
from dumbbell_studies.papers.series import first_flow, flow_series

__all__ = ["OVER_TIME", "OverTime", "draw_figures", "over_time_figure"]


@dataclass(frozen=True)
class OverTime:
    """A figure that shows one flow over time, a curve per buffer."""

    number: str
    rival: str
    n: int
    group: int
    column: str


# The paper's text names the figures by what they show. Its first half has one set and its findings
# with times (A4) are of n = 1; its second half has two sets, n = 1 and then n = 4.
OVER_TIME = (
    OverTime("3", "cubic", 1, COPA, "outstanding_pkts"),
    OverTime("4", "cubic", 1, RIVAL, "outstanding_pkts"),
    OverTime("5", "cubic", 1, COPA, "rtt_us"),
    OverTime("7", "bbr", 1, COPA, "outstanding_pkts"),
    OverTime("8", "bbr", 1, RIVAL, "outstanding_pkts"),
    OverTime("9", "bbr", 1, COPA, "rtt_us"),
    OverTime("10", "bbr", 4, COPA, "outstanding_pkts"),
    OverTime("11", "bbr", 4, RIVAL, "outstanding_pkts"),
    OverTime("12", "bbr", 4, COPA, "rtt_us"),
)
AGAINST_BUFFER = (("2a", "cubic", 1), ("2b", "cubic", 4), ("6a", "bbr", 1), ("6b", "bbr", 4))


def draw_figures(results: Results[Point, Measured]) -> list[Figure]:
    """Draw figures 2 to 12, in the paper's order."""
    figures = [draw_throughput(results, *figure) for figure in AGAINST_BUFFER]
    figures += [draw_over_time(results, figure) for figure in OVER_TIME]
    return sorted(figures, key=lambda figure: (len(figure.name.rstrip("ab")), figure.name))


def draw_throughput(results: Results[Point, Measured], number: str, rival: str, n: int) -> Figure:
    """Draw mean throughput per flow against buffer size."""
    points = points_of(results, rival, n)
    at = [point.buffer_bdp for point in points]
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: mean throughput per flow, "
        f"Copa and {style_of(rival).label}, n = {n}",
        x_label="buffer (BDP)",
        y_label="throughput (Mbit/s)",
        curves=(
            results.curve("copa", at, points, lambda run: run.copa.mbps),
            results.curve(rival, at, points, lambda run: run.rival.mbps),
        ),
        caption=f"Goodput over 120 s, start-up included. {results.bars(*points)}",
        x_ticks=BUFFERS_BDP,
    )


def draw_over_time(results: Results[Point, Measured], figure: OverTime) -> Figure:
    """Draw one flow's inflight or RTT over time, a curve per buffer, of the first seed."""
    colors = buffer_colors([f"{buffer:g} BDP" for buffer in BUFFERS_BDP])
    curves = []
    for point in points_of(results, figure.rival, figure.n):
        run, name = results.runs[point][0], f"{point.buffer_bdp:g} BDP"
        time_s, values = flow_series(run, first_flow(run, figure.group), figure.column)
        known = np.isfinite(values)
        scale = 1e-3 if figure.column == "rtt_us" else 1.0
        curves.append(Curve(name, time_s[known], values[known] * scale, colors[name]))
    return over_time_figure(figure, tuple(curves), name=f"figure-{figure.number}")


def over_time_figure(
    figure: OverTime, curves: tuple[Curve, ...], *, name: str, source: str = ""
) -> Figure:
    """Label a figure over time; `source` says where its curves come from."""
    labels = [style_of("copa").label, style_of(figure.rival).label]
    cc, other = labels if figure.group == COPA else labels[::-1]
    what = "RTT" if figure.column == "rtt_us" else "inflight"
    return Figure(
        name=name,
        title=f"Figure {figure.number}: {what} of {cc}, with {other}, n = {figure.n}{source}",
        x_label="time (s)",
        y_label="RTT (ms)" if what == "RTT" else "inflight (packets)",
        curves=curves,
        caption=(
            f"The first {cc} flow."
            if what == "RTT"
            else f"The first {cc} flow; highest sent minus cumulatively acknowledged."
        ),
    )

"""The paper's figures 2 to 12, and its throughput as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from dumbbell.papers.ogino2021.in_flight import first_flow
from dumbbell.papers.ogino2021.measurements import COPA, RIVAL, Measured, Measurements
from dumbbell.papers.ogino2021.points import BUFFERS_BDP, FLOWS, RIVALS, Point
from dumbbell.papers.paper import ResultTable
from dumbbell.plots import Curve, Figure, buffer_colors, style_of
from dumbbell.run import Run
from dumbbell.run.series import flow_series
from dumbbell.statistics import mean_and_interval
from dumbbell.verdict import worst

__all__ = ["OVER_TIME", "OverTime", "draw_figures", "make_tables", "over_time_figure"]


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
THROUGHPUT = (("2a", "cubic", 1), ("2b", "cubic", 4), ("6a", "bbr", 1), ("6b", "bbr", 4))


def draw_figures(runs: Mapping[str, Run]) -> list[Figure]:
    """Draw figures 2 to 12, in the paper's order."""
    m = Measurements(runs)
    figures = [draw_throughput(m, *figure) for figure in THROUGHPUT]
    figures += [draw_over_time(m, figure) for figure in OVER_TIME]
    return sorted(figures, key=lambda figure: (len(figure.name.rstrip("ab")), figure.name))


def draw_throughput(m: Measurements, number: str, rival: str, n: int) -> Figure:
    """Draw mean throughput per flow against buffer size."""
    buffers = m.buffers(rival, n)
    x = np.array(buffers)
    curves = []
    for cc, group in (("copa", COPA), (rival, RIVAL)):
        seeds = [
            m.values(Point(rival, n, buffer), partial(throughput, group)) for buffer in buffers
        ]
        several = len(seeds[0]) > 1
        style = style_of(cc)
        curves.append(
            Curve(
                style.label,
                x,
                np.array([np.mean(values) for values in seeds]),
                style.color,
                style.marker,
                low=np.array([min(values) for values in seeds]) if several else None,
                high=np.array([max(values) for values in seeds]) if several else None,
            )
        )
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: mean throughput per flow, "
        f"Copa and {style_of(rival).label}, n = {n}",
        x_label="buffer (BDP)",
        y_label="throughput (Mbit/s)",
        curves=tuple(curves),
        caption="Goodput over 120 s, start-up included."
        + (" Bars: smallest and largest of the seeds." if curves[0].low is not None else ""),
        x_ticks=BUFFERS_BDP,
    )


def throughput(group: int, run: Measured) -> float:
    """Return a kind's mean throughput."""
    return (run.copa if group == COPA else run.rival).throughput_mbps


def draw_over_time(m: Measurements, figure: OverTime) -> Figure:
    """Draw one flow's inflight or RTT over time, a curve per buffer, of the first seed."""
    colors = buffer_colors([f"{buffer:g} BDP" for buffer in BUFFERS_BDP])
    curves = []
    for buffer in m.buffers(figure.rival, figure.n):
        name = f"{buffer:g} BDP"
        run = m.runs[Point(figure.rival, figure.n, buffer)][0]
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


def make_tables(m: Measurements) -> list[ResultTable]:
    """Tabulate throughput, RTT and Copa's mode against the buffer, a table per pair and n."""
    return [make_table(m, rival, n) for rival in RIVALS for n in FLOWS]


def make_table(m: Measurements, rival: str, n: int) -> ResultTable:
    """Tabulate one pair and n."""
    label = style_of(rival).label
    rows = []
    for buffer in m.buffers(rival, n):
        point = Point(rival, n, buffer)
        rtos = sum(m.values(point, lambda run: run.copa.rto_count + run.rival.rto_count))
        rows.append(
            (
                f"{buffer:g}",
                mean_and_interval(m.values(point, lambda run: run.copa.throughput_mbps)),
                mean_and_interval(m.values(point, lambda run: run.rival.throughput_mbps)),
                f"{m.mean(point, lambda run: run.rival_share):.0%}",
                f"{m.mean(point, lambda run: run.copa.rtt_mean_ms):.0f}",
                f"{m.mean(point, lambda run: run.competitive_share):.0%}",
                "–" if math.isnan(rtos) else f"{rtos:g}",
                worst([measured.verdict for measured in m.measured[point]]),
            )
        )
    return ResultTable(
        title=f"Copa and {label}, n = {n}: mean throughput per flow",
        columns=(
            "buffer (BDP)", "Copa (Mbit/s)", f"{label} (Mbit/s)", f"{label}'s share",
            "RTT of Copa (ms)", "Copa competitive", "RTOs", "verdict",
        ),
        rows=tuple(rows),
    )  # fmt: skip

"""The paper's figures over time from captures at the senders, as the paper made them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.papers.ogino2021.captured_flow import CapturedFlow, read_first_flows
from dumbbell.papers.ogino2021.figures import OVER_TIME, OverTime, over_time_figure
from dumbbell.papers.ogino2021.in_flight import Counts, compare, first_flow, seconds
from dumbbell.papers.ogino2021.measurements import COPA, point_of
from dumbbell.papers.ogino2021.points import BUFFERS_BDP, Point
from dumbbell.papers.paper import FromCaptures
from dumbbell.plots import Curve, Figure, buffer_colors
from dumbbell.run import Run
from dumbbell.run.series import flow_series

__all__ = ["evaluate_captures", "wants_capture"]

#: Of the figure that shows the artefact: as long around where the two counts differ most, s.
DETAIL_S = 8.0
TCPTRACE, LINUX = "#d55e00", "#0072b2"
ENGINE_TCPTRACE, ENGINE_LINUX = "#e69f00", "#404040"

Flows = Mapping[str, Mapping[int, CapturedFlow]]


def wants_capture(name: str) -> bool:
    """Whether a run is in a figure over time: the paper draws Copa and CUBIC, n = 4, in none."""
    return not name.startswith("copa-cubic-n4-")


def evaluate_captures(runs: Mapping[str, Run]) -> FromCaptures:
    """Draw the figures, and state what the captures say of finding A5.

    Parameters
    ----------
    runs
        By their names; those without a capture are in no figure.
    """
    captured = {name: run.capture for name, run in runs.items() if run.capture is not None}
    points = {name: point_of(runs[name]) for name in captured}
    flows = {name: read_first_flows(runs[name], path) for name, path in captured.items()}
    figures = [draw_over_time(figure, points, flows) for figure in OVER_TIME]
    copa = {name: flows[name][COPA] for name in flows if points[name][:2] == ("cubic", 1)}
    if not copa:
        return FromCaptures(tuple(figures), {})
    worst = max(copa, key=lambda name: widest_gap(copa[name])[1])
    figures.append(draw_artefact(points[worst], runs[worst], copa[worst]))
    counts = compare(
        seconds(f.time_s, f.outstanding_pkts, f.inflight_pkts, f.retransmitted_pkts)
        for f in copa.values()
    )
    return FromCaptures(tuple(figures), {"A5": evidence(counts)})


def evidence(counts: Counts) -> str:
    """State the two counts of the captures; it decides nothing."""
    return (
        f"from captures at the senders: in {counts.lossy_seconds} s with retransmissions "
        f"tcptrace's count is {counts.excess_lossy:.1%} above the SACK-aware one, in "
        f"{counts.quiet_seconds} s without {counts.excess_quiet:.1%}"
    )


def draw_over_time(figure: OverTime, points: Mapping[str, Point], flows: Flows) -> Figure:
    """Draw one of the paper's figures, a curve per buffer, of the first seed."""
    colors = buffer_colors([f"{buffer:g} BDP" for buffer in BUFFERS_BDP])
    first: dict[float, CapturedFlow] = {}
    for name, point in points.items():
        if (point.rival, point.n) == (figure.rival, figure.n):
            first.setdefault(point.buffer_bdp, flows[name][figure.group])
    curves = []
    for buffer in sorted(first):
        flow, label = first[buffer], f"{buffer:g} BDP"
        values = flow.rtt_ms if figure.column == "rtt_us" else flow.outstanding_pkts
        known = np.isfinite(values)
        curves.append(Curve(label, flow.time_s[known], values[known], colors[label]))
    return over_time_figure(
        figure, tuple(curves), name=f"capture-figure-{figure.number}", source=", from captures"
    )


def widest_gap(flow: CapturedFlow) -> tuple[float, float]:
    """Return when the two counts differ most, and by how much."""
    gaps = flow.outstanding_pkts - flow.inflight_pkts
    at = int(np.argmax(gaps))
    return float(flow.time_s[at]), float(gaps[at])


def draw_artefact(point: Point, run: Run, flow: CapturedFlow) -> Figure:
    """Draw Copa's in-flight by both definitions, from the capture and by the engine."""
    at_s, _ = widest_gap(flow)
    start_s = max(at_s - DETAIL_S / 2, 0.0)
    end_s = start_s + DETAIL_S
    time_s, outstanding, inflight = flow_series(
        run, first_flow(run, COPA), "outstanding_pkts", "inflight_pkts"
    )
    here = (flow.time_s >= start_s) & (flow.time_s <= end_s)
    there = (time_s >= start_s) & (time_s <= end_s)
    captured, sampled = flow.time_s[here], time_s[there]
    curves = (
        Curve("not acknowledged (tcptrace), capture", captured,
              flow.outstanding_pkts[here], TCPTRACE),
        Curve("in flight by SACK, capture", captured, flow.inflight_pkts[here], LINUX),
        Curve("not acknowledged, engine", sampled, outstanding[there], ENGINE_TCPTRACE,
              dashed=True),
        Curve("in flight, engine", sampled, inflight[there], ENGINE_LINUX, dashed=True),
    )  # fmt: skip
    return Figure(
        name="capture-a5",
        title=f"A5: inflight of Copa by both definitions (CUBIC, n = 1, {point.buffer_bdp:g} BDP)",
        x_label="time (s)",
        y_label="inflight (packets)",
        curves=curves,
        caption="Where they differ most. While a hole is open tcptrace counts as in flight what "
        "the receiver has already.",
    )

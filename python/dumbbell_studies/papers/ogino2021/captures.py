"""What is drawn and counted from captures at the senders."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.figures import Curve, Figure, buffer_colors
from dumbbell.run import Run
from dumbbell_studies.papers.captured_flow import CapturedFlow, read_first_flows
from dumbbell_studies.papers.inflight_counts import compare_counts
from dumbbell_studies.papers.ogino2021.figures import OVER_TIME, OverTime, over_time_figure
from dumbbell_studies.papers.ogino2021.measurements import Measured
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP, COPA, Point
from dumbbell_studies.papers.paper import FromCaptures
from dumbbell_studies.papers.results import Results
from dumbbell_studies.papers.series import first_flow, flow_series

__all__ = ["evaluate_captures"]

#: How much is drawn around where the two counts differ most, s.
DETAIL_S = 8.0
TCPTRACE, LINUX = "#d55e00", "#0072b2"
ENGINE_TCPTRACE, ENGINE_LINUX = "#e69f00", "#404040"

#: By point, the first flow of each group as its capture shows it.
Flows = Mapping[Point, Mapping[int, CapturedFlow]]


def evaluate_captures(results: Results[Point, Measured]) -> FromCaptures:
    """Draw the figures over time from captures at the senders, as the paper made them.

    Of each point the first seed is drawn, if it has a capture; all captures are in the note on A5.
    """
    captured = {p: [r for r in runs if r.capture is not None] for p, runs in results.runs.items()}
    flows = {p: [read_first_flows(r) for r in runs] for p, runs in captured.items()}
    first = {point: found[0] for point, found in flows.items() if found}
    figures = [draw_captured(figure, first) for figure in OVER_TIME]
    copa = {p: [found[COPA] for found in flows[p]] for p in first if p[:2] == ("cubic", 1)}
    if not copa:
        return FromCaptures(tuple(figures), {})
    worst = max(copa, key=lambda point: widest_gap(copa[point][0])[1])
    figures.append(draw_artefact(worst, captured[worst][0], copa[worst][0]))
    counts = compare_counts(
        (f.time_s, f.outstanding_pkts, f.inflight_pkts, f.retransmitted_pkts)
        for found in copa.values()
        for f in found
    )
    note = (
        f"from captures at the senders: in {counts.lossy_seconds} s with retransmissions "
        f"tcptrace's count is {counts.excess_lossy:.1%} above the SACK-aware one, in "
        f"{counts.quiet_seconds} s without {counts.excess_quiet:.1%}"
    )
    return FromCaptures(tuple(figures), {"A5": note})


def draw_captured(figure: OverTime, flows: Flows) -> Figure:
    """Draw one of the paper's figures from captures, a curve per buffer, of the first seed."""
    colors = buffer_colors([f"{buffer:g} BDP" for buffer in BUFFERS_BDP])
    curves = []
    for point in sorted(p for p in flows if (p.rival, p.n) == (figure.rival, figure.n)):
        flow, label = flows[point][figure.group], f"{point.buffer_bdp:g} BDP"
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

"""Figures 2 to 6."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dumbbell.figures import Curve, Figure, style_of
from dumbbell.models import MODELS
from dumbbell.plots import overlay
from dumbbell_studies.papers.kakenhi2024.alone_metrics import ALONE_METRICS
from dumbbell_studies.papers.kakenhi2024.by_kind import (
    alone_of,
    buffers,
    flow_counts,
    flows_of,
    intervals_of,
    mixed_of,
    mixes,
)
from dumbbell_studies.papers.kakenhi2024.measurements import (
    AloneMeasured,
    IntervalMeasured,
    Measured,
)
from dumbbell_studies.papers.kakenhi2024.runs import (
    ALONE_CCS,
    DEEP_BDP,
    RIVALS,
    Alone,
    Interval,
    Mixed,
    Point,
    scenario,
)
from dumbbell_studies.papers.results import Results

__all__ = ["draw_figures"]

#: Of the queueing delay of flows of one kind.
DELAY_MODELS = {"bbr": "bbr-many", "cubic": "cubic-interval"}
#: The report's figure 3 is of 10 BDP, figure 4 of 1 BDP.
FIGURE_OF_BUFFER = {10.0: "3", 1.0: "4"}


def draw_figures(results: Results[Point, Measured]) -> list[Figure]:
    """Draw figures 2 to 6."""
    alone, mixed = alone_of(results), mixed_of(results)
    figures = [draw_many_bbr(alone)]
    for buffer, number in FIGURE_OF_BUFFER.items():
        figures += [draw_alone(alone, number, buffer, metric) for metric in ALONE_METRICS]
    intervals = draw_intervals(intervals_of(results))
    return [*figures, intervals, *(draw_mixed(mixed, mix) for mix in mixes(mixed))]


def draw_many_bbr(alone: Results[Alone, AloneMeasured]) -> Figure:
    """Draw BBR's buffering delay against the number of flows."""
    counts = flow_counts(alone)
    points = [Alone("bbr", n, DEEP_BDP) for n in counts]
    return Figure(
        name="figure-2",
        title="Figure 2: buffering delay of BBR flows",
        x_label="BBR flows",
        y_label="mean queueing delay (ms)",
        curves=(
            alone.curve("bbr", counts, points, lambda run: run.queue_delay_ms),
            *delay_models(("bbr",), counts, DEEP_BDP),
        ),
        caption=f"100 Mbit/s, {DEEP_BDP:g} BDP. {alone.bars(*points)}",
        x_ticks=tuple(float(n) for n in counts),
    )


def draw_alone(
    alone: Results[Alone, AloneMeasured],
    number: str,
    buffer: float,
    metric: tuple[str, str, str, Callable[[AloneMeasured], float]],
) -> Figure:
    """Draw one of C2's metrics against the number of flows."""
    name, label, _, what = metric
    counts = flow_counts(alone)
    points = {cc: [Alone(cc, n, buffer) for n in counts] for cc in ALONE_CCS}
    curves = [alone.curve(cc, counts, points[cc], what) for cc in ALONE_CCS]
    curves += delay_models(ALONE_CCS, counts, buffer) if name == "delay" else []
    return Figure(
        name=f"figure-{number}-{name}",
        title=f"Figure {number}: {label}, buffer {buffer:g} BDP",
        x_label="flows",
        y_label=label,
        curves=tuple(curves),
        caption="100 Mbit/s, flows of one kind. L3DR is a reconstruction. "
        + alone.bars(*points["bbr"]),
        x_ticks=tuple(float(n) for n in counts),
    )


def delay_models(ccs: Sequence[str], counts: Sequence[int], buffer: float) -> list[Curve]:
    """Return what models say of the queueing delay of flows of one kind."""
    curves = [
        overlay(
            MODELS[DELAY_MODELS[cc]],
            [scenario(Alone(cc, n, buffer), 1) for n in counts],
            counts,
            lambda prediction: prediction.metric("queue_delay_mean_us") / 1e3,
            style_of(cc).color,
            optional=True,
        )
        for cc in ccs
        if cc in DELAY_MODELS
    ]
    return [curve for curve in curves if curve is not None]


def draw_intervals(intervals: Results[Interval, list[IntervalMeasured]]) -> Figure:
    """Draw throughput against loss interval: each flow, and the model at the mean RTT."""
    curves = []
    for rtt, color in zip(
        sorted({point.rtt for point in intervals.measured}),
        ("#0072b2", "#d55e00", "#009e73"),
        strict=False,
    ):
        flows = sorted(
            (
                flow
                for point in intervals.measured
                if point.rtt == rtt
                for flow in flows_of(intervals, point)
            ),
            key=lambda flow: flow.interval_s,
        )
        x = np.array([flow.interval_s for flow in flows])
        y = np.array([flow.rate_pkts_per_s for flow in flows])
        model = np.array([flow.predict_pkts_per_s() for flow in flows])
        curves += [
            Curve(f"simulated, {rtt}", x, y, color, "o", shape="points"),
            Curve(f"model, {rtt}", x, model, color, "o", shape="points", hollow=True),
        ]
    return Figure(
        name="figure-5",
        title="Figure 5: CUBIC's throughput against its loss interval",
        x_label="time between losses (s)",
        y_label="throughput (packets/s)",
        curves=tuple(curves),
        caption="Each point is a flow, at its mean interval. The model takes the flow's intervals "
        "in their order, its mean and its lowest RTT. It is a reconstruction.",
    )


def draw_mixed(mixed: Results[Mixed, float], mix: tuple[int, int]) -> Figure:
    """Draw a rival's share over a fair one, against buffer size."""
    sizes = buffers(mixed)
    fair = Curve("fair", np.array(sizes), np.ones(len(sizes)), "#6c6c6c", dashed=True)
    points = {cc: [Mixed(cc, mix, buffer) for buffer in sizes] for cc in RIVALS}
    curves = [mixed.curve(cc, sizes, points[cc], float) for cc in RIVALS]
    rival, cubic = mix
    return Figure(
        name=f"figure-6-{rival}to{cubic}",
        title=f"Figure 6: share of a flow against CUBIC, {rival} to {cubic}",
        x_label="buffer (BDP)",
        y_label="goodput over a fair share",
        curves=(*curves, fair, *share_models(mix, sizes)),
        caption="50 Mbit/s, 300 s. BBR-FCA is a reconstruction. " + mixed.bars(*points["bbr"]),
        x_ticks=tuple(sizes),
    )


def share_models(mix: tuple[int, int], sizes: Sequence[float]) -> list[Curve]:
    """Return what models say of a rival's share over a fair one."""
    curves = [
        overlay(
            MODELS[name],
            [scenario(Mixed(cc, mix, buffer), 1) for buffer in sizes],
            sizes,
            lambda prediction: prediction.metric("share", 0) / (mix[0] / sum(mix)),
            style_of(cc).color,
            of=style_of(cc).label,
            optional=True,
        )
        for name, cc in (("ware", "bbr"), ("bbr-fca", "bbr_fca"))
    ]
    return [curve for curve in curves if curve is not None]

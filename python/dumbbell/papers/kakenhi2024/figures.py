"""The report's figures 2 to 6, and the numbers as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dumbbell.models import MODELS
from dumbbell.models.cubic_interval import rate_pkts_per_s
from dumbbell.papers.kakenhi2024.devices import devices_table
from dumbbell.papers.kakenhi2024.measurements import AloneMeasured, Measurements
from dumbbell.papers.kakenhi2024.points import ALONE_CCS, DEEP_BDP, RIVALS, Alone, Mixed
from dumbbell.papers.paper import ResultTable
from dumbbell.plots import Curve, Figure, overlay, style_of
from dumbbell.verdict import worst

__all__ = ["draw_figures", "make_tables"]

#: What C2 is about: (name, heading, form, from a run).
ALONE_METRICS: tuple[tuple[str, str, str, Callable[[AloneMeasured], float]], ...] = (
    ("delay", "queueing delay (ms)", "{:.1f}", lambda run: run.queue_delay_ms),
    ("drops", "dropped (%)", "{:.3f}", lambda run: run.drop_pct),
    ("utilisation", "utilisation (%)", "{:.1f}", lambda run: 100 * run.utilization),
    ("fairness", "Jain's index, last 60 s", "{:.3f}", lambda run: run.jain),
)
#: Of the queueing delay of flows of one kind.
DELAY_MODELS = {"bbr": "bbr-many", "cubic": "cubic-interval"}
#: The report's figure 3 is of 10 BDP, figure 4 of 1 BDP.
FIGURE_OF_BUFFER = {10.0: "3", 1.0: "4"}


def draw_figures(m: Measurements) -> list[Figure]:
    """Draw figures 2 to 6."""
    figures = [draw_many_bbr(m)]
    for buffer, number in FIGURE_OF_BUFFER.items():
        figures += [draw_alone(m, number, buffer, metric) for metric in ALONE_METRICS]
    return [*figures, draw_intervals(m), *(draw_mixed(m, mix) for mix in mixes(m))]


def draw_many_bbr(m: Measurements) -> Figure:
    """Draw BBR's buffering delay against the number of flows."""
    counts = m.flow_counts()
    style = style_of("bbr")
    delays = [
        m.alone_mean(Alone("bbr", n, DEEP_BDP), lambda run: run.queue_delay_ms) for n in counts
    ]
    return Figure(
        name="figure-2",
        title="Figure 2: buffering delay of BBR flows",
        x_label="BBR flows",
        y_label="mean queueing delay (ms)",
        curves=(
            Curve(
                style.label, np.array(counts, float), np.array(delays), style.color, style.marker
            ),
            *delay_models(("bbr",), counts, DEEP_BDP),
        ),
        caption=f"100 Mbit/s, {DEEP_BDP:g} BDP.",
        x_ticks=tuple(float(n) for n in counts),
    )


def draw_alone(
    m: Measurements,
    number: str,
    buffer: float,
    metric: tuple[str, str, str, Callable[[AloneMeasured], float]],
) -> Figure:
    """Draw one of C2's metrics against the number of flows."""
    name, label, _, what = metric
    counts = m.flow_counts()
    curves = tuple(
        Curve(
            style_of(cc).label,
            np.array(counts, float),
            np.array([m.alone_mean(Alone(cc, n, buffer), what) for n in counts]),
            style_of(cc).color,
            style_of(cc).marker,
        )
        for cc in ALONE_CCS
    )
    return Figure(
        name=f"figure-{number}-{name}",
        title=f"Figure {number}: {label}, buffer {buffer:g} BDP",
        x_label="flows",
        y_label=label,
        curves=(*curves, *(delay_models(ALONE_CCS, counts, buffer) if name == "delay" else ())),
        caption="100 Mbit/s, flows of one kind. L3DR is a reconstruction.",
        x_ticks=tuple(float(n) for n in counts),
    )


def delay_models(ccs: Sequence[str], counts: Sequence[int], buffer: float) -> list[Curve]:
    """Return what models say of the queueing delay of flows of one kind."""
    curves = [
        overlay(
            MODELS[DELAY_MODELS[cc]],
            [Alone(cc, n, buffer).scenario(1) for n in counts],
            counts,
            lambda prediction: prediction.metric("queue_delay_mean_us") / 1e3,
            style_of(cc).color,
            optional=True,
        )
        for cc in ccs
        if cc in DELAY_MODELS
    ]
    return [curve for curve in curves if curve is not None]


def draw_intervals(m: Measurements) -> Figure:
    """Draw throughput against loss interval: each flow, and the model at the mean RTT."""
    curves = []
    for rtt, color in zip(
        sorted({point.rtt for point in m.intervals}),
        ("#0072b2", "#d55e00", "#009e73"),
        strict=False,
    ):
        flows = sorted(
            (flow for point in m.intervals if point.rtt == rtt for flow in m.interval_flows(point)),
            key=lambda flow: flow.interval_s,
        )
        x = np.array([flow.interval_s for flow in flows])
        y = np.array([flow.rate_pkts_per_s for flow in flows])
        model = np.array([rate_pkts_per_s(flow.interval_s, flow.rtt_s) for flow in flows])
        curves += [
            Curve(f"simulated, {rtt}", x, y, color, "o"),
            Curve(f"model, {rtt}", x, model, color, dashed=True),
        ]
    return Figure(
        name="figure-5",
        title="Figure 5: CUBIC's throughput against its loss interval",
        x_label="time between losses (s)",
        y_label="throughput (packets/s)",
        curves=tuple(curves),
        caption="Each point is a flow. The model takes the flow's interval and its mean RTT. It is "
        "a reconstruction.",
    )


def mixes(m: Measurements) -> list[tuple[int, int]]:
    """Return the mixes that were run."""
    return sorted({point.mix for point in m.mixed})


def buffers(m: Measurements) -> list[float]:
    """Return the buffers that were run against CUBIC."""
    return sorted({point.buffer_bdp for point in m.mixed})


def draw_mixed(m: Measurements, mix: tuple[int, int]) -> Figure:
    """Draw a rival's share over a fair one, against buffer size."""
    x = np.array(buffers(m))
    fair = Curve("fair", x, np.ones(x.size), "#6c6c6c", dashed=True)
    curves = [
        Curve(
            style_of(cc).label,
            x,
            np.array([m.of_fair(Mixed(cc, mix, buffer)) for buffer in buffers(m)]),
            style_of(cc).color,
            style_of(cc).marker,
        )
        for cc in RIVALS
    ]
    rival, cubic = mix
    return Figure(
        name=f"figure-6-{rival}to{cubic}",
        title=f"Figure 6: share of a flow against CUBIC, {rival} to {cubic}",
        x_label="buffer (BDP)",
        y_label="goodput over a fair share",
        curves=(*curves, fair, *share_models(mix, buffers(m))),
        caption="50 Mbit/s, 300 s. BBR-FCA is a reconstruction.",
        x_ticks=tuple(buffers(m)),
    )


def share_models(mix: tuple[int, int], sizes: Sequence[float]) -> list[Curve]:
    """Return what models say of a rival's share over a fair one."""
    curves = [
        overlay(
            MODELS[name],
            [Mixed(cc, mix, buffer).scenario(1) for buffer in sizes],
            sizes,
            lambda prediction: prediction.metric("share", 0) / (mix[0] / sum(mix)),
            style_of(cc).color,
            of=style_of(cc).label,
            optional=True,
        )
        for name, cc in (("ware", "bbr"), ("bbr-fca", "bbr_fca"))
    ]
    return [curve for curve in curves if curve is not None]


def make_tables(m: Measurements) -> list[ResultTable]:
    """Tabulate C2, C3 and C4, and C5's devices."""
    return [
        *(alone_table(m, buffer) for buffer in (10.0, 1.0)),
        interval_table(m),
        *(mixed_table(m, mix) for mix in mixes(m)),
        devices_table(),
    ]


def alone_table(m: Measurements, buffer: float) -> ResultTable:
    """Tabulate all of C2's metrics in one buffer."""
    rows = []
    for n in m.flow_counts():
        cells = [
            " / ".join(form.format(m.alone_mean(Alone(cc, n, buffer), what)) for cc in ALONE_CCS)
            for _, _, form, what in ALONE_METRICS
        ]
        verdicts = [run.verdict for cc in ALONE_CCS for run in m.alone[Alone(cc, n, buffer)]]
        rows.append((str(n), *cells, worst(verdicts)))
    names = " / ".join(style_of(cc).label for cc in ALONE_CCS)
    return ResultTable(
        title=f"Flows of one kind, 100 Mbit/s, {buffer:g} BDP: {names}",
        columns=("flows", *(heading for _, heading, _, _ in ALONE_METRICS), "verdict"),
        rows=tuple(rows),
    )


def interval_table(m: Measurements) -> ResultTable:
    """Tabulate C3: means over the flows of each point."""
    rows = []
    for point in m.intervals:
        flows = m.interval_flows(point)
        if not flows:
            rows.append((point.rtt, str(point.flows), f"{point.buffer_bdp:g}", "–", "–", "–", "–"))
            continue
        seen = float(np.mean([flow.rate_pkts_per_s for flow in flows]))
        model = float(np.mean([rate_pkts_per_s(flow.interval_s, flow.rtt_s) for flow in flows]))
        interval = float(np.mean([flow.interval_s for flow in flows]))
        rows.append(
            (
                point.rtt, str(point.flows), f"{point.buffer_bdp:g}", f"{interval:.2f}",
                f"{seen:.0f}", f"{model:.0f}", f"{model / seen - 1:+.0%}",
            )
        )  # fmt: skip
    return ResultTable(
        title="CUBIC alone, 50 Mbit/s: throughput from the loss interval",
        columns=(
            "base RTT", "flows", "buffer (BDP)", "interval (s)", "simulated (packets/s)",
            "model (packets/s)", "model off by",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def mixed_table(m: Measurements, mix: tuple[int, int]) -> ResultTable:
    """Tabulate C4's shares of one mix."""
    rows = []
    for buffer in buffers(m):
        points = [Mixed(cc, mix, buffer) for cc in RIVALS]
        verdicts = [run.verdict for point in points for run in m.mixed[point]]
        rows.append(
            (
                f"{buffer:g}",
                *(f"{m.of_fair(point):.2f}" for point in points),
                worst(verdicts),
            )
        )
    rival, cubic = mix
    return ResultTable(
        title=f"Goodput over a fair share, {rival} to {cubic} CUBIC",
        columns=("buffer (BDP)", *(style_of(cc).label for cc in RIVALS), "verdict"),
        rows=tuple(rows),
    )

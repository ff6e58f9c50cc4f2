"""The paper's figures 2 to 6, the runs as a table, and what locks the flows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dumbbell.models import MODELS, Prediction
from dumbbell.papers.paper import ResultTable
from dumbbell.papers.saito2022.measurements import Measured, Measurements
from dumbbell.papers.saito2022.points import (
    CAUSE_SPREADS,
    CAUSE_TIME,
    FLOWS,
    PAPER_SPREAD,
    SPREADS,
    VARIANTS,
    Point,
)
from dumbbell.plots import Curve, Figure, buffer_colors, overlay, style_of
from dumbbell.run.series import flow_series, state_labels
from dumbbell.statistics import mean_and_interval
from dumbbell.verdict import worst

__all__ = ["draw_figures", "make_tables"]


def draw_figures(m: Measurements) -> list[Figure]:
    """Draw figures 2 to 6."""
    return [
        against_flows(
            m, "2", "total throughput", "throughput (Mbit/s)", lambda run: run.total_mbps,
            lambda prediction: prediction.metric("goodput_bps", 0) / 1e6,
        ),
        against_flows(
            m, "3", "mean RTT of flow 1", "RTT (ms)", lambda run: run.rtt_mean_ms,
            lambda prediction: prediction.metric("rtt_mean_us", 0) / 1e3,
        ),
        mode_over_time(m),
        over_time(m, "5", "inflight of flow 1", "inflight (packets)", "inflight_pkts", 1.0),
        over_time(m, "6", "RTT of flow 1", "RTT (ms)", "rtt_us", 1e-3),
    ]  # fmt: skip


def against_flows(
    m: Measurements,
    number: str,
    what: str,
    label: str,
    value: Callable[[Measured], float],
    predicted: Callable[[Prediction], float],
) -> Figure:
    """Draw a value against the number of flows, a curve per spread of start times, and a model's.

    The model's is that of Copa's equilibrium: flows that lock in leave it.
    """
    spreads = [spread for spread in SPREADS if Point(FLOWS[0], spread) in m.measured]
    colors = buffer_colors(spreads)
    curves = []
    for spread in spreads:
        seeds = [m.values(Point(n, spread), value) for n in FLOWS]
        several = len(seeds[0]) > 1
        curves.append(
            Curve(
                f"starts within {spread}",
                np.array(FLOWS, dtype=float),
                np.array([np.mean(values) for values in seeds]),
                style_of("copa").color if spread == PAPER_SPREAD else colors[spread],
                "o",
                low=np.array([min(values) for values in seeds]) if several else None,
                high=np.array([max(values) for values in seeds]) if several else None,
                dashed=spread != PAPER_SPREAD,
            )
        )
    model = overlay(
        MODELS["copa"],
        [Point(n, PAPER_SPREAD).scenario(1) for n in FLOWS],
        FLOWS,
        predicted,
        style_of("copa").color,
        of="not locked in",
        optional=True,
    )
    curves += [] if model is None else [model]
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: {what}",
        x_label="Copa flows",
        y_label=label,
        curves=tuple(curves),
        caption="Mean over the seeds; bars: smallest and largest." if len(seeds[0]) > 1 else "",
        x_ticks=tuple(float(n) for n in FLOWS),
    )


def flow_count_colors() -> dict[str, str]:
    """Return a colour per flow count."""
    return buffer_colors([f"{n} flows" for n in FLOWS])


def over_time(
    m: Measurements, number: str, what: str, label: str, column: str, scale: float
) -> Figure:
    """Draw a column of flow 1 over time, a curve per flow count, of the first seed."""
    curves = []
    for name, color in flow_count_colors().items():
        run = m.first[Point(int(name.split()[0]), PAPER_SPREAD)]
        time_s, values = flow_series(run, 0, column)
        known = np.isfinite(values)
        curves.append(Curve(name, time_s[known], values[known] * scale, color))
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: {what}",
        x_label="time (s)",
        y_label=label,
        curves=tuple(curves),
        caption=f"First seed, all flows starting within {PAPER_SPREAD}.",
    )


def mode_over_time(m: Measurements) -> Figure:
    """Draw flow 1's mode: 1 competitive, 0 default, each flow count on a step of its own."""
    curves = []
    for step, (name, color) in enumerate(flow_count_colors().items()):
        run = m.first[Point(int(name.split()[0]), PAPER_SPREAD)]
        state = run.state(0)
        first = np.asarray(state["flow"].to_numpy()) == 0
        time_s = np.asarray(state["time_us"].to_numpy())[first] / 1e6
        competitive = state_labels(run, 0, "mode")[first] == "competitive"
        curves.append(Curve(name, time_s, 1.5 * step + competitive, color))
    return Figure(
        name="figure-4",
        title="Figure 4: Copa's mode in flow 1",
        x_label="time (s)",
        y_label="up: competitive, down: default",
        curves=tuple(curves),
        caption="The flow counts are drawn one above the other. First seed, all flows starting "
        f"within {PAPER_SPREAD}.",
    )


def make_tables(m: Measurements) -> list[ResultTable]:
    """Tabulate the paper's runs, and which cause locks the flows."""
    tables = [runs_table(m, spread) for spread in SPREADS if Point(FLOWS[0], spread) in m.measured]
    if any(point.variant != "as it ran" for point in m.measured):
        tables.append(causes_table(m))
    return tables


def runs_table(m: Measurements, spread: str) -> ResultTable:
    """Tabulate the runs with one spread of start times."""
    rows = []
    for n in FLOWS:
        point = Point(n, spread)
        rows.append(
            (
                str(n),
                mean_and_interval(m.values(point, lambda run: run.total_mbps)),
                mean_and_interval(m.values(point, lambda run: run.rtt_mean_ms)),
                f"{m.mean(point, lambda run: run.competitive_share):.0%}",
                locked(m, point),
                worst([run.verdict for run in m.measured[point]]),
            )
        )
    return ResultTable(
        title=f"Copa flows that start within {spread}",
        columns=(
            "flows", "throughput (Mbit/s)", "mean RTT of flow 1 (ms)", "flow 1 competitive",
            "seeds locked", "verdict",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def causes_table(m: Measurements) -> ResultTable:
    """Tabulate how many seeds lock with each cause switched off."""
    columns = [(n, spread) for n in FLOWS[2:] for spread in CAUSE_SPREADS]
    rows = [
        (variant, *(locked_early(m, Point(n, spread, variant)) for n, spread in columns))
        for variant in VARIANTS
    ]
    return ResultTable(
        title=f"What locks the flows: seeds in competitive mode towards the end of {CAUSE_TIME}",
        columns=("Copa", *(f"{n} flows, {spread}" for n, spread in columns)),
        rows=tuple(rows),
    )


def locked(m: Measurements, point: Point) -> str:
    """Return how many seeds' flows are in competitive mode at the end."""
    values = m.values(point, lambda run: run.is_locked)
    return f"{int(sum(values))} of {len(values)}"


def locked_early(m: Measurements, point: Point) -> str:
    """Return how many seeds' flows are in competitive mode towards the end of the first 60 s."""
    values = m.values(point, lambda run: run.is_locked_early)
    return f"{int(sum(values))} of {len(values)}"

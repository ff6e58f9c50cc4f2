"""Figures 2 to 6."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dumbbell.figures import Curve, Figure, buffer_colors, style_of
from dumbbell.models import MODELS, Prediction
from dumbbell.plots import overlay
from dumbbell_studies.papers.results import Results
from dumbbell_studies.papers.saito2022.measurements import Measured
from dumbbell_studies.papers.saito2022.runs import FLOWS, PAPER_SPREAD, Point, scenario
from dumbbell_studies.papers.saito2022.spreads import DECIDING, drawn_spread, spreads_of, when
from dumbbell_studies.papers.series import flow_series, state_labels

__all__ = ["draw_figures"]


def draw_figures(results: Results[Point, Measured]) -> list[Figure]:
    """Draw figures 2 to 6."""
    return [
        against_flows(
            results, "2", "total throughput", "throughput (Mbit/s)", lambda run: run.total_mbps,
            lambda prediction: prediction.metric("goodput_bps", 0) / 1e6,
        ),
        against_flows(
            results, "3", "mean RTT of flow 1", "RTT (ms)", lambda run: run.rtt_mean_ms,
            lambda prediction: prediction.metric("rtt_mean_us", 0) / 1e3,
        ),
        mode_over_time(results),
        over_time(results, "5", "inflight of flow 1", "inflight (packets)", "inflight_pkts", 1.0),
        over_time(results, "6", "RTT of flow 1", "RTT (ms)", "rtt_us", 1e-3),
    ]  # fmt: skip


def against_flows(
    results: Results[Point, Measured],
    number: str,
    what: str,
    label: str,
    value: Callable[[Measured], float],
    predicted: Callable[[Prediction], float],
) -> Figure:
    """Draw a value against the number of flows, a curve per spread of start times, and a model's.

    The model's is that of Copa's equilibrium: flows that lock in leave it.
    """
    spreads = spreads_of(results)
    colors = buffer_colors(spreads)
    curves = [
        results.curve(
            "copa",
            FLOWS,
            [Point(n, spread) for n in FLOWS],
            value,
            label=f"starts {when(spread)}",
            color="" if spread == drawn_spread(results) else colors[spread],
            dashed=spread not in DECIDING,
        )
        for spread in spreads
    ]
    model = overlay(
        MODELS["copa"],
        [scenario(Point(n, PAPER_SPREAD), 1) for n in FLOWS],
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
        caption=results.bars(*(Point(n, spreads[0]) for n in FLOWS)),
        x_ticks=tuple(float(n) for n in FLOWS),
    )


def flow_count_colors() -> dict[str, str]:
    """Return a colour per flow count."""
    return buffer_colors([f"{n} flows" for n in FLOWS])


def over_time(
    results: Results[Point, Measured], number: str, what: str, label: str, column: str, scale: float
) -> Figure:
    """Draw a column of flow 1 over time, a curve per flow count, of the first seed."""
    curves, spread = [], drawn_spread(results)
    for name, color in flow_count_colors().items():
        run = results.runs[Point(int(name.split()[0]), spread)][0]
        time_s, values = flow_series(run, 0, column)
        known = np.isfinite(values)
        curves.append(Curve(name, time_s[known], values[known] * scale, color))
    return Figure(
        name=f"figure-{number}",
        title=f"Figure {number}: {what}",
        x_label="time (s)",
        y_label=label,
        curves=tuple(curves),
        caption=f"First seed, all flows starting {when(spread)}.",
    )


def mode_over_time(results: Results[Point, Measured]) -> Figure:
    """Draw flow 1's mode: 1 competitive, 0 default, each flow count on a step of its own."""
    curves, spread = [], drawn_spread(results)
    for step, (name, color) in enumerate(flow_count_colors().items()):
        run = results.runs[Point(int(name.split()[0]), spread)][0]
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
        f"{when(spread)}.",
    )

"""Throughput against buffer size, as a figure and as a table."""

from __future__ import annotations

from functools import partial

import numpy as np

from dumbbell.models import MODELS, Prediction
from dumbbell.papers.coexistence.measurements import Measurements
from dumbbell.papers.coexistence.points import Point
from dumbbell.papers.paper import ResultTable
from dumbbell.plots import Curve, Figure, overlay, style_of
from dumbbell.statistics import mean_and_interval
from dumbbell.verdict import worst

__all__ = ["draw_figures", "make_tables"]


def draw_figures(m: Measurements) -> list[Figure]:
    """Draw BBR alone, and BBR, CUBIC and their sum."""
    return [draw(m, with_cubic=False), draw(m, with_cubic=True)]


def draw(m: Measurements, *, with_cubic: bool) -> Figure:
    """Draw throughput against buffer size."""
    x = np.array(m.buffers)
    wanted = [("bbr", style_of("bbr").label, lambda run: run.bbr_mbps)]
    if with_cubic:
        wanted += [
            ("cubic", style_of("cubic").label, lambda run: run.cubic_mbps),
            ("", "sum", lambda run: run.total_mbps),
        ]
    curves = []
    for cc, label, what in wanted:
        seeds = [m.values(Point(with_cubic, buffer), what) for buffer in m.buffers]
        several = len(seeds[0]) > 1
        style = style_of(cc)
        curves.append(
            Curve(
                label,
                x,
                np.array([np.mean(values) for values in seeds]),
                style.color,
                style.marker,
                low=np.array([min(values) for values in seeds]) if several else None,
                high=np.array([max(values) for values in seeds]) if several else None,
                dashed=not cc,
            )
        )
    return Figure(
        name="bbr-and-cubic" if with_cubic else "bbr-alone",
        title="BBR and CUBIC: throughput" if with_cubic else "BBR alone: throughput",
        x_label="buffer (BDP)",
        y_label="throughput (Mbit/s)",
        curves=(*curves, *model_curves(m, with_cubic=with_cubic)),
        caption="Goodput over 120 s, mean of the repetitions; bars: smallest and largest.",
    )


def model_curves(m: Measurements, *, with_cubic: bool) -> list[Curve]:
    """Return what models say of the same flows: Ware et al.'s, and that of BBR alone."""
    scenarios = [Point(with_cubic, buffer).scenario(1) for buffer in m.buffers]
    model = MODELS["ware" if with_cubic else "bbr-many"]
    curves = [
        overlay(
            model, scenarios, m.buffers, partial(goodput_mbps, group), style_of(cc).color,
            of=style_of(cc).label, optional=True,
        )
        for group, cc in enumerate(("bbr", "cubic") if with_cubic else ("bbr",))
    ]  # fmt: skip
    return [curve for curve in curves if curve is not None]


def goodput_mbps(group: int, prediction: Prediction) -> float:
    """Return a group's predicted goodput."""
    return prediction.metric("goodput_bps", group) / 1e6


def make_tables(m: Measurements) -> list[ResultTable]:
    """Tabulate throughput and timeouts against the buffer."""
    rows = []
    for buffer in m.buffers:
        alone, both = (
            Point(with_cubic=with_cubic, buffer_bdp=buffer) for with_cubic in (False, True)
        )
        rows.append(
            (
                f"{buffer:g}",
                mean_and_interval(m.values(alone, lambda run: run.bbr_mbps)),
                mean_and_interval(m.values(both, lambda run: run.bbr_mbps)),
                mean_and_interval(m.values(both, lambda run: run.cubic_mbps)),
                mean_and_interval(m.values(both, lambda run: run.total_mbps)),
                mean_and_interval(m.values(both, lambda run: run.rtos)),
                worst([run.verdict for point in (alone, both) for run in m.measured[point]]),
            )
        )
    return [
        ResultTable(
            title="BBR alone, and against CUBIC: throughput, Mbit/s",
            columns=(
                "buffer (BDP)", "BBR alone", "BBR", "CUBIC", "sum", "RTOs", "verdict",
            ),
            rows=tuple(rows),
        )
    ]  # fmt: skip

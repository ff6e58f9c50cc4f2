"""Cumulative distributions: of RTTs, times in the queue, flow completion times."""

from __future__ import annotations

import numpy as np

from dumbbell.figures.figure import MAX_POINTS, Curve, Figure, FloatArray
from dumbbell.plots.arrange import Series
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.transfer_figures import cumulative, log_marks
from dumbbell.statistics.survival import SurvivalCurve

__all__ = ["draw_cdf", "share_at_most"]

#: A distribution whose largest value is this many times its median has a logarithmic axis.
LOG_RATIO = 16.0
WHAT = {False: "transfers (%)", True: "samples (%)"}


def draw_cdf(request: Request, name: str) -> list[Figure]:
    """Draw the share of the values of each series, of all its runs, that are at most x."""
    quantity = request.quantity(name)
    figures = []
    for at, panel in enumerate(request.panels(name)):
        curves = []
        for series in panel.series:
            x, y = share_at_most(series)
            if x.size:
                curves.append(
                    Curve(series.label, x, y, series.color, dashed=series.dashed, shape="steps")
                )
        single = all(each.values.size == 1 for series in panel.series for each in series.values)
        x_all = np.concatenate([curve.x for curve in curves]) if curves else np.zeros(0)
        positive = x_all[x_all > 0]
        is_wide = positive.size > 0 and positive.max() > LOG_RATIO * np.median(positive)
        figures.append(
            Figure(
                name=f"{name}-cdf" if at == 0 else f"{name}-cdf-{at}",
                title=panel.title,
                x_label=quantity.label,
                y_label="runs (%)" if single else WHAT[quantity.over_time],
                curves=tuple(curves),
                x_ticks=log_marks(x_all) if is_wide and not (x_all <= 0).any() else (),
                y_bound=100.0,
                y_range=(0.0, 100.0),
            )
        )
    return figures


def share_at_most(series: Series, max_points: int = MAX_POINTS) -> tuple[FloatArray, FloatArray]:
    """Return values in order, and the share of a series' values that is at most as large, in %.

    Transfers that the run's end cut off count as longer than they were seen (`SurvivalCurve`).
    """
    values = np.concatenate([each.values for each in series.values])
    ended = np.concatenate(
        [np.ones(v.values.size, bool) if v.ended is None else v.ended for v in series.values]
    )
    known = np.isfinite(values)
    return cumulative(SurvivalCurve(values[known], ended[known]), max_points)

"""Time series as the mean over repetitions, with a band of its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dumbbell.figures.figure import Curve, Figure, FloatArray
from dumbbell.plots.arrange import Panel, Series
from dumbbell.plots.capacity import CAPACITY_COLOR, peaks_above
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.time_grid import TimeGrid
from dumbbell.statistics.format import MIN_INTERVAL
from dumbbell.statistics.mean_interval import interval_within

__all__ = ["capacity_curve", "draw_band", "peaks_caption"]

#: Bins of the time: wide enough for a rate, narrow enough for a start.
BINS = 120
#: What is drawn in front of what the link can carry.
RATES = ("goodput",)
#: The ends of an interval of too few runs.
NOT_KNOWN = (math.nan, math.nan)


def draw_band(request: Request, name: str) -> list[Figure]:
    """Draw a series over time: the mean over the runs of each, and its interval from three on."""
    quantity = request.quantity(name)
    duration_s = max(source.duration_s for source in request.sources)
    figures = []
    panels = request.panels(name)
    every = [each for panel in panels for series in panel.series for each in series.values]
    # A bin without a sample would be a gap in the line.
    bin_s = max([duration_s / BINS, *(each.sample_s for each in every)])
    if name in RATES:
        bin_s = max(bin_s, *(source.base_rtt_s for source in request.sources))
    grid = TimeGrid(duration_s, bin_s, BINS)
    for at, panel in enumerate(panels):
        curves = [] if name not in RATES else capacity_curve(request, panel, duration_s)
        curves += [mean_curve(series, grid) for series in panel.series]
        figures.append(
            Figure(
                name=f"{name}-band" if at == 0 else f"{name}-band-{at}",
                title=panel.title,
                x_label="time (s)",
                y_label=quantity.label,
                caption=peaks_caption(request, curves) if name in RATES else "",
                curves=tuple(curves),
                x_range=(0.0, duration_s),
            )
        )
    return figures


def peaks_caption(request: Request, curves: Sequence[Curve]) -> str:
    """Say why goodput is above what the first result's link can carry; nothing if it is not."""
    capacity = [curve for curve in curves if curve.color == CAPACITY_COLOR]
    drawn = [curve for curve in curves if curve.color != CAPACITY_COLOR]
    return peaks_above(drawn, request.sources[0].link_mbps, capacity)


def mean_curve(series: Series, grid: TimeGrid) -> Curve:
    """Return the mean of a series' runs in each bin, and its interval."""
    rows = np.array([grid.means(*each.over_time) for each in series.values])
    mean, low, high = intervals(rows)
    has_band = bool(np.isfinite(low).any())
    return Curve(
        series.label, grid.middles_s, mean, series.color, dashed=series.dashed,
        low=low if has_band else None, high=high if has_band else None, band=True,
    )  # fmt: skip


def intervals(rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of each column and the ends of its interval; NaN where it has none."""
    found = []
    for column in rows.T:
        known = column[np.isfinite(column)]
        each = interval_within(known)
        has_ends = known.size >= MIN_INTERVAL and each.bounded
        found.append((each.mean, each.low, each.high) if has_ends else (each.mean, *NOT_KNOWN))
    mean, low, high = np.array(found, dtype=np.float64).T
    return mean, low, high


def capacity_curve(request: Request, panel: Panel, duration_s: float) -> list[Curve]:
    """Return what the link of a panel's runs can carry; nothing if that is constant or differs."""
    bins = np.linspace(0.0, duration_s, BINS + 1)
    cells = {(each.source, each.cell) for series in panel.series for each in series.values}
    found = [request.sources[source].capacity_mbps(bins, cell) for source, cell in cells]
    mbps = found[0]
    if mbps is None or any(each is None or not np.array_equal(each, mbps) for each in found):
        return []
    return [Curve("capacity", bins, np.append(mbps, mbps[-1:]), CAPACITY_COLOR, shape="area")]

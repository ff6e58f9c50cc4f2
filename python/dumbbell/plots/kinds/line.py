"""Time series of one run of each result, as lines."""

from __future__ import annotations

from dumbbell.figures.figure import MAX_POINTS, Curve, Figure
from dumbbell.plots.kinds.band import RATES, capacity_curve, peaks_caption
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.run_figures import RATE_POINTS
from dumbbell.plots.time_grid import TimeGrid

__all__ = ["draw_lines"]


def draw_lines(request: Request, name: str) -> list[Figure]:
    """Draw a series of the first run of each cell: rates as means, the rest with every peak."""
    quantity = request.quantity(name)
    duration_s = max(source.duration_s for source in request.sources)
    is_rate = name in RATES
    points = RATE_POINTS if is_rate else MAX_POINTS
    figures = []
    for at, panel in enumerate(request.panels(name)):
        curves = capacity_curve(request, panel, duration_s) if is_rate else []
        for series in panel.series:
            first = series.values[0]
            if first.time_s is None:
                continue
            # A bin without a sample would be a gap in the line.
            rtt_s = request.sources[series.values[0].source].base_rtt_s if is_rate else 0.0
            bin_s = max(duration_s / points, first.sample_s, rtt_s)
            grid = TimeGrid(duration_s, bin_s, points)
            reduce = grid.means if is_rate else grid.extremes
            curves.append(
                Curve(
                    series.label, grid.middles_s if is_rate else grid.time_s,
                    reduce(*first.over_time), series.color, dashed=series.dashed,
                )
            )  # fmt: skip
        figures.append(
            Figure(
                name=name if at == 0 else f"{name}-{at}",
                title=panel.title,
                x_label="time (s)",
                y_label=quantity.label,
                caption=peaks_caption(request, curves) if is_rate else "",
                curves=tuple(curves),
                x_range=(0.0, duration_s),
            )
        )
    return figures

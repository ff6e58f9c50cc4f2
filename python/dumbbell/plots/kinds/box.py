"""Boxes: quartiles of values, and whiskers from their 5th to their 95th percentile."""

from __future__ import annotations

import numpy as np

from dumbbell.figures.figure import Box, Figure
from dumbbell.plots.arrange import Series
from dumbbell.plots.kinds.places import Places
from dumbbell.plots.kinds.request import Request
from dumbbell.statistics.survival import SurvivalCurve

__all__ = ["draw_box"]

PERCENTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def draw_box(request: Request, name: str) -> list[Figure]:
    """Draw a box per series: of the samples, the transfers, or the runs."""
    request = request.beside_algorithms
    panels = request.panels(name, joined=True)
    places = Places(request, panels)
    figures = []
    for at, panel in enumerate(panels):
        boxes = []
        for series in panel.series:
            values = quantiles(series)
            if values is not None:
                label, place = places.of(series)
                boxes.append(
                    Box(label, place, places.look(series)[0], values, places.dashed(series))
                )
        figures.append(
            Figure(
                name=f"{name}-box" if at == 0 else f"{name}-box-{at}",
                title=panel.title,
                x_label=places.x_label,
                y_label=request.quantity(name).label,
                curves=(),
                boxes=tuple(boxes),
                x_names=places.names,
            )
        )
    return figures


def quantiles(series: Series) -> tuple[float, float, float, float, float] | None:
    """Return a series' percentiles; a transfer that was cut off counts as long as it was seen."""
    values = np.concatenate([each.values for each in series.values])
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    ended = np.concatenate(
        [np.ones(v.values.size, bool) if v.ended is None else v.ended for v in series.values]
    )
    curve = SurvivalCurve(known, ended[np.isfinite(values)])
    low, first, median, third, high = (
        float(known.max()) if (value := curve.quantile(q)) is None else value for q in PERCENTILES
    )
    return low, first, median, third, high

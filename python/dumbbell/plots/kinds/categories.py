"""A metric at the places of an axis of names, as bars or as points: never joined by lines."""

from __future__ import annotations

import math

import numpy as np

from dumbbell.figures.figure import Curve, Figure, Shape
from dumbbell.plots.kinds.places import Places
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.result_figures import BOUNDS, drawn_ends, is_drawn
from dumbbell.statistics import Interval, mean_interval

__all__ = ["draw_bars", "draw_points"]


def draw_bars(request: Request, name: str) -> list[Figure]:
    """Draw the means of the runs as bars from 0, with their intervals from three on."""
    return draw(request, name, "bars")


def draw_points(request: Request, name: str) -> list[Figure]:
    """Draw the means of the runs as points, with their intervals from three on."""
    return draw(request, name, "points")


def draw(request: Request, name: str, shape: Shape) -> list[Figure]:
    """Draw the means of the runs of each series."""
    request = request.beside_algorithms
    panels = request.panels(name, joined=True)
    places = Places(request, panels)
    kind = "bar" if shape == "bars" else shape
    figures = []
    for at, panel in enumerate(panels):
        found: dict[tuple[str, str, str, int], dict[float, Interval]] = {}
        for series in panel.series:
            label, place = places.of(series)
            look = (label, *places.look(series), places.dashed(series))
            interval = mean_interval([each.mean for each in series.values])
            found.setdefault(look, {})[place] = interval
        curves = []
        for (label, color, marker, dashed), intervals in found.items():
            y, low, high = np.array([drawn_ends(each, name) for each in intervals.values()]).T
            has_bars = any(is_drawn(each) for each in intervals.values())
            curves.append(
                Curve(
                    label, np.array(list(intervals)), y, color, marker, shape=shape,
                    low=low if has_bars else None, high=high if has_bars else None, dashed=dashed,
                )
            )  # fmt: skip
        figures.append(
            Figure(
                name=f"{name}-{kind}" if at == 0 else f"{name}-{kind}-{at}",
                title=panel.title,
                x_label=places.x_label,
                y_label=request.quantity(name).label,
                curves=tuple(curves),
                x_names=places.names,
                y_bound=BOUNDS.get(name, math.inf),
            )
        )
    return figures

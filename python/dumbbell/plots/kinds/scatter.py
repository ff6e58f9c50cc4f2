"""Delay against throughput, or any metric against another: a point and an ellipse per series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dumbbell.base.errors import ResultError
from dumbbell.figures.figure import Curve, Figure, FloatArray
from dumbbell.figures.style import MARKERS, OWN, PATTERNS, shades
from dumbbell.plots.arrange import Series, axis_of, free
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.result_figures import is_positive
from dumbbell.plots.sweep_layout import is_of_cc
from dumbbell.plots.tidy import Source, Values

__all__ = ["default_pair", "draw_scatter"]

#: What is drawn by default: delay, whose axis falls, so that better is up and to the right.
PAIR = ("queue_delay_mean_us", "goodput_bps")
#: The delay of groups that share a queue, of which that of the queue would be the same.
OWN_DELAY = "rtt_mean_us"
DELAYS = ("delay", "rtt", "sojourn", "fct", "latency", "time")
#: Fewest runs whose spread is drawn, and the points of an ellipse.
MIN_RUNS, ELLIPSE_POINTS = 3, 72
#: Room around what is drawn.
MARGIN = 0.12


def default_pair(sources: Sequence[Source]) -> list[str]:
    """Return what is drawn by default: a delay that each group has, and the goodput."""
    shared = any(source.group_count > 1 for source in sources)
    delays = (OWN_DELAY, PAIR[0]) if shared else (PAIR[0], OWN_DELAY)
    has = [name for name in delays if all(is_known(source, name) for source in sources)]
    return [next(iter(has), PAIR[0]), PAIR[1]]


def is_known(source: Source, name: str) -> bool:
    """Whether a result has a metric, of each of its groups if it is theirs."""
    quantity = source.quantities.get(name)
    if quantity is None or quantity.of_links:
        return quantity is not None
    with_value = {each.group for each in source.values(name) if np.isfinite(each.mean)}
    return len(with_value) == source.group_count


def draw_scatter(request: Request) -> list[Figure]:
    """Draw the second quantity against the first: means of the runs, an ellipse of one sigma.

    An axis of delays falls to the right, as in the figures of Copa and Pantheon.
    """
    if len(request.names) != 2:
        raise ResultError(
            f"a scatter shows two metrics, not {len(request.names)}: use `--metric X --metric Y`, "
            f"like `--metric {PAIR[0]} --metric {PAIR[1]}`"
        )
    x_name, y_name = request.names
    across = {key_of(each): each.mean for each in request.values(x_name)}
    of_run = {key: mean for key, mean in across.items() if key[3] == 0}
    per_run = request.quantity(x_name).of_links
    axis = axis_of(request.sources, request.x)
    by_algorithm = axis is not None and is_of_cc(axis)
    least = [0.0 if is_positive(name) else -np.inf for name in (x_name, y_name)]
    figures = []
    for at, panel in enumerate(request.panels(y_name)):
        series_shown, curves = by_two(panel.series, by_algorithm=by_algorithm)
        for series in series_shown:
            found = of_run if per_run else across
            curves += curves_of(series, [(found.get(key_of(v, per_run=per_run)), v.mean)
                                         for v in series.values], least)  # fmt: skip
        figures.append(
            Figure(
                name=f"{y_name}-over-{x_name}" + (f"-{at}" if at else ""),
                title=panel.title,
                x_label=request.quantity(x_name).label,
                y_label=request.quantity(y_name).label,
                curves=tuple(curves),
                y_from_zero=False,
                x_range=range_of(curves, falls=any(word in x_name for word in DELAYS)),
            )
        )
    if not any(figure.curves for figure in figures):
        raise ResultError(f"no group has both `{x_name}` and `{y_name}`; use other metrics")
    return figures


def by_two(every: Sequence[Series], *, by_algorithm: bool) -> tuple[list[Series], list[Curve]]:
    """Return series with a colour and marker per group and a shade per value, if both are several.

    The legend has an entry for each group and each value, not for each of their pairs. Of an axis
    of algorithms, whose colours these are, each pair has one.
    """
    groups = {series.who: series for series in reversed(every)}
    values = {series.place: series.place_label for series in every}
    if by_algorithm or min(len(groups), len(values)) < 2:
        return list(every), []
    places, whose = list(values), list(dict.fromkeys(series.who for series in every))
    markers: list[str] = []
    for who in whose:
        markers.append(free(groups[who].marker, MARKERS, markers))
    looks = dict(zip(whose, markers, strict=True))
    dashes = {who: at % PATTERNS for at, who in enumerate(whose)}

    def shade(color: str, place: str) -> str:
        # The last one would be too light.
        return shades(color, len(places) + 1)[places.index(place)]

    shown = [
        replace(
            each, label="", color=shade(groups[each.who].color, each.place),
            marker=looks[each.who], dashed=dashes[each.who],
        )
        for each in every
    ]  # fmt: skip
    none = np.array([np.nan])
    names = [Curve(who, none, none, groups[who].color, looks[who], shape="points")
             for who in whose]  # fmt: skip
    names += [
        Curve(label, none, none, shade(OWN.color, place), MARKERS[0], shape="points")
        for place, label in values.items()
    ]
    return shown, names


def key_of(values: Values, *, per_run: bool = False) -> tuple[int, int, int, int]:
    """Return whose values are; of the whole run if `per_run`."""
    return values.source, values.cell, values.seed, 0 if per_run else values.group


def curves_of(
    series: Series, pairs: Sequence[tuple[float | None, float]], least: Sequence[float]
) -> list[Curve]:
    """Return the mean of pairs and the ellipse of their spread, which stays where values can be."""
    points = np.array([(x, y) for x, y in pairs if x is not None], dtype=np.float64)
    points = points[np.isfinite(points).all(axis=1)] if points.size else points
    if not points.size:
        return []
    x, y = points.mean(axis=0)
    curves = [Curve(series.label, np.array([x]), np.array([y]), series.color, series.marker,
                    shape="points")]  # fmt: skip
    if len(points) >= MIN_RUNS:
        x, y = (np.maximum(*each) for each in zip(ellipse(points), least, strict=True))
        curves.append(Curve("", x, y, series.color, dashed=series.dashed, shape="strokes"))
    return curves


def ellipse(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ellipse of one standard deviation around the mean of points."""
    values, vectors = np.linalg.eigh(np.cov(points.T))
    turn = np.linspace(0, 2 * np.pi, ELLIPSE_POINTS)
    radii = np.sqrt(np.maximum(values, 0.0))[:, None] * np.array([np.cos(turn), np.sin(turn)])
    x, y = points.mean(axis=0)[:, None] + vectors @ radii
    return x, y


def range_of(curves: Sequence[Curve], *, falls: bool) -> tuple[float, float] | None:
    """Return the ends of the x axis; the larger one first where it falls."""
    curves = [curve for curve in curves if np.isfinite(curve.x).all()]
    if not curves:
        return None
    x = np.concatenate([curve.x for curve in curves])
    low, high = float(x.min()), float(x.max())
    room = MARGIN * (high - low) or max(abs(high), 1.0) * MARGIN
    low = low - room if low < 0 else max(low - room, 0.0)
    return (high + room, low) if falls else (low, high + room)

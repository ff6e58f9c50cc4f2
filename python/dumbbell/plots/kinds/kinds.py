"""The kinds of figures, and which one suits what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dumbbell.base.errors import ResultError, nearest
from dumbbell.figures.figure import Figure
from dumbbell.plots.arrange import axis_of
from dumbbell.plots.kinds.band import draw_band
from dumbbell.plots.kinds.box import draw_box
from dumbbell.plots.kinds.categories import draw_bars, draw_points
from dumbbell.plots.kinds.cdf import draw_cdf
from dumbbell.plots.kinds.heat import draw_heat
from dumbbell.plots.kinds.line import draw_lines
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.kinds.scatter import draw_scatter

__all__ = ["KINDS", "default_kind", "draw_kind"]


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure.

    Attributes
    ----------
    draw
        Draws a quantity.
    of
        What it draws: a ``metric``, a ``time series``, or ``any``.
    """

    draw: Callable[[Request, str], list[Figure]]
    of: str


#: By name; a scatter has two quantities in one figure and is drawn by itself.
KINDS: Mapping[str, FigureKind] = {
    "line": FigureKind(draw_lines, "time series"),
    "bar": FigureKind(draw_bars, "metric"),
    "points": FigureKind(draw_points, "metric"),
    "cdf": FigureKind(draw_cdf, "any"),
    "box": FigureKind(draw_box, "any"),
    "scatter": FigureKind(lambda request, _: draw_scatter(request), "metric"),
    "heat": FigureKind(draw_heat, "metric"),
    "band": FigureKind(draw_band, "time series"),
}


def default_kind(request: Request, name: str) -> str:
    """Return the kind that suits a quantity of some results.

    Distributions of transfers are a `cdf`; a time series of one run a `line`, of several
    repetitions a `band`; a metric over numbers a `line`, over names or results `points`.
    """
    quantity = request.quantity(name)
    if quantity.over_time:
        return "band" if any(source.is_repeated for source in request.sources) else "line"
    if quantity.of_transfers:
        return "cdf"
    if not all(source.axes for source in request.sources):
        return "points"
    axis = axis_of(request.sources, request.x)
    return "line" if axis is not None and axis.numbers is not None else "points"


def draw_kind(request: Request, kind: str) -> list[tuple[str, list[Figure]]]:
    """Draw every quantity that is asked for; a list of panels each.

    Raises
    ------
    ResultError
        There is no such kind, or it cannot show such a quantity.
    """
    if kind not in KINDS:
        raise ResultError(f"unknown kind `{kind}`{nearest(kind, KINDS)}")
    of = KINDS[kind].of
    for name in request.names:
        quantity = request.quantity(name)
        if of == "time series" and not quantity.over_time:
            raise ResultError(f"--kind {kind}: `{name}` has no values over time; use "
                              f"`--kind {default_kind(request, name)}`")  # fmt: skip
        if of == "metric" and (quantity.over_time or quantity.of_transfers):
            raise ResultError(f"--kind {kind}: `{name}` has many values a run; use a metric, or "
                              "`--kind cdf` or `box`")  # fmt: skip
    if kind == "scatter":
        return [("-".join(request.names), draw_scatter(request))]
    return [(name, KINDS[kind].draw(request, name)) for name in request.names]

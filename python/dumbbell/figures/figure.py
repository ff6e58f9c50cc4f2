"""What a figure shows; matplotlib draws it for print, uPlot in a page.

`static.py` draws a `Figure` into matplotlib's axes, which `paper_figure.py` composes for files,
print and notebooks. `report/chart.py` writes it as JSON that `report/templates/charts.js` draws
with uPlot when it comes near the screen. uPlot draws on a canvas; for export and print,
`svg_context.js` replaces the canvas and writes SVG. uPlot was chosen for its size (51 kB in each
page, against 211 kB of Chart.js and 500 kB of ECharts) and its speed on pages of hundreds of
panels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "MAX_MARKED", "MAX_POINTS", "Box", "Curve", "Figure", "FloatArray", "Grid", "Mark", "Shape",
    "thin",
]  # fmt: skip

FloatArray = npt.NDArray[np.float64]

#: Points of a curve in a report; more would fall on the same pixels.
MAX_POINTS = 600
#: A curve of more points has no markers: they would hide the line and each other.
MAX_MARKED = 48

#: What joins the points of a curve. `line`: straight lines. `steps`: a value holds until the next.
#: `points`: nothing. `bars`: nothing, and each is a bar from 0. `area`: a filled surface in steps,
#: behind the others. `strokes`: many short lines, with NaN between them, of which all are drawn.
Shape: TypeAlias = Literal["line", "steps", "points", "bars", "area", "strokes"]


@dataclass(frozen=True)
class Curve:
    """One line of a figure, or what has an x and a y like one.

    Attributes
    ----------
    label
        Its name in the legend, where curves of one name have one entry; empty for what the axes
        name, which has none.
    x, y
        The points.
    color
        ``#rrggbb``.
    marker
        matplotlib's letter; empty for a plain line.
    low, high
        Ends of the error bars; None without.
    dashed
        How the line is broken, or a bar hatched: 0 for not at all, 1 dashed, 2 dotted, 3 both.
    shape
        What joins its points.
    band
        Whether `low` and `high` are the edges of a band, not of error bars.
    hollow
        Whether the markers are empty, as of the second of two sweeps.
    optional
        Whether a page shows it only when the reader asks for it; a figure for print leaves it out.
    """

    label: str
    x: FloatArray
    y: FloatArray
    color: str
    marker: str = ""
    low: FloatArray | None = None
    high: FloatArray | None = None
    dashed: int = 0
    shape: Shape = "line"
    band: bool = False
    hollow: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Mark:
    """A place on the x axis, drawn as a thin vertical line.

    Attributes
    ----------
    x
        Where.
    label
        What is there: ``nagi: compete``.
    color
        ``#rrggbb``.
    """

    x: float
    label: str
    color: str


@dataclass(frozen=True)
class Box:
    """The distribution of some values: quartiles, and whiskers from the 5th to the 95th percentile.

    Attributes
    ----------
    label
        Its name in the legend.
    x
        Its place.
    color
        ``#rrggbb``.
    values
        5th, 25th, 50th, 75th and 95th percentile.
    dashed
        How it is hatched, as a curve's.
    """

    label: str
    x: float
    color: str
    values: tuple[float, float, float, float, float]
    dashed: int = 0


@dataclass(frozen=True)
class Grid:
    """A value at each crossing of two axes: colours of a heat map.

    Attributes
    ----------
    values
        A row per place of the y axis; NaN where there is none.
    label
        Of the colours, with the unit.
    """

    values: FloatArray
    label: str


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes
    ----------
    name
        File name without suffix: ``figure-2a``.
    title
        What it shows, with the paper's number.
    x_label, y_label
        With units.
    curves
        Its lines.
    caption
        What the reader should know of what was run and how it was measured.
    x_ticks
        Values to mark on a doubling x axis; empty for a linear axis.
    x_values
        Values to mark on a linear axis; empty lets the axis choose.
    x_names
        Names of the places 0, 1, … of an x axis without numbers.
    x_range
        Ends of the x axis, the left one first; None takes those of the curves.
    y_range
        Ends of the y axis; None takes those of what is drawn.
    y_names
        Names of the values 0, 1, … of a y axis without numbers: a congestion control algorithm's
        modes.
    y_from_zero
        Whether the y axis begins at 0.
    y_bound
        The largest possible value; an interval does not stretch the y axis beyond it.
    marks
        Places on the x axis, in its order.
    boxes
        Distributions at places of the x axis.
    grid
        Colours at the crossings of `x_names` and `y_names`.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    caption: str = ""
    x_ticks: tuple[float, ...] = ()
    x_values: tuple[float, ...] = ()
    x_names: tuple[str, ...] = ()
    x_range: tuple[float, float] | None = None
    y_names: tuple[str, ...] = ()
    y_from_zero: bool = True
    y_bound: float = math.inf
    marks: tuple[Mark, ...] = ()
    y_range: tuple[float, float] | None = None
    boxes: tuple[Box, ...] = ()
    grid: Grid | None = None


def thin(
    x: FloatArray, y: FloatArray, max_points: int = MAX_POINTS
) -> tuple[FloatArray, FloatArray]:
    """Leave out points that a plot would not show, and never a peak.

    The points are cut into equal runs and each keeps its smallest and largest value, in order.
    """
    if x.size <= max_points:
        return x, y
    runs = np.array_split(np.arange(x.size), max_points // 2)
    keep = [sorted({int(run[np.argmin(y[run])]), int(run[np.argmax(y[run])])}) for run in runs]
    index = np.concatenate([np.asarray(pair) for pair in keep])
    return x[index], y[index]

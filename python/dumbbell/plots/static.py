"""Figures for papers, drawn by matplotlib: PNG and SVG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.plots.figure import MAX_MARKED, Curve, Figure, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SETTINGS", "draw", "save"]

#: Height of an axis over its highest value, so that a flat curve is not the frame's.
ROOM = 1.05
#: One column of a two-column paper and a half, in inches: labels stay readable when it is scaled.
SIZE_INCHES = (5.0, 3.2)
PNG_DPI = 200
#: Its last two make the same bytes of the same figure: ids do not depend on the process.
SETTINGS: Any = {
    "font.size": 9, "axes.grid": True, "grid.alpha": 0.3,
    "svg.hashsalt": "dumbbell", "svg.fonttype": "none",
}  # fmt: skip


def save(figure: Figure, directory: Path) -> tuple[Path, Path]:
    """Draw a figure into ``<name>.png`` and ``<name>.svg``.

    Parameters
    ----------
    figure
        What to draw.
    directory
        Where; made if it is not there.

    Returns
    -------
    tuple of Path
        The PNG and the SVG.
    """
    import matplotlib as mpl  # takes longer to load than a short run
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    directory.mkdir(parents=True, exist_ok=True)
    png, svg = directory / f"{figure.name}.png", directory / f"{figure.name}.svg"
    with mpl.rc_context(SETTINGS):
        # Not pyplot, whose figures live in a global list that threads would share.
        canvas = Canvas(figsize=SIZE_INCHES, layout="constrained")
        FigureCanvasAgg(canvas)
        draw(canvas.add_subplot(), figure)
        canvas.savefig(png, dpi=PNG_DPI, metadata={"Software": None})
        canvas.savefig(svg, metadata={"Date": None})
    return png, svg


def draw(axes: Axes, figure: Figure, *, with_legend: bool = True) -> None:
    """Draw a figure into axes; curves that a reader has to ask for are left out."""
    from matplotlib.ticker import FixedLocator, NullLocator

    curves = [curve for curve in figure.curves if not curve.optional]
    for curve in curves:
        draw_curve(axes, curve)
    axes.set_title(figure.title, fontsize="medium")
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    if figure.y_from_zero:
        begin_at_zero(axes)
    if figure.x_ticks:
        axes.set_xscale("log", base=2)
        labels = [f"{tick:g}" for tick in figure.x_ticks]
        axes.xaxis.set_major_locator(FixedLocator(list(figure.x_ticks)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(list(figure.x_ticks), labels)
    if figure.x_values:
        axes.set_xticks(list(figure.x_values), [f"{value:g}" for value in figure.x_values])
    if figure.x_names:
        axes.set_xticks(range(len(figure.x_names)), figure.x_names)
    if with_legend:
        columns = 2 if len(curves) > 4 else 1
        # Where no place is free, what lies behind shows through.
        axes.legend(fontsize=7, ncols=columns, loc="best", framealpha=0.6)


def begin_at_zero(axes: Axes) -> None:
    """Begin the y axis at 0, or below where an error bar ends there."""
    low, high = axes.dataLim.y0, axes.dataLim.y1
    if low >= 0:
        axes.set_ylim(0, ROOM * high if 0 < high < np.inf else None)


def draw_curve(axes: Axes, curve: Curve) -> None:
    """Draw one line, with error bars if it has them."""
    width = 1.4 if curve.marker else 0.8
    marker = curve.marker if curve.points or curve.x.size <= MAX_MARKED else None
    if curve.low is None or curve.high is None:
        x, y = (curve.x, curve.y) if curve.strokes else thin(curve.x, curve.y)
        axes.plot(
            x, y, label=curve.label, color=curve.color, marker=marker or None, lw=width, ms=4,
            ls=line_style(curve), mfc=face(curve),
        )  # fmt: skip
        return
    bars = np.vstack([curve.y - curve.low, curve.high - curve.y])
    axes.errorbar(
        curve.x, curve.y, yerr=bars, label=curve.label, color=curve.color, marker=marker or None,
        lw=width, ms=4, capsize=2, ls=line_style(curve), mfc=face(curve), elinewidth=0.8,
    )  # fmt: skip


def line_style(curve: Curve) -> str:
    """Return matplotlib's word for a curve's line."""
    if curve.points:
        return ""
    return "--" if curve.dashed else ":" if curve.hollow else "-"


def face(curve: Curve) -> str:
    """Return the colour inside a curve's markers."""
    return "none" if curve.hollow else curve.color

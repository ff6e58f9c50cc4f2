"""A figure drawn into matplotlib's axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dumbbell.figures.figure import MAX_MARKED, Curve, Figure, Mark, thin
from dumbbell.figures.y_range import Range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["SETTINGS", "Handles", "draw", "draw_legend", "with_margin"]

#: Room of a y axis beyond what is drawn, so that a flat curve does not lie on the frame.
MARGIN = 0.05
#: As many marks have their names next to them.
MAX_NAMED_MARKS = 8
#: The last two make the same figure the same bytes: ids do not depend on the process.
SETTINGS: Any = {
    "font.size": 9, "axes.grid": True, "grid.alpha": 0.3,
    "svg.hashsalt": "dumbbell", "svg.fonttype": "none",
}  # fmt: skip

#: What stands for each curve in a legend, by its name: an artist, or one with its error bars.
Handles: TypeAlias = dict[str, Any]


def draw(axes: Axes, figure: Figure, extent: Range) -> Handles:
    """Draw a figure into axes, without its optional curves.

    Parameters
    ----------
    axes
        Where.
    figure
        What to draw.
    extent
        Range of the y axis; see `with_margin`.

    Returns
    -------
    Handles
        What stands for each curve in a legend.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    handles = {
        curve.label: draw_curve(axes, curve) for curve in figure.curves if not curve.optional
    }
    draw_marks(axes, figure.marks)
    axes.set_title(figure.title, fontsize="medium")
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.set_ylim(*with_margin(*extent))
    if figure.x_range:
        axes.set_xlim(*figure.x_range)
    if figure.y_names:
        axes.set_ylim(-0.3, len(figure.y_names) - 0.7)
        axes.set_yticks(range(len(figure.y_names)), figure.y_names)
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
    return handles


def draw_marks(axes: Axes, marks: Sequence[Mark]) -> None:
    """Draw a vertical line for each mark, with its name if they are few."""
    for mark in marks:
        axes.axvline(mark.x, color=mark.color, lw=0.6, ls=":", alpha=0.7)
        if len(marks) <= MAX_NAMED_MARKS:
            axes.annotate(
                mark.label, (mark.x, 1), xycoords=("data", "axes fraction"), rotation=90,
                va="top", ha="right", fontsize="xx-small", color=mark.color,
            )  # fmt: skip


def with_margin(low: float, high: float) -> Range:
    """Return the ends of a y axis: what it shows and some room, but none below 0."""
    room = MARGIN * (high - low)
    return (low if low == 0 else low - room), high + room


def draw_legend(place: Axes | Canvas, handles: Handles, **how: Any) -> None:
    """Name curves by what stands for them, those that have a name.

    matplotlib alone would leave out labels that begin with ``_``, as a file's name may.
    """
    named = {label: handle for label, handle in handles.items() if label}
    place.legend(list(named.values()), list(named), **how)


def draw_curve(axes: Axes, curve: Curve) -> Any:
    """Draw one line, with error bars if it has them; return what stands for it in a legend."""
    width = 1.4 if curve.marker else 0.8
    marker = curve.marker if curve.points or curve.x.size <= MAX_MARKED else None
    if curve.low is None or curve.high is None:
        x, y = (curve.x, curve.y) if curve.strokes else thin(curve.x, curve.y)
        (line,) = axes.plot(
            x, y, color=curve.color, marker=marker or None, lw=width, ms=4, ls=line_style(curve),
            mfc=face(curve),
        )  # fmt: skip
        return line
    # The mean of equal values may lie a rounding error outside them; no bar is shorter than 0.
    bars = np.maximum(np.vstack([curve.y - curve.low, curve.high - curve.y]), 0.0)
    return axes.errorbar(
        curve.x, curve.y, yerr=bars, color=curve.color, marker=marker or None, lw=width, ms=4,
        capsize=2, ls=line_style(curve), mfc=face(curve), elinewidth=0.8,
    )  # fmt: skip


def line_style(curve: Curve) -> str:
    """Return matplotlib's word for a curve's line."""
    if curve.points:
        return ""
    return "--" if curve.dashed else ":" if curve.hollow else "-"


def face(curve: Curve) -> str:
    """Return the colour inside a curve's markers."""
    return "none" if curve.hollow else curve.color

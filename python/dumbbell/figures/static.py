"""A figure drawn into matplotlib's axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dumbbell.figures.figure import MAX_MARKED, Box, Curve, Figure, FloatArray, Grid, Mark, thin
from dumbbell.figures.y_range import Range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["SETTINGS", "Handles", "draw", "draw_legend", "with_margin"]

#: Room of a y axis beyond what is drawn, so that a flat curve does not lie on the frame.
MARGIN = 0.05
#: As many marks have their names next to them.
MAX_NAMED_MARKS = 8
#: Marks that are closer than this part of the x axis have their names in one line.
MARKS_APART = 0.04
#: The last two make the same figure the same bytes: ids do not depend on the process.
SETTINGS: Any = {
    "font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "hatch.linewidth": 0.5,
    "svg.hashsalt": "dumbbell", "svg.fonttype": "none",
}  # fmt: skip
#: Lines and hatches by `Curve.dashed`: they differ on grey paper too.
DASHES: tuple[Any, ...] = ("-", "--", ":", (0, (6, 2, 1.5, 2)))
HATCHES = ("", "////", "....", "xxxx")
#: Width of the bars of one place of an axis of names, and how far apart points there are.
BARS_WIDTH, POINTS_APART = 0.8, 0.09
#: How far apart the intervals of curves are that stand at one place of an axis of numbers.
BARS_APART_PT = 2.0
#: Colours of a heat map: readable in grey, and by colour-blind readers.
COLOR_MAP = "viridis"
#: Cells of a heat map up to which each has its number.
MAX_NUMBERS = 80

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
    curves = [curve for curve in figure.curves if not curve.optional]
    handles: Handles = {}
    barred = [] if figure.x_names else [c for c in curves if c.low is not None and not c.band]
    for curve, (aside, width) in zip(curves, places_beside(curves, figure), strict=True):
        at = barred.index(curve) - (len(barred) - 1) / 2 if curve in barred else 0.0
        handle = draw_curve(axes, curve, aside, width, moved_pt=at * BARS_APART_PT)
        handles.setdefault(curve.label, handle)
    for box, (aside, width) in zip(figure.boxes, boxes_beside(figure.boxes), strict=True):
        handles.setdefault(box.label, draw_box(axes, box, aside, width))
    axes.set_title(figure.title, fontsize="medium")
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    if figure.grid is not None:
        draw_grid(axes, figure, figure.grid)
        return handles
    axes.set_ylim(*(figure.y_range or with_margin(*extent)))
    draw_ticks(axes, figure)
    draw_marks(axes, figure.marks)
    return handles


def draw_ticks(axes: Axes, figure: Figure) -> None:
    """Mark the axes as a figure says."""
    from matplotlib.ticker import FixedLocator, NullLocator

    if figure.y_names:
        axes.set_ylim(-0.3, len(figure.y_names) - 0.7)
        axes.set_yticks(range(len(figure.y_names)), figure.y_names)
    if figure.x_ticks:
        axes.set_xscale("log")
        labels = [f"{tick:g}" for tick in figure.x_ticks]
        axes.xaxis.set_major_locator(FixedLocator(list(figure.x_ticks)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(list(figure.x_ticks), labels)
    if figure.x_values:
        axes.set_xticks(list(figure.x_values), [f"{value:g}" for value in figure.x_values])
    if figure.x_names:
        axes.set_xticks(range(len(figure.x_names)), figure.x_names)
        axes.set_xlim(-0.5, len(figure.x_names) - 0.5)
        axes.grid(visible=False, axis="x")
    if figure.x_range:
        axes.set_xlim(*figure.x_range)


def places_beside(curves: Sequence[Curve], figure: Figure) -> list[tuple[float, float]]:
    """Return how far each curve is moved along x, and how wide its bars are.

    At an axis of names, points and bars of one place stand beside one another.
    """
    beside = [curve for curve in curves if figure.x_names and curve.shape in ("points", "bars")]
    slots = slots_of([(c.label, c.x[np.isfinite(c.y)].tolist()) for c in beside])
    count = max(slots.values(), default=0) + 1
    found = []
    for curve in curves:
        if curve not in beside:
            found.append((0.0, 0.0))
            continue
        at = slots[curve.label] - (count - 1) / 2
        if curve.shape == "bars":
            found.append((at * BARS_WIDTH / count, BARS_WIDTH / count))
        else:
            found.append((at * min(POINTS_APART, 0.7 / count), 0.0))
    return found


def boxes_beside(boxes: Sequence[Box]) -> list[tuple[float, float]]:
    """Return how far each box is moved along x, and its width."""
    slots = slots_of([(box.label, [box.x]) for box in boxes])
    count = max(slots.values(), default=0) + 1
    step = BARS_WIDTH / count
    return [((slots[box.label] - (count - 1) / 2) * step, 0.8 * step) for box in boxes]


def slots_of(places: Sequence[tuple[str, Sequence[float]]]) -> dict[str, int]:
    """Return which of the slots of a place each label has: labels that share none may be in one.

    Parameters
    ----------
    places
        Labels and where they have values; a label may be there several times.
    """
    found: dict[str, set[float]] = {}
    for label, values in places:
        found.setdefault(label, set()).update(values)
    slots: dict[str, int] = {}
    for label, mine in found.items():
        taken = {slots[other] for other in slots if mine & found[other]}
        slots[label] = next(slot for slot in range(len(found)) if slot not in taken)
    return slots


def draw_marks(axes: Axes, marks: Sequence[Mark]) -> None:
    """Draw a vertical line for each mark, with its name if they are few."""
    for mark in marks:
        axes.axvline(mark.x, color=mark.color, lw=0.6, ls=":", alpha=0.7)
    if len(marks) > MAX_NAMED_MARKS:
        return
    left, right = axes.get_xlim()
    for together in close_marks(marks, MARKS_APART * abs(right - left)):
        mark, *others = together
        whose = mark.label.rpartition(": ")[0]
        names = [mark.label, *(other.label.removeprefix(f"{whose}: ") for other in others)]
        axes.annotate(
            ", ".join(names), (mark.x, 1), xycoords=("data", "axes fraction"), rotation=90,
            va="top", ha="right", fontsize="xx-small", color=mark.color,
        )  # fmt: skip


def close_marks(marks: Sequence[Mark], apart: float) -> list[list[Mark]]:
    """Return marks in groups whose names would lie on one another."""
    found: list[list[Mark]] = []
    for mark in marks:
        if found and mark.x - found[-1][0].x < apart:
            found[-1].append(mark)
        else:
            found.append([mark])
    return found


def with_margin(low: float, high: float) -> Range:
    """Return the ends of a y axis: what it shows and some room, but none below 0."""
    room = MARGIN * (high - low)
    return (low if low == 0 else low - room), high + room


def draw_legend(place: Axes | Canvas, handles: Handles, **how: Any) -> Any:
    """Name curves by what stands for them, those that have a name.

    matplotlib alone would leave out labels that begin with ``_``, as a file's name may.
    """
    named = {label: handle for label, handle in handles.items() if label}
    return place.legend(list(named.values()), list(named), **how)


def draw_curve(
    axes: Axes, curve: Curve, aside: float = 0.0, width: float = 0.0, moved_pt: float = 0.0
) -> Any:
    """Draw one line, with error bars if it has them; return what stands for it in a legend.

    Its points are moved along x in the data's unit or, those with error bars, on the paper.
    """
    x = curve.x + aside
    if curve.shape == "bars":
        return draw_bars(axes, curve, x, width)
    if curve.shape == "area":
        return axes.fill_between(x, curve.y, step="post", color=curve.color, lw=0, zorder=0.5)
    thickness = 1.4 if curve.marker or curve.dashed > 1 else 0.8
    if curve.band or curve.shape == "steps":
        thickness = 1.2
    marker = curve.marker if curve.shape == "points" or x.size <= MAX_MARKED else ""
    look: dict[str, Any] = {
        "color": curve.color, "marker": marker or None, "lw": thickness,
        "ms": 6 if x.size == 1 and curve.low is None else 4,
        "ls": line_style(curve), "mfc": face(curve),
    }  # fmt: skip
    if curve.low is None or curve.high is None or curve.band:
        is_thinned = curve.shape in ("line", "points") and not curve.band
        shown_x, y = thin(x, curve.y) if is_thinned else (x, curve.y)
        style = "steps-post" if curve.shape == "steps" else "default"
        (line,) = axes.plot(shown_x, y, drawstyle=style, **look)
        alone = lone(y) if curve.shape == "line" and not look["marker"] else np.zeros(0, dtype=bool)
        if alone.any():  # a line of one point is not seen
            axes.plot(shown_x[alone], y[alone], ls="", marker="o", ms=2, color=curve.color)
        if curve.band and curve.low is not None and curve.high is not None:
            axes.fill_between(x, curve.low, curve.high, color=curve.color, alpha=0.22, lw=0)
        return line
    drawn = axes.errorbar(x, curve.y, yerr=bars_of(curve), capsize=2, elinewidth=0.8, **look)
    if moved_pt:  # after the axes have taken their ends from it
        from matplotlib.transforms import ScaledTranslation

        scale = axes.get_figure(root=True).dpi_scale_trans  # type: ignore[union-attr]
        moved = axes.transData + ScaledTranslation(moved_pt / 72, 0, scale)
        for part in drawn.get_children():
            part.set_transform(moved)
    return drawn


def lone(y: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which values no line joins with another."""
    known = np.pad(np.isfinite(y), 1)
    found: npt.NDArray[np.bool_] = known[1:-1] & ~known[:-2] & ~known[2:]
    return found


def bars_of(curve: Curve) -> FloatArray | None:
    """Return how far a curve's intervals reach below and above it."""
    if curve.low is None or curve.high is None:
        return None
    # The mean of equal values may lie a rounding error outside them; no bar is shorter than 0.
    return np.maximum(np.vstack([curve.y - curve.low, curve.high - curve.y]), 0.0)


def draw_bars(axes: Axes, curve: Curve, x: FloatArray, width: float) -> Any:
    """Draw bars from 0, with their intervals, which are to be seen on black ones too."""
    drawn = axes.bar(
        x, curve.y, width or BARS_WIDTH, yerr=bars_of(curve), color=curve.color,
        hatch=HATCHES[curve.dashed], edgecolor="white" if not curve.hollow else "black",
        lw=0.4, error_kw={"elinewidth": 0.8, "capsize": 2, "ecolor": "black"}, zorder=2,
    )  # fmt: skip
    if drawn.errorbar is not None:
        from matplotlib.patheffects import withStroke

        for part in drawn.errorbar.get_children():
            part.set_path_effects([withStroke(linewidth=2.0, foreground="white")])
    return drawn


def draw_box(axes: Axes, box: Box, aside: float, width: float) -> Any:
    """Draw a box with its median and whiskers."""
    low, first, median, third, high = box.values
    words = {
        "whislo": low, "q1": first, "med": median, "q3": third, "whishi": high, "fliers": [],
    }  # fmt: skip
    from matplotlib.patheffects import withStroke

    on_dark = is_dark(box.color)
    # The edge keeps a box seen that is lower than its median's line.
    edge = [withStroke(linewidth=2.4, foreground=box.color)] if on_dark else []
    drawn = axes.bxp(
        [words], [box.x + aside], widths=width, showfliers=False, patch_artist=True,
        manage_ticks=False,
        medianprops={
            "color": "white" if on_dark else "black", "lw": 0.8 if on_dark else 1.2,
            "path_effects": edge,
        },
        boxprops={"facecolor": box.color, "hatch": HATCHES[box.dashed], "lw": 0.6},
        whiskerprops={"lw": 0.8}, capprops={"lw": 0.8},
    )  # fmt: skip
    return drawn["boxes"][0]


def is_dark(color: str) -> bool:
    """Whether black is hard to see on a colour: its luminance by ITU-R BT.709 is below a fifth."""
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.2


def draw_grid(axes: Axes, figure: Figure, grid: Grid) -> None:
    """Draw a heat map with its scale; numbers in the cells if these are few."""
    known = grid.values[np.isfinite(grid.values)]
    low, high = figure.y_range or ((known.min(), known.max()) if known.size else (0.0, 1.0))
    image = axes.imshow(
        grid.values, origin="lower", aspect="auto", cmap=COLOR_MAP, vmin=low, vmax=high
    )
    axes.grid(visible=False)
    axes.set_xticks(range(len(figure.x_names)), figure.x_names)
    axes.set_yticks(range(len(figure.y_names)), figure.y_names)
    bar = axes.get_figure(root=True).colorbar(image, ax=axes, label=grid.label)  # type: ignore[union-attr]
    bar.ax.grid(visible=False)
    if grid.values.size > MAX_NUMBERS:
        return
    largest = float(np.abs(known).max()) if known.size else 0.0
    decimals = max(0, 2 - math.floor(math.log10(largest))) if largest > 0 else 0
    for (row, column), value in np.ndenumerate(grid.values):
        if np.isfinite(value):
            # Viridis is dark at its lower end.
            color = "white" if value < (low + high) / 2 else "black"
            axes.text(column, row, f"{value:.{decimals}f}", ha="center", va="center", color=color,
                      fontsize="x-small")  # fmt: skip


def line_style(curve: Curve) -> Any:
    """Return matplotlib's word for a curve's line."""
    if curve.shape == "points":
        return ""
    return DASHES[curve.dashed] if curve.dashed else ":" if curve.hollow else "-"


def face(curve: Curve) -> str:
    """Return the colour inside a curve's markers."""
    return "none" if curve.hollow else curve.color

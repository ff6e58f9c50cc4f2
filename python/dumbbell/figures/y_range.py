"""The y axes of figures side by side: one range for all where it shows each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.figures.figure import Figure, FloatArray

__all__ = ["Range", "y_range", "y_ranges"]

#: Figures get ranges of their own when the highest is more than this many times as high as the
#: lowest, whose curves would look flat.
MAX_RATIO = 8.0
#: How far intervals that may be cut can extend the curves' range, as a part of it.
MAX_BARS = 0.5

Range = tuple[float, float]


def y_ranges(figures: Sequence[Figure], *, whole_bars: bool) -> list[Range]:
    """Return a range for each of several figures of one quantity; empty ones get the others'.

    Parameters
    ----------
    figures
        Side by side.
    whole_bars
        Whether every interval is shown to its end. Otherwise they are cut where they would make
        the curves small, and below 0 where no curve is.
    """
    shown = [parts for parts in map(drawn, figures) if any(np.isfinite(y).any() for y in parts)]
    tops = [ends(parts)[1] for parts in shown]
    if min(tops, default=0.0) * MAX_RATIO < max(tops, default=0.0):
        return [y_range([figure], whole_bars=whole_bars) for figure in figures]
    return [y_range(figures, whole_bars=whole_bars)] * len(figures)


def y_range(figures: Sequence[Figure], *, whole_bars: bool) -> Range:
    """Return the common range of figures."""
    low, top = ends([part for figure in figures for part in drawn(figure)])
    high = top
    if all(figure.y_from_zero for figure in figures):
        low = min(low, 0.0)
    bars = [
        part
        for figure in figures
        for curve in figure.curves
        for part in (curve.low, curve.high)
        if part is not None
    ]
    least, most = ends(bars) if bars else (low, high)
    if not whole_bars:
        room = MAX_BARS * (high - low)
        least, most = max(least, low - room if low < 0 else low), min(most, high + room)
    low, high = min(low, least), max(high, most)
    bound = min((figure.y_bound for figure in figures), default=high)
    high = max(min(high, bound), top, low)
    return (low, high) if high > low else (low, low + 1.0)


def drawn(figure: Figure) -> list[FloatArray]:
    """Return the values of a figure's curves and boxes, without its optional ones."""
    curves = [curve.y for curve in figure.curves if not curve.optional]
    return [*curves, *(np.array(box.values) for box in figure.boxes)]


def ends(parts: Sequence[FloatArray]) -> Range:
    """Return the smallest and largest of values; 0 and 1 when there are none."""
    values = np.concatenate([*parts, np.zeros(0)])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)

"""A figure as the page's script draws it (`templates/charts.js`)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from dumbbell.figures.figure import Curve, Figure, FloatArray, thin
from dumbbell.figures.static import with_margin
from dumbbell.figures.y_range import Range, y_ranges
from dumbbell.metrics.metric import AT
from dumbbell.report.language import page_text

__all__ = ["chart", "rounded", "script_json"]

#: A value has this many significant digits or more, and resolves its curve's range into 10^-DIGITS.
DIGITS = 4
MOST_PLACES = 15
TIME_AXIS = "time (s)"


def chart(
    figure: Figure, *, extent: Range | None = None, cells: Sequence[int] = (), zooms: bool = False
) -> dict[str, Any]:
    """Return a figure for the script.

    Parameters
    ----------
    figure
        What to draw.
    extent
        Range of the y axis; None takes the one that shows every interval.
    cells
        Of a sweep, in the order of the first curve's points: a click picks one.
    zooms
        Whether the y axis follows the part of the x axis that the reader selects; not beside
        another figure, with which it has an `extent` in common.
    """
    shared = figure.curves[0].x if figure.curves else np.zeros(0)
    low, high = extent or y_ranges([figure], whole_bars=True)[0]
    found = {
        "name": figure.name,
        "title": page_text(figure.title),
        "x_label": "" if figure.x_label == TIME_AXIS else page_text(figure.x_label),
        "x_unit": "s" if figure.x_label == TIME_AXIS else "",
        "y_label": page_text(without_link(figure)),
        "x": rounded(shared) if same_x(figure, shared) else [],
        "x_range": figure.x_range,
        "ticks": figure.x_ticks,
        "values": figure.x_values,
        "names": figure.x_names,
        "y_names": figure.y_names,
        "marks": [[float(f"{mark.x:.7g}"), mark.label, mark.color] for mark in figure.marks],
        "range": None if zooms and extent is None else with_margin(low, high),
        "cells": list(cells),
        "curves": [curve_of(curve, has_x=not same_x(figure, shared)) for curve in figure.curves],
    }
    return {key: value for key, value in found.items() if value not in (None, "", (), [])}


def same_x(figure: Figure, shared: FloatArray) -> bool:
    """Whether all curves have their points at the same places, few enough to draw all."""
    return all(
        np.array_equal(curve.x, shared)
        and curve.shape != "strokes"
        and thin(curve.x, curve.y)[0] is curve.x
        for curve in figure.curves
    )


def curve_of(curve: Curve, *, has_x: bool) -> dict[str, Any]:
    """Return a curve for the script, without what is as usual."""
    x, y = curve.x, curve.y
    if has_x and curve.shape != "strokes":
        x, y = thin(x, y)
    found: dict[str, Any] = {
        "label": page_text(curve.label), "color": curve.color, "marker": curve.marker,
        "y": rounded(y), "dashed": int(curve.dashed),
        "shape": "" if curve.shape == "line" else curve.shape,
        "hollow": curve.hollow, "off": curve.optional,
    }  # fmt: skip
    if has_x:
        found["x"] = rounded(x)
    if curve.low is not None and curve.high is not None:
        found["low"], found["high"] = rounded(curve.low), rounded(curve.high)
        found["band"] = curve.band
    return {key: value for key, value in found.items() if value not in ("", 0)}


def rounded(values: FloatArray) -> list[Any]:
    """Return values for JSON: few digits, None for NaN, whole numbers without a point."""
    is_known = np.isfinite(values)
    known = values[is_known]
    span = float(np.ptp(known)) if known.size else 0.0
    least = DIGITS - math.floor(math.log10(span)) if span > 0 else -MOST_PLACES
    size = np.abs(known)
    own = DIGITS - 1 - np.floor(np.log10(np.where(size > 0, size, 1.0)))
    places = np.clip(np.maximum(own, least), -MOST_PLACES, MOST_PLACES)
    # A power of ten is exact in this direction only, and what it divides has a short decimal.
    up, down = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
    near = np.rint(known * up / down) / up * down
    out: list[Any] = [None] * values.size
    for at, value in zip(np.flatnonzero(is_known).tolist(), near.tolist(), strict=True):
        out[at] = int(value) if value.is_integer() else value
    return out


def script_json(document: Any) -> Markup:
    """Return JSON that is safe inside a script element: it cannot close the element."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704


def without_link(figure: Figure) -> str:
    """Return the label of the y axis without the link, which a page has in the heading."""
    link = figure.name.partition(AT)[2]
    return figure.y_label.replace(f" at {link}", "") if link else figure.y_label

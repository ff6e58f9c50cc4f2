"""Figures for the browser: the JSON that plotly.js draws, light or dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import plotly
from plotly import graph_objects as go

from dumbbell.plots.figure import Curve, Figure, FloatArray, thin

__all__ = ["plotly_js", "to_plotly_json"]

MARKERS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down",
    "P": "cross", "X": "x", "p": "pentagon", "*": "star",
}  # fmt: skip
#: Significant digits of a value in the page: finer than a pixel, and half the bytes.
DIGITS = 5


def plotly_js() -> str:
    """Return plotly's script, to be put into a page once."""
    path = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    return path.read_text(encoding="utf-8")


def to_plotly_json(figure: Figure) -> str:
    """Return a figure as plotly's JSON; colours of text and grid are the page's business."""
    canvas = go.Figure()
    for curve in figure.curves:
        canvas.add_trace(trace(curve))
    canvas.update_layout(
        template="none",
        margin={"l": 56, "r": 12, "t": 8, "b": 48},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="x unified" if figure.x_ticks else "closest",
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    canvas.update_xaxes(title=figure.x_label)
    canvas.update_yaxes(
        title=figure.y_label, rangemode="tozero" if figure.y_from_zero else "normal"
    )
    if figure.x_ticks:
        ticks = list(figure.x_ticks)
        canvas.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks])
    text: str = canvas.to_json()
    return text


def trace(curve: Curve) -> Any:
    """Return a curve as plotly draws it."""
    x, y = (curve.x, curve.y) if curve.strokes else thin(curve.x, curve.y)
    shape: dict[str, Any] = {"mode": "lines", "line": {"color": curve.color, "width": 1.2}}
    if curve.marker:
        shape = {
            "mode": "lines+markers",
            "line": {"color": curve.color, "width": 2},
            "marker": {"symbol": MARKERS.get(curve.marker, "circle"), "size": 8},
        }
    if curve.points:
        shape["mode"] = "markers"
    if curve.dashed:
        shape["line"]["dash"] = "dash"
    if curve.low is not None and curve.high is not None:
        shape["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": rounded(curve.high - curve.y),
            "arrayminus": rounded(curve.y - curve.low),
        }
    if curve.hollow:
        shape["marker"]["symbol"] += "-open"
    if curve.optional:
        shape["visible"] = "legendonly"
    return go.Scatter(name=curve.label, x=rounded(x), y=rounded(y), **shape)


def rounded(values: FloatArray) -> list[float]:
    """Round to the digits a page needs."""
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values, dtype=np.float64)]

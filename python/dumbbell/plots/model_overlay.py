"""A model's line over a figure of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dumbbell.models import DoesNotApply, Model, Prediction
from dumbbell.plots.figure import Curve
from dumbbell.scenario import Scenario

__all__ = ["model_curve", "overlay"]

#: Fewer make no line.
MIN_POINTS = 2


def overlay(
    model: Model,
    scenarios: Sequence[Scenario],
    x: Sequence[float],
    value: Callable[[Prediction], float],
    color: str,
    *,
    of: str = "",
    optional: bool = False,
) -> Curve | None:
    """Return a model's curve, dashed and called what it is; None where it has no line.

    Parameters
    ----------
    model
        Which.
    scenarios
        Those of the figure's runs, one per value of the axis; those that the model does not cover
        are left out.
    x
        The axis: buffers, flow counts.
    value
        What the figure shows, from a prediction: ``lambda p: p.metric("share", 0)``.
    color
        That of the curve it is compared with.
    of
        What it is of, when a figure has several: ``BBR``.
    optional
        Whether a page shows it only when the reader asks for it.
    """
    points = []
    for at, scenario in zip(x, scenarios, strict=True):
        try:
            points.append((at, value(model.predict(scenario))))
        except DoesNotApply:
            continue
    return model_curve(model, points, color, of=of, optional=optional)


def model_curve(
    model: Model,
    points: Sequence[tuple[float, float]],
    color: str,
    *,
    of: str = "",
    optional: bool = False,
) -> Curve | None:
    """Return a model's curve through points of the axis and what it says there."""
    if len(points) < MIN_POINTS:
        return None
    label = f"model: {model.label}" + (f", {of}" if of else "")
    xs, ys = np.array(points, dtype=np.float64).T
    return Curve(label, xs, ys, color, dashed=True, optional=optional)

"""A model's line in a figure of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dumbbell.figures.figure import Curve
from dumbbell.models import DoesNotApply, Model, Prediction
from dumbbell.scenario import Scenario

__all__ = ["model_curve", "overlay"]

#: Points of a line, at least.
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
    """Return a model's dashed curve; None if it predicts fewer than two points.

    Parameters
    ----------
    model
        Which.
    scenarios
        Of the figure's runs, one per value of the axis; those that the model does not cover are
        left out.
    x
        The axis: buffers, flow counts.
    value
        The value to draw of a prediction: ``lambda p: p.metric("share", 0)``.
    color
        Color of the curve that it is compared with.
    of
        Which curve it belongs to, in a figure of several: ``BBR``.
    optional
        Whether a page hides it until the reader clicks its name.
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
    """Return a model's curve through points of the axis and its predictions."""
    if len(points) < MIN_POINTS:
        return None
    label = f"model: {model.label}" + (f", {of}" if of else "")
    xs, ys = np.array(points, dtype=np.float64).T
    return Curve(label, xs, ys, color, dashed=True, optional=optional)

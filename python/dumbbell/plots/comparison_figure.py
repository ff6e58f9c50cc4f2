"""A model compared with runs: its metric against the buffer or the flow count."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.figures.figure import Curve, Figure
from dumbbell.figures.style import style_of
from dumbbell.models import Model
from dumbbell.models.comparison import ModelComparison
from dumbbell.plots.model_overlay import overlay

__all__ = ["draw_comparison"]


def draw_comparison(
    model: Model, compared: Mapping[tuple[float, int], ModelComparison]
) -> list[Figure]:
    """Draw a figure per flow count against the buffer, or one against the flow count.

    Parameters
    ----------
    model
        Which.
    compared
        By buffer, in BDP, and flow count.
    """
    buffers = sorted({buffer for buffer, _ in compared})
    counts = sorted({flows for _, flows in compared})
    if len(buffers) > 1:
        return [
            draw(
                model, f"n{flows}", "buffer (BDP)",
                {b: compared[b, flows] for b in buffers if (b, flows) in compared},
            )
            for flows in counts
        ]  # fmt: skip
    return [
        draw(
            model, f"{buffer:g}bdp", "flows",
            {flows: compared[buffer, flows] for flows in counts},
        )
        for buffer in buffers
    ]  # fmt: skip


def draw(model: Model, where: str, x_label: str, points: Mapping[float, ModelComparison]) -> Figure:
    """Draw one figure: the runs, and the model as a dashed line."""
    first = next(iter(points.values()))
    headline, scenario = first.headline, first.scenario
    style = style_of(scenario.groups[0].cc.name)
    x = np.array(list(points), dtype=np.float64)
    values = [[headline.scale * value for value in each.measured] for each in points.values()]
    several = len(first.measured) > 1
    runs = Curve(
        "runs", x, np.array([np.mean(seeds) for seeds in values]), style.color, style.marker,
        low=np.array([min(seeds) for seeds in values]) if several else None,
        high=np.array([max(seeds) for seeds in values]) if several else None,
    )  # fmt: skip
    line = overlay(
        model,
        [each.scenario for each in points.values()],
        list(points),
        lambda prediction: headline.scale * prediction.metric(headline.key, headline.group),
        style.color,
    )
    kinds = " against ".join(f"{group.flows} {group.cc}" for group in scenario.groups)
    title = kinds if x_label == "buffer (BDP)" else f"{scenario.groups[0].cc}, {where}"
    return Figure(
        name=f"{model.name}-{where}",
        title=f"{title}, {scenario.rate}, {scenario.rtt}",
        x_label=x_label,
        y_label=f"{headline.label} ({headline.unit})",
        curves=(runs,) if line is None else (runs, line),
        x_ticks=tuple(points),
    )

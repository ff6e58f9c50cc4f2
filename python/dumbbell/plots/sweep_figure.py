"""A sweep as figures: shares and queueing delay against the buffer or the flow count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell.models import models_of
from dumbbell.plots.figure import Curve, Figure
from dumbbell.plots.model_overlay import overlay
from dumbbell.plots.style import UNKNOWN_COLOR, group_colors, group_labels, style_of
from dumbbell.run import Run
from dumbbell.scenario import Scenario
from dumbbell.statistics import mean_interval
from dumbbell.statistics.written import MIN_INTERVAL

__all__ = ["draw_sweep"]


#: Fewer points of an axis are a table's.
MIN_POINTS = 3


@dataclass(frozen=True)
class Axis:
    """An axis that a figure may have.

    Attributes
    ----------
    name, label
        In the file's name; under the figure.
    value
        Where a scenario lies on it.
    """

    name: str
    label: str
    value: Callable[[Scenario], float]


@dataclass(frozen=True)
class Metric:
    """What a figure shows: a metric of every group, or of the bottleneck."""

    key: str
    name: str
    label: str
    scale: float
    per_group: bool


def buffer_bdp(scenario: Scenario) -> float:
    """Return a buffer in BDP; one in packets by the first group's packets."""
    buffer = scenario.buffer
    limit_bytes = (
        float(buffer.amount) * scenario.groups[0].packet_bytes
        if buffer.unit == "pkt"
        else buffer.limit_bytes(scenario.rate, scenario.rtt)
    )
    return limit_bytes / scenario.bdp_bytes


AXES = (
    Axis("buffer", "buffer (BDP)", buffer_bdp),
    Axis("flows", "flows of the first kind", lambda scenario: scenario.groups[0].flows),
)
METRICS = (
    Metric("share", "share", "throughput share (%)", 100, per_group=True),
    Metric(
        "queue_delay_mean_us", "queueing-delay", "mean queueing delay (ms)", 1e-3, per_group=False
    ),
)


def draw_sweep(runs: Iterable[Run]) -> list[Figure]:
    """Draw what a sweep found against each of its axes, with every model that covers it.

    Parameters
    ----------
    runs
        Of the same congestion controls; those of one scenario and several seeds are averaged.
    """
    runs = list(runs)
    figures = []
    for axis in AXES:
        for others, family in families(runs, axis).items():
            if len(family) < MIN_POINTS:
                continue
            for metric in METRICS:
                if metric.per_group and len(runs[0].groups) < 2:
                    continue
                figures.append(draw(axis, metric, others, family))
    return figures


def families(runs: Sequence[Run], axis: Axis) -> dict[tuple[str, ...], dict[float, list[Run]]]:
    """Return the runs by what they have in common beside the axis, and by where they lie on it."""
    found: dict[tuple[str, ...], dict[float, list[Run]]] = {}
    for run in runs:
        at = axis.value(run.scenario)
        found.setdefault(others_of(run.scenario, axis), {}).setdefault(at, []).append(run)
    return {others: dict(sorted(family.items())) for others, family in found.items()}


def others_of(scenario: Scenario, axis: Axis) -> tuple[str, ...]:
    """Return what a scenario has beside the axis: rate, RTT, flow counts or buffer."""
    counts = "+".join(str(group.flows) for group in scenario.groups)
    rest = f"{counts} flows" if axis.name == "buffer" else str(scenario.buffer)
    return str(scenario.rate), str(scenario.rtt), rest


def draw(
    axis: Axis, metric: Metric, others: tuple[str, ...], family: dict[float, list[Run]]
) -> Figure:
    """Draw one metric against one axis."""
    scenarios = [runs[0].scenario for runs in family.values()]
    labels = group_labels(scenarios[0])
    x = np.array(list(family))
    groups: list[int | None] = list(range(len(labels))) if metric.per_group else [None]
    colors = group_colors([group.cc.name for group in scenarios[0].groups])
    curves = []
    for group in groups:
        label = "bottleneck" if group is None else labels[group]
        color = UNKNOWN_COLOR if group is None else colors[group]
        marker = "o" if group is None else style_of(scenarios[0].groups[group].cc.name).marker
        values = [
            [metric.scale * measured(run, metric.key, group) for run in runs]
            for runs in family.values()
        ]
        several = any(len(seeds) > 1 for seeds in values)
        y, low, high = np.array([mean_and_ends(seeds) for seeds in values]).T
        curves.append(
            Curve(
                label, x, y, color, marker,
                low=low if several else None, high=high if several else None,
            )
        )  # fmt: skip
        curves += model_curves(scenarios, list(family), metric, group, label, color)
    return Figure(
        name="-".join([metric.name, "against", axis.name, *others]).replace(" ", "-"),
        title=", ".join([" and ".join(labels), *others]),
        x_label=axis.label,
        y_label=metric.label,
        curves=tuple(curves),
        x_ticks=tuple(family),
    )


def mean_and_ends(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of repetitions and its 95 % confidence interval; of two, their range."""
    if len(values) < MIN_INTERVAL:
        return float(np.mean(values)), min(values), max(values)
    interval = mean_interval(values)
    return interval.mean, interval.low, interval.high


def model_curves(
    scenarios: Sequence[Scenario],
    x: Sequence[float],
    metric: Metric,
    group: int | None,
    label: str,
    color: str,
) -> list[Curve]:
    """Return the curves of every model that predicts a metric of a group."""
    models = {
        model.name: model
        for scenario in scenarios
        for model, prediction in models_of(scenario)
        if prediction.has(metric.key, group)
    }
    curves = [
        overlay(
            model, scenarios, x, lambda p: metric.scale * p.metric(metric.key, group), color,
            of="" if group is None else label,
        )
        for model in models.values()
    ]  # fmt: skip
    return [curve for curve in curves if curve is not None]


def measured(run: Run, key: str, group: int | None) -> float:
    """Return a metric of a run."""
    value: float = (run.summary["bottleneck"] if group is None else run.groups[group])[key]
    return value

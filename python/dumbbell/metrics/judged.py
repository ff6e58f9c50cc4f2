"""What each group of a scenario is judged by: the metric that it names."""

from __future__ import annotations

from dumbbell.base.errors import ScenarioError
from dumbbell.metrics.metric import Metric, metric_named
from dumbbell.scenario import Scenario

__all__ = ["judged_by"]


def judged_by(scenario: Scenario) -> dict[int, Metric]:
    """Return the metric of each group that names one, by the group's index.

    Raises
    ------
    ScenarioError
        There is no such metric, it is not of groups, or neither way of it is better.
    """
    found = {}
    for index, group in enumerate(scenario.groups):
        if group.metric is None:
            continue
        metric = metric_named(group.metric, ScenarioError)
        if not metric.of_groups or metric.better is None:
            why = f"is of a {metric.per}" if not metric.of_groups else "has no better side"
            raise ScenarioError(
                f"`{scenario.group_labels[index]}` cannot be judged by `{metric.name}`, which "
                f"{why}; use one of groups, like `goodput_bps`",
                key="metric",
                group=index,
            )
        found[index] = metric
    return found

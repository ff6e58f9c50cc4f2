"""All metrics of a run. Importing this module registers dumbbell's own, in the order of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# isort: off
from dumbbell.metrics import (  # noqa: F401
    throughput,
    fairness,
    starvation,
    convergence,
    oscillation,
    delay,
    power,
    inflight,
    loss,
    completion,
    slowdown,
    requests,
    pages,
    media,
    video,
    offered,
)

# isort: on
from dumbbell.metrics.metric import AT, METRICS
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.warmup import Warmup
from dumbbell.run.links import BOTTLENECK

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["measure"]


def measure(run: Run, warmup: Warmup | None = None) -> list[dict[str, Any]]:
    """Return every metric of a run, a row per group.

    Parameters
    ----------
    run
        The run.
    warmup
        What to leave out of its start; see `Metric.of`.

    Returns
    -------
    list of dict
        By group: ``group`` (its index), ``cc`` (as the scenario names it, parameters included),
        ``flows``, ``verdict`` (the run's status), and
        every metric of `METRICS` by its name, a number or None. A run's metric is in each row. A
        metric of links is the bottleneck's; each link's follows as ``NAME@LINK``, unless the run
        has one link, `bottleneck`.

    Raises
    ------
    ResultError
        There is a warm-up, and the run has no time series or is not longer than that.
    """
    obs = Observation(run, warmup)
    rows = [
        {
            "group": group["group"],
            "cc": str(run.scenario.groups[group["group"]].cc),
            "flows": group["flows"],
            "verdict": run.verdict.status,
        }
        for group in obs.groups
    ]
    is_named = [link["name"] for link in run.links] != [BOTTLENECK]
    for metric in METRICS.values():
        if metric.per == "link":
            of_links = metric.of_links(obs)
            found = {metric.name: of_links[obs.index_of()]}
            if is_named:
                named = zip(obs.links, of_links, strict=True)
                found |= {f"{metric.name}{AT}{link.summary['name']}": each for link, each in named}
            for row in rows:
                row |= found
            continue
        value = metric.observe(obs)
        values = value if isinstance(value, list) else [value] * len(rows)
        for row, of_group in zip(rows, values, strict=True):
            row[metric.name] = of_group
    return rows

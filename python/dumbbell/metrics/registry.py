"""All metrics of a run. Importing this module registers dumbbell's own, in the order of tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

# isort: off
from dumbbell.metrics import (  # noqa: F401
    throughput,
    directions,
    fairness,
    starvation,
    stall,
    convergence,
    recovery,
    oscillation,
    delay,
    queue_return,
    power,
    inflight,
    loss,
    breaker,
    completion,
    slowdown,
    requests,
    pages,
    media,
    video,
    offered,
    programs,
)

# isort: on
from dumbbell.metrics.metric import AT, METRICS, Metric
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.phase import IN, Phase
from dumbbell.metrics.warmup import Warmup
from dumbbell.run.links import BOTTLENECK

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["measure"]


def measure(
    run: Run,
    warmup: Warmup | None = None,
    phases: Sequence[Phase] = (),
    metrics: Sequence[Metric] | None = None,
) -> list[dict[str, Any]]:
    """Return every metric of a run, or some, a row per group.

    Parameters
    ----------
    run
        The run.
    warmup
        What to leave out of its start; see `Metric.of`.
    phases
        Parts of the run that are measured too.
    metrics
        Which; all of `METRICS` by default.

    Returns
    -------
    list of dict
        By group: ``group`` (its index), ``cc`` (as the scenario names it, parameters included),
        ``flows``, ``verdict`` (the run's status), and
        every metric of `METRICS` by its name, a number or None. A run's metric is in each row. A
        metric of links is the bottleneck's; each link's follows as ``NAME@LINK``, unless the run
        has one link, `bottleneck`. Those of a phase are ``NAME in 20s..40s``.

    Raises
    ------
    ResultError
        There is a warm-up or a phase, and the run has no time series or is over before it.
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
    chosen = METRICS.values() if metrics is None else metrics
    for row, values in zip(rows, values_of(obs, chosen), strict=True):
        row |= values
    for phase in phases:
        for row, values in zip(rows, values_of(Observation(run, phase), chosen), strict=True):
            row |= {f"{name}{IN}{phase}": value for name, value in values.items()}
    return rows


def values_of(obs: Observation, metrics: Iterable[Metric]) -> list[dict[str, float | None]]:
    """Return metrics of what is observed, by their names, for each group."""
    rows: list[dict[str, float | None]] = [{} for _ in obs.groups]
    is_named = [link["name"] for link in obs.run.links] != [BOTTLENECK]
    for metric in metrics:
        if metric.per == "link":
            of_links = metric.of_links(obs)
            found = {metric.name: of_links[obs.index_of(metric.link)]}
            if is_named and not metric.link:
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

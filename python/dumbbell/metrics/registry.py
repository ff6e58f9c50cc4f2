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

__all__ = ["measure", "measure_all"]


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
    [rows] = measure_all([run], warmup, phases, metrics)
    return rows


def measure_all(
    runs: Sequence[Run],
    warmup: Warmup | None = None,
    phases: Sequence[Phase] = (),
    metrics: Sequence[Metric] | None = None,
) -> list[list[dict[str, Any]]]:
    """Return what `measure` does of each run.

    Metric by metric, so that its code is still in the processor's caches for the next run.
    """
    chosen = METRICS.values() if metrics is None else metrics
    observed = [Observation(run, warmup) for run in runs]
    every = [
        [
            {
                "group": group["group"],
                "cc": str(obs.run.scenario.groups[group["group"]].cc),
                "flows": group["flows"],
                "verdict": obs.run.verdict.status,
            }
            for group in obs.groups
        ]
        for obs in observed
    ]
    add_values(every, observed, chosen)
    for phase in phases:
        add_values(every, [Observation(run, phase) for run in runs], chosen, f"{IN}{phase}")
    return every


def add_values(
    every: Sequence[list[dict[str, Any]]],
    observed: Sequence[Observation],
    metrics: Iterable[Metric],
    suffix: str = "",
) -> None:
    """Add metrics of what is observed of runs to their rows, each under its name and a suffix."""
    links = [[link["name"] for link in obs.run.links] for obs in observed]
    for metric in metrics:
        name = metric.name + suffix
        for rows, obs, names in zip(every, observed, links, strict=True):
            if metric.per == "link":
                of_links = metric.of_links(obs)
                found = {name: of_links[obs.index_of(metric.link)]}
                if names != [BOTTLENECK] and not metric.link:
                    named = zip(names, of_links, strict=True)
                    found |= {f"{metric.name}{AT}{link}{suffix}": each for link, each in named}
                for row in rows:
                    row |= found
                continue
            value = metric.observe(obs)
            values = value if isinstance(value, list) else [value] * len(rows)
            for row, of_group in zip(rows, values, strict=True):
                row[name] = of_group

"""How often each cell of a sweep is repeated, and what metrics leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.metrics import METRICS, Metric, Warmup, metric_named
from dumbbell.runs.run_count import check_run_count
from dumbbell.scenario import Scenario
from dumbbell.sweeps.until_ci import MIN_REPS, Precision

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True)
class Plan:
    """Repetitions and measuring.

    Attributes
    ----------
    reps
        Of each cell; with `until_ci`, the fewest.
    until_ci
        Repeat a cell until the confidence interval of its mean extends no further to each side:
        ``2%`` of the mean, or ``0.5Mbit/s``; None repeats `reps` times.
    metric
        Of which metric.
    max_reps
        The most.
    warmup
        What metrics leave out of each run's start: ``20s``, ``auto``; None for nothing.
    """

    reps: int = 1
    until_ci: str | None = None
    metric: str = "goodput_bps"
    max_reps: int = 100
    warmup: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as `sweep.json` has it."""
        return asdict(self)


def make_plan(
    reps: int | None,
    until_ci: str | float | None,
    metric: str,
    max_reps: int,
    warmup: str | None,
    scenarios: Sequence[Scenario],
) -> Plan:
    """Read a plan for some scenarios; without `reps`, as few as make sense.

    Raises
    ------
    ScenarioError
        A value is invalid.
    """
    if reps is None:
        reps = 1 if until_ci is None else min(MIN_REPS, max_reps)
    if reps < 1:
        raise ScenarioError(f"reps is {excerpt(reps)}; it must be at least 1")
    seed = max(scenario.seed for scenario in scenarios)
    check_run_count(len(scenarios), reps, seed=seed)
    if until_ci is not None:
        check_run_count(1, max_reps, what="max_reps", seed=seed)
    if until_ci is not None:
        check_link(metric_named(metric, ScenarioError), scenarios)
        until_ci = until_ci if isinstance(until_ci, str) else in_unit_of(metric, until_ci)
        Precision.parse(until_ci, metric)
        if not 2 <= reps <= max_reps:
            raise ScenarioError(
                f"reps is {reps}; an interval needs 2 to {max_reps} repetitions (`max_reps`)"
            )
    if warmup is not None:
        parsed = Warmup.parse(warmup)
        for scenario in scenarios:
            parsed.check(scenario)
        warmup = str(parsed)
    return Plan(reps, until_ci, metric, max_reps, warmup)


def check_link(metric: Metric, scenarios: Sequence[Scenario]) -> None:
    """Refuse a metric of a link that some scenario does not have."""
    for scenario in scenarios:
        names = [link.name for link in scenario.links]
        if metric.link and metric.link not in names:
            raise ScenarioError(
                f"metric `{metric.name}`: there is no link `{metric.link}`"
                f"{nearest(metric.link, names)}"
            )


def in_unit_of(metric: str, limit: float) -> str:
    """Write a number with the metric's unit, as the command line takes it."""
    unit = METRICS[metric].unit
    return str(limit) if unit == "1" else f"{limit}{unit}"

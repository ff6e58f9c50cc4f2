"""A model beside measurements: what it is off by, and where."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow.compute as pc

from dumbbell.errors import ResultError
from dumbbell.models.model import Headline, Model
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR
from dumbbell.run.series import to_floats
from dumbbell.runs import Cache, Progress, run_all
from dumbbell.scenario import Scenario
from dumbbell.statistics import share
from dumbbell.verdict import Verdict

__all__ = ["Compared", "Errors", "compare", "measure_late", "summarize", "verdict_counts"]

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Compared:
    """A model and measurements of one scenario.

    Attributes
    ----------
    scenario
        With the first run's seed.
    headline
        What is compared.
    predicted
        By the model.
    measured
        A value per run.
    verdicts
        One per run.
    """

    scenario: Scenario
    headline: Headline
    predicted: float
    measured: tuple[float, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def error(self) -> float:
        """Predicted minus the measured mean; over that mean where the headline is relative."""
        mean = float(np.mean(self.measured))
        difference = self.predicted - mean
        if not self.headline.is_relative:
            return difference
        return difference / mean if mean else math.inf

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON has it."""
        return {
            "metric": self.headline.key,
            "group": self.headline.group,
            "predicted": self.predicted,
            "measured": list(self.measured),
            "error": self.error if math.isfinite(self.error) else None,
            "is_relative": self.headline.is_relative,
            "verdicts": [verdict.status for verdict in self.verdicts],
        }


@dataclass(frozen=True)
class Errors:
    """Absolute errors of some comparisons.

    Attributes
    ----------
    count
        Of how many.
    median, mean, worst
        Of their absolute values.
    bias
        Mean with its sign: above 0 the model says too much.
    """

    count: int
    median: float
    mean: float
    worst: float
    bias: float


def summarize(compared: Sequence[Compared]) -> Errors:
    """Return the errors of comparisons; there must be one at least."""
    errors = np.array([each.error for each in compared])
    return Errors(
        count=errors.size,
        median=float(np.median(np.abs(errors))),
        mean=float(np.mean(np.abs(errors))),
        worst=float(np.max(np.abs(errors))),
        bias=float(np.mean(errors)),
    )


def compare(
    model: Model,
    scenarios: Mapping[K, Scenario],
    *,
    reps: int = 1,
    last_s: float | None = None,
    engine: str = SIMULATOR,
    workers: int | None = None,
    cache: Cache | str | Path | bool | None = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> dict[K, Compared]:
    """Run scenarios and lay a model beside them.

    Parameters
    ----------
    model
        One with a headline.
    scenarios
        What to run, by a key.
    reps
        Runs of each, with one seed after the other.
    last_s
        Measure only the last so many seconds: models are of what flows converge to.
    engine, workers, cache, on_progress
        As `run_all` has them.

    Raises
    ------
    DoesNotApply
        The model says nothing of one of the scenarios.
    """
    if model.headline is None:
        raise ResultError(f"model `{model.name}` predicts no metric of a run")
    headline = model.headline
    predicted = {
        key: model.predict(scenario).metric(headline.key, headline.group)
        for key, scenario in scenarios.items()
    }
    values: dict[tuple[K, int], float] = {}

    def keep(key: tuple[K, int], run: Run) -> Run:
        # The value alone: all tables together would not fit in memory.
        values[key] = measure_late(run, headline, last_s)
        return Run(run.scenario, run.summary, {})

    runs = run_all(
        [
            ((key, rep), scenario.replace(seed=scenario.seed + rep))
            for key, scenario in scenarios.items()
            for rep in range(reps)
        ],
        engine=engine,
        workers=workers,
        cache=cache,
        on_progress=on_progress,
        on_finished=keep,
    )
    return {
        key: Compared(
            scenario=scenario,
            headline=headline,
            predicted=predicted[key],
            measured=tuple(values[key, rep] for rep in range(reps)),
            verdicts=tuple(runs[key, rep].verdict for rep in range(reps)),
        )
        for key, scenario in scenarios.items()
    }


def measure_late(run: Run, headline: Headline, last_s: float | None) -> float:
    """Return a metric of a run, over its last seconds only.

    Parameters
    ----------
    run
        With its tables.
    headline
        ``share`` of a group or ``queue_delay_mean_us`` of the bottleneck; any metric of the
        summary over the whole run.
    last_s
        None: the whole run.
    """
    group, key = headline.group, headline.key
    if last_s is None:
        value: float = (run.summary["bottleneck"] if group is None else run.groups[group])[key]
        return value
    from_us = run.summary["duration_ns"] / 1e3 - 1e6 * last_s
    if key == "share" and group is not None:
        return late_share(run, group, from_us)
    if key == "queue_delay_mean_us":
        return late_queue_delay_us(run, from_us)
    raise ResultError(f"`{key}` is known of whole runs only; leave out `--last`")


def late_share(run: Run, group: int, from_us: float) -> float:
    """Return a group's part of the goodput after an instant."""
    table = run.flows
    late = table.filter(pc.greater(table["time_us"], from_us))
    flow, goodput = to_floats(late["flow"]).astype(int), to_floats(late["goodput_bps"])
    of_group = np.array([entry["group"] == group for entry in run.summary["flows"]])
    # The first sample of a flow has no goodput yet.
    return share(float(np.nansum(goodput[of_group[flow]])), float(np.nansum(goodput)))


def late_queue_delay_us(run: Run, from_us: float) -> float:
    """Return the mean wait behind the queue after an instant: mean backlog over the rate."""
    table = run.queue
    late = table.filter(pc.greater(table["time_us"], from_us))
    backlog_bits = 8 * float(np.mean(to_floats(late["backlog_bytes"])))
    link_rate_bps: float = run.summary["bottleneck"]["link_rate_bps"]
    return 1e6 * backlog_bits / link_rate_bps


def verdict_counts(compared: Iterable[Compared]) -> dict[str, int]:
    """Count the runs by verdict and what it remarks: ``OK``, ``WARN rto_stall``."""
    counts: Counter[str] = Counter()
    for verdict in (verdict for each in compared for verdict in each.verdicts):
        checks = sorted({reason.check for reason in verdict.reasons})
        counts[" ".join([verdict.status, *checks])] += 1
    return dict(counts)

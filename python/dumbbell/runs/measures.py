"""What is measured of each run: every metric, and a name for how it was measured."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.congestion_control.sources import sources_of_file
from dumbbell.metrics import METRICS, Metric, Phase, Warmup, measure
from dumbbell.run import Run
from dumbbell.scenario import Scenario

__all__ = ["Measures", "in_words_of", "measure_run", "measured_as", "user_metrics"]

#: What was measured of one run: one mapping per group.
Measures = list[dict[str, Any]]
#: Packages whose code decides a metric's value, apart from the engine.
MEASURING = ("metrics", "run", "statistics")


def measure_run(run: Run, warmup: str | None = None, phases: Sequence[str] = ()) -> Measures:
    """Measure every metric of a run, a row per group; a run's metrics are in each row."""
    return measure(
        run,
        None if warmup is None else Warmup.parse(warmup),
        [Phase.parse(phase) for phase in phases],
    )


def in_words_of(scenario: Scenario, measures: Measures) -> Measures:
    """Return the rows with the scenario's names of the groups; a cached run may have others."""
    return [{**group, "cc": str(scenario.groups[group["group"]].cc)} for group in measures]


def measured_as(warmup: str | None, phases: Sequence[str] = ()) -> str:
    """Identify what was measured and how: warm-up, phases, the code, and the user's metrics."""
    window = ", ".join([warmup or "whole run", *phases])
    own = "".join(f", {metric.name} {source_of(metric)}" for metric in user_metrics())
    return f"{window}, {measuring_build()}{own}"


def user_metrics() -> tuple[Metric, ...]:
    """Return the metrics that the user registered."""
    return tuple(metric for metric in METRICS.values() if metric.token)


def source_of(metric: Metric) -> str:
    """Return a digest of the file with a user's metric; without a file its registration's."""
    file = inspect.getsourcefile(metric.formula)
    if file is None or not Path(file).is_file():
        return metric.token
    return sources_of_file(Path(file)).digest


@functools.cache
def measuring_build() -> str:
    """Return a digest of dumbbell's code that measures: other versions may differ in values."""
    package = Path(dumbbell.__file__).parent
    digest = hashlib.sha256()
    for name in MEASURING:
        for file in sorted((package / name).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]

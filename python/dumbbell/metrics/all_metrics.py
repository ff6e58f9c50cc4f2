"""What is measured of each run: every metric, and a name for how it was measured."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dumbbell.congestion_control.sources import sources_of_file
from dumbbell.metrics.metric import METRICS, Metric, add
from dumbbell.metrics.phase import Phase
from dumbbell.metrics.registry import measure_all
from dumbbell.metrics.warmup import Warmup
from dumbbell.run import Run

__all__ = ["AllMetrics", "measuring_build", "user_metrics"]

#: Packages whose code decides a metric's value, apart from the engine.
MEASURING = ("metrics", "run", "statistics")


def user_metrics() -> tuple[Metric, ...]:
    """Return the metrics that the user registered."""
    return tuple(metric for metric in METRICS.values() if metric.token)


@dataclass(frozen=True)
class AllMetrics:
    """Measures every metric of a run, a row per group; a run's metrics are in each row.

    Attributes
    ----------
    warmup, phases
        What metrics leave out of the run's start, and what is measured by itself.
    metrics
        The user's, which a worker process may not have registered.
    """

    warmup: str | None = None
    phases: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = field(default_factory=user_metrics)

    @property
    def how(self) -> str:
        """What is measured and how: warm-up, phases, the code, and the user's metrics."""
        window = ", ".join([self.warmup or "whole run", *self.phases])
        own = "".join(f", {metric.name} {source_of(metric)}" for metric in user_metrics())
        return f"{window}, {measuring_build()}{own}"

    def of(self, runs: Sequence[Run]) -> list[list[dict[str, Any]]]:
        """Measure each run."""
        warmup = None if self.warmup is None else Warmup.parse(self.warmup)
        return measure_all(runs, warmup, [Phase.parse(phase) for phase in self.phases])

    def prepare(self) -> None:
        """Register the user's metrics, in another process."""
        for metric in self.metrics:
            add(metric)


def source_of(metric: Metric) -> str:
    """Return a digest of the file with a user's metric; without a file its registration's."""
    file = inspect.getsourcefile(metric.formula)
    if file is None or not Path(file).is_file():
        return metric.token
    return sources_of_file(Path(file)).digest


@functools.cache
def measuring_build() -> str:
    """Return a digest of dumbbell's code that measures: other versions may differ in values."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for name in MEASURING:
        for file in sorted((package / name).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]

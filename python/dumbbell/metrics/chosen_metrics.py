"""What is measured of each run where few metrics are asked for: all take as long as a short run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.metrics.all_metrics import measuring_build, source_of
from dumbbell.metrics.metric import Metric, add
from dumbbell.metrics.registry import measure_all
from dumbbell.run import Run

__all__ = ["ChosenMetrics"]


@dataclass(frozen=True)
class ChosenMetrics:
    """Measures some metrics of a whole run, a row per group.

    Attributes
    ----------
    metrics
        Which; a worker process may not have registered the user's.
    """

    metrics: tuple[Metric, ...]

    @property
    def how(self) -> str:
        """What is measured and how: the metrics, the code, and the source of the user's."""
        words = [f"{each.name} {source_of(each)}" if each.token else each.name
                 for each in self.metrics]  # fmt: skip
        return ", ".join(["whole run", measuring_build(), "only", *words])

    def of(self, runs: Sequence[Run]) -> list[list[dict[str, Any]]]:
        """Measure each run."""
        return measure_all(runs, metrics=self.metrics)

    def prepare(self) -> None:
        """Register the user's metrics, in another process."""
        for metric in self.metrics:
            if metric.token and not metric.link:
                add(metric)

"""How runs are measured as they finish, by what their caller passes: `metrics.AllMetrics`."""

from __future__ import annotations

from typing import Any, Protocol

from dumbbell.run import Run
from dumbbell.scenario import Scenario

__all__ = ["Measures", "Measuring", "in_words_of"]

#: What was measured of one run: one mapping per group.
Measures = list[dict[str, Any]]


class Measuring(Protocol):
    """Measures a run, in the process that executed it."""

    @property
    def how(self) -> str:
        """What is measured and how: values with the same words are interchangeable."""

    def of(self, run: Run) -> Measures:
        """Measure a run."""

    def prepare(self) -> None:
        """Make another process ready to measure."""


def in_words_of(scenario: Scenario, measures: Measures) -> Measures:
    """Return the rows with the scenario's names of the groups; a cached run may have others."""
    return [{**group, "cc": str(scenario.groups[group["group"]].cc)} for group in measures]

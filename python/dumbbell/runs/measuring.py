"""How runs are measured as they finish, by what their caller passes: `metrics.AllMetrics`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from dumbbell.run import Run
from dumbbell.scenario import Scenario

__all__ = ["Measures", "Measuring", "in_words_of"]

#: What was measured of one run: one mapping per group.
Measures = list[dict[str, Any]]


class Measuring(Protocol):
    """Measures runs, in the process that executed them."""

    @property
    def how(self) -> str:
        """What is measured and how: values with the same words are interchangeable."""

    def of(self, runs: Sequence[Run]) -> list[Measures]:
        """Measure each run; several at once take less time."""

    def prepare(self) -> None:
        """Make another process ready to measure."""


def in_words_of(scenario: Scenario, measures: Measures) -> Measures:
    """Return the rows with the scenario's names of the groups; a cached run may have others."""
    return [{**group, "cc": str(scenario.groups[group["group"]].cc)} for group in measures]

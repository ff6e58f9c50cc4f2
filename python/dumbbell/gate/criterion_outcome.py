"""Whether a cell meets a criterion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from dumbbell.gate.criterion import Criterion
from dumbbell.gate.non_inferiority import Shift, beyond_bound
from dumbbell.gate.suite_result import CellResult, Observed, SuiteResult

__all__ = ["CriterionOutcome", "Met", "evaluate_criteria"]


class Met(StrEnum):
    """How a criterion was met."""

    MET = "met"
    MISSED = "missed"
    UNCLEAR = "unclear"
    MISSED_BEFORE = "missed before as well"


@dataclass(frozen=True)
class CriterionOutcome:
    """A criterion and the values of a cell.

    Attributes
    ----------
    cell
        The cell's label, with its case.
    criterion
        The bound.
    observed
        Of which group or the run, and which metric.
    values
        The values there are.
    missing
        How many repetitions have none.
    p
        Of missing the bound by chance; adjusted once all are known.
    beyond_bound
        By how much the values miss the bound; None without values.
    met
        The outcome.
    reps_to_settle
        How many repetitions would likely settle an unclear one; None if it is not unclear, or too
        many would be needed.
    """

    cell: str
    criterion: Criterion
    observed: Observed
    values: tuple[float, ...]
    missing: int
    p: float
    beyond_bound: Shift | None
    met: Met = Met.UNCLEAR
    reps_to_settle: int | None = None

    @property
    def mean(self) -> float | None:
        """Mean of the values; None without."""
        return float(np.mean(self.values)) if self.values else None

    @property
    def mean_meets(self) -> bool:
        """Whether the mean meets the bound, and at least half of the repetitions have a value."""
        mean = self.mean
        return (
            mean is not None
            and self.missing <= len(self.values)
            and self.criterion.shortfall(mean) <= 0
        )

    def decided(self, p: float, level: float, before: CriterionOutcome | None) -> CriterionOutcome:
        """Return it with its adjusted p value and what follows from it at a level."""
        if self.mean_meets:
            met = Met.MET
        elif before is not None and not before.mean_meets:
            met = Met.MISSED_BEFORE
        else:
            met = Met.MISSED if p <= level else Met.UNCLEAR
        reps = None
        if met == Met.UNCLEAR and self.beyond_bound is not None:
            reps = self.beyond_bound.reps_to_settle(level * self.p / p)
        return replace(self, p=p, met=met, reps_to_settle=reps)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "cell": self.cell,
            "criterion": str(self.criterion),
            "of": self.observed.subject,
            "outcome": str(self.met),
            "mean": self.mean,
            "bound": self.criterion.bound,
            "missing": self.missing,
            "p": self.p,
            "reps_to_settle": self.reps_to_settle,
        }


def evaluate_criteria(result: SuiteResult) -> Iterator[CriterionOutcome]:
    """Evaluate every criterion of every cell; `CriterionOutcome.decided` gives the outcome."""
    criteria = {case.name: case.criteria for case in result.suite.cases}
    for cell in result.cells:
        for criterion in criteria[cell.case]:
            for observed in cell.observed_of(criterion.measure):
                yield evaluate_criterion(cell, criterion, observed)


def evaluate_criterion(
    cell: CellResult, criterion: Criterion, observed: Observed
) -> CriterionOutcome:
    """Evaluate a criterion; without a value in most repetitions it is missed."""
    valid = cell.valid(observed)
    values = tuple(float(value) for value in valid.values() if value is not None)
    missing = len(valid) - len(values)
    shift = beyond_bound([criterion.shortfall(value) for value in values]) if values else None
    p = 0.0 if shift is None or missing > len(values) else shift.p
    return CriterionOutcome(cell.label, criterion, observed, values, missing, p, shift)

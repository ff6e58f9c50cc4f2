"""Whether a cell meets a criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from dumbbell.gate.case import Observed
from dumbbell.gate.criterion import Criterion
from dumbbell.gate.non_inferiority import Shift, beyond_bound
from dumbbell.gate.suite_result import CellResult, SuiteResult

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
    values, shortfalls
        The values there are, and by how much each misses the bound.
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
    reference
        Mean of the reference's values, where the bound has a part of it.
    """

    cell: str
    criterion: Criterion
    observed: Observed
    values: tuple[float, ...]
    shortfalls: tuple[float, ...]
    missing: int
    p: float
    beyond_bound: Shift | None
    met: Met = Met.UNCLEAR
    reps_to_settle: int | None = None
    reference: float | None = None

    @property
    def mean(self) -> float | None:
        """Mean of the values; None without."""
        return float(np.mean(self.values)) if self.values else None

    @property
    def mean_meets(self) -> bool:
        """Whether the mean meets the bound, and at least half of the repetitions have a value."""
        return (
            len(self.values) > 0
            and self.missing <= len(self.values)
            and float(np.mean(self.shortfalls)) <= 0
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
            "of_reference": self.criterion.of_reference,
            "reference": self.reference,
            "missing": self.missing,
            "p": self.p,
            "reps_to_settle": self.reps_to_settle,
        }


def evaluate_criteria(result: SuiteResult) -> Iterator[CriterionOutcome]:
    """Evaluate every criterion of every cell; `CriterionOutcome.decided` gives the outcome."""
    cases = {case.name: case for case in result.suite.cases}
    for cell in result.cells:
        case = cases[cell.case]
        for criterion in case.criteria:
            for observed in case.observed_of(criterion.measure):
                yield evaluate_criterion(cell, criterion, observed)


def evaluate_criterion(
    cell: CellResult, criterion: Criterion, observed: Observed
) -> CriterionOutcome:
    """Evaluate a criterion; without a value in most repetitions it is missed."""
    valid = cell.valid(observed)
    references: Mapping[int, float | None] = dict.fromkeys(valid, 0.0)
    if criterion.of_reference is not None:
        references = cell.valid_reference(observed)
    pairs = [
        (value, reference)
        for value, reference in ((valid[seed], references[seed]) for seed in valid)
        if value is not None and reference is not None
    ]
    missing = len(valid) - len(pairs)
    shortfalls = tuple(criterion.shortfall(*pair) for pair in pairs)
    shift = beyond_bound(shortfalls) if pairs else None
    p = 0.0 if shift is None or missing > len(pairs) else shift.p
    known = [reference for _, reference in pairs]
    of_reference = criterion.of_reference is not None and known
    return CriterionOutcome(
        cell.label, criterion, observed, tuple(value for value, _ in pairs), shortfalls, missing,
        p, shift, reference=float(np.mean(known)) if of_reference else None,
    )  # fmt: skip

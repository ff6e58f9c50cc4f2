"""A metric of a cell, before and after: worse, better, or neither."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from dumbbell.compare.comparison import Sides, match_seeds
from dumbbell.gate.case import ComparedMetric, Observed
from dumbbell.gate.non_inferiority import Shift, beyond_tolerance, p_more_missing
from dumbbell.gate.subject import Measure
from dumbbell.gate.suite_result import CellResult, SuiteResult
from dumbbell.gate.tolerance import Tolerance
from dumbbell.metrics import Metric
from dumbbell.statistics import Interval

__all__ = ["Change", "MetricChange", "compare_cells"]


class Change(StrEnum):
    """How a metric changed."""

    WORSE = "worse"
    BETTER = "better"
    UNCLEAR = "unclear"
    WITHIN = "within tolerance"
    IDENTICAL = "identical"
    NO_VALUE = "without a value before and after"


@dataclass(frozen=True)
class MetricChange:
    """A metric of a cell, before and after.

    Attributes
    ----------
    cell
        The cell's label, with its case.
    observed
        Of which group or the run, and which metric.
    measure, tolerance
        What is compared, and how much worse it may be.
    sides
        The values before (A) and after (B), by pairs of a seed if they have seeds in common.
    p_worse, p_better
        Of having become worse, or better, by more than the tolerance; adjusted for all comparisons
        of the gate once they are known.
    beyond_tolerance
        By how much it worsened beyond the tolerance; None with too few values.
    change
        The outcome.
    reps_to_settle
        How many repetitions would likely settle an unclear one; None if it is not unclear, or too
        many would be needed.
    """

    cell: str
    observed: Observed
    measure: Measure
    tolerance: Tolerance
    sides: Sides
    p_worse: float
    p_better: float
    beyond_tolerance: Shift | None
    change: Change = Change.WITHIN
    reps_to_settle: int | None = None

    @property
    def metric(self) -> Metric:
        """The metric that is compared."""
        return self.measure.metric

    @property
    def difference(self) -> Interval:
        """The mean of after minus before, with its 95 % interval."""
        return self.sides.difference.interval

    @property
    def means(self) -> tuple[float | None, float | None]:
        """Means before and after; None without values."""
        before, after = (
            float(np.mean(values)) if values else None for values in (self.sides.a, self.sides.b)
        )
        return before, after

    @property
    def beyond(self) -> bool:
        """Whether the mean worsened by more than the tolerance, by chance or not."""
        before, after = self.means
        if before is None or after is None:
            return self.sides.missing[1] > self.sides.missing[0]
        by = after - before
        worse_by = {"higher": -by, "lower": by}.get(str(self.metric.better), abs(by))
        return worse_by > self.tolerance.of(before)

    def decided(self, p_worse: float, p_better: float, level: float) -> MetricChange:
        """Return it with adjusted p values and what follows from them at a level."""
        sides, reps = self.sides, None
        if not sides.a and not sides.b:
            change = Change.NO_VALUE
        elif sides.paired and sides.a == sides.b and sides.missing[0] == sides.missing[1]:
            change = Change.IDENTICAL
        elif p_worse <= level:
            change = Change.WORSE
        elif p_better <= level:
            change = Change.BETTER
        elif self.beyond:
            change = Change.UNCLEAR
            if self.beyond_tolerance is not None:
                reps = self.beyond_tolerance.reps_to_settle(level * self.p_worse / p_worse)
        else:
            change = Change.WITHIN
        return replace(self, p_worse=p_worse, p_better=p_better, change=change, reps_to_settle=reps)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        before, after = self.means
        return {
            "cell": self.cell,
            "of": self.observed.subject,
            "metric": self.observed.metric,
            "unit": self.metric.unit,
            "change": str(self.change),
            "before": before,
            "after": after,
            "missing_before": self.sides.missing[0],
            "missing_after": self.sides.missing[1],
            "difference": self.difference.to_dict(),
            "tolerance": {
                "relative": self.tolerance.relative, "absolute": self.tolerance.absolute
            },
            "paired": self.sides.paired,
            "p_worse": self.p_worse,
            "p_better": self.p_better,
            "reps_to_settle": self.reps_to_settle,
        }  # fmt: skip


def compare_cells(
    before: SuiteResult, after: SuiteResult, compared: Mapping[str, Sequence[ComparedMetric]]
) -> Iterator[MetricChange]:
    """Compare every metric of every cell that its case compares.

    Parameters
    ----------
    before, after
        Results of the same suite.
    compared
        What is compared, by the case's name.
    """
    cases = {case.name: case for case in after.suite.cases}
    old_cells = {(cell.case, cell.cell): cell for cell in before.cells}
    for cell in after.cells:
        old = old_cells[cell.case, cell.cell]
        for entry in compared[cell.case]:
            for observed in cases[cell.case].observed_of(entry.measure):
                yield compare_values(old, cell, observed, entry)


def compare_values(
    old: CellResult, new: CellResult, observed: Observed, entry: ComparedMetric
) -> MetricChange:
    """Compare a metric of a cell; repetitions with the same seeds are pairs."""
    metric, tolerance = entry.measure.metric, entry.tolerance
    before, after = old.valid(observed), new.valid(observed)
    sides = match_seeds(before, after)
    higher, lower = (
        beyond_tolerance(sides.a, sides.b, way, tolerance, paired=sides.paired)
        for way in ("higher", "lower")
    )
    p_higher, p_lower = (1.0 if shift is None else shift.p for shift in (higher, lower))
    if metric.better is None:  # any change is worse
        worse, p_worse, p_better = max_of(higher, lower), min(1.0, 2 * min(p_higher, p_lower)), 1.0
    elif metric.better == "higher":
        worse, p_worse, p_better = lower, p_lower, p_higher
    else:
        worse, p_worse, p_better = higher, p_higher, p_lower
    if sides.missing != (0, 0):
        # Two ways to be worse: Bonferroni for the two.
        p_missing = p_more_missing(*sides.missing, (len(before), len(after)))
        p_worse = min(1.0, 2 * min(p_worse, p_missing))
    return MetricChange(
        new.label, observed, entry.measure, tolerance, sides, p_worse, p_better, worse
    )


def max_of(a: Shift | None, b: Shift | None) -> Shift | None:
    """Return the larger of two shifts of the same values."""
    return a if a is None or b is None or a.mean >= b.mean else b

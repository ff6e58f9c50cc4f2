"""A metric of a cell, before and after: worse, better, or neither."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from dumbbell.gate.non_inferiority import p_more_missing, p_worse
from dumbbell.gate.suite import Judged
from dumbbell.gate.suite_result import CellResult, Observed, SuiteResult
from dumbbell.gate.tolerance import Tolerance
from dumbbell.metrics import METRICS, Metric
from dumbbell.statistics import Interval, paired_difference, unpaired_difference

__all__ = ["Change", "Comparison", "compare_cells"]


class Change(StrEnum):
    """What became of a metric."""

    WORSE = "worse"
    BETTER = "better"
    UNCLEAR = "unclear"
    WITHIN = "within tolerance"
    IDENTICAL = "identical"


@dataclass(frozen=True)
class Comparison:
    """A metric's values before and after.

    Attributes
    ----------
    cell
        The cell's label, with its case.
    observed
        Of whom, and which metric.
    tolerance
        How much worse it may be.
    before, after
        The values; paired ones in the same order.
    missing
        How many repetitions have no value, before and after.
    paired
        Whether the repetitions had the same seeds.
    p_worse, p_better
        Of having become worse, or better, by more than the tolerance; `adjusted` for all
        comparisons of the gate once they are known.
    change
        The outcome.
    """

    cell: str
    observed: Observed
    tolerance: Tolerance
    before: tuple[float, ...]
    after: tuple[float, ...]
    missing: tuple[int, int]
    paired: bool
    p_worse: float
    p_better: float
    change: Change = Change.WITHIN

    @property
    def metric(self) -> Metric:
        """The metric."""
        return METRICS[self.observed.metric]

    @cached_property
    def difference(self) -> Interval:
        """The mean of after minus before, with its 95 % interval, for people."""
        compare = paired_difference if self.paired else unpaired_difference
        return compare(self.before, self.after).interval

    @property
    def means(self) -> tuple[float | None, float | None]:
        """Means before and after; None without values."""
        before, after = (
            float(np.mean(values)) if values else None for values in (self.before, self.after)
        )
        return before, after

    @property
    def beyond(self) -> bool:
        """Whether the mean became worse by more than the tolerance, whatever chance has to say."""
        before, after = self.means
        if before is None or after is None:
            return self.missing[1] > self.missing[0]
        by = after - before
        worse_by = {"higher": -by, "lower": by}.get(str(self.metric.better), abs(by))
        return worse_by > self.tolerance.of(before)

    def decided(self, p_worse: float, p_better: float, level: float) -> Comparison:
        """Return it with adjusted p values and what follows from them at a level."""
        if self.paired and self.before == self.after and self.missing[0] == self.missing[1]:
            change = Change.IDENTICAL
        elif p_worse <= level:
            change = Change.WORSE
        elif p_better <= level:
            change = Change.BETTER
        else:
            change = Change.UNCLEAR if self.beyond else Change.WITHIN
        return replace(self, p_worse=p_worse, p_better=p_better, change=change)

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
            "missing_before": self.missing[0],
            "missing_after": self.missing[1],
            "difference": self.difference.to_dict(),
            "tolerance": {
                "relative": self.tolerance.relative, "absolute": self.tolerance.absolute
            },
            "paired": self.paired,
            "p_worse": self.p_worse,
            "p_better": self.p_better,
        }  # fmt: skip


def compare_cells(
    before: SuiteResult, after: SuiteResult, judged: dict[str, Sequence[Judged]]
) -> Iterator[Comparison]:
    """Compare every judged metric of every cell.

    Parameters
    ----------
    before, after
        Results of the same suite.
    judged
        What is compared, by the case's name.
    """
    old_cells = {(cell.case, cell.cell): cell for cell in before.cells}
    for cell in after.cells:
        old = old_cells[cell.case, cell.cell]
        for entry in judged[cell.case]:
            for observed in cell.values:
                if observed.metric == entry.measure.metric.name and entry.measure.is_of(
                    observed.subject
                ):
                    yield compare(old, cell, observed, entry.tolerance)


def compare(
    old: CellResult, new: CellResult, observed: Observed, tolerance: Tolerance
) -> Comparison:
    """Compare a metric of a cell; repetitions with the same seeds are pairs."""
    x, y = old.valid(observed), new.valid(observed)
    paired = bool(x.keys() & y.keys())
    if paired:
        common = [seed for seed in x if seed in y]
        x, y = {seed: x[seed] for seed in common}, {seed: y[seed] for seed in common}
    missing = (sum(v is None for v in x.values()), sum(v is None for v in y.values()))
    if paired:
        both = [seed for seed in x if x[seed] is not None and y[seed] is not None]
        x, y = {seed: x[seed] for seed in both}, {seed: y[seed] for seed in both}
    before = tuple(float(v) for v in x.values() if v is not None)
    after = tuple(float(v) for v in y.values() if v is not None)
    sizes = (len(old.valid(observed)), len(new.valid(observed)))
    metric = METRICS[observed.metric]
    p_values = worse_and_better(metric, before, after, tolerance, paired=paired)
    p_missing = p_more_missing(*missing, sizes)
    # Two ways to be worse: Bonferroni for the two, where there are two.
    worse = p_values[0] if missing == (0, 0) else min(1.0, 2 * min(p_values[0], p_missing))
    return Comparison(
        new.label, observed, tolerance, before, after, missing, paired, worse, p_values[1]
    )


def worse_and_better(
    metric: Metric,
    before: tuple[float, ...],
    after: tuple[float, ...],
    tolerance: Tolerance,
    *,
    paired: bool,
) -> tuple[float, float]:
    """Return p of worse and of better; where no way is better, any change is worse."""
    higher, lower = (
        p_worse(before, after, way, tolerance, paired=paired) for way in ("higher", "lower")
    )
    if metric.better is None:
        return min(1.0, 2 * min(higher, lower)), 1.0
    return (lower, higher) if metric.better == "higher" else (higher, lower)

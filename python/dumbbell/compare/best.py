"""The best cell of a sweep for each group: by how much, and whether by more than chance.

Cells are compared under the same conditions: a rate is no choice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dumbbell.base.quantities.significant import DIGITS
from dumbbell.compare.choices import condition_axes, conditions_of
from dumbbell.compare.comparison import SIGNIFICANCE, match_seeds
from dumbbell.metrics import Metric, judged_by
from dumbbell.run.verdict import INVALID
from dumbbell.statistics import Difference, holm
from dumbbell.statistics.student_t import student_quantile
from dumbbell.sweeps import Cell, SweepResult

__all__ = ["Best", "Other", "best_cells"]


@dataclass(frozen=True)
class Other:
    """A cell that is not the best.

    Attributes
    ----------
    cell
        Which.
    mean
        Of the metric, in its shown unit.
    difference
        The best cell's values minus these, pair by pair.
    p_adjusted
        p after Holm's adjustment for all groups and cells; None without p.
    reach
        How far from the best mean chance leads by the spread of the best cell alone.
    resolution
        Of the best mean as it is printed.
    """

    cell: Cell
    mean: float
    difference: Difference
    p_adjusted: float | None = None
    reach: float = 0.0
    resolution: float = 0.0

    @property
    def lead(self) -> float:
        """How far its mean is from the best one."""
        return abs(self.difference.interval.mean)

    @property
    def is_tie(self) -> bool:
        """Whether the printed numbers are the same, however sure a difference is."""
        return self.lead < self.resolution

    @property
    def is_sure(self) -> bool:
        """Whether the best differs from it by more than chance explains."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANCE and not self.is_tie

    @property
    def is_unclear(self) -> bool:
        """Whether it is worse by the means, and only its own spread hides whether it is."""
        return not self.is_sure and not self.is_tie and self.lead > self.reach


@dataclass(frozen=True)
class Best:
    """The best cell for a group.

    Attributes
    ----------
    name
        What the group is called.
    metric
        What it is judged by.
    cell, mean
        The best cell, and its mean in the metric's shown unit.
    others
        The other cells with a value in as many runs, the best of them first.
    missing
        Cells without a value in some runs: in how many, and of how many. Those that lack more
        values than the best cell are worse, however good their other values are.
    """

    name: str
    metric: Metric
    cell: Cell
    mean: float
    others: tuple[Other, ...]
    missing: Mapping[int, tuple[int, int]]


def best_cells(result: SweepResult) -> list[Best]:
    """Return the best cell for each group that names a metric, under each of the conditions.

    Nothing where no cells can be compared.

    Parameters
    ----------
    result
        A sweep; INVALID runs count for nothing.
    """
    axes = condition_axes(result.design)
    alike: dict[tuple[str, ...], list[int]] = {}
    for cell in result.cells:
        alike.setdefault(conditions_of(cell, axes), []).append(cell.index)
    found = []
    for group, metric in judged_by(result.scenario).items():
        values = values_of(result, group, metric)
        for cells in alike.values():
            mine = {index: values[index] for index in cells}
            if len(mine) > 1 and any(known(each) for each in mine.values()):
                found.append(best_of(result, result.design.group_labels[group], metric, mine))
    return adjusted(found)


def values_of(
    result: SweepResult, group: int, metric: Metric
) -> dict[int, dict[int, float | None]]:
    """Return a group's values by cell and seed, in the metric's shown unit; None: it has none."""
    found: dict[int, dict[int, float | None]] = {cell.index: {} for cell in result.cells}
    columns = ["cell", "seed", "group", "verdict", metric.name]
    for row in result.rows.select(columns).to_pylist():
        value = row[metric.name]
        if row["group"] == group and row["verdict"] != INVALID:
            found[row["cell"]][row["seed"]] = None if value is None else metric.scale * value
    return found


def known(values: Mapping[int, float | None]) -> list[float]:
    """Return the values that there are."""
    return [value for value in values.values() if value is not None]


def best_of(
    result: SweepResult,
    name: str,
    metric: Metric,
    values: Mapping[int, Mapping[int, float | None]],
) -> Best:
    """Compare the best cell with each other one that has a value as often."""
    counts = {index: (len(each) - len(known(each)), len(each)) for index, each in values.items()}
    shares = {index: gone / runs for index, (gone, runs) in counts.items() if gone < runs}
    fewest = min(shares.values())
    means = {
        index: float(np.mean(known(values[index])))
        for index, share in shares.items()
        if share == fewest
    }
    order = sorted(means, key=means.__getitem__, reverse=metric.better == "higher")
    best, cells = order[0], result.cells
    reach, resolution = reach_of(known(values[best])), resolution_of(means[best])
    others = tuple(
        Other(
            cells[index], means[index], match_seeds(values[index], values[best]).difference,
            reach=reach, resolution=resolution,
        )
        for index in order[1:]
    )  # fmt: skip
    missing = {index: each for index, each in counts.items() if each[0] or not each[1]}
    return Best(name, metric, cells[best], means[best], others, missing)


def reach_of(values: Sequence[float]) -> float:
    """Return the least difference of two means that is beyond chance if both vary as these values.

    By Student's t; infinite for a single value.
    """
    n = len(values)
    if n < 2:
        return math.inf
    error = float(np.std(values, ddof=1)) * math.sqrt(2 / n)
    return student_quantile(2 * n - 2, (2 - SIGNIFICANCE) / 2) * error


def resolution_of(mean: float) -> float:
    """Return a unit of the last digit of a mean that is printed; of a whole number 1."""
    if mean == 0:
        return 0.0
    return 10.0 ** min(math.floor(math.log10(abs(mean))) + 1 - DIGITS, 0)


def adjusted(found: Sequence[Best]) -> list[Best]:
    """Give each comparison its p, adjusted for all of them."""
    p_values = [
        other.difference.p
        for each in found
        for other in each.others
        if other.difference.p is not None
    ]
    remaining = iter(holm(p_values))
    return [
        replace(
            each,
            others=tuple(
                other if other.difference.p is None else replace(other, p_adjusted=next(remaining))
                for other in each.others
            ),
        )
        for each in found
    ]

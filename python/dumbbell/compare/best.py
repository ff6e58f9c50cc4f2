"""The best cell of a sweep for each group: by how much, and whether by more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dumbbell.compare.comparison import SIGNIFICANCE, match_seeds
from dumbbell.metrics import Metric, judged_by
from dumbbell.run.verdict import INVALID
from dumbbell.statistics import Difference, holm
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
    """

    cell: Cell
    mean: float
    difference: Difference
    p_adjusted: float | None = None

    @property
    def is_sure(self) -> bool:
        """Whether the best differs from it by more than chance explains."""
        return self.p_adjusted is not None and self.p_adjusted < SIGNIFICANCE


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
        The other cells that have values, the best of them first.
    unknown
        Cells without a value.
    """

    name: str
    metric: Metric
    cell: Cell
    mean: float
    others: tuple[Other, ...]
    unknown: tuple[Cell, ...]


def best_cells(result: SweepResult) -> list[Best]:
    """Return the best cell for each group that names a metric, if cells can be compared.

    Parameters
    ----------
    result
        A sweep; INVALID runs count for nothing.
    """
    found = []
    for group, metric in judged_by(result.scenario).items():
        values = values_of(result, group, metric)
        known = {index: each for index, each in values.items() if each}
        if len(known) > 1:
            name = result.design.group_labels[group]
            found.append(best_of(result, name, metric, known))
    return adjusted(found)


def values_of(result: SweepResult, group: int, metric: Metric) -> dict[int, dict[int, float]]:
    """Return a group's values by cell and seed, in the metric's shown unit."""
    found: dict[int, dict[int, float]] = {cell.index: {} for cell in result.cells}
    columns = ["cell", "seed", "group", "verdict", metric.name]
    for row in result.rows.select(columns).to_pylist():
        value = row[metric.name]
        if row["group"] == group and row["verdict"] != INVALID and value is not None:
            found[row["cell"]][row["seed"]] = metric.scale * value
    return found


def best_of(
    result: SweepResult, name: str, metric: Metric, values: Mapping[int, Mapping[int, float]]
) -> Best:
    """Compare the best cell with each other one."""
    means = {index: float(np.mean(list(each.values()))) for index, each in values.items()}
    order = sorted(means, key=means.__getitem__, reverse=metric.better == "higher")
    best, cells = order[0], result.cells
    others = tuple(
        Other(cells[index], means[index], match_seeds(values[index], values[best]).difference)
        for index in order[1:]
    )
    unknown = tuple(cell for cell in cells if cell.index not in values)
    return Best(name, metric, cells[best], means[best], others, unknown)


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

"""Two sweeps beside one another: the difference of each cell that both have, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.compare.paired import reported_groups
from dumbbell.errors import ResultError
from dumbbell.metrics import Metric
from dumbbell.plots.result_figures import ResultFigures, SweepView
from dumbbell.plots.sweep_layout import Layout
from dumbbell.report.summary_table import digits_of, write_fine
from dumbbell.statistics import Difference, holm, paired_difference, unpaired_difference

__all__ = ["Comparison", "DifferenceRow", "DifferenceTable", "compare_sweeps"]

#: Of a false alarm among all differences of a metric.
LEVEL = 0.05
#: Rows of a metric's table.
MAX_ROWS = 400


@dataclass(frozen=True)
class DifferenceRow:
    """A cell and group in both sweeps.

    Attributes
    ----------
    cell, label, group, color
        Whose.
    a, b
        Means.
    difference
        B minus A, with its interval.
    effect
        Its size in standard deviations; empty where it has none.
    differs
        Whether it is one with all of the metric's differences taken together (Holm).
    better
        Whether B is better: None where neither way is.
    """

    cell: int
    label: str
    group: str
    color: str
    a: str
    b: str
    difference: str
    effect: str
    differs: bool
    better: bool | None


@dataclass(frozen=True)
class DifferenceTable:
    """A metric's differences; the first rows, `count` in all, of which `differ` differ."""

    metric: Metric
    rows: tuple[DifferenceRow, ...]
    count: int
    differ: int
    tested: int


@dataclass(frozen=True)
class Comparison:
    """Two sweeps' differences.

    Attributes
    ----------
    tables
        One per metric.
    cells
        Cells that both have.
    only_a, only_b
        Cells that only one has.
    is_paired
        Whether repetitions of the same seed were compared with one another.
    """

    tables: tuple[DifferenceTable, ...]
    cells: int
    only_a: int
    only_b: int
    is_paired: bool


def compare_sweeps(figures: ResultFigures, metrics: Sequence[Metric]) -> Comparison:
    """Compare the sweeps of some figures.

    Raises
    ------
    ResultError
        There is no second one.
    """
    a, b = figures.first, figures.second
    if b is None:
        raise ResultError("there is no second sweep to compare with")
    common = [cell for cell in a.cells if cell in b.cells]
    return Comparison(
        tables=tuple(
            difference_table(a, b, metric, common, figures.layout)
            for metric in metrics
            if metric.name in b.values.columns
        ),
        cells=len(common),
        only_a=len(a.cells) - len(common),
        only_b=len(b.result.cells) - len(common),
        is_paired=all(share_seeds(a, b, metric, cell) for metric in metrics[:1] for cell in common),
    )


def share_seeds(a: SweepView, b: SweepView, metric: Metric, cell: int) -> bool:
    """Whether a cell's repetitions have the same seeds in both."""
    seeds = [set(s.values.values(metric.name, s.cells[cell], 0)) for s in (a, b)]
    return seeds[0] == seeds[1]


def difference_table(
    a: SweepView, b: SweepView, metric: Metric, common: Sequence[int], layout: Layout
) -> DifferenceTable:
    """Tabulate a metric's differences, the surest first."""
    groups = reported_groups(metric, a.groups_of(metric), solo=False)
    keys = [(cell, group) for cell in common for group in groups]
    found = {key: difference_of(a, b, metric, *key) for key in keys}
    tested = [key for key in keys if found[key].p is not None]
    adjusted = dict(zip(tested, holm([found[key].p or 0.0 for key in tested]), strict=True))
    digits = digits_of([a.values.interval(metric.name, c, g) for c, g in keys])
    order = sorted(keys, key=lambda key: (adjusted.get(key, 2.0), -abs(found[key].interval.mean)))
    rows = []
    for cell, group in order[:MAX_ROWS]:
        difference = found[cell, group]
        color, _ = a.look_of(metric, group)
        differs = adjusted.get((cell, group), 1.0) < LEVEL
        rows.append(
            DifferenceRow(
                cell=cell,
                label=layout.name_of(a.result.cells[cell]),
                group=a.labels[group] if metric.per == "group" else "",
                color=color,
                a=mean_of(a, metric, cell, group, digits),
                b=mean_of(b, metric, cell, group, digits),
                difference=written(difference, digits),
                effect="" if difference.effect is None else f"{difference.effect:+.1f}",
                differs=differs,
                better=is_better(metric, difference) if differs else None,
            )
        )
    differ = sum(p < LEVEL for p in adjusted.values())
    return DifferenceTable(metric, tuple(rows), len(keys), differ, len(tested))


def difference_of(a: SweepView, b: SweepView, metric: Metric, cell: int, group: int) -> Difference:
    """Return B minus A of a cell and group, by pairs of a seed if they have the same seeds."""
    x, y = (s.values.values(metric.name, s.cells[cell], group) for s in (a, b))
    if set(x) == set(y):
        return paired_difference([x[seed] for seed in x], [y[seed] for seed in x])
    return unpaired_difference(x.values(), y.values())


def mean_of(shown: SweepView, metric: Metric, cell: int, group: int, digits: int) -> str:
    """Write a cell's mean."""
    mean = shown.values.interval(metric.name, shown.cells[cell], group).mean
    return "–" if math.isnan(mean) else f"{mean:.{digits}f}"


def written(difference: Difference, digits: int) -> str:
    """Write a difference with its interval."""
    if math.isnan(difference.interval.mean):
        return "–"
    text = write_fine(difference.interval, digits)
    return text if text.startswith("-") else f"+{text}"


def is_better(metric: Metric, difference: Difference) -> bool | None:
    """Whether B is better than A; None where neither way is."""
    if metric.better is None:
        return None
    return (difference.interval.mean > 0) == (metric.better == "higher")

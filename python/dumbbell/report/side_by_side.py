"""Two sweeps side by side: the difference of each cell that both have, with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.base.errors import ResultError
from dumbbell.compare.comparison import (
    Comparison,
    adjusted,
    match_seeds,
    reported_groups,
)
from dumbbell.compare.pairs import cells_alike, differing_of
from dumbbell.metrics import Metric
from dumbbell.plots.result_figures import ResultFigures, SweepView
from dumbbell.plots.sweep_layout import Layout
from dumbbell.report.summary_table import digits_of, write_fine
from dumbbell.statistics import Difference
from dumbbell.sweeps import SweepResult

__all__ = ["DifferenceRow", "DifferenceTable", "SweepComparison", "compare_sweeps", "second_view"]

#: Rows of a metric's table.
MAX_ROWS = 400


def second_view(
    result: SweepResult, against: SweepResult | None, name: str = "B"
) -> SweepView | None:
    """Return what figures show beside a sweep: another one, cell by cell; None without.

    Raises
    ------
    ResultError
        The two have no cell in common.
    """
    if against is None:
        return None
    return SweepView(against, name, cells_alike(result, against))


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
        Whether it is significant, all differences of the metric considered (Holm).
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
class SweepComparison:
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
        Whether the cells have the same seeds, so that repetitions are pairs.
    differing
        What all of A have and none of B: its name, and the value in A and in B.
    """

    tables: tuple[DifferenceTable, ...]
    cells: int
    only_a: int
    only_b: int
    is_paired: bool
    differing: tuple[tuple[str, str, str], ...] = ()


def compare_sweeps(figures: ResultFigures, metrics: Sequence[Metric]) -> SweepComparison:
    """Compare the sweeps of some figures.

    Raises
    ------
    ResultError
        There is no second sweep.
    """
    a, b = figures.first, figures.second
    if b is None:
        raise ResultError("there is no second sweep to compare with")
    common = [cell for cell in a.cells if cell in b.cells]
    return SweepComparison(
        tables=tuple(
            difference_table(a, b, metric, common, figures.layout)
            for metric in metrics
            if metric.name in b.values.columns
        ),
        cells=len(common),
        only_a=len(a.cells) - len(common),
        only_b=len(b.result.cells) - len(common),
        is_paired=all(share_seeds(a, b, metric, cell) for metric in metrics[:1] for cell in common),
        differing=differing(a, b),
    )


def differing(a: SweepView, b: SweepView) -> tuple[tuple[str, str, str], ...]:
    """Return what sets A apart from B: algorithms that no axis changes, and other choices."""
    groups = zip(a.result.scenario.groups, b.result.scenario.groups, strict=True)
    of_groups = [
        (x.name if x.name and x.name == y.name else f"group {index}", str(x.cc), str(y.cc))
        for index, (x, y) in enumerate(groups)
        if str(x.cc) != str(y.cc) and index not in a.swept and index not in b.swept
    ]
    apart = differing_of(a.result, b.result)
    return (*of_groups, *((key, *values) for key, values in apart.items()))


def share_seeds(a: SweepView, b: SweepView, metric: Metric, cell: int) -> bool:
    """Whether a cell's repetitions have the same seeds in both."""
    seeds = [set(s.values.values(metric.name, s.cells[cell], 0)) for s in (a, b)]
    return seeds[0] == seeds[1]


def difference_table(
    a: SweepView, b: SweepView, metric: Metric, common: Sequence[int], layout: Layout
) -> DifferenceTable:
    """Tabulate a metric's differences, the most significant first."""
    groups = reported_groups(metric, a.groups_of(metric), solo=False)
    keys = [(cell, group) for cell in common for group in groups]
    comparisons = adjusted(compared(a, b, metric, *key) for key in keys)
    found = dict(zip(keys, comparisons, strict=True))
    digits = digits_of([a.values.interval(metric.name, c, g) for c, g in keys])
    order = sorted(
        keys,
        key=lambda key: (
            2.0 if (p := found[key].p_adjusted) is None else p,
            -abs(found[key].difference.interval.mean),
        ),
    )
    rows = []
    for cell, group in order[:MAX_ROWS]:
        entry = found[cell, group]
        difference = entry.difference
        color, _ = a.look_of(metric, group)
        rows.append(
            DifferenceRow(
                cell=cell,
                label=layout.name_of(a.result.cells[cell]),
                group=called(a, b, cell, group) if metric.of_groups else "",
                color=color,
                a=mean_of(a, metric, cell, group, digits),
                b=mean_of(b, metric, cell, group, digits),
                difference=written(difference, digits),
                effect="" if difference.effect is None else f"{difference.effect:+.1f}",
                differs=entry.differs,
                better=None if entry.better is None else entry.better == "b",
            )
        )
    differ = sum(entry.differs for entry in comparisons)
    tested = sum(entry.p_adjusted is not None for entry in comparisons)
    return DifferenceTable(metric, tuple(rows), len(keys), differ, tested)


def called(a: SweepView, b: SweepView, cell: int, group: int) -> str:
    """Return what a group is called in a cell, on both sides where these differ."""
    x, y = (side.name_in(side.result.cells[side.cells[cell]], group) for side in (a, b))
    return x if x == y else f"{x} → {y}"


def compared(a: SweepView, b: SweepView, metric: Metric, cell: int, group: int) -> Comparison:
    """Compare a metric of a cell and group, in the unit of tables; by pairs of common seeds."""
    x, y = (s.values.values(metric.name, s.cells[cell], group) for s in (a, b))
    index = group if metric.of_groups else None
    return Comparison(a.result.cells[cell].label, index, "", "", metric, match_seeds(x, y))


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

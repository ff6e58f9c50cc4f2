"""A sweep's numbers as tables: means and intervals of each cell and group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.metrics import Metric
from dumbbell.plots.result_figures import ResultFigures, SweepView
from dumbbell.statistics import Interval
from dumbbell.statistics.format import MIN_INTERVAL, write_interval

__all__ = ["CellRow", "CellTable", "GroupRow", "digits_of", "make_tables", "write_fine"]

#: Additional digits of a narrow interval, at most.
MORE_DIGITS = 2


@dataclass(frozen=True)
class GroupRow:
    """A group of a cell: its name, colour and metrics."""

    label: str
    color: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class CellRow:
    """A cell.

    Attributes
    ----------
    cell
        Its index.
    label
        Where it is on the x axis.
    n
        Valid repetitions.
    groups
        A row each.
    of_run
        Metrics of the whole run.
    """

    cell: int
    label: str
    n: int
    groups: tuple[GroupRow, ...]
    of_run: tuple[str, ...]


@dataclass(frozen=True)
class CellTable:
    """The cells of a facet."""

    title: str
    rows: tuple[CellRow, ...]


def make_tables(
    figures: ResultFigures,
    per_group: Sequence[Metric],
    per_run: Sequence[Metric],
    max_cells: int,
    view: SweepView | None = None,
) -> list[CellTable]:
    """Tabulate the first cells of a sweep, or of another one that is beside it."""
    shown, layout = view or figures.first, figures.layout
    digits = {
        metric.name: digits_of(
            [
                shown.values.interval(metric.name, cell.index, group)
                for cell in shown.result.cells
                for group in shown.groups_of(metric)
                if metric.name in shown.values.columns
            ]
        )
        for metric in (*per_group, *per_run)
    }

    def write(metric: Metric, cell: int, group: int) -> str:
        if metric.name not in shown.values.columns:
            return "–"
        interval = shown.values.interval(metric.name, cell, group)
        if math.isnan(interval.mean):
            return "–"
        if interval.n < MIN_INTERVAL:
            return f"{interval.mean:.{digits[metric.name]}f}"
        return write_fine(interval, digits[metric.name])

    tables, left = [], max_cells
    for facet in layout.facets:
        rows = []
        for place in [each for each in facet.cells if each.index in shown.cells][:left]:
            cell = shown.result.cells[shown.cells[place.index]]
            groups = tuple(
                GroupRow(
                    shown.name_in(cell, group),
                    shown.color_in(cell, group),
                    tuple(write(metric, cell.index, group) for metric in per_group),
                )
                for group in range(len(shown.labels))
            )
            of_run = tuple(write(metric, cell.index, 0) for metric in per_run)
            rows.append(
                CellRow(
                    place.index, layout.place_of(place),
                    len(shown.values.at.get((cell.index, 0), ())), groups, of_run,
                )
            )  # fmt: skip
        left -= len(rows)
        if rows:
            tables.append(CellTable(facet.label, tuple(rows)))
    return tables


def digits_of(intervals: Sequence[Interval]) -> int:
    """Return the decimals that a metric's means need for three or four significant digits."""
    means = [abs(each.mean) for each in intervals if math.isfinite(each.mean)]
    largest = max(means, default=0.0)
    if largest == 0:
        return 1
    return min(4, max(0, 2 - math.floor(math.log10(largest))))


def write_fine(interval: Interval, digits: int) -> str:
    """Write an interval, with more decimals if it would be ± 0 otherwise."""
    if interval.bounded and 0 < interval.half_width < 0.5 * 10.0**-digits:
        needed = -math.floor(math.log10(interval.half_width))
        digits = min(needed, digits + MORE_DIGITS)
    return write_interval(interval, digits)

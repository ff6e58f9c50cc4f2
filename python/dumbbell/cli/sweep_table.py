"""A sweep as a table in the terminal: a row per cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dumbbell.cli.console import table
from dumbbell.statistics import known, mean_and_interval
from dumbbell.sweeps import Cell, SweepResult
from dumbbell.sweeps.design import label_of
from dumbbell.sweeps.field import field_of
from dumbbell.verdict import worst

__all__ = ["sweep_table"]

#: What a row of the sweep says of one cell, repetition and group.
Row = Mapping[str, Any]
#: In place of a verdict where there is no run, and of the numbers.
FAILED, NOTHING = "FAILED", "-"
COLUMNS = (
    "cell", "rep", "group", "verdict", "goodput_per_flow_bps", "utilization",
    "queue_delay_mean_us", "jain",
)  # fmt: skip


def sweep_table(result: SweepResult) -> object:
    """Lay out each cell: its groups' goodput per flow, queueing delay, fairness, verdict.

    Means over the repetitions, from three on with their confidence intervals. A cell whose runs
    all failed has no numbers; one of which some did says how many.
    """
    axes = [axis.name for axis in result.axes]
    counts = result.plan.until_ci is not None or len(set(result.reps.values())) > 1
    columns = (
        *(axes or ["run"]),
        *(["runs"] if counts else []),
        *(f"{head}\nMbit/s/flow" for head in group_heads(result)),
        "used\n%", "queueing delay\nmean ms", "Jain", "verdict",
    )  # fmt: skip
    of_cell: dict[int, list[Row]] = defaultdict(list)
    for row in result.rows.select(COLUMNS).to_pylist():
        of_cell[row["cell"]].append(row)
    failed = Counter(cell for cell, _ in result.failed)
    rows = []
    for cell in sorted(result.cells, key=reading_order(result)):
        measured = of_cell[cell.index]
        if not measured and not failed[cell.index]:
            continue
        labels = [label_of(cell.values[name]) for name in axes] or ["all"]
        count = [str(result.reps[cell.index])] if counts else []
        blank = [NOTHING] * (len(columns) - len(labels) - len(count) - 1)
        values = cell_columns(measured) if measured else (*blank, FAILED)
        if measured and failed[cell.index]:
            values = (*values[:-1], f"{values[-1]}, {failed[cell.index]} {FAILED}")
        rows.append((*labels, *count, *values))
    return table("", columns, rows)


def group_heads(result: SweepResult) -> list[str]:
    """Return what the groups are called: their congestion controls, unless an axis changes them."""
    changed = {
        index
        for axis in result.axes
        for field in [field_of(axis.name, result.scenario)]
        if field.key == "cc"
        for index in field.groups or ()
    }
    return [
        f"group {index}" if index in changed else label
        for index, label in enumerate(result.scenario.group_labels)
    ]


def reading_order(result: SweepResult) -> Callable[[Cell], tuple[int, ...]]:
    """Return the order of the rows: the buffer changes fastest, for a table is read along it."""
    axes = sorted(result.axes, key=lambda axis: axis.name == "buffer")
    places = [{label: at for at, label in enumerate(axis.labels)} for axis in axes]

    def order(cell: Cell) -> tuple[int, ...]:
        return tuple(
            place[label_of(cell.values[axis.name])]
            for axis, place in zip(axes, places, strict=True)
        )

    return order


def cell_columns(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return what is said of a cell."""
    groups = sorted({row["group"] for row in rows})
    per_group = [goodput_of([row for row in rows if row["group"] == group]) for group in groups]
    runs = [row for row in rows if row["group"] == groups[0]]
    return (
        *per_group,
        f"{100 * mean_of(runs, 'utilization'):.1f}",
        f"{mean_of(runs, 'queue_delay_mean_us') / 1e3:.1f}",
        f"{mean_of(runs, 'jain'):.3f}",
        worst([row["verdict"] for row in runs]),
    )


def goodput_of(rows: Sequence[Row]) -> str:
    """Write a group's goodput per flow; a dash where no flow of it runs after the warm-up."""
    values = known([row["goodput_per_flow_bps"] for row in rows])
    return mean_and_interval([value / 1e6 for value in values]) if values else "–"


def mean_of(rows: Sequence[Row], metric: str) -> float:
    """Return a metric's mean over the repetitions."""
    known = [row[metric] for row in rows if row[metric] is not None]
    return float(np.mean(known)) if known else float("nan")

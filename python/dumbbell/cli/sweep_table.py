"""A sweep as a table in the terminal: a row per cell."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.metrics import METRICS, Metric, column_in, judged_by
from dumbbell.run.verdict import worst
from dumbbell.statistics import known, mean_and_interval
from dumbbell.sweeps import Cell, SweepResult
from dumbbell.sweeps.design import label_of
from dumbbell.terminal.console import print_line
from dumbbell.terminal.table import in_line, print_table

__all__ = ["print_sweep"]

#: What a row of the sweep says of one cell, repetition and group.
Row = Mapping[str, Any]
#: In place of a verdict where there is no run, and of the numbers.
FAILED, NOTHING = "FAILED", "-"
#: In place of a number that no run has.
ABSENT = "–"
KEYS = ("cell", "rep", "group", "verdict")


def print_sweep(result: SweepResult, metrics: Sequence[str] = ()) -> None:
    """Print each cell: its metrics and its verdict.

    Means over the repetitions, from three on with their confidence intervals. A cell whose runs
    all failed has no numbers; one of which some did says how many.

    Parameters
    ----------
    result
        The sweep.
    metrics
        By name; without them goodput per flow, utilisation, queueing delay and fairness.
    """
    axes = [axis.name for axis in result.axes]
    shown = {axis.name: axis.shown for axis in result.axes}
    counts = result.plan.until_ci is not None or len(set(result.reps.values())) > 1
    values = metric_columns(result, metrics) if metrics else usual_columns(result)
    columns = (
        *(axes or ["run"]), *(["runs"] if counts else []), *(value.head for value in values),
        "verdict",
    )  # fmt: skip
    names = dict.fromkeys((*KEYS, *(value.metric for value in values)))
    of_cell: dict[int, list[Row]] = defaultdict(list)
    for row in result.rows.select(list(names)).to_pylist():
        of_cell[row["cell"]].append(row)
    failed = Counter(cell for cell, _ in result.failed)
    rows = []
    for cell in sorted(result.cells, key=reading_order(result)):
        measured = of_cell[cell.index]
        if not measured and not failed[cell.index]:
            continue
        labels = [shown[name][label_of(cell.values[name])] for name in axes] or ["all"]
        count = [str(result.reps[cell.index])] if counts else []
        numbers = [value.write(measured) if measured else NOTHING for value in values]
        verdict = worst([row["verdict"] for row in measured]) if measured else FAILED
        if measured and failed[cell.index]:
            verdict += f", {failed[cell.index]} {FAILED}"
        rows.append((*labels, *count, *numbers, verdict))
    print_table(
        columns, rows, stub=max(1, len(axes)),
        optional=("used\n%", "runs", "Jain", "queueing delay\nmean ms"),
    )  # fmt: skip
    for line in notes(rows, values, metrics, first=len(columns) - len(values) - 1):
        print_line(line)
    links = result.design.scenario.links
    if len(links) > 1 and not metrics:
        print_line(
            "used, queueing delay: of each run's link with the largest utilisation; of one link "
            f"with `--metric utilization@{links[0].name},queue_delay_mean_us@{links[0].name}`"
        )


def notes(
    rows: Sequence[Sequence[str]], values: Sequence[Column], metrics: Sequence[str], first: int
) -> list[str]:
    """Return how to read the numbers, and which metrics no run has."""
    found = []
    if any(" ± " in cell for row in rows for cell in row):
        found.append("±: 95 % confidence interval of the mean")
    # Of a metric that was asked for it is enough that some group has it.
    of: dict[str, set[str]] = defaultdict(set)
    for at, value in enumerate(values, start=first):
        of[f"`{value.metric}`" if metrics else in_line(value.head)] |= {row[at] for row in rows}
    absent = [name for name, cells in of.items() if cells and cells <= {ABSENT}]
    return [*found, *(f"no run has a value of {name}" for name in absent)]


@dataclass(frozen=True)
class Column:
    """A column of numbers: a metric of a group, or of the run if there is no group."""

    metric: str
    head: str
    group: int | None = None
    scale: float = 1.0
    digits: int = 2
    has_interval: bool = True

    def write(self, rows: Sequence[Row]) -> str:
        """Write the mean of a cell's rows; a dash where the metric has no value."""
        group = rows[0]["group"] if self.group is None else self.group
        values = known([row[self.metric] for row in rows if row["group"] == group])
        scaled = [value * self.scale for value in values]
        if not self.has_interval:
            return f"{float(np.mean(scaled)) if scaled else math.nan:.{self.digits}f}"
        return mean_and_interval(scaled, self.digits) if scaled else ABSENT


def usual_columns(result: SweepResult) -> list[Column]:
    """Return the columns of a table whose metrics are not named: what groups are judged by."""
    heads = result.design.group_labels
    goodput = [
        Column("goodput_per_flow_bps", f"{head}\nMbit/s/flow", group, 1e-6)
        for group, head in enumerate(heads)
    ]
    judged = [
        metric_column(metric, metric.name, heads[group], group)
        for group, metric in judged_by(result.scenario).items()
    ]
    return [
        *(judged or goodput),
        Column("utilization", "used\n%", scale=100, digits=1, has_interval=False),
        Column("queue_delay_mean_us", "queueing delay\nmean ms", None, 1e-3, 1, False),
        Column("jain", "Jain", digits=3, has_interval=False),
    ]


def metric_columns(result: SweepResult, names: Sequence[str]) -> list[Column]:
    """Return the columns of metrics: a group's has one for each group."""
    columns, names_of_rows = [], result.rows.column_names
    for metric in (METRICS[name] for name in names):
        of_groups = enumerate(result.design.group_labels) if metric.of_groups else [(None, "")]
        columns += [
            metric_column(metric, column_in(names_of_rows, metric), head, group)
            for group, head in of_groups
        ]
    return columns


def metric_column(metric: Metric, name: str, head: str, group: int | None) -> Column:
    """Return a column of a metric."""
    title = f"{head}\n{metric.title}\n{metric.shown_unit}".strip()
    return Column(name, title, group, metric.scale, 2 if metric.shown_unit else 3)


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

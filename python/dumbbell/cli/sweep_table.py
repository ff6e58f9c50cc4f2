"""A sweep as a table in the terminal: a row per cell."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.metrics import METRICS, Metric, column_in, judged_by
from dumbbell.run.directions import WAYS
from dumbbell.run.verdict import INVALID, worst
from dumbbell.statistics import known, mean_and_interval
from dumbbell.sweeps import Cell, SweepResult
from dumbbell.sweeps.design import Axis, label_of
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
#: How heads write the ways of programs' data.
TO = dict(zip(WAYS, ("→ client", "→ server"), strict=True))
#: How numbers are written, and what it means.
SIGNS = {
    " ± ": "±: 95 % confidence interval of the mean",
    " [": "[ ]: 95 % confidence interval of the mean, which need not be in its middle",
    " (": "( ): the values of the two repetitions",
}
USED, DELAY, JAIN = "used\n%", "queueing delay\nmean ms", "Jain"


def print_sweep(result: SweepResult, metrics: Sequence[str] = ()) -> None:
    """Print each cell: its metrics and its verdict.

    Means over the repetitions, from three on with their confidence intervals. INVALID runs are in
    no number. A cell whose runs all failed has no numbers; one of which some did says how many.

    Parameters
    ----------
    result
        The sweep.
    metrics
        By name; without them goodput per flow, utilisation, queueing delay and fairness.
    """
    stub = stub_columns(result)
    counts = result.plan.until_ci is not None or len(set(result.reps.values())) > 1
    values = metric_columns(result, metrics) if metrics else usual_columns(result)
    columns = (
        *([head for head, _ in stub] or ["run"]), *(["runs"] if counts else []),
        *(value.head for value in values), "verdict",
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
        labels = [axis.shown[label_of(cell.values[axis.name])] for _, axis in stub] or ["all"]
        count = [str(result.reps[cell.index])] if counts else []
        valid = [row for row in measured if row["verdict"] != INVALID]
        numbers = [value.write(valid) if measured else NOTHING for value in values]
        rows.append((*labels, *count, *numbers, verdict_of(measured, failed[cell.index])))
    absent = print_table(
        columns, rows, stub=max(1, len(stub)), optional=(USED, "runs", JAIN, DELAY)
    )
    for line in notes(rows, values, metrics, first=len(columns) - len(values) - 1):
        print_line(line)
    links = result.design.scenario.links
    of_link = [head.partition("\n")[0] for head in (USED, DELAY) if head not in absent]
    if len(links) > 1 and not metrics and of_link:
        print_line(
            f"{', '.join(of_link)}: of each run's link with the largest utilisation; of one link "
            f"with `--metric utilization@{links[0].name},queue_delay_mean_us@{links[0].name}`"
        )


def stub_columns(result: SweepResult) -> list[tuple[str, Axis]]:
    """Return the heads of the columns that say which cell it is, and the axis of each.

    Axes that change together and have the same value everywhere are one column.
    """
    found: dict[tuple[str, ...], list[Axis]] = {}
    dim_of = {name: at for at, names in enumerate(result.design.dims) for name in names}
    for axis in result.axes:
        found.setdefault((str(dim_of[axis.name]), *map(str, axis.labels)), []).append(axis)
    return [(",\n".join(axis.name for axis in axes), axes[0]) for axes in found.values()]


def verdict_of(measured: Sequence[Row], failed: int) -> str:
    """Return the verdict of a cell: the worst of its valid runs, and how many are not."""
    if not measured:
        return FAILED
    of_runs = {row["rep"]: row["verdict"] for row in measured}
    valid = [verdict for verdict in of_runs.values() if verdict != INVALID]
    parts = [worst(valid)] if valid else [INVALID]
    if valid and len(valid) < len(of_runs):
        parts.append(f"{len(of_runs) - len(valid)} {INVALID}")
    return ", ".join(parts + ([f"{failed} {FAILED}"] if failed else []))


def notes(
    rows: Sequence[Sequence[str]], values: Sequence[Column], metrics: Sequence[str], first: int
) -> list[str]:
    """Return how to read the numbers, and which metrics no run has."""
    found = []
    if any(INVALID in row[-1] for row in rows):
        found.append("runs that are INVALID are in no number")
    found += [
        note for sign, note in SIGNS.items() if any(sign in c for row in rows for c in row[first:])
    ]
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
        group = rows[0]["group"] if self.group is None and rows else self.group
        values = known([row[self.metric] for row in rows if row["group"] == group])
        scaled = [value * self.scale for value in values]
        if not scaled:
            return ABSENT
        if not self.has_interval:
            return f"{float(np.mean(scaled)):.{self.digits}f}"
        return mean_and_interval(scaled, self.digits)


def usual_columns(result: SweepResult) -> list[Column]:
    """Return the columns of a table whose metrics are not named: what groups are judged by."""
    heads = result.design.group_labels
    ways = way_columns(result)
    goodput = ways or [
        Column("goodput_per_flow_bps", f"{head}\nMbit/s/flow", group, 1e-6)
        for group, head in enumerate(heads)
    ]
    judged = [
        metric_column(metric, metric.name, heads[group], group)
        for group, metric in judged_by(result.scenario).items()
    ]
    return [
        *(judged or goodput),
        Column("utilization", USED, scale=100, digits=1, has_interval=False),
        Column("queue_delay_mean_us", DELAY, None, 1e-3, 1, False),
        # Of both ways together there is none.
        *([] if ways else [Column("jain", JAIN, digits=3, has_interval=False)]),
    ]


def way_columns(result: SweepResult) -> list[Column]:
    """Return what programs got each way, where data went both ways in every run; else nothing."""
    names = {way: f"{way}_goodput_bps" for way in WAYS}
    if not set(names.values()) <= set(result.rows.column_names):
        return []
    rows = result.rows.select(["cell", "rep", "group", *names.values()]).to_pylist()
    runs = {(row["cell"], row["rep"]) for row in rows}
    has = {way: {(r["cell"], r["rep"]) for r in rows if r[names[way]] is not None} for way in WAYS}
    if not runs or any(runs != found for found in has.values()):
        return []
    return [
        Column(names[way], f"{head} {TO[way]}\nMbit/s", group, 1e-6)
        for group, head in enumerate(result.design.group_labels)
        for way in WAYS
        if any(row["group"] == group and row[names[way]] is not None for row in rows)
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

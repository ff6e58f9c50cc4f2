"""Rows: what was measured of every run of a sweep, one per cell, repetition and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from dumbbell.run import Run
from dumbbell.sweeps.design import Axis, Cell

__all__ = ["Measures", "make_rows", "measure_run"]

#: What was measured of one run: one mapping per group.
Measures = list[dict[str, Any]]
#: Columns of a group that are no metric.
OF_GROUP = ("group", "cc", "flows", "verdict")


def measure_run(run: Run, warmup: str | None = None) -> Measures:
    """Measure every metric of a run, group by group; those of the whole run are in each."""
    if warmup is not None:
        raise NotImplementedError
    link = run.summary["bottleneck"]
    return [
        {
            "group": group["group"],
            "cc": str(run.scenario.groups[group["group"]].cc),
            "flows": group["flows"],
            "verdict": run.verdict.status,
            **{k: group[k] for k in ("goodput_bps", "goodput_per_flow_bps", "share",
                                     "rtt_mean_us", "inflight_mean_pkts")},
            "utilization": link["utilization"],
            "queue_delay_mean_us": link["queue_delay_mean_us"],
            "jain": run.jain,
        }
        for group in run.groups
    ]  # fmt: skip


def make_rows(
    axes: Sequence[Axis],
    cells: Sequence[Cell],
    measured: Iterable[tuple[int, int, int, Measures]],
) -> pa.Table:
    """Lay out what was measured.

    Parameters
    ----------
    axes, cells
        Of the design.
    measured
        A cell's index, the repetition, its seed, and what was measured of the run.

    Returns
    -------
    pa.Table
        Columns `cell`, `rep`, `seed`; each axis's labels and numbers; `group`, `cc`, `flows`,
        `verdict`; then every metric. Sorted by cell, repetition and group.
    """
    rows = [
        {"cell": cell, "rep": rep, "seed": seed, **group}
        for cell, rep, seed, groups in sorted(measured, key=lambda each: each[:2])
        for group in groups
    ]
    columns: dict[str, pa.Array] = {
        "cell": pa.array([row["cell"] for row in rows], pa.int64()),
        "rep": pa.array([row["rep"] for row in rows], pa.int64()),
        "seed": pa.array([row["seed"] for row in rows], pa.uint64()),
    }
    for axis in axes:
        columns |= axis_columns(axis, cells, rows)
    columns |= {
        "group": pa.array([row["group"] for row in rows], pa.int64()),
        "cc": pa.array([row["cc"] for row in rows], pa.string()),
        "flows": pa.array([row["flows"] for row in rows], pa.int64()),
        "verdict": pa.array([row["verdict"] for row in rows], pa.string()),
    }
    for name in dict.fromkeys(name for row in rows for name in row):
        if name not in columns:
            columns[name] = pa.array([row.get(name) for row in rows], pa.float64())
    return pa.table(columns)


def axis_columns(
    axis: Axis, cells: Sequence[Cell], rows: Sequence[Mapping[str, Any]]
) -> dict[str, pa.Array]:
    """Return an axis's labels, and its numbers if it has any, of each row."""
    at = {label: position for position, label in enumerate(axis.labels)}
    places = [at[Axis("", None, (cell.values[axis.name],)).labels[0]] for cell in cells]
    found = {axis.column: pa.array([axis.labels[places[row["cell"]]] for row in rows], pa.string())}
    if axis.number_column is not None and axis.numbers is not None:
        numbers = axis.numbers
        found[axis.number_column] = pa.array(
            [numbers[places[row["cell"]]] for row in rows], pa.float64()
        )
    return found

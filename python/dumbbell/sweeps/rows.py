"""Rows: what was measured of every run of a sweep, one per cell, repetition and group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

import pyarrow as pa

from dumbbell.metrics import METRICS
from dumbbell.metrics.metric import AT
from dumbbell.records.columns import TEXT, Column, arrow_type, conform
from dumbbell.runs.measuring import Measures
from dumbbell.sweeps.cell_labels import algorithm_names
from dumbbell.sweeps.design import Axis, Cell, Design, label_of

__all__ = ["GROUP_COLUMNS", "Rows", "check_rows", "make_rows"]

#: Columns before the axes', and between these and the metrics.
RUN_COLUMNS = {
    "cell": Column("int64", of="cell"), "rep": Column("int64"), "seed": Column("uint64"),
}  # fmt: skip
GROUP_COLUMNS = {
    "group": Column("int64", of="group"),
    "name": Column(TEXT, may_be_absent=True),
    "cc": Column(TEXT),
    "flows": Column("int64"),
    "verdict": Column(TEXT),
}
METRIC = Column("double", has_gaps=True, may_be_absent=True)
#: Rows that are kept as Python has them.
CHUNK = 1000


def make_rows(
    design: Design,
    measured: Iterable[tuple[tuple[int, int], int, Measures]],
) -> pa.Table:
    """Lay out what was measured.

    Parameters
    ----------
    design
        Of the sweep.
    measured
        A cell's index and the repetition, its seed, and what was measured of the run.

    Returns
    -------
    pa.Table
        Columns `cell`, `rep`, `seed`; each axis's labels and numbers; `group`, `name` (what tables
        call it in the cell), `cc`, `flows`, `verdict`; then every metric, and if the runs have
        several links each link's value of the metrics of links, as ``NAME@LINK``. Sorted by cell,
        repetition and group.
    """
    rows = Rows(design)
    for key, seed, groups in measured:
        rows.add(key, seed, groups)
    return rows.table()


def check_rows(table: pa.Table, design: Design) -> pa.Table:
    """Return rows that were read, in their types.

    Raises
    ------
    Unexpected
        They are not those of such a sweep.
    """
    of_axes = {axis.column: Column(TEXT) for axis in design.axes}
    of_axes |= {axis.number_column: METRIC for axis in design.axes if axis.number_column}
    columns = {**RUN_COLUMNS, **of_axes, **GROUP_COLUMNS, **dict.fromkeys(METRICS, METRIC)}
    return conform(
        table, columns, {"cell": len(design.cells) - 1, "group": len(design.scenario.groups) - 1}
    )


class Rows:
    """Rows that are added run by run, in any order.

    Parameters
    ----------
    design
        Of the sweep.
    """

    def __init__(self, design: Design) -> None:
        names = algorithm_names(design)
        self.labels = [names(cell) for cell in design.cells]
        self.of_cells: dict[str, pa.Array] = {}
        for axis in design.axes:
            self.of_cells |= axis_columns(axis, design.cells)
        self.added: list[dict[str, Any]] = []
        self.tables = [self._to_table([])]

    def add(self, key: tuple[int, int], seed: int, groups: Measures) -> None:
        """Add a run's."""
        cell, rep = key
        for group in groups:
            name = self.labels[cell][group["group"]]
            self.added.append({"cell": cell, "rep": rep, "seed": seed, "name": name, **group})
        if len(self.added) >= CHUNK:
            # In columns they take a hundredth of the room.
            self.tables.append(self._to_table(self.added))
            self.added = []

    def table(self) -> pa.Table:
        """Return all rows, sorted by cell, repetition and group."""
        tables = [*self.tables, self._to_table(self.added)]
        table = pa.concat_tables(tables, promote_options="default")
        order = [(name, "ascending") for name in ("cell", "rep", "group")]
        return table.sort_by(order).combine_chunks()

    def _to_table(self, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
        of_links = dict.fromkeys(name for row in rows for name in row if AT in name)
        names = (*RUN_COLUMNS, *GROUP_COLUMNS, *METRICS, *of_links)
        values = dict(zip(names, columns_of(rows, names), strict=True))
        columns: dict[str, pa.Array] = {
            name: pa.array(values[name], arrow_type(column.kind))
            for name, column in RUN_COLUMNS.items()
        }
        columns |= {name: each.take(columns["cell"]) for name, each in self.of_cells.items()}
        for name, column in GROUP_COLUMNS.items():
            columns[name] = pa.array(values[name], arrow_type(column.kind))
        for name in (*METRICS, *of_links):
            columns[name] = pa.array(values[name], pa.float64())
        return pa.table(columns)


def columns_of(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Sequence[Any]]:
    """Return each column of some rows; None where a row lacks it."""
    if not rows:
        return [()] * len(names)
    try:
        return list(zip(*map(itemgetter(*names), rows), strict=True))
    except KeyError:  # of an earlier version, or of a run without these links
        return [[row.get(name) for row in rows] for name in names]


def axis_columns(axis: Axis, cells: Sequence[Cell]) -> dict[str, pa.Array]:
    """Return an axis's labels, and its numbers if it has any, of each cell."""
    labels = [label_of(cell.values[axis.name]) for cell in cells]
    found = {axis.column: pa.array(labels, pa.string())}
    if axis.number_column is not None and axis.numbers is not None:
        numbers = dict(zip(axis.labels, axis.numbers, strict=True))
        found[axis.number_column] = pa.array([numbers[each] for each in labels], pa.float64())
    return found

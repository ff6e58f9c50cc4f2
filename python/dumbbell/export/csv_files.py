"""The tables of a run, a sweep or an analysis as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from dumbbell.base.arrow_file import arrow_file
from dumbbell.base.errors import ResultError, check_directory
from dumbbell.base.writing import adding
from dumbbell.export.group_rows import group_rows
from dumbbell.export.long_table import long_table
from dumbbell.report.source import sweep_of_run
from dumbbell.run import Run
from dumbbell.run.directory import DOCUMENT, ParquetTables
from dumbbell.sweeps import SweepResult

__all__ = ["export_csv"]


def export_csv(directory: str | Path, out: str | Path | None = None) -> list[Path]:
    """Write every table of a run, a sweep or an analysis as CSV.

    Parameters
    ----------
    directory
        What `run`, `sweep` or `analyze` wrote with ``--out``.
    out
        Directory of the files, created if it does not exist; by default ``csv`` in `directory`.

    Returns
    -------
    list of Path
        The files: the Parquet tables' names and columns; of a run also `groups.csv` and
        `flow-summary.csv`, of a sweep `rows.csv`; of both `values.csv`, a metric's value a row.

    Raises
    ------
    ResultError
        There are no results, or the files cannot be written.
    """
    directory = Path(directory)
    place = Path(out) if out is not None else directory / "csv"
    tables = tables_of(directory)
    first = next(tables)  # before anything is written
    written = []
    with adding(place) as place_for:
        for name, table in chain([first], tables):
            path = place / f"{name}.csv"
            options = pa_csv.WriteOptions(quoting_style="needed")
            with arrow_file(place_for(path.name), "wb") as stream:
                pa_csv.write_csv(flat(table), stream, options)
            written.append(path)
    return written


def tables_of(directory: Path) -> Iterator[tuple[str, pa.Table]]:
    """Return the tables of a directory with their names."""
    if (directory / DOCUMENT).is_file():
        run = Run.load(directory)
        labels = run.scenario.group_labels
        yield "groups", pa.Table.from_pylist(group_rows(run))
        flows = [{**row, "name": labels[row["group"]]} for row in run.summary["flows"]]
        yield "flow-summary", pa.Table.from_pylist(flows)
        yield from run.tables.items()
        yield "values", long_table(sweep_of_run(run))
    elif (directory / "sweep.json").is_file():
        result = SweepResult.load(directory)
        yield "rows", result.rows
        yield "values", long_table(result)
    elif (directory / "analysis.json").is_file():
        yield from ParquetTables(directory).items()
    else:
        check_directory(directory)
        raise ResultError(
            f"{directory}: holds no results; use a directory that `run`, `sweep` or `analyze` "
            "wrote with --out"
        )


def flat(table: pa.Table) -> pa.Table:
    """Return a table that CSV can hold: enumerations as text, without lists and structs."""
    columns = {}
    for field in table.schema:
        column = table[field.name]
        if pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        if not pa.types.is_nested(field.type):
            columns[field.name] = column
    return pa.table(columns)

"""The metrics of runs and sweeps in long form: a value a row."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.metrics import METRICS
from dumbbell.metrics.metric import AT
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.rows import GROUP_COLUMNS

__all__ = ["long_table"]

#: Of what a run has one value: the group is missing in its rows.
OF_GROUP = ("group", "name", "cc", "flows")


def long_table(result: SweepResult) -> pa.Table:
    """Return a sweep's metrics, a value a row.

    Returns
    -------
    pa.Table
        The columns of `rows` before the metrics, with `group`, `name`, `cc` and `flows` null in
        rows of the whole run; then `metric`, `unit`, in which `value` is, and `value`. Values that
        a run does not have are left out.
    """
    rows = result.rows
    metrics = [name for name in rows.column_names if name.partition(AT)[0] in METRICS]
    kept = [name for name in rows.column_names if name not in metrics]
    parts = []
    for name in metrics:
        metric = METRICS[name.partition(AT)[0]]
        column = rows[name]
        has_value = pc.is_valid(column)
        if not metric.of_groups:  # each group's row repeats it
            has_value = pc.and_(has_value, pc.equal(rows["group"], 0))
        part = rows.select(kept).filter(has_value)
        if not metric.of_groups:
            for each in OF_GROUP:
                if each in GROUP_COLUMNS and each in kept:
                    empty = pa.nulls(part.num_rows, part.schema.field(each).type)
                    part = part.set_column(kept.index(each), each, empty)
        count = part.num_rows
        part = part.append_column("metric", pa.array([name] * count, pa.string()))
        part = part.append_column("unit", pa.array([metric.unit] * count, pa.string()))
        parts.append(part.append_column("value", column.filter(has_value)))
    return pa.concat_tables(parts)

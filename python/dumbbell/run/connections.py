"""The table `connections` of a run: what crossed the path of programs, by its ports."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dumbbell.records.columns import schema_of
from dumbbell.run.columns import COLUMNS, CONNECTIONS

if TYPE_CHECKING:
    import pyarrow as pa

    from dumbbell.run import Run

__all__ = ["connections_of", "connections_schema"]


@functools.cache
def connections_schema() -> pa.Schema:
    """Return the columns of the table."""
    return schema_of(COLUMNS[CONNECTIONS])


def connections_of(run: Run) -> pa.Table | None:
    """Return the connections of a run's programs; None of a run without programs."""
    table = run.tables.get(CONNECTIONS)
    return None if table is None else table.cast(connections_schema())

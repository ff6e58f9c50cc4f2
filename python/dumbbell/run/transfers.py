"""The table `transfers` of a run: a row for each transfer that has an end."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dumbbell.records.columns import schema_of
from dumbbell.run.columns import COLUMNS, TRANSFERS

if TYPE_CHECKING:
    import pyarrow as pa

    from dumbbell.run import Run
    from dumbbell.scenario import Scenario

__all__ = ["has_any_transfer", "has_transfers", "transfers_of", "transfers_schema"]


@functools.cache
def transfers_schema() -> pa.Schema:
    """Return the columns of the table."""
    return schema_of(COLUMNS[TRANSFERS])


def has_transfers(scenario: Scenario) -> bool:
    """Whether an engine reports transfers: some group has an application."""
    return any(not group.traffic.is_bulk for group in scenario.groups)


def transfers_of(run: Run) -> pa.Table | None:
    """Return a run's transfers, those of flows with a size included; None if they are not at hand.

    The engines report flows with a size as flows, not as transfers of an application: each is one,
    from its start to the acknowledgement of its last byte.
    """
    import pyarrow as pa

    table = run.tables.get(TRANSFERS)
    sized = pa.Table.from_pylist(rows_of_sized(run), transfers_schema())
    if table is None:
        return None if has_transfers(run.scenario) else sized
    return pa.concat_tables([table.cast(transfers_schema()), sized])


def has_any_transfer(run: Run) -> bool:
    """Whether `transfers_of` has a row; a run without any does not wait for pyarrow."""
    table = run.tables.get(TRANSFERS)
    if table is None and has_transfers(run.scenario):
        return False
    return bool(table is not None and table.num_rows) or bool(rows_of_sized(run))


def rows_of_sized(run: Run) -> list[dict[str, object]]:
    """Return a row for each flow with a size."""
    sizes = [group.size for group in run.scenario.groups]
    return [
        {
            "group": flow["group"],
            "flow": flow["flow"],
            "connection": flow["flow"],
            "kind": "flow",
            "size_bytes": int(sizes[flow["group"]] or 0),
            "start_us": flow["start_us"],
            "end_us": flow["end_us"] if flow["finished"] else None,
        }
        for flow in run.summary["flows"]
        if sizes[flow["group"]] is not None
    ]

"""The table `transfers` of a run: a row for each transfer that has an end."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dumbbell.base.errors import ResultError

if TYPE_CHECKING:
    import pyarrow as pa

    from dumbbell.run import Run
    from dumbbell.scenario import Scenario

__all__ = [
    "KINDS", "TRANSFERS", "check_transfers", "has_any_transfer", "has_transfers", "transfers_of",
    "transfers_schema",
]  # fmt: skip

#: The table.
TRANSFERS = "transfers"
#: What can be transferred: a connection's bytes, a request with its response, a page, a chunk of
#: video, a burst.
KINDS = ("flow", "request", "page", "chunk", "burst")


@functools.cache
def transfers_schema() -> pa.Schema:
    """Return the columns of the table."""
    import pyarrow as pa  # slow to import

    return pa.schema(
        [
            pa.field("group", pa.uint32(), nullable=False),
            pa.field("flow", pa.uint32(), nullable=False),
            pa.field("connection", pa.uint32(), nullable=False),
            pa.field("kind", pa.string(), nullable=False),
            pa.field("size_bytes", pa.uint64(), nullable=False),
            pa.field("start_us", pa.int64(), nullable=False),
            pa.field("end_us", pa.int64(), nullable=True),
        ]
    )


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


def check_transfers(table: pa.Table, flows: int, groups: int, last_us: int) -> None:
    """Refuse a table that no run has; it may be anyone's.

    Raises
    ------
    ResultError
        It has other columns, or times, flows or groups that the run does not have.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        table = table.cast(transfers_schema())
    except (pa.ArrowException, ValueError):
        raise ResultError("has other columns than transfers have") from None
    if not table.num_rows:
        return
    bounds = (("group", 0, groups - 1), ("flow", 0, flows - 1), ("start_us", 0, last_us),
              ("end_us", 0, last_us))  # fmt: skip
    for name, low, high in bounds:
        column = table[name]
        if name != "end_us" and column.null_count:
            raise ResultError(f"its column `{name}` has gaps")
        ends = pc.min_max(column).as_py()
        if ends["min"] is not None and not low <= ends["min"] <= ends["max"] <= high:
            raise ResultError(f"its column `{name}` has values that the run cannot have")
    if pc.any(pc.less(table["end_us"], table["start_us"])).as_py():
        raise ResultError("transfers end before they begin")
    if not pc.all(pc.is_in(table["kind"], pa.array(KINDS))).as_py():
        raise ResultError(f"its kinds are not among {', '.join(KINDS)}")

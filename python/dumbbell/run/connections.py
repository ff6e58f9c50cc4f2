"""The table `connections` of a run: what crossed the path of programs, by its ports."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from dumbbell.base.errors import ResultError

if TYPE_CHECKING:
    import pyarrow as pa

    from dumbbell.run import Run

__all__ = ["CONNECTIONS", "check_connections", "connections_of", "connections_schema"]

#: The table.
CONNECTIONS = "connections"
#: What a connection can be; `other`: all packets of a group that have no ports.
PROTOCOLS = ("tcp", "udp", "other")


@functools.cache
def connections_schema() -> pa.Schema:
    """Return the columns of the table."""
    import pyarrow as pa  # slow to import

    return pa.schema(
        [
            pa.field("group", pa.uint32(), nullable=False),
            pa.field("protocol", pa.string(), nullable=False),
            pa.field("server", pa.string()),
            pa.field("client", pa.string()),
            *(
                pa.field(f"{way}_{what}", pa.uint64(), nullable=False)
                for way in ("down", "up")
                for what in ("pkts", "bytes", "dropped_pkts", "marked_pkts")
            ),
            pa.field("first_us", pa.int64(), nullable=False),
            pa.field("last_us", pa.int64(), nullable=False),
        ]
    )


def connections_of(run: Run) -> pa.Table | None:
    """Return the connections of a run's programs; None of a run without programs."""
    table = run.tables.get(CONNECTIONS)
    return None if table is None else table.cast(connections_schema())


def check_connections(table: pa.Table, groups: int, last_us: int) -> None:
    """Refuse a table that no run has; it may be anyone's.

    Raises
    ------
    ResultError
        It has other columns, or times, groups or addresses that the run does not have.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        table = table.cast(connections_schema())
    except (pa.ArrowException, ValueError):
        raise ResultError("has other columns than connections have") from None
    if not table.num_rows:
        return
    check_values(table, groups, last_us)
    if pc.any(pc.less(table["last_us"], table["first_us"])).as_py():
        raise ResultError("connections end before they begin")
    if not pc.all(pc.is_in(table["protocol"], pa.array(PROTOCOLS))).as_py():
        raise ResultError(f"its protocols are not among {', '.join(PROTOCOLS)}")
    for name in ("server", "client"):
        is_address = pc.match_substring_regex(table[name], r"^[0-9a-f.:\[\]]{1,60}$")
        if not pc.all(pc.fill_null(is_address, fill_value=True)).as_py():
            raise ResultError(f"its column `{name}` has what is not an address")


def check_values(table: pa.Table, groups: int, last_us: int) -> None:
    """Refuse gaps, and numbers that the run does not have."""
    import pyarrow.compute as pc

    for field in connections_schema():
        if not field.nullable and table[field.name].null_count:
            raise ResultError(f"its column `{field.name}` has gaps")
    for name, high in (("group", groups - 1), ("first_us", last_us), ("last_us", last_us)):
        ends = pc.min_max(table[name]).as_py()
        if not 0 <= ends["min"] <= ends["max"] <= high:
            raise ResultError(f"its column `{name}` has values that the run cannot have")

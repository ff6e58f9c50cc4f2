"""The table of programs' connections, which may be anyone's when it is read from a directory."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dumbbell.records.check import Unexpected
from dumbbell.run.columns import CONNECTIONS, check_table
from dumbbell.run.connections import connections_schema

LAST_US = 1_000_000
EXTENT = {"group": 1, "time": LAST_US}

ROW: dict[str, Any] = {
    "group": 1,
    "protocol": "udp",
    "server": "[fd64:756d:6262::a00:101]:443",
    "client": "[fd64:756d:6262::a00:102]:50000",
    **{name: 3 for name in connections_schema().names if name.startswith(("down_", "up_"))},
    "first_us": 0,
    "last_us": LAST_US,
}
REST = {**ROW, "protocol": "other", "server": None, "client": None}


def table(**changes: object) -> pa.Table:
    """Return the two rows, with another value in the first one."""
    return pa.Table.from_pylist([{**ROW, **changes}, REST], connections_schema())


def check(connections: pa.Table) -> None:
    check_table(CONNECTIONS, connections, EXTENT)


def test_a_table_of_the_engine_is_accepted() -> None:
    check(table())
    check(table(server="10.0.1.1:80", protocol="tcp"))
    check(table().slice(0, 0))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"group": 2}, "its column `group` has values that the run cannot have"),
        ({"last_us": LAST_US + 1}, "its column `last_us` has values that the run cannot have"),
        (
            {"first_us": 9, "last_us": 8},
            "column `last_us` has values below those of `first_us`",
        ),
        ({"protocol": "sctp"}, "its column `protocol` has `sctp`, which no run has"),
        ({"server": "\x1b[31m"}, "its column `server` has values that the run cannot have"),
    ],
)
def test_what_no_run_has_is_refused(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(Unexpected, match=reason):
        check(table(**changes))


def test_other_columns_and_gaps_are_refused() -> None:
    with pytest.raises(Unexpected, match="has no column `client`"):
        check(table().drop_columns(["client"]))
    nullable = pa.schema([field.with_nullable(True) for field in connections_schema()])
    gaps = pa.Table.from_pylist([{**ROW, "up_pkts": None}], nullable)
    with pytest.raises(Unexpected, match="its column `up_pkts` has gaps"):
        check(gaps)

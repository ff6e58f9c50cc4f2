"""The tables of a run: each column is declared once, for files and for engines in a sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dumbbell.records.columns import LABEL, TEXT, Column, Extent, conform
from dumbbell.run.links import BOTTLENECK

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BY_GROUP", "COLUMNS", "CONNECTIONS", "KINDS", "STATE", "TRANSFERS", "check_table", "extent_of",
    "kind_of",
]  # fmt: skip

#: Tables: what waits of each group, of runs with several; transfers of applications; connections of
#: programs; a congestion control algorithm's own state, of whose name it is the beginning.
BY_GROUP, TRANSFERS, CONNECTIONS, STATE = "queue_by_group", "transfers", "connections", "state"
#: What can be transferred: a connection's bytes, a request with its response, a page, a chunk of
#: video, a burst.
KINDS = ("flow", "request", "page", "chunk", "burst")
#: What a connection can be; `other`: all packets of a group that have no ports.
PROTOCOLS = ("tcp", "udp", "other")
#: The address and port of a connection's end.
ADDRESS = r"^[0-9a-f.:\[\]]{1,60}$"
#: Linux's `enum tcp_ca_state`.
CA_STATES = ("open", "disorder", "cwr", "recovery", "loss")

TIME = Column("int64", of="time", is_ordered=True)
FLOW, GROUP = Column("uint32", of="flow"), Column("uint32", of="group")
#: Results of the first versions had one link.
LINK = Column(LABEL, of="link", may_be_absent=True)
COUNT, LARGE = Column("uint32"), Column("uint64")
SOME, SOME_LARGE = Column("uint32", has_gaps=True), Column("uint64", has_gaps=True)

#: Columns of the tables; a state table goes on with the series that the algorithm declares, and
#: `queue` with the statistics of the disciplines.
COLUMNS: Mapping[str, Mapping[str, Column]] = {
    "flows": {
        "time_us": TIME, "flow": FLOW, "cwnd_pkts": SOME, "ssthresh_pkts": SOME,
        "inflight_pkts": SOME, "outstanding_pkts": SOME, "srtt_us": COUNT, "rtt_us": SOME,
        "min_rtt_us": COUNT, "delivery_rate_bps": LARGE, "goodput_bps": LARGE,
        "pacing_rate_bps": SOME_LARGE, "retransmitted_pkts": COUNT, "lost_pkts": SOME,
        "ca_state": Column(LABEL, words=CA_STATES),
    },
    "queue": {
        "time_us": TIME, "backlog_bytes": LARGE, "backlog_pkts": COUNT, "sojourn_us": SOME,
        "forwarded_pkts": LARGE, "dropped_pkts": LARGE, "link": LINK,
    },
    BY_GROUP: {"time_us": TIME, "group": GROUP, "backlog_bytes": LARGE, "link": LINK},
    TRANSFERS: {
        "group": GROUP, "flow": FLOW, "connection": COUNT, "kind": Column(LABEL, words=KINDS),
        "size_bytes": LARGE, "start_us": Column("int64", of="time"),
        "end_us": Column("int64", of="time", has_gaps=True, after="start_us"),
    },
    CONNECTIONS: {
        "group": GROUP, "protocol": Column(LABEL, words=PROTOCOLS),
        "server": Column(TEXT, has_gaps=True, pattern=ADDRESS),
        "client": Column(TEXT, has_gaps=True, pattern=ADDRESS),
        **{
            f"{way}_{what}": LARGE
            for way in ("down", "up")
            for what in ("pkts", "bytes", "dropped_pkts", "marked_pkts")
        },
        "first_us": Column("int64", of="time"),
        "last_us": Column("int64", of="time", after="first_us"),
    },
    STATE: {"time_us": TIME, "flow": FLOW},
}  # fmt: skip


def kind_of(table: str) -> str:
    """Return the key of a table in `COLUMNS`: ``state`` of ``state-0-copa``."""
    return STATE if table.startswith(f"{STATE}-") else table


def extent_of(document: Mapping[str, Any]) -> Extent:
    """Return what the rows of a run's tables may refer to, by its document or summary."""
    links = document.get("links") or [{"name": BOTTLENECK}]
    groups = document.get("congestion_controls", document.get("groups", ()))
    return {
        "time": -(-document["duration_ns"] // 1000),
        "flow": len(document["flows"]) - 1,
        "group": len(groups) - 1,
        "link": [link["name"] for link in links],
    }


def check_table(name: str, table: pa.Table, extent: Extent) -> pa.Table:
    """Return a table of a run in its declared types; one that no version has is returned as it is.

    Raises
    ------
    Unexpected
        It is not one that a run of this extent has.
    """
    columns = COLUMNS.get(kind_of(name))
    return table if columns is None else conform(table, columns, extent)

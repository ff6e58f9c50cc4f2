"""Which of the points that saw a connection tells most of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["all_views", "best_views"]

#: By what a point can know of data that passes it: at the sender everything; in the middle the
#: losses behind it; at the receiver neither the RTT nor what was lost before.
RANK = {"sender": 0, "middle": 1, "unknown": 2, "receiver": 3}
COLUMNS = ["connection", "point", "is_initiator", "vantage", "payload_bytes", "pkts"]


def best_views(connections: pa.Table) -> pa.Table:
    """Choose the best point of each connection.

    Parameters
    ----------
    connections
        A row per point, connection and direction.

    Returns
    -------
    pyarrow.Table
        The rows of the best point, with a column more, `is_data`: whether this is the direction
        that carried more payload. It comes first of the two.
    """
    frame = views(connections)
    frame["rank"] = frame["vantage"].map(RANK).fillna(len(RANK)).astype(int)
    seen = frame[frame["is_data"]].sort_values(
        ["connection", "rank", "pkts", "row"], ascending=[True, True, False, True]
    )
    best = seen.drop_duplicates("connection")[["connection", "point"]]
    kept = frame.merge(best, on=["connection", "point"])
    kept = kept.sort_values(["connection", "is_data", "row"], ascending=[True, False, True])
    return rows_of(connections, kept)


def all_views(connections: pa.Table) -> pa.Table:
    """Put the data's direction first at every point of each connection.

    Parameters
    ----------
    connections
        A row per point, connection and direction.

    Returns
    -------
    pyarrow.Table
        Every row, by connection and then by point in the table's order, with `is_data`.
    """
    frame = views(connections)
    frame["view"] = frame.groupby(["connection", "point"])["row"].transform("min")
    order = ["connection", "view", "is_data", "row"]
    return rows_of(connections, frame.sort_values(order, ascending=[True, True, False, True]))


def views(connections: pa.Table) -> pd.DataFrame:
    """Return what points are chosen and ordered by, with each row's number and `is_data`."""
    frame: pd.DataFrame = connections.select(COLUMNS).to_pandas()
    frame["row"] = np.arange(len(frame))
    frame["is_data"] = data_direction(frame)
    return frame


def rows_of(connections: pa.Table, frame: pd.DataFrame) -> pa.Table:
    """Return the rows that a frame names, in its order, with `is_data`."""
    rows = connections.take(pa.array(frame["row"].to_numpy(), type=pa.int64()))
    return rows.append_column("is_data", pa.array(frame["is_data"].to_numpy(), type=pa.bool_()))


def data_direction(frame: pd.DataFrame) -> pd.Series[bool]:
    """Tell for each row whether its direction carried more of the connection's payload.

    By the most that any point saw; with equal amounts it is the initiator's.
    """
    forward, backward = (
        frame["connection"].map(rows.groupby("connection")["payload_bytes"].max()).fillna(-1)
        for rows in (frame[frame["is_initiator"]], frame[~frame["is_initiator"]])
    )
    return (forward >= backward) == frame["is_initiator"]

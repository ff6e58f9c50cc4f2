"""The capture point that shows most of a connection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["all_views", "best_views"]

Integers = npt.NDArray[np.int64]

#: By what can be inferred at a point: at the sender everything; in the middle the losses behind it;
#: at the receiver neither the RTT nor earlier losses.
RANK = {"sender": 0, "middle": 1, "unknown": 2, "receiver": 3}


def best_views(connections: pa.Table) -> pa.Table:
    """Choose the best point of each connection.

    Parameters
    ----------
    connections
        A row per point, connection and direction.

    Returns
    -------
    pyarrow.Table
        The rows of the best point, with a column `is_data`: whether this is the direction that
        carried more payload. It is the first of the two.
    """
    views = Views.of(connections)
    rank = np.array([RANK.get(place, len(RANK)) for place in connections["vantage"].to_pylist()])
    pkts = connections["pkts"].to_numpy().astype(np.int64)
    # Of a connection without data nothing is inferred. At its initiator the handshake's RTT is that
    # of the whole path, and at the host that refuses it that of the host alone.
    handshake_us = pc.fill_null(connections["rtt_handshake_us"], 0).to_numpy()
    # The first row of each connection is then one of its best point.
    order = np.lexsort((views.row, -handshake_us, -pkts, rank, ~views.is_data, views.connection))
    _, first = np.unique(views.connection[order], return_index=True)
    best_point = views.point[order[first]]
    kept = np.flatnonzero(views.point == best_point[views.connection])
    return views.rows(kept[np.lexsort((kept, ~views.is_data[kept], views.connection[kept]))])


def all_views(connections: pa.Table) -> pa.Table:
    """Return the rows of every point, the direction of the data first.

    Parameters
    ----------
    connections
        A row per point, connection and direction.

    Returns
    -------
    pyarrow.Table
        Every row, by connection and then by point in the table's order, with `is_data`.
    """
    views = Views.of(connections)
    pairs = np.stack([views.connection, views.point])
    _, first, view = np.unique(pairs, axis=1, return_index=True, return_inverse=True)
    return views.rows(
        np.lexsort((views.row, ~views.is_data, first[view.ravel()], views.connection))
    )


@dataclass(frozen=True)
class Views:
    """Keys by which rows of connections are selected and sorted."""

    connections: pa.Table
    #: Numbers from 0, in the order of the connections' own numbers and the points' names.
    connection: Integers
    point: Integers
    is_data: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, connections: pa.Table) -> Views:
        """Number the connections and points, and find the data's direction.

        It is the direction whose payload is larger at the point that saw most of it; with equal
        amounts it is the initiator's.
        """
        connection, point = (
            np.unique(connections[column].to_numpy(), return_inverse=True)[1]
            for column in ("connection", "point")
        )
        is_initiator = connections["is_initiator"].to_numpy()
        payload = connections["payload_bytes"].to_numpy().astype(np.int64)
        most = np.full((connection.max(initial=-1) + 1, 2), -1, dtype=np.int64)
        np.maximum.at(most, (connection, is_initiator.astype(np.int64)), payload)
        forward_is_data = most[connection, 1] >= most[connection, 0]
        return cls(connections, connection, point, forward_is_data == is_initiator)

    @property
    def row(self) -> Integers:
        """The number of each row."""
        return np.arange(len(self.is_data), dtype=np.int64)

    def rows(self, chosen: Integers) -> pa.Table:
        """Return these rows, in this order, with `is_data`."""
        rows = self.connections.take(pa.array(chosen, type=pa.int64()))
        return rows.append_column("is_data", pa.array(self.is_data[chosen], type=pa.bool_()))

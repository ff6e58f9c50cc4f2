"""The rate of the bottleneck from the spacing of ACKs, also where others use it.

Packets that follow one another through a link leave it at its rate, and their ACKs arrive so far
apart (Keshav 1991, Dovrolis et al. 2001). Other traffic between them only adds to that.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.fit.connection_series import ConnectionSeries, Floats

__all__ = ["link_rate_bps", "trains"]

#: ACKs are compared over at least this, s: hosts are late by some tens of microseconds.
LEAST_S = 3e-4
#: Packets in it, at least, and the trains that a measurement takes.
LEAST_PKTS, LEAST_TRAINS = 2, 20
#: An ACK of more packets than this repairs a loss, and says nothing of when they arrived.
MOST_PKTS = 8
#: Of the trains, in %: without others all have the link's rate, next to others those of bursts.
QUANTILE = 90


def link_rate_bps(rates: Floats, series: ConnectionSeries) -> float:
    """Return the rate on the wire, bit/s; 0 if too few ACKs follow one another.

    Parameters
    ----------
    rates
        Of trains of ACKs, as `trains` returns them.
    series
        The same connection.
    """
    if rates.size < LEAST_TRAINS:
        return 0.0
    return 8 * float(np.percentile(rates, QUANTILE)) * series.wire_per_payload


def trains(segments: pa.Table, series: ConnectionSeries) -> tuple[Floats, Floats]:
    """Return when trains of ACKs began, s since the first bin, and how fast they were, bytes/s.

    Parameters
    ----------
    segments
        Of the connection, both directions, as `Analysis.segments_of` has them.
    series
        The same connection.
    """
    nothing = np.zeros(0), np.zeros(0)
    is_back = pc.not_equal(segments["is_initiator"], series.row["is_initiator"])
    acks = segments.filter(pc.and_(is_back, pc.not_equal(segments["kind"], "sack")))
    time_s = acks["time_us"].to_numpy(zero_copy_only=False).astype(np.float64) / 1e6
    numbers = acks["ack"].to_numpy(zero_copy_only=False).astype(np.float64)
    if numbers.size == 0:
        return nothing
    acked = np.maximum.accumulate(np.nan_to_num(numbers))
    advance = np.diff(acked, prepend=acked[0])
    is_new = advance > 0
    time_s, acked, advance = time_s[is_new], acked[is_new], advance[is_new]
    ends = np.searchsorted(time_s, time_s + LEAST_S)
    begins = np.flatnonzero(ends < time_s.size)
    ends = ends[begins]
    repairs = np.cumsum(advance > MOST_PKTS * series.payload_bytes)
    sent = acked[ends] - acked[begins]
    good = (repairs[ends] == repairs[begins]) & (sent >= LEAST_PKTS * series.payload_bytes)
    rates = sent[good] / (time_s[ends] - time_s[begins])[good]
    return time_s[begins][good] - series.start_s, rates

"""How much the RTT changes from sample to sample: a queue moves it by a packet, jitter by more."""

from __future__ import annotations

import numpy as np

from dumbbell.fit.connection_series import ConnectionSeries

__all__ = ["noise_s"]

#: Samples of the RTT further apart than this, s and packets, are not neighbours.
NEAR_S, NEAR_PKTS = 5e-3, 6.0
#: Fewer triples of neighbours say nothing.
LEAST_TRIPLES = 50


def noise_s(series: ConnectionSeries, packet_s: float) -> float:
    """Return by how much neighbouring samples of the RTT are off a straight line: the median.

    Parameters
    ----------
    series
        Of the connection.
    packet_s
        A full packet's own time on the link.
    """
    time_s, rtt_s = series.rtt_time_s, series.rtt_s
    if rtt_s.size < 3:
        return 0.0
    is_near = time_s[2:] - time_s[:-2] <= max(NEAR_S, NEAR_PKTS * packet_s)
    off = np.abs(rtt_s[2:] - 2 * rtt_s[1:-1] + rtt_s[:-2])[is_near]
    return float(np.median(off)) if off.size >= LEAST_TRIPLES else 0.0

"""The RTT of a QUIC connection by its spin bit (RFC 9000 §17.4), which changes once a round trip.

A receiver answers with its next packet, so a sample is too long by at most what an ACK waits for.
Where the bit is not used it is constant or random (§17.4): then there is no RTT.
"""

from __future__ import annotations

import numpy as np

from dumbbell.identify.floats import Floats
from dumbbell.identify.grid import Grid

__all__ = ["spin_rtt_s"]

#: Samples that a flow must have.
LEAST_SAMPLES = 8
#: Shorter than this share of the handshake's RTT is reordering, or a random bit.
LEAST_SHARE = 0.5
#: Samples follow each other without a gap: together they last this share of the flow at least.
LEAST_COVERED = 0.5


def spin_rtt_s(grid: Grid, handshake_s: float) -> Floats | None:
    """Return the RTT at each point of a grid, None where the bit does not show it.

    Parameters
    ----------
    grid
        Of the flow.
    handshake_s
        RTT of the handshake.
    """
    values = grid.bins["spin_rtt_us"] * 1e-6
    with np.errstate(invalid="ignore"):
        usable = values >= LEAST_SHARE * handshake_s
    found = values[usable]
    covered_s = float(np.maximum(found, grid.step_s).sum())  # a bin may hold several
    if len(found) < LEAST_SAMPLES or covered_s < LEAST_COVERED * grid.count * grid.step_s:
        return None
    if usable.sum() < np.count_nonzero(~np.isnan(values)) / 2:
        return None
    places = np.concatenate(([0], grid.places[usable]))
    rtts = np.concatenate(([handshake_s], found))
    rtt_s: Floats = np.interp(np.arange(grid.count), places, rtts)
    return rtt_s

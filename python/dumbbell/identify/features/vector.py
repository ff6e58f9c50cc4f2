"""All features of a trace."""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np

from dumbbell.identify.features import (
    falls,
    growth,
    loss_response,
    queueing,
    recovery,
    rhythm,
    shape,
    startup,
)
from dumbbell.identify.floats import Floats
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = ["FEATURES", "GROUPS", "VANTAGES", "bdp_of", "features_of"]

#: Where a trace was captured, as a number.
VANTAGES = ("sender", "middle", "receiver", "unknown")
#: Features of no module.
OF_CAPTURE = ("vantage", "duration_s", "step_over_rtt")
MODULES = (loss_response, growth, queueing, rhythm, startup, falls, recovery, shape)
FEATURES = (*OF_CAPTURE, *(name for module in MODULES for name in module.NAMES))
#: Places of each module's features.
GROUPS = tuple(
    tuple(range(first, end))
    for first, end in pairwise(
        accumulate((len(module.NAMES) for module in MODULES), initial=len(OF_CAPTURE))
    )
)


def features_of(trace: Trace, rounds: Rounds, *, is_from_start: bool) -> Floats:
    """Return the numbers that `FEATURES` names; NaN where the trace has none.

    Parameters
    ----------
    trace, rounds
        Of one flow.
    is_from_start
        Whether the capture has the connection's start.
    """
    rate_pkts_s, bdp_pkts = bdp_of(trace, rounds)
    with np.errstate(all="ignore"):
        values = [
            float(VANTAGES.index(place_of(trace))),
            trace.duration_s,
            trace.step_s / trace.base_rtt_s,
            *loss_response.loss_response(trace, rounds, bdp_pkts),
            *growth.growth(trace, rounds),
            *queueing.queueing(trace, rounds, bdp_pkts, rate_pkts_s),
            *rhythm.rhythm(trace),
            *startup.startup(trace, rounds, bdp_pkts, is_from_start=is_from_start),
            *falls.falls(trace, rounds),
            *recovery.recovery(rounds),
            *shape.shape(trace, rounds, bdp_pkts),
        ]
    found = np.array(values, dtype=np.float64)
    found[~np.isfinite(found)] = np.nan
    return found


def place_of(trace: Trace) -> str:
    """Return the vantage whose trees judge a trace; an estimate at a sender has none of its own."""
    if not trace.is_estimated:
        return "sender"
    return "unknown" if trace.vantage == "sender" else trace.vantage


def bdp_of(trace: Trace, rounds: Rounds) -> tuple[float, float]:
    """Return the flow's usual highest delivery rate, packets/s, and that times the base RTT."""
    rates = rounds.delivered_pkts / (rounds.per_rtt * rounds.rtt_s)
    rate = max(float(np.quantile(rates, 0.95)), 1e-3)
    return rate, max(rate * trace.base_rtt_s, 1.0)

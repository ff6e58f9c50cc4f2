"""What the sender leaves in queues, and how that changes what it does."""

from __future__ import annotations

import numpy as np

from dumbbell.identify.features.summary import quantiles
from dumbbell.identify.floats import Floats
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = ["NAMES", "queueing"]

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
NAMES = (
    *(f"queued_pkts_q{100 * level:.0f}" for level in LEVELS),
    *(f"rtt_over_base_q{100 * level:.0f}" for level in LEVELS),
    *(f"queued_ms_q{100 * level:.0f}" for level in LEVELS),
    *(f"inflight_over_bdp_q{100 * level:.0f}" for level in LEVELS),
    "growth_against_queue", "growth_against_rise", "falls_without_loss", "fall_without_loss_keeps",
    "base_rtt_ms", "bdp_pkts", "rate_pkts_s", "window_spread", "rtt_spread", "rate_spread",
    "ect_share", "ce_share", "accurate_ecn", "largest_rtt_over_base",
)  # fmt: skip
#: A fall of the window to below this in two rounds, without a loss, is a decision.
FALL = 0.85


def queueing(trace: Trace, rounds: Rounds, bdp_pkts: float, rate_pkts_s: float) -> list[float]:
    """Return the features that `NAMES` lists."""
    skip = min(len(rounds) // 10, 20)
    window, rtt_s = rounds.window_pkts[skip:], rounds.rtt_s[skip:]
    over = np.maximum(rtt_s / trace.base_rtt_s, 1.0)
    queued = window * (1.0 - 1.0 / over)
    rates = rounds.delivered_pkts[skip:] / (rounds.per_rtt[skip:] * rtt_s)
    lost = rounds.lost_pkts[skip:] > 0
    near_loss = np.convolve(lost, np.ones(7))[3 : 3 + len(lost)] > 0
    grown = np.diff(window) / np.maximum(window[:-1], 1.0)
    rise = np.diff(over)
    calm = ~near_loss[:-1]
    ratio = window[2:] / np.maximum(window[:-2], 1.0) if len(window) > 2 else np.zeros(0)
    falls = (ratio < FALL) & ~near_loss[2:] if len(window) > 2 else np.zeros(0, dtype=bool)
    return [
        *quantiles(queued, LEVELS),
        *quantiles(over, LEVELS),
        *quantiles(1e3 * (rtt_s - trace.base_rtt_s), LEVELS),
        *quantiles(window / bdp_pkts, LEVELS),
        correlation(grown[calm], over[:-1][calm]),
        correlation(grown[1:][calm[1:]], rise[:-1][calm[1:]]),
        float(falls.mean()) if len(falls) else float("nan"),
        float(np.median(ratio[falls])) if falls.any() else float("nan"),
        1e3 * trace.base_rtt_s,
        bdp_pkts,
        rate_pkts_s,
        spread(window),
        spread(rtt_s),
        spread(rates),
        trace.ect_share,
        trace.ce_share,
        float(trace.has_accurate_ecn),
        float(over.max()),
    ]


def correlation(first: Floats, second: Floats) -> float:
    """Return Pearson's coefficient; NaN where nothing varies."""
    if len(first) < 8 or first.std() == 0 or second.std() == 0:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def spread(values: Floats) -> float:
    """Return the standard deviation over the mean."""
    mean = float(values.mean())
    return float(values.std()) / mean if mean > 0 else float("nan")

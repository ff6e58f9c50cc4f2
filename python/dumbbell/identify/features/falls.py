"""Falls of the window without a loss: how far, how often, and with what queue."""

from __future__ import annotations

import numpy as np

from dumbbell.identify.features.summary import median, quantiles
from dumbbell.identify.floats import Floats
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = ["NAMES", "falls"]

NAMES = (
    "falls_per_100_rounds", "fall_keeps_q25", "fall_keeps_q50", "fall_keeps_q75",
    "fall_interval_rounds", "fall_queue", "fall_queue_spread",
)  # fmt: skip
#: Less of a change is none, nor is one of a smaller window.
LEAST_FALL, LEAST_PKTS = 0.97, 4.0
#: Rounds about a loss that are its own; at the start slow start's, at most one in ten.
ABOUT_LOSS, AT_START, SHARE_AT_START = 9, 20, 10


def falls(trace: Trace, rounds: Rounds) -> list[float]:
    """Return the features that `NAMES` lists; NaN where the window never falls."""
    over = rounds.rtt_s / trace.base_rtt_s
    found = falls_of(rounds)
    kept = np.array([
        rounds.window_pkts[end] / rounds.window_pkts[start] for start, end in found
    ])  # fmt: skip
    starts = np.array([start for start, _ in found], dtype=np.float64)
    queue = np.array([over[max(start - 1, 0) : start + 1].max() for start, _ in found])
    return [
        100.0 * len(found) / len(rounds),
        *quantiles(kept, (0.25, 0.5, 0.75)),
        median(np.diff(starts)),
        median(queue),
        spread(queue),
    ]


def falls_of(rounds: Rounds) -> list[tuple[int, int]]:
    """Return the rounds before and after each fall of the window that follows no loss."""
    window, count = rounds.window_pkts, len(rounds)
    half = ABOUT_LOSS // 2
    near_loss = np.convolve(rounds.lost_pkts > 0, np.ones(ABOUT_LOSS))[half : half + count] > 0
    skip = min(count // SHARE_AT_START, AT_START)
    falling = np.diff(window)[skip:] < 0
    change = np.diff(np.concatenate(([0], falling.astype(np.int8), [0])))
    starts, ends = skip + np.flatnonzero(change > 0), skip + np.flatnonzero(change < 0)
    lost = np.concatenate(([0], np.cumsum(near_loss)))
    is_fall = (window[ends] < LEAST_FALL * window[starts]) & (window[starts] >= LEAST_PKTS)
    is_fall &= lost[ends + 1] == lost[starts]
    return list(zip(starts[is_fall].tolist(), ends[is_fall].tolist(), strict=True))


def spread(values: Floats) -> float:
    """Return the standard deviation; NaN of fewer than three."""
    return float(values.std()) if len(values) > 2 else float("nan")

"""How a flow begins: the growth of slow start, and how it ends."""

from __future__ import annotations

import numpy as np

from dumbbell.identify.rounds import Rounds, slow_start_end
from dumbbell.identify.trace import Trace

__all__ = ["NAMES", "startup"]

NAMES = (
    "startup_rounds", "startup_s", "startup_growth", "startup_peak_over_bdp",
    "startup_ends_in_loss", "startup_queue", "drain_keeps", "after_startup_over_bdp",
    "startup_lost_share", "second_half_window",
)  # fmt: skip
#: Rounds after its peak in which a sender drains its queue.
DRAIN_ROUNDS = 8


def startup(trace: Trace, rounds: Rounds, bdp_pkts: float, *, is_from_start: bool) -> list[float]:
    """Return the features that `NAMES` lists; NaN where the capture began later."""
    window = rounds.window_pkts
    half = len(window) // 2
    relative = float(np.median(window[half:]) / max(np.median(window[:half]), 1.0))
    if not is_from_start or len(window) < 6:
        return [float("nan")] * (len(NAMES) - 1) + [relative]
    ratio = window[1:] / np.maximum(window[:-1], 1.0)
    first_loss = rounds.losses[0][0] if rounds.losses else len(window)
    end = min(slow_start_end(window), first_loss, len(window) - 1)
    end = max(end, 1)
    stop = min(end + DRAIN_ROUNDS, len(window))
    peak = float(window[: end + 1].max())
    growth = float(np.median(ratio[1:end])) if end > 2 else float("nan")
    return [
        float(end),
        float(rounds.time_s[end]),
        growth,
        peak / bdp_pkts,
        float(first_loss <= end + 2),
        float(rounds.rtt_s[max(end - 1, 0) : end + 2].max() / trace.base_rtt_s),
        float(rounds.mean_pkts[end:stop].min() / max(peak, 1.0)),
        float(window[stop - 1] / bdp_pkts),
        float(rounds.lost_pkts[:stop].sum() / max(rounds.lost_pkts.sum(), 1.0)),
        relative,
    ]

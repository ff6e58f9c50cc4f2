"""What follows a loss until the window grows slowly: how low it is, and whether it doubles."""

from __future__ import annotations

import numpy as np

from dumbbell.identify.features.summary import median
from dumbbell.identify.rounds import Rounds

__all__ = ["NAMES", "recovery"]

NAMES = (
    "recovery_growth", "recovery_least", "recovery_rounds", "recovery_to",
    "first_recovery_growth", "first_recovery_least", "first_recovery_rounds",
)  # fmt: skip
#: Rounds after a loss that are looked at, and the fewest.
ROUNDS, LEAST_ROUNDS = 15, 4
#: Growth by more than this in a round is not that of congestion avoidance.
FAST = 1.15


def recovery(rounds: Rounds) -> list[float]:
    """Return the features that `NAMES` lists; NaN without losses."""
    window = rounds.window_pkts
    found = []
    for number, (first, last) in enumerate(rounds.losses):
        is_last = number + 1 == len(rounds.losses)
        end = len(rounds) if is_last else rounds.losses[number + 1][0]
        after = window[last + 1 : min(last + 1 + ROUNDS, end)]
        if len(after) < LEAST_ROUNDS:
            found.append((float("nan"),) * 4)
            continue
        before = max(float(window[max(first - 2, 0) : first + 1].max()), 1.0)
        lowest = int(np.argmin(after))
        rising = after[lowest:]
        ratio = rising[1:] / np.maximum(rising[:-1], 1.0)
        fast = np.flatnonzero(ratio > FAST)
        stop = int(fast[-1]) + 1 if len(fast) else 0
        found.append((
            float(ratio.max()) if len(ratio) else float("nan"),
            float(after[lowest]) / before,
            float(stop),
            float(rising[stop]) / before,
        ))  # fmt: skip
    first_loss = found[0] if found else (float("nan"),) * 4
    later = np.array(found[1:]).reshape(-1, 4).T
    return [*(median(column[~np.isnan(column)]) for column in later), *first_loss[:3]]

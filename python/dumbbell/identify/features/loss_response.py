"""What the sender does after a loss."""

from __future__ import annotations

import numpy as np

from dumbbell.identify.features.summary import median, quantiles
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = ["NAMES", "loss_response"]

NAMES = (
    "losses", "loss_rate", "losses_per_100_rounds", "epoch_s", "epoch_rounds", "epoch_s_spread",
    "keeps_q10", "keeps_q25", "keeps_q50", "keeps_q75", "keeps_q90", "least_kept_q50",
    "keeps_if_queued", "keeps_if_not_queued", "kept_rate", "first_keeps", "lost_at_once",
    "floor_kept", "after_over_bdp", "before_over_bdp",
)  # fmt: skip
#: A queue of this much of the base RTT counts as one, in a comparison of losses with and without.
QUEUED = 0.2


def loss_response(trace: Trace, rounds: Rounds, bdp_pkts: float) -> list[float]:
    """Return the features that `NAMES` lists."""
    epochs = [
        epoch for epoch in rounds.epochs if epoch.follows_loss and epoch.end - epoch.start >= 3
    ]
    # The first loss ends slow start, often with hundreds of packets: not like the others.
    later = [epoch for epoch in epochs if epoch.loss != rounds.losses[0][0]] if epochs else []
    kept = np.array([epoch.after_pkts / max(epoch.before_pkts, 1.0) for epoch in later])
    least = np.array([
        rounds.mean_pkts[epoch.loss : epoch.start + 2].min() / max(epoch.before_pkts, 1.0)
        for epoch in later
    ])  # fmt: skip
    full_s = np.array([
        rounds.rtt_s[max(epoch.loss - 2, 0) : epoch.loss + 1].max() for epoch in later
    ])  # fmt: skip
    queued = full_s > (1 + QUEUED) * trace.base_rtt_s
    rates = rounds.delivered_pkts / (rounds.per_rtt * rounds.rtt_s)
    rate_before = np.array([
        rates[max(epoch.loss - 3, 0) : epoch.loss + 1].mean() for epoch in later
    ])  # fmt: skip
    rate_after = np.array([rates[epoch.start : epoch.start + 3].mean() for epoch in later])
    kept_rate = rate_after / np.maximum(rate_before, 1e-9)
    starts = np.array([first for first, _ in rounds.losses], dtype=np.int64)
    gaps_s = np.diff(rounds.time_s[starts]) if len(starts) > 1 else np.zeros(0)
    lost = np.array([
        rounds.lost_pkts[first : last + 1].sum() for first, last in rounds.losses[1:]
    ])  # fmt: skip
    before = np.array([epoch.before_pkts for epoch in later])
    after = np.array([epoch.after_pkts for epoch in later])
    first = epochs[0] if epochs and epochs[0].loss == rounds.losses[0][0] else None
    count = len(rounds)
    return [
        float(len(rounds.losses)),
        float(rounds.lost_pkts.sum() / max(rounds.sent_pkts.sum(), 1.0)),
        100.0 * len(rounds.losses) / count,
        median(gaps_s),
        median(np.diff(starts).astype(np.float64)),
        float(gaps_s.std() / gaps_s.mean()) if len(gaps_s) > 1 else float("nan"),
        *quantiles(kept, (0.1, 0.25, 0.5, 0.75, 0.9)),
        median(least),
        median(kept[queued]) if len(kept) else float("nan"),
        median(kept[~queued]) if len(kept) else float("nan"),
        median(kept_rate),
        first.after_pkts / max(first.before_pkts, 1.0) if first else float("nan"),
        median(lost / np.maximum(before[: len(lost)].mean() if len(before) else 1.0, 1.0)),
        quantiles(least, (0.1,))[0],
        median(after / bdp_pkts),
        median(before / bdp_pkts),
    ]

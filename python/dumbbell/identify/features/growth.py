"""How the window grows between losses, also compared with the laws of known algorithms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dumbbell.identify.features.summary import log_ratio, median, quantiles
from dumbbell.identify.floats import Floats
from dumbbell.identify.laws import LAWS, RoundState
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = ["NAMES", "growth", "states_of"]

#: Parts of an epoch.
THIRDS = ("first", "middle", "last")
#: Since the loss, s: H-TCP's growth changes at 1 s.
SINCE_S = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 1e9)
#: The window, compared with that at the last loss.
OF_PEAK = (0.0, 0.7, 0.85, 0.95, 1.05, 1.3, 1e9)
NAMES = (
    "grows_q10", "grows_q25", "grows_q50", "grows_q75", "grows_q90", "grows_mean",
    "relative_growth", "shrinks", "shrinks_much",
    *(f"growth_{third}" for third in THIRDS),
    *(f"share_of_growth_{third}" for third in THIRDS),
    "bends",
    *(f"growth_after_{since}s" for since in SINCE_S[:-1]),
    *(f"growth_at_{share}_of_peak" for share in OF_PEAK[:-1]),
    "growth_low_queue", "growth_middle_queue", "growth_high_queue",
    *(f"{what}_{law}" for law in LAWS for what in ("ratio", "error")),
    "best_law_error", "window_q50", "window_mean_epoch",
)  # fmt: skip
#: Growth is compared from this many packets on, so that none is not infinitely less.
LEAST_PKTS = 0.5
#: Epochs with fewer rounds have no shape.
SHAPE_ROUNDS = 6


def states_of(trace: Trace, rounds: Rounds) -> tuple[RoundState, Floats, Floats] | None:
    """Return the rounds within epochs, what the window grew in each, and the epoch of each."""
    smooth = smoothed(rounds.window_pkts)
    parts = []
    grown = []
    numbers = []
    max_rtt_s = float(np.quantile(rounds.rtt_s, 0.99))
    for number, epoch in enumerate(rounds.epochs):
        inside = np.arange(epoch.start, epoch.end - 1)
        if len(inside) < 3:
            continue
        parts.append(np.stack([
            smooth[inside],
            rounds.time_s[inside] - rounds.time_s[epoch.loss],
            rounds.rtt_s[inside],
            np.full(len(inside), epoch.before_pkts),
            np.full(len(inside), epoch.after_pkts),
            np.full(len(inside), epoch.peak_pkts),
            rounds.per_rtt[inside],
        ]))  # fmt: skip
        grown.append(np.diff(smooth[epoch.start : epoch.end]))
        numbers.append(np.full(len(inside), float(number)))
    if not parts:
        return None
    window, since_s, rtt_s, before, after, peak, per_rtt = np.concatenate(parts, axis=1)
    state = RoundState(
        window, since_s, rtt_s, before, after, peak, per_rtt, trace.base_rtt_s, max_rtt_s
    )
    return state, np.concatenate(grown), np.concatenate(numbers)


def smoothed(values: Floats) -> Floats:
    """Return the median of three neighbours."""
    if len(values) < 3:
        return values
    middle = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
    found: Floats = np.concatenate((values[:1], middle, values[-1:]))
    return found


def growth(trace: Trace, rounds: Rounds) -> list[float]:
    """Return the features that `NAMES` lists."""
    found = states_of(trace, rounds)
    if found is None:
        return [float("nan")] * len(NAMES)
    state, grown, number = found
    per_rtt = grown / state.per_rtt
    starts = np.flatnonzero(np.diff(number, prepend=-1.0) != 0)
    lengths = np.diff(np.append(starts, len(number)))
    place = (np.arange(len(number)) - np.repeat(starts, lengths)) / np.repeat(lengths, lengths)
    third = np.minimum((3 * place).astype(np.int64), 2)
    total = np.add.reduceat(grown, starts)
    thirds = [np.add.reduceat(np.where(third == which, grown, 0.0), starts) for which in range(3)]
    is_long = lengths >= SHAPE_ROUNDS
    reference = np.maximum(np.abs(total), 2.0)[is_long]
    shares = [median(part[is_long] / reference) for part in thirds]
    queue = state.rtt_s / trace.base_rtt_s
    low, high = np.quantile(queue, (1 / 3, 2 / 3))
    peak = state.window_pkts / np.maximum(state.before_pkts, 1.0)
    comparisons: list[float] = []
    errors = []
    for law in LAWS.values():
        expected = law(state) * state.per_rtt
        ratio = log_ratio(float(grown.sum()), float(expected.sum()), LEAST_PKTS)
        error = distance(grown, expected, state.window_pkts, starts, lengths)
        comparisons += [float(ratio), error]
        errors.append(error)
    return [
        *quantiles(per_rtt, (0.1, 0.25, 0.5, 0.75, 0.9)),
        float(per_rtt.mean()),
        float((per_rtt / np.maximum(state.window_pkts, 1.0)).mean()),
        float((per_rtt < -0.5).mean()),
        float((grown < -0.1 * state.window_pkts).mean()),
        *(within(per_rtt, third == which) for which in range(3)),
        *shares,
        shares[0] + shares[2] - 2 * shares[1],
        *between(per_rtt, state.since_s, SINCE_S),
        *between(per_rtt, peak, OF_PEAK),
        within(per_rtt, queue <= low),
        within(per_rtt, (queue > low) & (queue < high)),
        within(per_rtt, queue >= high),
        *comparisons,
        min(errors),
        median(rounds.window_pkts),
        float(state.window_pkts.mean()),
    ]


def within(values: Floats, chosen: npt.NDArray[np.bool_]) -> float:
    """Return the mean of those chosen, NaN of too few."""
    return float(values[chosen].mean()) if int(chosen.sum()) >= 3 else float("nan")


def between(values: Floats, key: Floats, edges: tuple[float, ...]) -> list[float]:
    """Return the mean of each class of a key."""
    return [within(values, (key >= low) & (key < high)) for low, high in pairwise(edges)]


def distance(
    grown: Floats,
    expected: Floats,
    window: Floats,
    starts: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
) -> float:
    """Return how far a law is off over an epoch, as a share of the window: root mean square."""
    difference = np.cumsum(grown - expected)
    before = np.concatenate(([0.0], difference))[starts]
    off = (difference - np.repeat(before, lengths)) / np.maximum(window, 1.0)
    return float(np.sqrt(np.mean(np.minimum(off * off, 4.0))))

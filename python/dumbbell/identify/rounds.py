"""A trace in round trips, and its epochs: the times between losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.identify.floats import Floats
from dumbbell.identify.trace import Trace

__all__ = ["Epoch", "Rounds", "rounds_of", "slow_start_end"]

#: A round takes at least this many steps of the grid: shorter ones have no inside.
MIN_STEPS = 2.0
#: More rounds are not needed: 30 s at 7 ms.
MAX_ROUNDS = 4096
#: Slow start is over when the window grows by less than this in a round, twice.
STILL_GROWS = 1.25
#: Rounds after it in which its queue drains.
SETTLING_ROUNDS = 4
#: An epoch has this many rounds; losses with fewer between them are one: recovery goes on.
LEAST_ROUNDS = 3
#: From the second round after the last retransmission the window may still fall to this share of
#: the round before, for this many rounds: a reduction takes one (RFC 9937), which may begin late.
STILL_FALLS, MOST_FALLING_ROUNDS = 0.97, 3


@dataclass(frozen=True)
class Epoch:
    """Between two losses, in numbers of rounds.

    Attributes
    ----------
    loss
        The first round of the loss that it follows.
    start, end
        Its rounds: from the second after the last retransmission, or when the window falls no more.
    before_pkts, after_pkts
        Most in flight before the loss; in flight after it.
    peak_pkts
        ``before_pkts`` of the loss before that; 0 without one.
    follows_loss
        False of the one between slow start and the first loss, which has its own start as ``loss``.
    """

    loss: int
    start: int
    end: int
    before_pkts: float
    after_pkts: float
    peak_pkts: float
    follows_loss: bool = True


@dataclass(frozen=True)
class Rounds:
    """A row per round trip.

    Attributes
    ----------
    time_s
        Of its end, since the flow's start.
    window_pkts, mean_pkts, least_pkts
        Packets in flight: most, mean, least.
    rtt_s
        Mean.
    per_rtt
        How many round trips a round is: above 1 where they are shorter than the grid is fine.
    lost_pkts, sent_pkts, delivered_pkts
        In the round.
    losses
        First and last rounds of the losses.
    epochs
        One for each loss but those that the next follows too soon.
    """

    time_s: Floats
    window_pkts: Floats
    mean_pkts: Floats
    least_pkts: Floats
    rtt_s: Floats
    per_rtt: Floats
    lost_pkts: Floats
    sent_pkts: Floats
    delivered_pkts: Floats
    losses: list[tuple[int, int]]
    epochs: list[Epoch]

    def __len__(self) -> int:
        return len(self.time_s)


def rounds_of(trace: Trace) -> Rounds | None:
    """Divide a trace into round trips; None if there are fewer than three."""
    length_s = np.maximum(trace.rtt_s, MIN_STEPS * trace.step_s)
    clock = np.cumsum(trace.step_s / length_s)
    slower = max(1.0, clock[-1] / MAX_ROUNDS)
    number = (clock / slower).astype(np.int64)
    starts = np.flatnonzero(np.diff(number, prepend=-1) > 0)
    if len(starts) < 4:
        return None
    steps = np.diff(np.append(starts, len(number)))

    def total(values: Floats) -> Floats:
        sums: Floats = np.add.reduceat(values, starts)
        return sums

    rtt_s = total(trace.rtt_s) / steps
    lost = total(trace.lost_pkts)
    window = np.maximum.reduceat(trace.inflight_pkts, starts)
    mean = total(trace.inflight_pkts) / steps
    losses = clusters(lost > 0)
    return Rounds(
        time_s=(starts + steps).astype(np.float64) * trace.step_s,
        window_pkts=window,
        mean_pkts=mean,
        least_pkts=np.minimum.reduceat(trace.inflight_pkts, starts),
        rtt_s=rtt_s,
        per_rtt=np.maximum(steps * trace.step_s / rtt_s, 1e-3),
        lost_pkts=lost,
        sent_pkts=total(trace.sent_bytes) / trace.mss_bytes,
        delivered_pkts=total(trace.delivered_bytes) / trace.mss_bytes,
        losses=losses,
        epochs=epochs_of(window, mean, losses),
    )


def slow_start_end(window: Floats) -> int:
    """Return the round with which slow start ends: the window then grows slowly twice."""
    if len(window) < 4:
        return len(window) - 1
    ratio = window[1:] / np.maximum(window[:-1], 1.0)
    slow = (ratio < STILL_GROWS) & np.append(ratio[1:] < STILL_GROWS, True)
    # The first two rounds have the initial window.
    quiet = np.flatnonzero(slow[2:])
    return int(quiet[0]) + 2 if len(quiet) else len(window) - 1


def clusters(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return first and last rounds of runs of flags; what is too short for an epoch ends none."""
    places = np.flatnonzero(flags)
    if not len(places):
        return []
    breaks = np.flatnonzero(np.diff(places) > LEAST_ROUNDS + 1)
    firsts = places[np.concatenate(([0], breaks + 1))]
    lasts = places[np.append(breaks, len(places) - 1)]
    return [(int(first), int(last)) for first, last in zip(firsts, lasts, strict=True)]


def epochs_of(window: Floats, mean: Floats, losses: list[tuple[int, int]]) -> list[Epoch]:
    """Return the epochs behind losses."""
    found = []
    start = slow_start_end(window) + SETTLING_ROUNDS
    end = losses[0][0] if losses else len(window)
    if end - start >= LEAST_ROUNDS:
        level = float(window[start])
        found.append(Epoch(start, start, end, level, level, 0.0, follows_loss=False))
    peak = 0.0
    for number, (first, last) in enumerate(losses):
        before = float(window[max(first - 2, 0) : first + 1].max())
        end = losses[number + 1][0] if number + 1 < len(losses) else len(window)
        start = settled(mean, last + 2, end)
        if end - start >= 1:
            after = float(mean[start])
            found.append(Epoch(first, start, end, before, after, peak))
        peak = before
    return found


def settled(mean: Floats, start: int, end: int) -> int:
    """Return the first round from `start` on after which the window falls no more."""
    last = min(start + MOST_FALLING_ROUNDS, end - LEAST_ROUNDS)
    while start < last and mean[start + 1] < STILL_FALLS * mean[start]:
        start += 1
    return start

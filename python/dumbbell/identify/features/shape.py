"""The shape of growth between losses, over epochs of all lengths, and what it depends on."""

from __future__ import annotations

import numpy as np

from dumbbell.identify.features.growth import states_of
from dumbbell.identify.floats import Floats
from dumbbell.identify.rounds import Rounds
from dumbbell.identify.trace import Trace

__all__ = ["NAMES", "shape"]

#: Parts of an epoch; one with fewer than twice as many rounds has no shape.
PARTS = 6
NAMES = (
    *(f"growth_of_part_{part}" for part in range(PARTS)),
    "growth_by_window", "growth_by_queue", "growth_by_time", "growth_scatter", "growth_persists",
    "epochs_growth_spread", "growth_by_peak",
    "keeps_by_queue", "keeps_spread", "after_over_bdp_spread",
)  # fmt: skip
#: Mean growth counts as no less, packets in a round trip.
LEAST_GROWTH = 0.05
#: Dependences are kept within these: a regression over hardly any range says nothing.
MOST_BY_WINDOW, MOST_BY_TIME, MOST_BY_PEAK, MOST_BY_QUEUE = 20.0, 10.0, 10.0, 5.0
#: Fewer values have no dependence, and none a range as small as this.
LEAST_VALUES, LEAST_RANGE, LEAST_RTT_RANGE = 4, 0.01, 1e-3


def shape(trace: Trace, rounds: Rounds, bdp_pkts: float) -> list[float]:
    """Return the features that `NAMES` lists; NaN without an epoch that is long enough."""
    states = states_of(trace, rounds)
    if states is None:
        return [float("nan")] * len(NAMES)
    state, grown, number = states
    per_rtt = grown / state.per_rtt
    rows = [np.flatnonzero(number == each) for each in np.unique(number)]
    epochs = [each for each in rows if len(each) >= 2 * PARTS]
    if not epochs:
        return [float("nan")] * len(NAMES)
    lengths = np.array([[len(part) for part in np.array_split(each, PARTS)] for each in epochs])
    inside = np.concatenate(epochs)
    firsts = np.concatenate(([0], np.cumsum(lengths.ravel())[:-1]))

    def by_part(values: Floats) -> Floats:
        means: Floats = np.add.reduceat(values[inside], firsts).reshape(-1, PARTS) / lengths
        return means

    before = np.array([state.before_pkts[epoch[0]] for epoch in epochs])
    growth = by_part(per_rtt)
    growth /= max(abs(float(growth.mean())), LEAST_GROWTH)
    window = np.log(np.maximum(by_part(state.window_pkts) / np.maximum(before, 1.0)[:, None], 1e-3))
    queue = np.log(np.maximum(by_part(state.rtt_s) / trace.base_rtt_s, 1.0))
    since = np.log(np.maximum(by_part(state.since_s), 0.05))
    of_part = growth.mean(axis=0)
    change = per_rtt - per_rtt.mean()
    of_epoch = growth.mean(axis=1)
    return [
        *of_part.tolist(),
        within(growth, window, MOST_BY_WINDOW),
        within(growth, queue, MOST_BY_WINDOW),
        within(growth, since, MOST_BY_TIME),
        float(np.sqrt(((growth - of_part) ** 2).mean())),
        float((change[1:] * change[:-1]).mean() / max(float((change * change).mean()), 1e-9)),
        spread(of_epoch),
        slope(np.log(np.maximum(before, 1.0)), of_epoch, LEAST_RANGE, MOST_BY_PEAK),
        *kept(trace, rounds, bdp_pkts),
    ]


def kept(trace: Trace, rounds: Rounds, bdp_pkts: float) -> list[float]:
    """Return how what a loss leaves depends on the queue, and how it scatters."""
    over = rounds.rtt_s / trace.base_rtt_s
    # The first loss ends slow start.
    epochs = [
        epoch for epoch in rounds.epochs
        if epoch.follows_loss and epoch.end - epoch.start >= 3 and epoch.loss != rounds.losses[0][0]
    ]  # fmt: skip
    left = np.array([epoch.after_pkts / max(epoch.before_pkts, 1.0) for epoch in epochs])
    queue = np.array([over[max(epoch.loss - 2, 0) : epoch.loss + 1].max() for epoch in epochs])
    after = np.array([epoch.after_pkts for epoch in epochs]) / bdp_pkts
    return [slope(queue, left, LEAST_RTT_RANGE, MOST_BY_QUEUE), spread(left), spread(after)]


def within(growth: Floats, of: Floats, most: float) -> float:
    """Return how growth depends on something within epochs, but not between them."""
    first, second = (each - each.mean(axis=1, keepdims=True) for each in (growth, of))
    found = float((first * second).sum() / ((second * second).sum() + 1e-9))
    return float(np.clip(found, -most, most))


def slope(of: Floats, values: Floats, least_range: float, most: float) -> float:
    """Return the slope of a regression; NaN of too few values, or over no range."""
    if len(of) < LEAST_VALUES or of.std() <= least_range:
        return float("nan")
    return float(np.clip(np.polyfit(of, values, 1)[0], -most, most))


def spread(values: Floats) -> float:
    """Return the standard deviation; NaN of fewer than three."""
    return float(values.std()) if len(values) > 2 else float("nan")

"""A link whose rate changes: the spacing of ACKs over time says from when on it had which rate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from dumbbell.fit.connection_series import ConnectionSeries, Floats
from dumbbell.fit.link_rate import LEAST_TRAINS, QUANTILE

__all__ = ["rate_changes"]

#: A window, s. A rate holds for at least this many of them, in which it differs by this share at
#: most; the next differs by more. Next to others single windows differ, and no rate holds.
WINDOW_S, LEAST_WINDOWS, SAME, OTHER = 1.0, 3, 0.03, 0.1
#: Share of the windows that have to be within such spans.
MOST_WINDOWS = 0.8
#: More changes are not of a link in steps.
MOST_CHANGES = 40


def rate_changes(
    time_s: Floats, rates: Floats, series: ConnectionSeries
) -> tuple[tuple[float, float], ...]:
    """Return from when on the link had which rate, s and bit/s on the wire; nothing if it is one.

    Parameters
    ----------
    time_s, rates
        Of trains of ACKs, as `trains` returns them.
    series
        The same connection.
    """
    if not time_s.size:
        return ()
    edges = np.arange(0.0, time_s[-1] + WINDOW_S, WINDOW_S)
    at = np.searchsorted(time_s, edges)
    windows = [
        float(np.percentile(rates[begin:end], QUANTILE)) if end - begin >= LEAST_TRAINS else 0.0
        for begin, end in pairwise(at)
    ]
    spans = spans_of(windows)
    inside = sum(end - begin for begin, end, _ in spans)
    known = sum(rate > 0 for rate in windows)
    if not 1 < len(spans) <= MOST_CHANGES + 1 or inside < MOST_WINDOWS * known:
        return ()
    found = [(0.0, spans[0][2])]
    for (_, end, before), (begin, _, after) in pairwise(spans):
        low_s, high_s = (end - 1) * WINDOW_S, (begin + 1) * WINDOW_S
        chosen = (time_s >= low_s) & (time_s < high_s)
        found.append((changed_at(time_s[chosen], rates[chosen], before, after), after))
    return tuple((when_s, 8 * rate * series.wire_per_payload) for when_s, rate in found)


def spans_of(windows: list[float]) -> list[tuple[int, int, float]]:
    """Return first windows, ends and rates of the spans in which a rate holds."""
    spans: list[tuple[int, int, float]] = []
    begin = 0
    while begin < len(windows):
        end = begin + 1
        while end < len(windows) and is_same(windows[begin], windows[end], SAME):
            end += 1
        if windows[begin] > 0 and end - begin >= LEAST_WINDOWS:
            rate = float(np.median(windows[begin:end]))
            if spans and is_same(spans[-1][2], rate, OTHER):
                spans[-1] = (spans[-1][0], end, spans[-1][2])
            else:
                spans.append((begin, end, rate))
        begin = end
    return spans


def is_same(first: float, second: float, share: float) -> bool:
    """Whether two rates differ by a share at most."""
    return abs(first - second) <= share * max(first, second)


def changed_at(time_s: Floats, rates: Floats, before: float, after: float) -> float:
    """Return the time up to which trains are of one rate, and from which of another."""
    if not time_s.size:
        return 0.0
    is_after = np.abs(rates - after) < np.abs(rates - before)
    wrong = np.cumsum(is_after) + (~is_after).sum() - np.cumsum(~is_after)
    return float(time_s[int(np.argmin(wrong))])

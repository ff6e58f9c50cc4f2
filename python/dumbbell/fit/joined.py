"""Several captures of one path: each is fitted, and what they say is combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dumbbell.fit.estimate import Z_90
from dumbbell.fit.fitted_path import Explanation, FittedPath
from dumbbell.fit.interval import Interval

__all__ = ["joined"]

#: A kind of path that a capture rules out counts as this probable: one capture may be odd.
RULED_OUT = 0.01
#: Less probable kinds are not listed.
LEAST_SHARE = 0.05
#: Values further apart than this, in standard deviations of their difference, are not of one path.
APART = 4.0
#: Values whose captures scatter independently; the base RTT's interval has hosts' delays instead.
SCATTER = ("rate_bps", "buffer_bytes", "loss")
#: What captures of one path agree on.
NAMES = {"rate_bps": "the rate", "base_rtt_s": "the base RTT", "buffer_bytes": "the buffer"}


def joined(fits: Sequence[FittedPath]) -> FittedPath:
    """Combine what several captures of one path say.

    The kind is that which all together make most probable. A value is the mean of those that the
    captures say of it, weighted by how sure each is; a base RTT is the smallest.

    Parameters
    ----------
    fits
        One for each capture.
    """
    if len(fits) == 1:
        return fits[0]
    shares = kinds_of(fits)
    kind = max(shares, key=lambda each: shares[each])
    of_kind = [each for each in fits if kind in {one.path.kind for one in each.explanations}]
    best = min(of_kind, key=lambda each: (each.path.kind != kind, each.distance))
    first = next(each.path for each in best.explanations if each.path.kind == kind)
    agreeing = [each for each in fits if each.path.kind == kind] or [best]
    combined: dict[str, Interval] = {}
    apart = []
    for name in {name: None for each in agreeing for name in each.intervals}:
        intervals = [each.intervals[name] for each in agreeing if name in each.intervals]
        if name in SCATTER:
            combined[name] = weighted(intervals)
        else:
            combined[name] = smallest(intervals)
        of_all = [each.intervals[name] for each in fits if name in each.intervals]
        if name in NAMES and are_apart(of_all):
            apart.append(name)
    values: dict[str, Any] = {name: each.value for name, each in combined.items()}
    path = replace(first, **values)
    explanations = [Explanation(path, shares[kind])]
    explanations += [
        Explanation(one.path, shares[one.path.kind])
        for one in best.explanations
        if one.path.kind != kind and shares[one.path.kind] >= LEAST_SHARE
    ]
    return replace(
        best,
        capture=", ".join(each.capture for each in fits),
        path=path,
        intervals=combined,
        explanations=tuple(explanations),
        disagreement=disagreement(apart, len(agreeing), len(fits)),
    )


def kinds_of(fits: Sequence[FittedPath]) -> dict[str, float]:
    """Return how probable each kind is by all captures together."""
    kinds = {one.path.kind for each in fits for one in each.explanations}
    found = {}
    for kind in kinds:
        of_each = [
            {one.path.kind: one.probability for one in each.explanations}.get(kind, 0.0)
            for each in fits
        ]
        found[kind] = float(np.prod(np.maximum(of_each, RULED_OUT)))
    total = sum(found.values())
    return {kind: share / total for kind, share in found.items()}


def deviation(interval: Interval) -> float:
    """Return the standard deviation of a value's logarithm."""
    low = max(interval.low, 1e-12)
    return max(float(np.log(max(interval.high, low) / low)) / 2 / Z_90, 1e-6)


def weighted(intervals: Sequence[Interval]) -> Interval:
    """Return the mean of values on a logarithmic scale, weighted by their variances."""
    weights = np.array([deviation(each) ** -2 for each in intervals])
    logs = np.log([max(each.value, 1e-12) for each in intervals])
    mean, away = float(weights @ logs / weights.sum()), float(weights.sum() ** -0.5)
    low, value, high = np.exp([mean - Z_90 * away, mean, mean + Z_90 * away])
    return Interval(float(low), float(value), float(high))


def smallest(intervals: Sequence[Interval]) -> Interval:
    """Return the interval of the smallest value: a queue only adds to a base RTT."""
    least = min(intervals, key=lambda each: each.value)
    low = max([each.low for each in intervals if each.low <= least.value], default=least.low)
    return Interval(low, least.value, least.high)


def are_apart(intervals: Sequence[Interval]) -> bool:
    """Whether values differ by more than chance makes them."""
    least = min(intervals, key=lambda each: each.value)
    most = max(intervals, key=lambda each: each.value)
    away = float(np.hypot(deviation(least), deviation(most)))
    return bool(np.log(max(most.value, 1e-12) / max(least.value, 1e-12)) > APART * away)


def disagreement(apart: Sequence[str], agreeing: int, count: int) -> str:
    """Return in words what captures do not agree on; nothing if they do."""
    what = [NAMES[each] for each in apart]
    if agreeing < count:
        what.append(f"the kind of path ({agreeing} of {count} have this one)")
    if not what:
        return ""
    return f"the captures do not agree on {', '.join(what)}: another path, or it changed"

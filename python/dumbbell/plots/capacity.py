"""What a link can carry over time, where that changes: of a trace, or by rate steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.figures.figure import Curve, FloatArray
from dumbbell.scenario import Link, Scenario
from dumbbell.scenario.trace import Trace

__all__ = ["CAPACITY_COLOR", "PEAKS", "capacity_mbps", "peaks_above"]

#: Why goodput is above what a link can carry, and by how much it is more than rounding.
PEAKS = (
    "Goodput counts data when they are delivered in order: what waited behind a lost packet is "
    "delivered at once, which may be more than the link carries in that time."
)
MORE_THAN_ROUNDING = 1.02

#: Behind what the link carries.
CAPACITY_COLOR = "#d9d9d9"


def capacity_mbps(scenario: Scenario, name: str, bins_s: FloatArray) -> FloatArray | None:
    """Return the mean capacity of a link between times.

    Parameters
    ----------
    scenario
        Whose link.
    name
        The link's.
    bins_s
        Ends of the bins, evenly apart, from 0.

    Returns
    -------
    array or None
        Mbit/s, one value fewer than `bins_s`; None where the capacity is constant.
    """
    link = next((each for each in scenario.links if each.name == name), scenario.links[0])
    if link.trace is not None:
        return of_trace(link.trace, bins_s)
    if link.rate_steps:
        return of_steps(link, bins_s)
    return None


def peaks_above(
    curves: Sequence[Curve], link_mbps: float | None, capacity: Sequence[Curve] = ()
) -> str:
    """Say why goodput is above what a link can carry, at most if that changes; else nothing."""
    most = max((float(each.y.max()) for each in capacity), default=link_mbps)
    if most is None:
        return ""
    limit = MORE_THAN_ROUNDING * most
    ends = [each for c in curves for each in (c.y, c.high) if each is not None]
    return PEAKS if any((each > limit).any() for each in ends) else ""


def of_trace(trace: Trace, bins_s: FloatArray) -> FloatArray:
    """Return the capacity of a trace, which begins again at its end."""
    gaps, counts = np.array(trace.runs, dtype=np.float64).T
    ends = np.cumsum(gaps) / 1e3
    total = np.concatenate([[0.0], np.cumsum(counts)])
    rounds, within = np.divmod(bins_s, ends[-1])
    passed = total[np.searchsorted(ends, within, "right")]
    passed = np.where(rounds > 0, total[-1], passed) if trace.once else passed + rounds * total[-1]
    mbps: FloatArray = np.diff(passed) * trace.opportunity_bytes * 8 / 1e6 / np.diff(bins_s)
    return mbps


def of_steps(link: Link, bins_s: FloatArray) -> FloatArray:
    """Return the capacity of a link whose rate has steps, at the middle of each bin."""
    steps = [(0.0, float(link.rate)), *((t.seconds, float(r)) for t, r in link.rate_steps)]
    times, rates = np.array(sorted(steps, key=lambda step: step[0])).T
    middles = (bins_s[1:] + bins_s[:-1]) / 2
    mbps: FloatArray = rates[np.searchsorted(times, middles, "right") - 1] / 1e6
    return mbps

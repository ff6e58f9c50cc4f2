"""How long flows take to share fairly."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.observation import FloatArray, Observation

__all__ = ["HOLD_WINDOWS", "TOLERANCE", "converged", "convergence_time_s"]

#: How far from its fair share a flow may be, as a part of it.
TOLERANCE = 0.25
#: Consecutive windows for which all must be so near.
HOLD_WINDOWS = 5


def convergence_time_s(seen: Observation) -> float | None:
    """Convergence time: from the last flow's start until all flows are near their fair share.

    The beginning of the first 5 consecutive windows in each of which every flow i has
    |x_i - x̄| ≤ 0.25 x̄, x̄ = Σx / n the fair share of that window's goodput. Windows are of 1 s, or
    10 base RTTs where that is more, and begin with the last start. A warm-up changes nothing. None
    for a single flow, for flows that are not together for 5 windows, and where it never happens:
    `converged` tells that apart.

    References
    ----------
    The δ-fair convergence time of Bansal, Balakrishnan, Floyd, Shenker: "Dynamic behavior of
    slowly-responsive congestion control algorithms", SIGCOMM 2001, and RFC 5166 §2.3, with
    δ = 0.25 and for any number of flows, and a time for which it must hold.
    """
    near = near_fair(seen)
    if near is None:
        return None
    # How many of the windows from each one on are near, for HOLD_WINDOWS at a time.
    together = np.convolve(near, np.ones(HOLD_WINDOWS), "valid")
    (found,) = np.nonzero(together == HOLD_WINDOWS)
    return float(found[0]) * seen.window_us / 1e6 if found.size else None


def converged(seen: Observation) -> float | None:
    """Whether the flows converged: 1 when there is a `convergence_time_s`, 0 when there is none.

    Its mean over repetitions is the share of the runs that converge. None where the question makes
    no sense: for a single flow, or flows that are not together for 5 windows.

    References
    ----------
    As `convergence_time_s`.
    """
    if near_fair(seen) is None:
        return None
    return 0.0 if convergence_time_s(seen) is None else 1.0


def near_fair(seen: Observation) -> FloatArray | None:
    """Return 1 for each window in which all flows are near their fair share, else 0."""
    last_start_us = max(flow["start_us"] for flow in seen.flows)
    rates = seen.window_rates_bps(last_start_us)
    if rates is None or len(seen.flows) < 2:
        return None
    all_alive = ~np.isnan(rates).any(axis=0)
    rates = rates[:, all_alive]
    if rates.shape[1] < HOLD_WINDOWS:
        return None
    fair = rates.mean(axis=0)
    near = np.all(np.abs(rates - fair) <= TOLERANCE * fair, axis=0) & (fair > 0)
    values: FloatArray = near.astype(np.float64)
    return values

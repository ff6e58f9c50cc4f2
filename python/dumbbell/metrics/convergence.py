"""How long flows take to share fairly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation

__all__ = ["HOLD_WINDOWS", "TOLERANCE", "converged", "convergence_time_s"]

#: How far from its fair share a flow may be, as a part of it.
TOLERANCE = 0.25
#: Consecutive windows for which all must be so near.
HOLD_WINDOWS = 5


@register(unit="s", title="convergence time", better="lower")
def convergence_time_s(obs: Observation) -> float | None:
    """Convergence time: from the last flow's start until all flows are near their fair share.

    The beginning of the first 5 consecutive windows in each of which every flow i has
    |x_i - x̄| ≤ 0.25 x̄, x̄ = Σx / n the fair share of that window's goodput. Windows are of 1 s, or
    10 base RTTs where that is more, and begin with the last start. A warm-up has no effect. None
    for a single flow, for flows that do not run together for 5 windows, and if they never converge;
    `converged` distinguishes that.

    References
    ----------
    The δ-fair convergence time of Bansal, Balakrishnan, Floyd, Shenker: "Dynamic behavior of
    slowly-responsive congestion control algorithms", SIGCOMM 2001, and RFC 5166 §2.3, with
    δ = 0.25 and for any number of flows, and a time for which it must hold.
    """
    near = near_fair(obs)
    window = None if near is None else first_held(near)
    return None if window is None else float(window) * obs.window_us / 1e6


@register(title="converged", better="higher")
def converged(obs: Observation) -> float | None:
    """Whether the flows converged: 1 when there is a `convergence_time_s`, 0 when there is none.

    Its mean over repetitions is the share of the runs that converge. None for a single flow, or
    flows that do not run together for 5 windows.

    References
    ----------
    As `convergence_time_s`.
    """
    near = near_fair(obs)
    return None if near is None else float(first_held(near) is not None)


def first_held(near: Sequence[bool]) -> int | None:
    """Return the first of `HOLD_WINDOWS` consecutive windows that hold; None if there are none."""
    held = 0
    for window, holds in enumerate(near):
        held = held + 1 if holds else 0
        if held == HOLD_WINDOWS:
            return window - HOLD_WINDOWS + 1
    return None


def near_fair(obs: Observation) -> list[bool] | None:
    """Return in which windows all flows are near their fair share; None if they cannot be."""
    if len(obs.flows) < 2:
        return None
    last_start_us = max(flow["start_us"] for flow in obs.flows)
    rates = obs.window_rates_bps(last_start_us)
    if rates is None:
        return None
    all_alive = ~np.isnan(rates).any(axis=0)
    rates = rates[:, all_alive]
    if rates.shape[1] < HOLD_WINDOWS:
        return None
    fair = rates.mean(axis=0)
    near = (np.abs(rates - fair) <= TOLERANCE * fair).all(axis=0) & (fair > 0)
    windows: list[bool] = near.tolist()
    return windows

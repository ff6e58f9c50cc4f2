"""How long a queue stands after something filled it."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.link_observation import LinkObservation
from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation

__all__ = ["LOW_US", "WINDOW_US", "queue_return_time_s"]

#: A mean wait from which on a queue counts as low: twice the 5 ms that delay-based congestion
#: controls aim at.
LOW_US = 10_000
#: The time over which it is the mean, µs.
WINDOW_US = 2_000_000


@register(unit="s", title="time until the queue is low", better="lower", per="link")
def queue_return_time_s(obs: Observation) -> list[float | None]:
    """Time until a link's queue is low: at most 10 ms in the mean of the following 2 s.

    From the start of the phase, or of the run, to the beginning of the first window of 2 s whose
    samples have a mean wait of at most 10 ms; a sample without a packet counts as no wait. Windows
    begin with the phase and with every sample. None without such a window, or without time series.

    References
    ----------
    RFC 5166 §2.3 asks for the response to changes; that a queue has to fall again when a competitor
    leaves is what Copa's mode switching is for (Arun, Balakrishnan, NSDI 2018, §4). The bound and
    the window are ours.
    """
    if "queue" not in obs.run.tables or obs.cut_us + WINDOW_US > obs.end_us:
        return [None] * len(obs.links)
    return [return_time_of(link) for link in obs.links]


def return_time_of(link: LinkObservation) -> float | None:
    """Return the time until a link's queue is low; None if it never is."""
    rows = slice(link.queue_cut, link.queue_end)
    times_us = link.queue_table["time_us"].to_numpy()[rows]
    waits_us = np.nan_to_num(link.queue_table["sojourn_us"].to_numpy()[rows].astype(np.float64))
    starts_us = np.concatenate([[link.obs.cut_us], times_us])
    starts_us = starts_us[starts_us + WINDOW_US <= link.obs.end_us]
    # Samples after the start of a window, to its end.
    first = np.searchsorted(times_us, starts_us, "right")
    last = np.searchsorted(times_us, starts_us + WINDOW_US, "right")
    sums = np.concatenate([[0.0], np.cumsum(waits_us)])
    low = (last > first) & (sums[last] - sums[first] <= LOW_US * (last - first))
    if not low.any():
        return None
    return float(starts_us[np.argmax(low)] - link.obs.cut_us) / 1e6

"""Circuit breakers: who would cut off the flows of a link that loses too much for too long."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics.link_observation import LinkObservation
from dumbbell.metrics.metric import register
from dumbbell.metrics.observation import Observation

__all__ = ["breaker_trips"]

#: Part of the packets that is lost in each window before the breaker trips.
MOST_LOST = 0.1
#: Windows in a row, and their length, µs.
WINDOWS = 3
WINDOW_US = 1_000_000


@register(title="circuit breaker trips", better="lower", per="link")
def breaker_trips(obs: Observation) -> list[float | None]:
    """Trips of a circuit breaker at a link: 3 s in a row with more than 10 % dropped in each.

    Seconds in which nothing arrived are passed over: they neither count nor end the row. After a
    trip it counts from 0 again. None without time series.

    References
    ----------
    RFC 8084 §5.1: a network transport circuit breaker by excessive loss over several measurement
    periods, with 10 % as an example; RFC 9743 §7.2.
    """
    if "queue" not in obs.run.tables:
        return [None] * len(obs.links)
    if obs.end_us - obs.cut_us < WINDOWS * WINDOW_US:
        return [0.0] * len(obs.links)
    return [float(trips_of(link)) for link in obs.links]


def trips_of(link: LinkObservation) -> int:
    """Return how often the breaker of a link trips."""
    times_us = link.queue_table["time_us"].to_numpy()
    start_us, end_us = link.obs.cut_us, link.queue_span_us[1]
    edges_us = np.arange(start_us, end_us + 1, WINDOW_US)
    rows = np.searchsorted(times_us, edges_us, "right")
    dropped, passed = (
        np.diff(np.concatenate([[0], link.queue_table[name].to_numpy()])[rows])
        for name in ("dropped_pkts", "forwarded_pkts")
    )
    held = trips = 0
    for lost, arrived in zip(dropped, dropped + passed, strict=True):
        if not arrived:
            continue
        held = held + 1 if lost > MOST_LOST * arrived else 0
        if held == WINDOWS:
            held, trips = 0, trips + 1
    return trips

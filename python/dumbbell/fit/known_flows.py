"""Other connections of a capture: they may have shared the path, and what they are can be seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dumbbell.capture_analysis import Analysis

__all__ = ["KnownFlow", "known_flows"]

#: More are not looked at, nor those with less than this share of the payload, nor those that were
#: there for less than this share of the time.
MOST, LEAST_PAYLOAD, LEAST_TIME = 8, 0.02, 0.1
#: One that began earlier is simulated from so long before, s: enough to be at its usual rate.
LEAD_S = 10.0


@dataclass(frozen=True)
class KnownFlow:
    """Another connection of the capture.

    Attributes
    ----------
    connection
        Its number.
    cc
        Its algorithm.
    start_s, stop_s
        Since the fitted connection's start; negative if it began earlier.
    rtt_s
        Its smallest RTT, or what its handshake says.
    """

    connection: int
    cc: str
    start_s: float
    stop_s: float
    rtt_s: float


def known_flows(
    analysis: Analysis, connection: int, cc_of: Callable[[int], str]
) -> tuple[KnownFlow, ...]:
    """Return connections that were there with the fitted one, those with most payload first.

    Parameters
    ----------
    analysis
        Of the capture.
    connection
        The fitted one's number.
    cc_of
        Says the algorithm of a connection.
    """
    begin_s, end_s = times_of(analysis, connection)
    own = analysis.row_of(connection)["payload_bytes"]
    found = []
    for number in analysis.largest:
        row = analysis.row_of(number)
        is_seen = row["vantage"] == "sender" and row["rtt_min_us"]
        if number == connection or not is_seen or row["payload_bytes"] < LEAST_PAYLOAD * own:
            continue
        from_s, to_s = times_of(analysis, number)
        if min(to_s, end_s) - max(from_s, begin_s) < LEAST_TIME * (end_s - begin_s):
            continue
        start_s = max(from_s - begin_s, -LEAD_S)
        rtt_s = row["rtt_min_us"] / 1e6
        found.append(KnownFlow(number, cc_of(number), start_s, to_s - begin_s, rtt_s))
        if len(found) == MOST:
            break
    return tuple(found)


def times_of(analysis: Analysis, connection: int) -> tuple[float, float]:
    """Return when a connection's first and last bins with data are, s."""
    times_us = analysis.series_of(connection)["time_us"]
    if not len(times_us):
        return 0.0, 0.0
    return times_us[0].as_py() / 1e6, times_us[-1].as_py() / 1e6

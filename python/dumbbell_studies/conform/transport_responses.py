"""What the transport of a flow does under any algorithm: how it starts, bursts and pauses.

A flow crosses a fast link, where only what leaves at once waits, before it comes to the bottleneck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dumbbell.run import Run

__all__ = [
    "FIRST_PKTS", "SENDER", "SENDER_LINK", "first_packets_rtts", "packets_at_once", "pause_rtts",
]  # fmt: skip

FloatArray = npt.NDArray[np.float64]

#: The sender's own link: a packet takes 12 µs, and has gone before an ACK releases the next two.
SENDER, SENDER_LINK = "sender", {"rate": "1gbit", "delay": "0ms", "buffer": "10MB"}
SENDER_RATE_BPS = 1e9
#: A window that doubles from 10 (RFC 6928) has sent these in four round trips.
FIRST_PKTS = 150
#: How long after a loss a pause is looked for, base RTTs: what is in flight is acknowledged in one.
PAUSE_RTTS = 1.0


def packets_at_once(link: Mapping[str, Any]) -> float | None:
    """Return how many packets leave at once: the mean, each packet counted.

    The n-th of a burst waits for n - 1 others, so that the mean wait is half of a burst less one.

    Parameters
    ----------
    link
        The summary of the sender's link.
    """
    forwarded = int(link["forwarded_pkts"])
    if not forwarded:
        return None
    packet_us = int(link["forwarded_bytes"]) / forwarded * 8 / SENDER_RATE_BPS * 1e6
    return 1 + 2 * float(link["queue_delay_mean_us"]) / packet_us


def first_packets_rtts(run: Run, base_rtt_s: float) -> float | None:
    """Return how long the first packets take, from the start of the handshake, in base RTTs."""
    queue = run.queue_of(SENDER)
    times_us, sent = queue.column("time_us").to_numpy(), queue.column("forwarded_pkts").to_numpy()
    is_sent = sent >= FIRST_PKTS
    if not is_sent.any():
        return None
    after_us = int(times_us[int(np.argmax(is_sent))]) - run.summary["flows"][0]["start_us"]
    return float(after_us / 1e6 / base_rtt_s)


def pause_rtts(
    time_s: FloatArray, sent_pkts: FloatArray, cuts: Sequence[int], rtt_s: float
) -> float | None:
    """Return for how long nothing is sent in the RTT after a loss, in base RTTs: the median.

    Parameters
    ----------
    time_s, sent_pkts
        Times of the samples, and what has been sent until each.
    cuts
        Samples at which the window was reduced.
    rtt_s
        Base RTT.
    """
    sample_s = float(np.median(np.diff(time_s)))
    samples = round(PAUSE_RTTS * rtt_s / sample_s)
    still = np.diff(sent_pkts) == 0
    pauses = [
        float(still[at : at + samples].sum()) * sample_s / rtt_s
        for at in cuts
        if at + samples <= still.size
    ]
    return float(np.median(pauses)) if pauses else None

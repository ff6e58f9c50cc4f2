"""The kinds of path that a fit considers, each with first values for what it varies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dumbbell.fit.evidence import Evidence
from dumbbell.fit.known_flows import KnownFlow
from dumbbell.fit.path import PathModel

__all__ = ["hypotheses", "is_filled", "is_shared", "random_losses"]

#: Active queue management that a fit considers, with its defaults: what Linux routers have.
QUEUES = ("fq_codel", "pie")
#: A flow alone moves its rate by less than this (standard deviation of the logarithm); in the
#: laboratory note at most 0.02, and next to others at least 0.08.
ALONE = 0.05
#: ACKs of a flow alone say its own rate within this factor, if it is busy for this share.
CROSS, BUSY = 1.15, 0.2
#: Other flows that a fit considers.
OTHERS = (
    ("cubic", 1), ("cubic", 2), ("cubic", 3), ("cubic", 4), ("cubic", 6), ("cubic", 8),
    ("bbr", 1), ("bbr", 2), ("bbr", 3), ("bbr", 4),
)  # fmt: skip
#: What a full buffer holds beyond the longest delay: the packets of a burst come together, and the
#: last that fits may not be the one whose RTT was sampled.
SPARE_PKTS = (-0.5, 0.5)
#: Losses at a queue of this share of the fullest found it full, where the rate changes.
FULLEST = 0.8
#: Losses that find a queue equally long by chance are fewer than this, and less than this share.
SEVERAL, MOST = 4, 0.5
#: Losses of a burst that only a full queue has, even if it happened once.
BURST_PKTS = 8


def is_shared(seen: Evidence) -> bool:
    """Whether the rate moves as it does only next to others, or is below the link's."""
    is_measured = seen.has_rate and seen.busy_share > BUSY
    return seen.moves > ALONE or (is_measured and seen.link_bps > CROSS * seen.rate_bps)


def hypotheses(seen: Evidence, known: tuple[KnownFlow, ...] = ()) -> Iterator[PathModel]:
    """Return the kinds of path that may explain what was seen.

    Parameters
    ----------
    seen
        Of the connection.
    known
        Other connections of the capture.
    """
    rate_bps, base_s = seen.rate_bps, seen.base_rtt_s
    if seen.link_bps and not seen.has_rate:
        rate_bps = seen.link_bps
    if seen.changes:
        yield with_changes(seen)
    if known:
        yield from with_known(seen, rate_bps, known)
    if is_shared(seen):
        yield from with_hidden(seen)
    for queue in QUEUES:
        yield PathModel(rate_bps, base_s, queue)
    full = (seen.queue_full_s if is_filled(seen) else deep_s(seen)) * rate_bps / 8
    for pkts in SPARE_PKTS if is_filled(seen) else (0.0,):
        buffer = full + pkts * seen.series.wire_bytes
        yield PathModel(rate_bps, base_s, buffer_bytes=buffer)
    lost = random_losses(seen)
    if lost:
        sent = seen.series.sent_bytes[-1] / seen.series.payload_bytes
        yield PathModel(rate_bps, base_s, buffer_bytes=full, loss=lost / sent)
        if is_filled(seen) and len(seen.full) == 1:
            # Or that queue was not full either.
            deep = deep_s(seen) * rate_bps / 8
            yield PathModel(rate_bps, base_s, buffer_bytes=deep, loss=(lost + 1) / sent)


def with_changes(seen: Evidence) -> PathModel:
    """Return a path whose rate changes as the spacing of ACKs did."""
    # The link changed half a round trip before the ACKs did; the scenario begins with the SYN.
    shift_s = min(seen.series.start_s, 2 * seen.base_rtt_s) - seen.base_rtt_s / 2
    steps = [(max(at_s + shift_s, 0.001), bps) for at_s, bps in seen.changes[1:]]
    filled = [each.queue_s * rate_at(seen, each.time_s) / 8 for each in seen.losses]
    if filled:
        buffer = float(np.median([each for each in filled if each >= FULLEST * max(filled)]))
    else:
        buffer = deep_s(seen) * max(bps for _, bps in seen.changes) / 8
    return PathModel(
        seen.changes[0][1], seen.base_rtt_s, buffer_bytes=buffer, rate_steps=tuple(steps)
    )


def rate_at(seen: Evidence, time_s: float) -> float:
    """Return the link's rate at a time, bit/s."""
    return [bps for at_s, bps in seen.changes if at_s <= time_s or at_s == 0.0][-1]


def with_known(
    seen: Evidence, rate_bps: float, known: tuple[KnownFlow, ...]
) -> Iterator[PathModel]:
    """Return paths that the capture's other connections share."""
    base_s, total_bps = seen.base_rtt_s, max(seen.link_bps, rate_bps)
    buffer = max(seen.queue_full_s, seen.queue_max_s) * total_bps / 8
    # Others may have found the queue emptier.
    emptiest_s = min([base_s, *(each.rtt_s for each in known)])
    for shortest_s in sorted({base_s, emptiest_s}):
        yield PathModel(total_bps, shortest_s, buffer_bytes=buffer, known=known)
    for queue in QUEUES:
        yield PathModel(total_bps, base_s, queue, known=known)


def with_hidden(seen: Evidence) -> Iterator[PathModel]:
    """Return paths that flows share which the capture does not have."""
    own_bps = seen.series.goodput_bps * seen.series.wire_per_payload
    total_bps = seen.link_bps or 2 * own_bps
    buffer = max(seen.queue_full_s, seen.queue_max_s) * total_bps / 8
    for competitor, count in OTHERS:
        yield PathModel(
            total_bps, seen.base_rtt_s, buffer_bytes=buffer, competitors=count,
            competitor=competitor,
        )  # fmt: skip


def random_losses(seen: Evidence) -> int:
    """Return how many packets were lost at a queue that was not full."""
    full = set(seen.full) if is_filled(seen) else set()
    return sum(each.retransmitted_pkts for each in seen.losses if each not in full)


def is_filled(seen: Evidence) -> bool:
    """Whether a drop-tail queue was seen full.

    Nearly all losses found it equally long, or several did, or many packets were lost at once.
    """
    full = seen.full
    if any(each.retransmitted_pkts >= BURST_PKTS for each in full):
        return True
    return len(full) >= SEVERAL or len(full) >= max(2, MOST * len(seen.losses))


def deep_s(seen: Evidence) -> float:
    """Return a queueing delay that a queue which was never full holds surely."""
    return max(2 * seen.queue_max_s, seen.base_rtt_s)

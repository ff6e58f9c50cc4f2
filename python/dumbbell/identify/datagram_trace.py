"""The trace of a flow of UDP, like QUIC, from the times and sizes of its packets alone.

Packet numbers and ACK frames are encrypted. Receivers acknowledge every n-th packet (RFC 9000
§13.2: every second), so the count of ACKs says how much has arrived. An ACK that reports a gap is
longer by that range, and stays so until the gap is out of the list: losses show in the ACKs' sizes.
Where the spin bit shows the RTT, what was sent during the last one is in flight, and no ACK is
counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dumbbell.identify.floats import Floats
from dumbbell.identify.grid import Grid
from dumbbell.identify.spin import spin_rtt_s
from dumbbell.identify.trace import Trace

__all__ = ["datagram_trace_of"]

#: A packet at least this share of the largest is data's; an ACK is shorter.
DATA_SHARE = 0.5
#: Least bytes by which ACKs are longer after a loss: a gap is two integers (RFC 9000 §19.3.1).
LONGER_BYTES = 2.0
#: A cut takes this share of a BDP out of the flight within this many RTTs.
CUT_SHARE, CUT_RTTS = 0.1, 1.5
#: Losses less than this many RTTs apart are one.
APART_RTTS = 3.0
#: The shortest RTT that the spin bit shows is this quantile.
LEAST_QUANTILE = 0.02
#: Where nothing is lost for longer than this, the level is that of the time around.
LEVEL_S = 6.0


def datagram_trace_of(
    row: Mapping[str, Any], bins: Mapping[str, Floats], *, uses_spin: bool = True
) -> Trace | None:
    """Make the trace of a flow.

    Parameters
    ----------
    row
        Of the flow, in ``flows``.
    bins
        Columns of its rows in ``series``.
    uses_spin
        Whether the spin bit is looked at.

    Returns
    -------
    Trace or None
        None where one direction is missing, or nothing shows the RTT.
    """
    far_us, near_us = row["far_rtt_us"], row["near_rtt_us"]
    if row["ack_pkts"] < 8 or row["data_pkts"] < 16 or far_us is None:
        return None
    grid = Grid.of(bins, "data_pkts")
    if grid is None:
        return None
    count, step_s = grid.count, grid.step_s
    base_rtt_s = max((far_us + (near_us or 0.0)) * 1e-6, 1e-6)
    per_rtt = max(int(base_rtt_s / step_s), 1)
    data_bytes, acks = grid.total("data_bytes"), grid.total("ack_pkts")
    packet_bytes = float(row["largest_bytes"])
    sent = data_bytes / packet_bytes
    # Packets of the receiver's that are as long as data are its handshake.
    is_ack = grid.largest("largest_ack_bytes") < DATA_SHARE * packet_bytes
    sizes = ack_sizes(
        np.where(is_ack, grid.total("ack_bytes"), 0.0), np.where(is_ack, acks, 0.0), per_rtt
    )
    usual_acked = acks * sent.sum() / max(acks.sum(), 1.0)
    bdp_pkts = float(np.median(smooth(usual_acked, per_rtt))) / step_s * base_rtt_s
    spin_s = spin_rtt_s(grid, base_rtt_s) if uses_spin else None
    if spin_s is None:
        raw = np.cumsum(sent - usual_acked)
    else:
        raw = sent_within(np.cumsum(sent), spin_s / step_s)
    lost = losses_of(raw, sizes, bdp_pkts, per_rtt)
    acked = acks * (sent.sum() - lost.sum()) / max(acks.sum(), 1.0)
    near_s = (near_us or 0.0) * 1e-6
    if near_s > 0.02 * base_rtt_s:
        # What passes was sent with the ACKs that passed a near RTT ago.
        then = np.arange(count) - near_s / step_s
        acked = np.diff(np.interp(then, np.arange(count), np.cumsum(acked), left=0.0), prepend=0.0)
    if spin_s is None:
        rate = smooth(acked, per_rtt) / step_s
        usual = float(np.median(rate[rate > 0])) if np.any(rate > 0) else 0.0
        inflight = levelled(np.cumsum(sent - acked), lost, usual * base_rtt_s, step_s, per_rtt)
        rtt_s = np.clip(inflight / np.maximum(rate, 1e-9), base_rtt_s, base_rtt_s + 4.0)
    else:
        # Where a packet with a changed bit is lost, one round trip seems longer, the next shorter.
        base_rtt_s = min(base_rtt_s, float(np.quantile(spin_s, LEAST_QUANTILE)))
        inflight, rtt_s = raw, np.maximum(spin_s, base_rtt_s)
    return Trace(
        vantage=vantage_of(far_us, near_us),
        step_s=step_s,
        time_s=grid.time_s,
        inflight_pkts=inflight,
        rtt_s=rtt_s,
        base_rtt_s=base_rtt_s,
        sent_bytes=data_bytes,
        delivered_bytes=acked * packet_bytes,
        lost_pkts=lost,
        mss_bytes=packet_bytes,
        ect_share=min(row["ect_pkts"] / max(row["data_pkts"], 1), 1.0),
        ce_share=min(row["ce_pkts"] / max(row["data_pkts"], 1), 1.0),
        window_bytes=np.zeros(count),
        is_estimated=spin_s is None,
    )


def sent_within(total: Floats, steps: Floats) -> Floats:
    """Return what was sent during the last steps, at each point of a running total."""
    now = np.arange(len(total))
    then: Floats = np.interp(now - steps, now, total, left=0.0)
    return total - then


def vantage_of(far_us: float, near_us: float | None) -> str:
    """Return where a flow was captured, by the two parts of its first round trip."""
    if near_us is None:
        return "unknown"
    whole = max(far_us + near_us, 1e-3)
    if near_us < 0.1 * whole:
        return "sender"
    return "receiver" if far_us < 0.1 * whole else "middle"


def ack_sizes(ack_bytes: Floats, acks: Floats, per_rtt: int) -> Floats:
    """Return the mean length of ACKs over half a round trip."""
    width = max(per_rtt // 2, 2)
    many = smooth(acks, width)
    sizes = np.where(many > 0, smooth(ack_bytes, width) / np.maximum(many, 1e-9), np.nan)
    known = np.flatnonzero(~np.isnan(sizes))
    if not len(known):
        return np.zeros(len(sizes))
    found: Floats = np.interp(np.arange(len(sizes)), known, sizes[known])
    return found


def losses_of(raw: Floats, sizes: Floats, bdp_pkts: float, per_rtt: int) -> Floats:
    """Return where the sender cuts its window while ACKs get longer: one for each cut.

    Parameters
    ----------
    raw
        Sent less acknowledged.
    sizes
        Mean length of ACKs.
    """
    lost = np.zeros(len(raw))
    width = max(int(CUT_RTTS * per_rtt), 2)
    fall = np.zeros(len(raw))
    fall[width:] = raw[:-width] - raw[width:]
    deep = fall > max(CUT_SHARE * bdp_pkts, 3.0)
    last = -len(raw)
    apart = int(APART_RTTS * per_rtt)
    for place in np.flatnonzero(deep & ~np.roll(deep, 1)).tolist():
        before = sizes[max(place - 4 * per_rtt, 0) : max(place - 2 * per_rtt, 1)]
        around = sizes[max(place - per_rtt, 0) : place + per_rtt]
        longer = float(around.max() - np.median(before))
        if longer >= LONGER_BYTES and place - last > apart:
            lost[max(place - per_rtt // 2, 0)] = 1.0
            last = place
    return lost


def levelled(raw: Floats, lost: Floats, bdp_pkts: float, step_s: float, per_rtt: int) -> Floats:
    """Return packets in flight from sent less acknowledged, which drifts.

    A lost packet is never acknowledged, and not every ACK stands for as many packets. What is in
    flight just before a loss is taken to be the same each time; where nothing is lost, its mean.
    """
    count = len(raw)
    places = np.flatnonzero(lost > 0)
    average = smooth(raw, max(int(LEVEL_S / 2 / step_s), 1))
    knots: list[tuple[int, float]] = []
    before = [max(int(place) - per_rtt, 0) for place in places]
    peaks = [
        (low, float(raw[low : place + 1].max())) for low, place in zip(before, places, strict=True)
    ]
    step = max(int(LEVEL_S / step_s), 1)
    if len(peaks) >= 2:
        knots = peaks
    else:
        knots = [
            (at, float(average[min(at + step // 4, count - 1)]))
            for at in range(step // 2, count, step)
        ]
    if not knots:
        return np.maximum(raw, 0.0)
    line = np.interp(np.arange(count), [at for at, _ in knots], [value for _, value in knots])
    if len(peaks) >= 2:
        # Beyond the first and the last loss it drifts as between them; a long stretch has its own.
        (first, low), (last, high) = knots[0], knots[-1]
        slope = (high - low) / max(last - first, 1)
        line[:first] = low - slope_of(raw[:first], step, slope) * np.arange(first, 0, -1)
        line[last:] = high + slope_of(raw[last:], step, slope) * np.arange(count - last)
    flat = raw - line
    # The path is taken to be just full where least is in flight.
    later = flat[min(int(2.0 / step_s), count // 4) :]
    lowest = float(np.quantile(later, 0.1)) if len(later) else 0.0
    return np.maximum(flat - lowest + bdp_pkts, 0.0)


def slope_of(values: Floats, least: int, otherwise: float) -> float:
    """Return the slope of the line that fits values best, where there are enough."""
    if len(values) < max(least, 2):
        return otherwise
    return float(np.polynomial.polynomial.polyfit(np.arange(len(values)), values, 1)[1])


def smooth(values: Floats, width: int) -> Floats:
    """Return the mean over the last `width` steps."""
    sums = np.concatenate((np.zeros(width), np.cumsum(values)))
    found: Floats = (sums[width:] - sums[:-width]) / width
    return found

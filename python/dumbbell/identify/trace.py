"""What a connection's sender did over time, as far as a capture shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dumbbell.capture_analysis.full_packet import full_payload_bytes
from dumbbell.identify.floats import Floats
from dumbbell.identify.grid import Grid

__all__ = ["Trace", "trace_of"]

#: A direction whose round trips at the other side of the point are shorter than this is seen at
#: its sender: the point is within the host, or next to it.
NEAR_S = 0.0005
#: More points are not looked at, nor more than this in a round trip.
MAX_POINTS, POINTS_PER_RTT = 4096, 24


@dataclass(frozen=True)
class Trace:
    """A flow over time, on a regular grid.

    Attributes
    ----------
    vantage
        Where it was captured: ``sender``, ``middle``, ``receiver`` or ``unknown``.
    step_s
        Distance of the grid's points.
    time_s
        Of each point, since the capture's first packet.
    inflight_pkts
        Full packets in flight, as the sender counts them; estimated unless captured at the sender.
    rtt_s
        Of the whole path, interpolated between samples.
    base_rtt_s
        The smallest RTT seen.
    sent_bytes, delivered_bytes
        Payload in each step: as sent, and as acknowledged.
    lost_pkts
        Retransmissions in each step; their time is that of the loss being noticed.
    mss_bytes
        Payload of a full packet.
    ect_share, ce_share
        Of the data's packets: ECN-capable; reported as marked.
    window_bytes
        The receive window, 0 where it is unknown.
    is_estimated
        Whether packets in flight are reconstructed, from what passed elsewhere.
    has_accurate_ecn
        Whether marks are counted by Accurate ECN (RFC 9768).
    """

    vantage: str
    step_s: float
    time_s: Floats
    inflight_pkts: Floats
    rtt_s: Floats
    base_rtt_s: float
    sent_bytes: Floats
    delivered_bytes: Floats
    lost_pkts: Floats
    mss_bytes: float
    ect_share: float
    ce_share: float
    window_bytes: Floats
    is_estimated: bool
    has_accurate_ecn: bool = False

    @property
    def duration_s(self) -> float:
        """From the first step with data to the last."""
        return float(len(self.time_s) * self.step_s)


def trace_of(
    row: Mapping[str, Any], ack_row: Mapping[str, Any] | None, bins: Mapping[str, Floats]
) -> Trace | None:
    """Make the trace of one direction at one point.

    Parameters
    ----------
    row
        Of the data's direction, in ``connections``.
    ack_row
        Of the other direction.
    bins
        Columns of the direction's rows in ``series``; NaN for null.

    Returns
    -------
    Trace or None
        None where there is no RTT: one direction only, or no data.
    """
    grid = None if row["rtt_count"] == 0 else Grid.of(bins, "payload_bytes")
    if grid is None:
        return None
    count, step_s = grid.count, grid.step_s
    mss_bytes = float(full_payload_bytes(row, None if ack_row is None else ack_row["mss_bytes"]))
    unique = grid.total("unique_bytes")
    behind = grid.held("inflight_sack_bytes")
    far_s, near_s = grid.interpolated("rtt_us") * 1e-6, grid.interpolated("near_rtt_us") * 1e-6
    far_min_s = row["rtt_min_us"] * 1e-6
    near_min_s = near_min(ack_row, near_s)
    delivered_total = np.maximum.accumulate(np.cumsum(unique) - behind)
    is_estimated = row["vantage"] != "sender" and near_min_s > max(NEAR_S, 0.02 * far_min_s)
    if is_estimated:
        near_s = np.maximum(near_s, near_min_s)
        # What the sender knew when it sent what passes now: the ACKs that passed a near RTT ago.
        then = np.arange(count) - near_s / step_s
        acked: Floats = np.interp(then, np.arange(count), delivered_total, left=0.0)
        inflight = np.maximum(np.cumsum(unique) - acked, 0.0)
        rtt_s, base_rtt_s = far_s + near_s, far_min_s + near_min_s
    else:
        inflight, rtt_s, base_rtt_s = behind, far_s, far_min_s
    data_pkts = max(row["data_pkts"], 1)
    marked = 0 if ack_row is None else ack_row["ece_pkts"] or ack_row["accecn_ce_pkts"] or 0
    trace = Trace(
        vantage=row["vantage"],
        step_s=step_s,
        time_s=grid.time_s,
        inflight_pkts=inflight / mss_bytes,
        rtt_s=np.maximum(rtt_s, 1e-6),
        base_rtt_s=max(base_rtt_s, 1e-6),
        sent_bytes=grid.total("payload_bytes"),
        delivered_bytes=np.diff(delivered_total, prepend=0.0),
        lost_pkts=grid.total("retransmitted_pkts") + grid.total("unseen_original_pkts"),
        mss_bytes=mss_bytes,
        ect_share=min(row["ecn_ect_pkts"] / max(row["pkts"], 1), 1.0),
        ce_share=min(marked / data_pkts, 1.0),
        window_bytes=grid.held("window_bytes"),
        is_estimated=bool(is_estimated),
        has_accurate_ecn=ack_row is not None and ack_row["accecn_ce_pkts"] is not None,
    )
    most = max(count / MAX_POINTS, base_rtt_s / POINTS_PER_RTT / step_s)
    return trace if most < 2 else coarser(trace, int(most))


def coarser(trace: Trace, factor: int) -> Trace:
    """Return a trace whose steps are longer by a whole factor."""
    count = len(trace.time_s) // factor * factor
    if count < 2 * factor:
        return trace

    def total(values: Floats) -> Floats:
        sums: Floats = values[:count].reshape(-1, factor).sum(axis=1)
        return sums

    def last(values: Floats) -> Floats:
        return values[factor - 1 : count : factor]

    return replace(
        trace,
        step_s=trace.step_s * factor,
        time_s=trace.time_s[:count:factor],
        inflight_pkts=last(trace.inflight_pkts),
        rtt_s=total(trace.rtt_s) / factor,
        sent_bytes=total(trace.sent_bytes),
        delivered_bytes=total(trace.delivered_bytes),
        lost_pkts=total(trace.lost_pkts),
        window_bytes=last(trace.window_bytes),
    )


def near_min(ack_row: Mapping[str, Any] | None, near_s: Floats) -> float:
    """Return the shortest time from the point to the sender and back."""
    handshake_us = None if ack_row is None else ack_row["rtt_handshake_us"]
    of_echoes = near_s[near_s > 0]
    candidates = [] if not len(of_echoes) else [float(of_echoes.min())]
    if handshake_us is not None:
        candidates.append(handshake_us * 1e-6)
    return min(candidates, default=0.0)

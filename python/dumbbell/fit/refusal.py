"""Captures that do not show a path, and what to capture instead."""

from __future__ import annotations

from dumbbell.base.errors import CaptureError
from dumbbell.capture_analysis.how_to_capture import tcpdump
from dumbbell.fit.evidence import Evidence

__all__ = ["refuse"]

#: How a capture is made that shows most.
HOW = "capture at the sender, from before the connection starts, for 30 s of a bulk transfer: `{}`"
#: No path has a shorter RTT, s: half of what a host takes.
LEAST_RTT_S = 1e-5
#: Shorter captures, s and RTTs, show no more than a start.
MIN_S, MIN_RTTS = 3.0, 30
#: A sender that had nothing to send for more than this share of the time decided its rate itself.
MAX_IDLE = 0.05
#: A window that was filled to this share was the limit.
FULL_WINDOW = 0.9
#: Below this busy share, and without losses, nothing of the path was felt.
MIN_BUSY = 0.01


def refuse(where: str, seen: Evidence) -> None:
    """Raise an error if a connection shows too little of its path.

    Raises
    ------
    CaptureError
        It says why, and what to capture.
    """
    reason = why_not(seen)
    if reason:
        raise CaptureError(f"{where} {reason}")


def why_not(seen: Evidence) -> str:
    """Return why a connection shows too little; nothing if it shows enough."""
    row, series = seen.series.row, seen.series
    how = HOW.format(tcpdump(row))
    notes = str(row["notes"] or "").split()
    if "one_direction" in notes:
        return f"was captured in one direction only, so that no RTT can be seen; {how}"
    if row["vantage"] in ("receiver", "middle"):
        where = "at the receiver" if row["vantage"] == "receiver" else "in the middle of its path"
        return f"was captured {where}, where neither whole RTT nor queue can be seen; {how}"
    if not series.rtt_s.size or seen.base_rtt_s < LEAST_RTT_S or series.acked_bytes[-1] <= 0:
        return f"has no usable sample of the RTT; {how}"
    least_s = max(MIN_S, MIN_RTTS * seen.base_rtt_s)
    if series.duration_s < least_s:
        return (
            f"lasted {series.duration_s:.1f} s; a fit needs {least_s:.0f} s or more, "
            f"in which the sender always has data; {how}"
        )
    if series.idle_share > MAX_IDLE:
        return (
            f"was limited by its application: for {100 * series.idle_share:.0f} % of the time "
            f"nothing was on the way; {how}"
        )
    if not seen.losses and seen.busy_share < MIN_BUSY:
        window = series.window_bytes
        if window and series.inflight_bytes.max() >= FULL_WINDOW * window:
            return (
                f"was limited by the receiver's window of {window:,.0f} bytes: it lost nothing and "
                "no packet waited; capture one with a larger window (`sysctl net.ipv4.tcp_rmem`)"
            )
        return (
            "lost nothing and no packet waited: its application, not the path, decided its rate of "
            f"{series.goodput_bps / 1e6:.2f} Mbit/s; {how}"
        )
    return ""

"""What a capture does not show of its path."""

from __future__ import annotations

from dumbbell.fit.evidence import Evidence
from dumbbell.fit.hypotheses import is_filled
from dumbbell.fit.path import PathModel

__all__ = ["not_shown", "unexplained"]

#: Further away than this, in squared standard deviations of 15 statistics, nothing explains it:
#: the 99.9 % quantile of chi-squared.
FAR = 37.7


def unexplained(distance: float) -> str:
    """Return a warning if even the nearest path is far from the capture; nothing if it is near."""
    if distance <= FAR:
        return ""
    return (
        f"no path explains the capture: the nearest differs by {distance:.0f} (squared standard "
        f"deviations, added up), of which chance makes {FAR:.0f} at most; is the sender right?"
    )


def not_shown(seen: Evidence, path: PathModel, explanations: int) -> list[str]:
    """Return what a capture does not show, a sentence each."""
    found = []
    if explanations > 1:
        found.append(f"{explanations} kinds of path explain it: see their probabilities")
    if path.queue:
        found.append("the buffer: active queue management kept it from filling")
        if path.queue == "fq_codel":
            found.append("whether the queue is codel, fq_codel or cake: one flow sees the same")
    elif not is_filled(seen) and not path.is_shared:
        kilobytes = seen.queue_max_s * path.rate_bps / 8e3
        found.append(
            f"the buffer: it was never filled, and holds {kilobytes:,.0f} kB "
            f"({1e3 * seen.queue_max_s:.0f} ms) or more"
        )
    if path.rate_steps:
        found.append("changes of the rate within a second")
    if path.jitter_s:
        found.append("how jitter is distributed: it is simulated as a normal distribution")
    if path.known:
        found.append("other flows than the capture's; and what those in it do later")
    elif path.competitors:
        found.append("the others' algorithm, where several explain it; and what they do later")
    else:
        found.append("constant cross traffic: it may look like a slower link")
    longer = seen.series.longer
    if longer > 1:
        megabits = longer * path.rate_bps / 1e6
        found.append(
            "headers of IPv6: the path is one for IPv4's, which are 20 bytes shorter; of packets "
            f"with IPv6 the link carries {megabits:.4g} Mbit/s"
        )
    return found + not_exact(seen)


def not_exact(seen: Evidence) -> list[str]:
    """Return what a capture shows less well than others."""
    found = []
    if seen.queue_s[0] > seen.base_rtt_s:
        found.append("the base RTT exactly: the queue was hardly ever empty")
    if not seen.series.row["rtt_handshake_us"]:
        found.append(
            "the base RTT, which is at most this, and the buffer, which is at least this: the "
            "capture began after the handshake, and the queue may never have been empty"
        )
    return found

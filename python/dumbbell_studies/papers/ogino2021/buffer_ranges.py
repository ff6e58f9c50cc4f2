"""Ranges of buffers, and clauses about every buffer of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dumbbell_studies.papers.clauses import at_every
from dumbbell_studies.papers.finding import ClauseResult
from dumbbell_studies.papers.ogino2021.measurements import Kind, Measured
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP, Point

__all__ = [
    "INFLIGHT",
    "THROUGHPUT",
    "Repetition",
    "above",
    "ahead",
    "buffers_of",
    "confirmed",
    "has_all",
    "rtt_check",
    "runs_at",
    "up_to",
]

#: One repetition: a seed's run at each point.
Repetition = Mapping[Point, Measured]

# What the rules compare: name, form of a pair, of the flows of one kind.
Quantity = tuple[str, str, Callable[[Kind], float]]
THROUGHPUT: Quantity = ("throughput", "{:.1f} and {:.1f} Mbit/s", lambda kind: kind.mbps)
INFLIGHT: Quantity = ("inflight", "{:.0f} and {:.0f} packets", lambda kind: kind.outstanding_pkts)

Range = Callable[[float], bool]


def up_to(largest_bdp: float) -> Range:
    """Return whether a buffer is at most this large."""
    return lambda buffer: buffer <= largest_bdp


def above(buffer_bdp: float) -> Range:
    """Return whether a buffer is larger than this."""
    return lambda buffer: buffer > buffer_bdp


def buffers_of(seen: Repetition, rival: str, n: int) -> list[float]:
    """Return the buffers of a pair that were run, smallest first."""
    return sorted(point.buffer_bdp for point in seen if (point.rival, point.n) == (rival, n))


def has_all(seen: Repetition, rival: str, n: int, within: Range = lambda _: True) -> bool:
    """Return whether all of the paper's buffers in a range were run."""
    return all(Point(rival, n, buffer) in seen for buffer in BUFFERS_BDP if within(buffer))


def runs_at(seen: Repetition, rival: str, n: int, within: Range) -> list[Measured]:
    """Return the runs at the buffers in a range."""
    return [seen[Point(rival, n, b)] for b in buffers_of(seen, rival, n) if within(b)]


def confirmed(*, holds: bool, complete: bool) -> bool | None:
    """Return whether a clause about every buffer holds; without all of them it can only fail."""
    return holds if complete or not holds else None


def ahead(
    seen: Repetition,
    rival: str,
    n: int,
    within: Range,
    quantity: Quantity,
    *,
    copa: bool,
) -> ClauseResult:
    """Check that Copa or its rival is ahead at every buffer of a range."""
    name, form, of = quantity
    buffers = [b for b in buffers_of(seen, rival, n) if within(b)]
    runs = [seen[Point(rival, n, buffer)] for buffer in buffers]
    pairs = [(of(run.copa), of(run.rival)) for run in runs]
    pairs = pairs if copa else [(theirs, ours) for ours, theirs in pairs]
    first, second = ("Copa", rival.upper()) if copa else (rival.upper(), "Copa")
    return at_every(
        f"{where(within)} {first}'s {name} above {second}'s",
        buffers,
        pairs,
        form,
        [one > other for one, other in pairs],
        complete=has_all(seen, rival, n, within),
    )


def rtt_check(
    seen: Repetition, expected: str, within: Range, holds: Callable[[float], bool]
) -> ClauseResult:
    """Check Copa's mean RTT, with one BBR flow, at every buffer of a range."""
    buffers = [b for b in buffers_of(seen, "bbr", 1) if within(b)]
    rtts_ms = [seen[Point("bbr", 1, buffer)].copa.rtt_ms for buffer in buffers]
    return at_every(
        expected, buffers, [(rtt_ms,) for rtt_ms in rtts_ms], "{:.0f} ms",
        [holds(rtt_ms) for rtt_ms in rtts_ms], complete=has_all(seen, "bbr", 1, within),
    )  # fmt: skip


def where(within: Range) -> str:
    """Name a range of the paper's buffers: ``up to 2 BDP``, ``from 16 BDP``."""
    inside = [buffer for buffer in BUFFERS_BDP if within(buffer)]
    if inside[0] == BUFFERS_BDP[0]:
        return f"up to {inside[-1]:g} BDP"
    return f"from {inside[0]:g} BDP"

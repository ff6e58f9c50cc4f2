"""The paper's findings, each as rules on our measurements.

The rules were written from the paper's words before any of our results was looked at. Where its
words leave a threshold open, the comment at the constant says why it is what it is. A rule is about
the buffers that were run: the paper's eight, or fewer when it must be quick.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dumbbell.papers.ogino2021.in_flight import compare_counts
from dumbbell.papers.ogino2021.measurements import COPA, Measured, Measurements
from dumbbell.papers.ogino2021.points import Point
from dumbbell.papers.paper import Check, Finding
from dumbbell.papers.trend import grows
from dumbbell.statistics import jain

__all__ = ["check_findings"]

#: "Mostly in default mode", "in competitive mode": more than half of the time.
MOSTLY = 0.5
#: "RTT is not raised". The paper sets it against "at or above 100 ms" in the same sentence (A6), so
#: it means clearly less: under twice the base RTT. At 0.5 BDP the buffer ensures that.
NOT_RAISED_MS = 80.0
#: "RTT at or above 100 ms" (A6).
RAISED_MS = 100.0
#: "Comparatively fair": neither of two kinds gets more than twice the other, Jain's index 0.9.
#: "Unfair" is the contrary.
FAIR_JAIN = 0.9
#: "Total throughput dips": below the mean of the smaller buffers by more than this; the mean over
#: 120 s differs by about a percent between neighbouring buffers for its start-up alone.
DIP = 0.02
#: "Reaches its upper limit": the window limits it for more of its time than the verdict overlooks.
AT_LIMIT = 0.01
#: "Rises when losses are many" (A5): tcptrace's count is above the kernel's by a tenth at least in
#: seconds with retransmissions, and further above it than in seconds without, by twice or more.
EXCESS_WITH_LOSSES = 0.1
EXCESS_RATIO = 2.0


def check_findings(m: Measurements) -> list[Finding]:
    """Check A1 to A7."""
    return [finding(m) for finding in (a1, a2, a3, a4, a5, a6, a7)]


def a1(m: Measurements) -> Finding:
    """Copa against CUBIC in the smallest buffer."""
    point = Point("cubic", 1, 0.5)
    return Finding(
        "A1",
        "Copa and CUBIC, n = 1, 0.5 BDP: Copa's mean throughput is above CUBIC's; Copa is mostly "
        "in default mode; the RTT is not raised.",
        (
            copa_ahead(m, point),
            mostly_default(m, point),
            rtt_not_raised(m, point),
        ),
    )


def a2(m: Measurements) -> Finding:
    """CUBIC against Copa as the buffer grows."""
    buffers = m.buffers("cubic", 1)
    ahead = buffers_where_rival_leads(m, "cubic", 1)
    where = f"from {ahead[0]:g} BDP" if ahead else "nowhere"
    shares = m.means("cubic", 1, buffers, rival_share)
    checks = [
        grows("CUBIC's share", buffers, shares, "{:.0%}"),
        Check(f"CUBIC ahead of Copa {where} on", bool(ahead) and ahead[0] > buffers[0]),
        grows("RTT", buffers, m.means("cubic", 1, buffers, copa_rtt_ms), "{:.0f} ms"),
    ]
    if ahead:
        inflight = [
            (m.mean(Point("cubic", 1, b), copa_pkts), m.mean(Point("cubic", 1, b), rival_pkts))
            for b in ahead
        ]
        pairs = ", ".join(
            f"{b:g} BDP {r:.0f} > {c:.0f}" for b, (c, r) in zip(ahead, inflight, strict=True)
        )
        checks += [
            Check(f"inflight of CUBIC above Copa's {where}: {pairs} packets",
                  all(rival > copa for copa, rival in inflight)),
            mostly_competitive(m, [Point("cubic", 1, b) for b in ahead]),
        ]  # fmt: skip
    return Finding(
        "A2",
        "Copa and CUBIC, n = 1: as the buffer grows, CUBIC's share grows and passes Copa's; "
        "CUBIC's inflight exceeds Copa's; the RTT grows with the buffer; Copa is in competitive "
        "mode.",
        tuple(checks),
    )


def a3(m: Measurements) -> Finding:
    """Four Copa against four CUBIC."""
    small, large = up_to(2, m.buffers("cubic", 4)), from_on(4, m.buffers("cubic", 4))
    shares = m.means("cubic", 4, large, rival_share)
    return Finding(
        "A3",
        "Copa and CUBIC, n = 4: Copa is above CUBIC up to and including 2 BDP; CUBIC is above from "
        "there, increasingly.",
        (
            *(copa_ahead(m, Point("cubic", 4, buffer)) for buffer in small),
            *(rival_ahead(m, Point("cubic", 4, buffer)) for buffer in large),
            grows("CUBIC's share", large, shares, "{:.0%}"),
        ),
    )


def a4(m: Measurements) -> Finding:
    """Timeouts at 32 BDP, the window's limit at 64 BDP."""
    point, largest = Point("cubic", 1, 32.0), Point("cubic", 1, 64.0)
    total = m.mean(point, total_mbps)
    smaller = up_to(16, m.buffers("cubic", 1))
    others = float(np.mean(m.means("cubic", 1, smaller, total_mbps)))
    rtos = m.mean(point, lambda run: run.copa.rto_count + run.rival.rto_count)
    limited = m.mean(largest, lambda run: run.rival.rwnd_limited_share)
    limited_before = m.mean(point, lambda run: run.rival.rwnd_limited_share)
    rtt_max_s = max(m.values(point, lambda run: run.copa.rtt_max_ms)) / 1e3
    return Finding(
        "A4",
        "Copa and CUBIC, n = 1: at 32 BDP the total throughput dips because of retransmission "
        "timeouts (Copa's RTT peaks at 4.12 and 4.39 s); at 64 BDP CUBIC's cwnd reaches its upper "
        "limit.",
        (
            Check(
                f"32 BDP: total {total:.1f} Mbit/s below the {others:.1f} Mbit/s of "
                f"{smaller[0]:g}–{smaller[-1]:g} BDP by more than {DIP:.0%}",
                total < (1 - DIP) * others,
            ),
            Check(f"32 BDP: {'unknown' if math.isnan(rtos) else f'{rtos:g}'} RTOs", rtos > 0),
            Check(
                f"64 BDP: CUBIC at its window's limit {limited:.1%} of the time", limited > AT_LIMIT
            ),
        ),
        note=f"at 32 BDP Copa's largest RTT is {rtt_max_s:.2f} s and CUBIC is at its window's "
        f"limit {limited_before:.1%} of the time",
    )


def a5(m: Measurements) -> Finding:
    """Tcptrace's inflight counts what has been received already."""
    buffers = m.buffers("cubic", 1)
    runs = [run for buffer in buffers for run in m.runs[Point("cubic", 1, buffer)]]
    counts = compare_counts(runs, COPA)
    return Finding(
        "A5",
        "A measuring artefact: Copa's in-flight count rises when losses are many, because packets "
        "that are not cumulatively acknowledged count as in flight (tcptrace's definition).",
        (
            Check(
                f"in {counts.lossy_seconds} s with retransmissions tcptrace's count is "
                f"{counts.excess_lossy:.1%} above the kernel's",
                counts.excess_lossy >= EXCESS_WITH_LOSSES,
            ),
            Check(
                f"in {counts.quiet_seconds} s without it is {counts.excess_quiet:.1%} above",
                counts.excess_lossy >= EXCESS_RATIO * counts.excess_quiet,
            ),
        ),
    )


def a6(m: Measurements) -> Finding:
    """Copa against BBR."""
    buffers = m.buffers("bbr", 1)
    small = [Point("bbr", 1, buffer) for buffer in up_to(2, buffers)]
    large = [Point("bbr", 1, buffer) for buffer in from_on(4, buffers)]
    competitive = m.means("bbr", 1, buffers, competitive_share)
    return Finding(
        "A6",
        "Copa and BBR, n = 1: up to 2 BDP BBR's throughput is above Copa's, the RTT is not raised "
        "and Copa is mostly in default mode; from 4 BDP the two are comparatively fair, the RTT is "
        "at or above 100 ms and Copa is increasingly in competitive mode.",
        (
            *(rival_ahead(m, point) for point in small),
            *(rtt_not_raised(m, point) for point in small),
            *(mostly_default(m, point) for point in small),
            *(fair(m, point) for point in large),
            *(rtt_raised(m, point) for point in large),
            grows("time in competitive mode", buffers, competitive, "{:.0%}"),
        ),
    )


def a7(m: Measurements) -> Finding:
    """Four Copa against four BBR."""
    buffers = m.buffers("bbr", 4)
    small = [Point("bbr", 4, buffer) for buffer in up_to(2, buffers)]
    large = [Point("bbr", 4, buffer) for buffer in from_on(16, buffers)]
    return Finding(
        "A7",
        "Copa and BBR, n = 4: up to 2 BDP BBR is above Copa; from 16 BDP it is unfair the other "
        "way, Copa above BBR, which gives up its ProbeRTT time about every 10 s; the RTT grows "
        "with the buffer.",
        (
            *(rival_ahead(m, point) for point in small),
            *(copa_ahead(m, point) for point in large),
            *(unfair(m, point) for point in large),
            grows("RTT", buffers, m.means("bbr", 4, buffers, copa_rtt_ms), "{:.0f} ms"),
        ),
    )


# What the checks read from a run.


def copa_mbps(run: Measured) -> float:
    """Mean throughput of a Copa flow."""
    return run.copa.throughput_mbps


def rival_mbps(run: Measured) -> float:
    """Mean throughput of a rival's flow."""
    return run.rival.throughput_mbps


def total_mbps(run: Measured) -> float:
    """Throughput of one flow of each."""
    return run.total_mbps


def rival_share(run: Measured) -> float:
    """Share of the throughput that the rival got."""
    return run.rival_share


def copa_pkts(run: Measured) -> float:
    """Tcptrace's inflight of a Copa flow."""
    return run.copa.outstanding_pkts


def rival_pkts(run: Measured) -> float:
    """Tcptrace's inflight of a rival's flow."""
    return run.rival.outstanding_pkts


def copa_rtt_ms(run: Measured) -> float:
    """Mean RTT of Copa, which the paper draws."""
    return run.copa.rtt_mean_ms


def competitive_share(run: Measured) -> float:
    """Share of the time that Copa was in competitive mode."""
    return run.competitive_share


# What the findings claim.


def up_to(largest_bdp: float, buffers: Sequence[float]) -> list[float]:
    """Return the buffers up to and including one."""
    return [buffer for buffer in buffers if buffer <= largest_bdp]


def from_on(smallest_bdp: float, buffers: Sequence[float]) -> list[float]:
    """Return the buffers from one on."""
    return [buffer for buffer in buffers if buffer >= smallest_bdp]


def at(point: Point) -> str:
    """Return where, for a check's text."""
    return f"{point.buffer_bdp:g} BDP"


def copa_ahead(m: Measurements, point: Point) -> Check:
    """Check that Copa's mean throughput is above its rival's."""
    copa, rival = m.mean(point, copa_mbps), m.mean(point, rival_mbps)
    text = f"{at(point)}: Copa {copa:.1f} > {point.rival.upper()} {rival:.1f} Mbit/s"
    return Check(text, copa > rival)


def rival_ahead(m: Measurements, point: Point) -> Check:
    """Check that the rival's mean throughput is above Copa's."""
    copa, rival = m.mean(point, copa_mbps), m.mean(point, rival_mbps)
    text = f"{at(point)}: {point.rival.upper()} {rival:.1f} > Copa {copa:.1f} Mbit/s"
    return Check(text, rival > copa)


def mostly_default(m: Measurements, point: Point) -> Check:
    """Check that Copa is mostly in default mode."""
    part = 1 - m.mean(point, competitive_share)
    return Check(f"{at(point)}: Copa in default mode {part:.0%} of the time", part > MOSTLY)


def mostly_competitive(m: Measurements, points: Sequence[Point]) -> Check:
    """Check that Copa is mostly in competitive mode at each point."""
    parts = [m.mean(point, competitive_share) for point in points]
    values = ", ".join(f"{at(p)} {part:.0%}" for p, part in zip(points, parts, strict=True))
    text = f"Copa in competitive mode more than half of the time: {values}"
    return Check(text, all(part > MOSTLY for part in parts))


def rtt_not_raised(m: Measurements, point: Point) -> Check:
    """Check that the RTT is not raised."""
    rtt_ms = m.mean(point, copa_rtt_ms)
    return Check(
        f"{at(point)}: RTT {rtt_ms:.0f} ms < {NOT_RAISED_MS:.0f} ms", rtt_ms < NOT_RAISED_MS
    )


def rtt_raised(m: Measurements, point: Point) -> Check:
    """Check that the RTT is at or above 100 ms."""
    rtt_ms = m.mean(point, copa_rtt_ms)
    return Check(f"{at(point)}: RTT {rtt_ms:.0f} ms ≥ {RAISED_MS:.0f} ms", rtt_ms >= RAISED_MS)


def jain_of_kinds(m: Measurements, point: Point) -> float:
    """Return Jain's index of the two kinds' mean throughput."""
    return jain([m.mean(point, copa_mbps), m.mean(point, rival_mbps)])


def fair(m: Measurements, point: Point) -> Check:
    """Check that the two kinds are comparatively fair."""
    index = jain_of_kinds(m, point)
    return Check(f"{at(point)}: Jain's index {index:.2f} ≥ {FAIR_JAIN}", index >= FAIR_JAIN)


def unfair(m: Measurements, point: Point) -> Check:
    """Check that the two kinds are not comparatively fair."""
    index = jain_of_kinds(m, point)
    return Check(f"{at(point)}: Jain's index {index:.2f} < {FAIR_JAIN}", index < FAIR_JAIN)


def buffers_where_rival_leads(m: Measurements, rival: str, n: int) -> list[float]:
    """Return the buffers from the one on at which the rival leads at every larger one."""
    buffers = m.buffers(rival, n)
    leads = [share > 0.5 for share in m.means(rival, n, buffers, rival_share)]
    behind = [index for index, lead in enumerate(leads) if not lead]
    return list(buffers[behind[-1] + 1 :]) if behind else list(buffers)

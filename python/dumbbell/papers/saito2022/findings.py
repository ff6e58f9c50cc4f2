"""The paper's findings, each as rules on our measurements.

Written from the paper's words before any of our results was looked at; a comment says why a
threshold is what it is where those words leave it open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dumbbell.papers.paper import Check, Finding
from dumbbell.papers.saito2022.measurements import Measurements
from dumbbell.papers.saito2022.points import FLOWS, PAPER_SPREAD, SPREADS, Point

__all__ = ["check_findings"]

#: "Close to 1 Gbit/s", payload: headers take 4.4 %, and what is left may lack half as much again.
CLOSE_MBPS = 930.0
#: "Raised": at or above twice the base RTT, as in ogino2021.
RAISED_MS = 80.0
#: "In competitive mode", "mostly": more than half of the time.
MOSTLY = 0.5
#: "Stays there": nearly all of the last quarter.
STAYS = 0.95
FEW, MANY = FLOWS[:2], FLOWS[2:]


def check_findings(m: Measurements) -> list[Finding]:
    """Check B1 to B3 with the paper's spread; a note says what the other spreads show."""
    others = [spread for spread in SPREADS[1:] if Point(FLOWS[0], spread) in m.measured]
    return [
        replace(check(m, PAPER_SPREAD), note=note([(s, check(m, s)) for s in others]))
        for check in (b1, b2, b3)
    ]


def note(others: Sequence[tuple[str, Finding]]) -> str:
    """Return what the same rules say of other start times."""
    parts = []
    for spread, finding in others:
        failed = [check.text for check in finding.checks if not check.holds]
        parts.append(
            f"starts within {spread}: "
            + (f"not {'; not '.join(failed)}" if failed else "all holds")
        )
    return ". ".join(parts)


def b1(m: Measurements, spread: str) -> Finding:
    """The total throughput."""
    totals = [(n, m.mean(Point(n, spread), lambda run: run.total_mbps)) for n in FLOWS]
    return Finding(
        "B1",
        "The total throughput is close to 1 Gbit/s for 16, 32, 64 and 128 flows.",
        tuple(
            Check(f"{n} flows: {total:.0f} ≥ {CLOSE_MBPS:.0f} Mbit/s", total >= CLOSE_MBPS)
            for n, total in totals
        ),
    )


def b2(m: Measurements, spread: str) -> Finding:
    """The RTT of flow 1."""
    checks = []
    for n in FLOWS:
        rtt_ms = m.mean(Point(n, spread), lambda run: run.rtt_mean_ms)
        relation, holds = ("<", rtt_ms < RAISED_MS) if n in FEW else ("≥", rtt_ms >= RAISED_MS)
        checks.append(
            Check(f"{n} flows: mean RTT {rtt_ms:.0f} ms {relation} {RAISED_MS:.0f} ms", holds)
        )
    return Finding(
        "B2",
        "Flow 1's mean RTT is raised at 64 and 128 flows, not at 16 and 32.",
        tuple(checks),
    )


def b3(m: Measurements, spread: str) -> Finding:
    """The mode of flow 1, and what it does."""
    checks = []
    for n in MANY:
        share = m.mean(Point(n, spread), lambda run: run.competitive_share)
        end = m.mean(Point(n, spread), lambda run: run.competitive_at_end)
        rtt = (
            m.mean(Point(n, spread), lambda run: run.rtt_ms[0]),
            m.mean(Point(n, spread), lambda run: run.rtt_ms[-1]),
        )
        inflight = (
            m.mean(Point(n, spread), lambda run: run.inflight_pkts[0]),
            m.mean(Point(n, spread), lambda run: run.inflight_pkts[-1]),
        )
        checks += [
            Check(f"{n} flows: flow 1 competitive {share:.0%} of the time", share > MOSTLY),
            Check(f"{n} flows: {end:.0%} of the last quarter ≥ {STAYS:.0%}", end >= STAYS),
            Check(
                f"{n} flows: its RTT grows from {rtt[0]:.0f} ms in the second quarter to "
                f"{rtt[1]:.0f} ms in the last",
                rtt[1] > rtt[0],
            ),
            Check(
                f"{n} flows: its inflight grows from {inflight[0]:.0f} to {inflight[1]:.0f} pkts",
                inflight[1] > inflight[0],
            ),
        ]
    for n in FEW:
        share = m.mean(Point(n, spread), lambda run: run.competitive_share)
        checks.append(
            Check(f"{n} flows: flow 1 competitive {share:.0%} of the time", share <= MOSTLY)
        )
    return Finding(
        "B3",
        "At 64 and 128 flows flow 1 is in competitive mode; there inflight and RTT grow and it "
        "stays there.",
        tuple(checks),
    )

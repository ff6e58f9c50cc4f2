"""Ogino, Okada, Utsumi 2021: "CUBIC vs Copa vs BBR".

n Copa flows against n CUBIC flows, then against n BBR flows, at one 50 Mbit/s bottleneck with a
base RTT of 40 ms and drop-tail buffers from 0.5 to 64 BDP, for 120 s each.

The rules follow the words of the paper (in Japanese), clause by clause. 100 ms is the paper's only
number; half of the time (A2) and twice (A5) are our readings. A comparison in the text is a
comparison in the rule; a tendency (keikō) is a significant rank correlation with the buffer
(`clauses.grows`). A repetition is one seed at every buffer. Where buffers are missing (`--quick`),
a clause about them can be violated by one that is there, and is otherwise not decided.
"""

from __future__ import annotations

from dumbbell_studies.papers.ogino2021.captures import evaluate_captures
from dumbbell_studies.papers.ogino2021.figures import draw_figures
from dumbbell_studies.papers.ogino2021.measurements import measure
from dumbbell_studies.papers.ogino2021.rules import check_findings
from dumbbell_studies.papers.ogino2021.runs import (
    BUFFERS_BDP,
    FLOWS,
    QUICK_BUFFERS_BDP,
    RIVALS,
    RWND,
    Point,
    scenario,
)
from dumbbell_studies.papers.ogino2021.tables import make_tables
from dumbbell_studies.papers.paper import Paper

__all__ = ["PAPER"]


def missing_buffers(rival: str, n: int) -> str:
    """Return what the quick grid leaves out of a pair: ``cubic n = 1: 1, 2, 8, 16 BDP``."""
    kept = QUICK_BUFFERS_BDP[rival, n]
    missing = ", ".join(f"{buffer:g}" for buffer in BUFFERS_BDP if buffer not in kept)
    return f"{rival} n = {n}: {missing} BDP"


QUICK_NOTE = (
    "Quick: fewer buffers, which can refute a finding about all buffers and cannot confirm it; "
    "what they cannot decide is counted apart. Missing are, with "
    + "; ".join(missing_buffers(rival, n) for rival, n in QUICK_BUFFERS_BDP)
    + "."
)

PAPER = Paper(
    name="ogino2021",
    title=(
        "Performance evaluation of heterogeneous congestion control when competing: "
        "CUBIC vs Copa vs BBR"
    ),
    authors="Ogino, Okada, Utsumi (Fukushima University), 2021",
    setup=(
        ("Bottleneck", "50 Mbit/s, drop-tail, buffer 0.5 to 64 BDP (1 BDP = 250 kB)"),
        ("Base RTT", "40 ms"),
        ("Flows", "n = 1 and n = 4 of Copa, against as many of CUBIC or of BBR"),
        ("Time", "120 s, start-up included in every mean"),
        ("Receivers", f"SACK, timestamps, delayed ACKs, receive window {RWND}"),
        ("Throughput", "payload the receiver got per second, which is what tcptrace counts"),
        ("Inflight in the figures", "highest sent minus cumulatively acknowledged, as tcptrace's"),
    ),
    departures=(
        f"Receive window {RWND}: the paper names no limit, but says that CUBIC's cwnd reached its "
        "upper limit at 64 BDP and not at 32 BDP. A Linux 4.15 host whose net.core.rmem_max is "
        "16 MiB advertises half of it (tcp_adv_win_scale = 1), 33.5 BDP, half a BDP more than one "
        "flow and a buffer of 32 BDP hold: it nearly fits, as it limits that flow only for a few "
        "per cent of the time. It is a reconstruction.",
        "BBR runs as Linux 4.15 had it: without the ACK-aggregation term (`extra_acked_gain=0`; it "
        "came with commit 78dc70ebaa38 in Linux 5.1), and an RTT equal to min_rtt renews it "
        "(`min_rtt_tie_renews=1`; until 1b9e2a8c99a5 in Linux 5.10).",
        "The paper ran CCP's Copa on Linux 4.15 in Mininet; here its algorithm runs in a simulated "
        "Linux TCP, or in this machine's, without CCP's reaction delay between kernel and user "
        "space, which `--apparatus mininet-2021` adds.",
        "The paper's n = 4 curves over time are taken to be one flow's, as tcptrace draws one "
        "connection; here the first of each kind.",
    ),
    points=tuple(Point(rival, n, b) for rival in RIVALS for n in FLOWS for b in BUFFERS_BDP),
    quick_points=tuple(
        Point(rival, n, b) for (rival, n), kept in QUICK_BUFFERS_BDP.items() for b in kept
    ),
    quick_note=QUICK_NOTE,
    run_name=lambda point: f"copa-{point.rival}-n{point.n}-{point.buffer_bdp:g}bdp",
    scenario=scenario,
    measure=measure,
    findings=check_findings,
    tables=make_tables,
    figures=draw_figures,
    # The paper has no figure over time of Copa and CUBIC with n = 4.
    wants_capture=lambda point: (point.rival, point.n) != ("cubic", 4),
    from_captures=evaluate_captures,
)

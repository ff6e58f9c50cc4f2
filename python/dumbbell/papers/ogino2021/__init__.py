"""Ogino, Okada, Utsumi 2021: "CUBIC vs Copa vs BBR".

n Copa flows against n CUBIC flows, then against n BBR flows, at one 50 Mbit/s bottleneck with a
base RTT of 40 ms and drop-tail buffers from 0.5 to 64 BDP, for 120 s each.
"""

from dumbbell.papers.ogino2021.captures import evaluate_captures, wants_capture
from dumbbell.papers.ogino2021.figures import draw_figures, make_tables
from dumbbell.papers.ogino2021.findings import check_findings
from dumbbell.papers.ogino2021.measurements import Measurements
from dumbbell.papers.ogino2021.points import QUICK_NOTE, RWND, quick_scenarios, scenarios
from dumbbell.papers.paper import Paper

__all__ = ["PAPER"]

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
        "16 MiB advertises half of it (tcp_adv_win_scale = 1), 33.5 BDP, which fits; it is a "
        "reconstruction.",
        "BBR runs as Linux 4.15 had it: without the ACK-aggregation term (`extra_acked_gain=0`; it "
        "came with commit 78dc70ebaa38 in Linux 5.1), and an RTT equal to min_rtt renews it "
        "(`min_rtt_tie_renews=1`; until 1b9e2a8c99a5 in Linux 5.10).",
        "The paper ran CCP's Copa on Linux 4.15 in Mininet; here its algorithm runs in a simulated "
        "Linux TCP, or in this machine's, without CCP's reaction delay between kernel and user "
        "space.",
        "The paper's n = 4 curves over time are taken to be one flow's, as tcptrace draws one "
        "connection; here the first of each kind.",
    ),
    scenarios=scenarios,
    quick_scenarios=quick_scenarios,
    quick_note=QUICK_NOTE,
    findings=lambda runs: check_findings(Measurements(runs)),
    tables=lambda runs: make_tables(Measurements(runs)),
    figures=draw_figures,
    default_seeds=10,
    wants_capture=wants_capture,
    from_captures=evaluate_captures,
)

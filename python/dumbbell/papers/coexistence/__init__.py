"""BBR and CUBIC on a testbed: BBR alone and against CUBIC at 10 Mbit/s, 1 to 18 BDP."""

from dumbbell.papers.coexistence.figures import draw_figures, make_tables
from dumbbell.papers.coexistence.findings import check_findings
from dumbbell.papers.coexistence.measurements import Measurements
from dumbbell.papers.coexistence.model_checks import model_checks
from dumbbell.papers.coexistence.points import QUICK_NOTE, quick_scenarios, scenarios
from dumbbell.papers.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    name="coexistence",
    title="BBR and CUBIC coexisting on a testbed",
    authors="Fukushima University",
    setup=(
        ("Bottleneck", "10 Mbit/s, drop-tail, buffer 1 to 18 BDP (1 BDP = 50 kB)"),
        ("Base RTT", "40 ms"),
        ("Flows", "one BBR flow alone; one BBR flow against one CUBIC flow"),
        ("Time", "120 s, start-up included in every mean"),
        ("Repetitions", "10, averaged"),
        ("Windows", "100 MB at most, for sending and receiving"),
    ),
    departures=(
        "The experiment ran on Linux 4.12.4 senders and FreeBSD receivers; here both ends are the "
        "simulated Linux TCP, or this machine's.",
        "BBR runs as Linux 4.12 had it: `extra_acked_gain=0` and `min_rtt_tie_renews=1`, as in "
        "ogino2021.",
    ),
    scenarios=scenarios,
    quick_scenarios=quick_scenarios,
    quick_note=QUICK_NOTE,
    findings=lambda runs: check_findings(Measurements(runs)),
    tables=lambda runs: make_tables(Measurements(runs)),
    figures=lambda runs: draw_figures(Measurements(runs)),
    default_seeds=10,
    model_checks=model_checks,
)

"""Saito, Okada, Ogino, Utsumi 2022: 16 to 128 Copa flows at one 1 Gbit/s bottleneck."""

from dumbbell.papers.paper import Paper
from dumbbell.papers.saito2022.figures import draw_figures, make_tables
from dumbbell.papers.saito2022.findings import check_findings
from dumbbell.papers.saito2022.measurements import Measurements
from dumbbell.papers.saito2022.model_checks import model_checks
from dumbbell.papers.saito2022.points import QUICK_NOTE, quick_scenarios, scenarios

__all__ = ["PAPER"]

PAPER = Paper(
    name="saito2022",
    title="Evaluation of multiple Copa flows using network emulator Mininet",
    authors="Saito, Okada, Ogino, Utsumi (Fukushima University), 2022",
    setup=(
        ("Bottleneck", "1 Gbit/s, drop-tail, buffer 64 BDP (1 BDP = 5 MB)"),
        ("Base RTT", "40 ms"),
        ("Flows", "16, 32, 64 and 128 of Copa, from 8 senders"),
        ("Time", "120 s, start-up included in every mean"),
        ("Flow 1", "the first flow of the run"),
        ("Start times", "all within 0.1 s and 0.4 s; also 0, 1 and 5 s"),
        ("Locked", "flows in competitive mode for most of the last quarter of the run"),
    ),
    departures=(
        "The paper does not say when its flows start. Its eight senders' iPerf processes, started "
        "by one script, take an estimated 0.1 to 0.4 s; the findings are decided with both, and "
        "reported for 0, 1 and 5 s too.",
        "The paper describes Copa with a mode window of 5 RTT; CCP's Copa, which ran, has 10. Here "
        "runs CCP's, without its reaction delay between kernel and user space.",
        "The runs that switch a cause off last 60 s. `RTT_min known` gives every flow the path's "
        "40 ms; `1/δ does not grow` keeps δ at 0.5 in competitive mode too.",
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

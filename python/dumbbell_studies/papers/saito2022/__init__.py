"""Saito, Okada, Ogino, Utsumi 2022: 16 to 128 Copa flows at one 1 Gbit/s bottleneck.

The rules follow the words of the paper (in Japanese), clause by clause. The numbers go with the
words: close to 1 Gbit/s is 950 Mbit/s or more (B1), an increased RTT is 1.5 times that of 16 flows
(B2), and "goes on" is more than half of the second half (B3). The paper does not say when its flows
start: eight hosts' iPerf processes started by one script take an estimated 0.1 to 0.4 s. A
repetition is one seed at every flow count, at either end of that estimate; both decide. What the
rule shows with other start times is reported and does not decide.
"""

from __future__ import annotations

from dumbbell_studies.papers.paper import Paper
from dumbbell_studies.papers.saito2022.figures import draw_figures
from dumbbell_studies.papers.saito2022.measurements import measure
from dumbbell_studies.papers.saito2022.model_checks import model_checks
from dumbbell_studies.papers.saito2022.rules import check_findings
from dumbbell_studies.papers.saito2022.runs import (
    APPARATUS_POINTS,
    ESTIMATED_SPREADS,
    POINTS,
    QUICK_POINTS,
    run_name,
    scenario,
)
from dumbbell_studies.papers.saito2022.spreads import is_deciding
from dumbbell_studies.papers.saito2022.tables import make_tables

__all__ = ["PAPER"]

#: Seeds of the runs that do not decide.
REPORTED_SEEDS = 5

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
        "runs CCP's, without its reaction delay between kernel and user space, which "
        "`--apparatus mininet-2021` adds.",
        "The runs that switch a cause off last 60 s. `RTT_min known` gives every flow the path's "
        "40 ms; `1/δ does not grow` keeps δ at 0.5 in competitive mode too.",
    ),
    points=POINTS,
    quick_points=QUICK_POINTS,
    quick_note="Quick: the paper's four flow counts, all flows starting within "
    f"{' and '.join(ESTIMATED_SPREADS)}; other start times, and the runs that switch each cause "
    "off, are left out.",
    run_name=run_name,
    scenario=scenario,
    measure=measure,
    findings=check_findings,
    tables=make_tables,
    figures=draw_figures,
    default_seeds=lambda point: 10 if is_deciding(point) else REPORTED_SEEDS,
    decides=is_deciding,
    model_checks=model_checks,
    apparatus_points=APPARATUS_POINTS,
)

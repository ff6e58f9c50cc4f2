"""Utsumi, Hasegawa 2024 (KAKENHI 20K11786): many BBR flows, L3DR, a CUBIC model, BBR-FCA.

The rules follow the words of the report (in Japanese), clause by clause. The numbers go with the
words: several hundred ms is 200 ms or more (C1), use near 100 % is 97 % or more, many flows are 16
or more (C2), and a model orders flows when the rank correlation is 0.9 or more (C3). A repetition
is one seed of every run that a finding is about.
"""

from __future__ import annotations

from dumbbell_studies.papers.kakenhi2024.figures import draw_figures
from dumbbell_studies.papers.kakenhi2024.measurements import measure
from dumbbell_studies.papers.kakenhi2024.model_checks import model_checks
from dumbbell_studies.papers.kakenhi2024.rules import check_findings
from dumbbell_studies.papers.kakenhi2024.runs import (
    BUFFERS_BDP,
    C1_SPREADS,
    C1_VERSIONS,
    ESTIMATED_SPREADS,
    FLOW_COUNTS,
    INTERVAL_BUFFERS_BDP,
    INTERVAL_RTTS,
    MIXES,
    QUICK_BUFFERS_BDP,
    QUICK_FLOW_COUNTS,
    grid,
    run_name,
    scenario,
)
from dumbbell_studies.papers.kakenhi2024.seeds import default_seeds
from dumbbell_studies.papers.kakenhi2024.tables import make_tables
from dumbbell_studies.papers.paper import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    name="kakenhi2024",
    title="An ideal congestion control: no buffering delay and 100 % utilisation",
    authors="Utsumi, Hasegawa (KAKENHI 20K11786, final report)",
    setup=(
        ("Alone (C1, C2)", "1 to 128 flows of one kind, 100 Mbit/s, 32, 10 and 1 BDP, 120 s"),
        (
            "Loss intervals (C3)",
            "1, 4, 16 CUBIC flows, 50 Mbit/s, 20 to 80 ms, 0.5 to 8 BDP, 300 s",
        ),
        ("Against CUBIC (C4)", "1:1, 1:4, 4:1, 4:4 flows, 50 Mbit/s, 0.5 to 64 BDP, 300 s"),
        ("Base RTT", "40 ms where nothing else is said"),
        ("Queueing delay", "mean over all packets, start-up included"),
    ),
    departures=(
        "The report's papers on L3DR and BBR-FCA could not be had in full: both algorithms "
        "and the CUBIC model are reconstructions from the report's words "
        "(docs/notes/l3dr.md, docs/notes/bbr-fca.md, docs/models.md).",
        "Base RTT, flow counts other than 128, and the rates of C3 and C4 are not in the report's "
        "text; they are those of the other papers.",
        "Drawn but not in the report: BBRv3 as of the IETF draft.",
    ),
    points=grid(
        FLOW_COUNTS, INTERVAL_RTTS, MIXES, BUFFERS_BDP, INTERVAL_BUFFERS_BDP,
        [(cc, spread) for cc in C1_VERSIONS.values() for spread in C1_SPREADS],
    ),
    quick_points=grid(
        QUICK_FLOW_COUNTS, ("40ms",), ((1, 1), (4, 4)), QUICK_BUFFERS_BDP, (1.0, 4.0),
        [("bbr", spread) for spread in ESTIMATED_SPREADS],
    ),
    quick_note=(
        "Quick: 1, 16 and 128 flows of each alone; CUBIC's loss intervals at 40 ms and two "
        "buffers; against CUBIC the mixes 1:1 and 4:4 at 1, 4 and 16 BDP. A clause about runs that "
        "are missing is not decided, unless one that is there violates it."
    ),
    run_name=run_name,
    scenario=scenario,
    measure=measure,
    findings=check_findings,
    tables=make_tables,
    figures=draw_figures,
    default_seeds=default_seeds,
    model_checks=model_checks,
)  # fmt: skip

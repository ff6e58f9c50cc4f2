"""Utsumi, Hasegawa 2024 (KAKENHI 20K11786): many BBR flows, L3DR, a CUBIC model, BBR-FCA."""

from dumbbell.papers.kakenhi2024.figures import draw_figures, make_tables
from dumbbell.papers.kakenhi2024.findings import check_findings
from dumbbell.papers.kakenhi2024.measurements import Measurements
from dumbbell.papers.kakenhi2024.model_checks import model_checks
from dumbbell.papers.kakenhi2024.points import QUICK_NOTE, quick_scenarios, scenarios
from dumbbell.papers.paper import Paper

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
        "The report's papers on L3DR and BBR-FCA could not be had in full: both congestion "
        "controls and the CUBIC model are reconstructions from the report's words (docs/l3dr.md, "
        "docs/bbr-fca.md, docs/models.md).",
        "Base RTT, flow counts other than 128, and the rates of C3 and C4 are not in the report's "
        "text; they are those of the other papers.",
        "Drawn but not in the report: BBRv3 as of the IETF draft.",
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

"""The paper's runs, and which cause locks the flows."""

from __future__ import annotations

from dumbbell.statistics import mean_and_interval
from dumbbell_studies.papers.paper import ResultTable
from dumbbell_studies.papers.results import Results
from dumbbell_studies.papers.saito2022.measurements import Measured
from dumbbell_studies.papers.saito2022.runs import CAUSE_SPREADS, CAUSE_TIME, FLOWS, VARIANTS, Point
from dumbbell_studies.papers.saito2022.spreads import spreads_of, when

__all__ = ["causes_table", "make_tables"]


def make_tables(results: Results[Point, Measured]) -> list[ResultTable]:
    """Tabulate the paper's runs, and which cause locks the flows."""
    tables = [runs_table(results, spread) for spread in spreads_of(results)]
    if any(point.variant != "as it ran" for point in results.measured):
        tables.append(causes_table(results))
    return tables


def runs_table(results: Results[Point, Measured], spread: str) -> ResultTable:
    """Tabulate the runs with one spread of start times."""
    rows = []
    for n in FLOWS:
        point = Point(n, spread)
        rows.append(
            (
                str(n),
                mean_and_interval(results.values(point, lambda run: run.total_mbps)),
                mean_and_interval(results.values(point, lambda run: run.rtt_mean_ms)),
                f"{results.mean(point, lambda run: run.competitive_share):.0%}",
                locked(results.values(point, lambda run: run.is_locked)),
                results.verdict(point),
            )
        )
    return ResultTable(
        title=f"Copa flows that start {when(spread)}",
        columns=(
            "flows", "throughput (Mbit/s)", "mean RTT of flow 1 (ms)", "flow 1 competitive",
            "seeds locked", "verdict",
        ),
        rows=tuple(rows),
    )  # fmt: skip


def causes_table(results: Results[Point, Measured]) -> ResultTable:
    """Tabulate how many seeds lock with each cause switched off."""
    columns = [(n, spread) for n in FLOWS[2:] for spread in CAUSE_SPREADS]
    rows = [
        (
            variant,
            *(
                locked(results.values(Point(n, spread, variant), lambda run: run.is_locked_early))
                for n, spread in columns
            ),
        )
        for variant in VARIANTS
    ]
    return ResultTable(
        title=f"What locks the flows: seeds in competitive mode towards the end of {CAUSE_TIME}",
        columns=("Copa", *(f"{n} flows, {spread}" for n, spread in columns)),
        rows=tuple(rows),
    )


def locked(values: list[float]) -> str:
    """Return in how many seeds the flows are in competitive mode."""
    return f"{int(sum(values))} of {len(values)}"

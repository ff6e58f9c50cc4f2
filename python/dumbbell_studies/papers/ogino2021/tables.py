"""Throughput, RTT and Copa's mode against the buffer."""

from __future__ import annotations

import math

from dumbbell.figures import style_of
from dumbbell.statistics import mean_and_interval
from dumbbell_studies.papers.ogino2021.measurements import Measured, points_of
from dumbbell_studies.papers.ogino2021.runs import FLOWS, RIVALS, Point
from dumbbell_studies.papers.paper import ResultTable
from dumbbell_studies.papers.results import Results

__all__ = ["make_tables"]


def make_tables(results: Results[Point, Measured]) -> list[ResultTable]:
    """Tabulate throughput, RTT and Copa's mode against the buffer, a table per pair and n."""
    return [make_table(results, rival, n) for rival in RIVALS for n in FLOWS]


def make_table(results: Results[Point, Measured], rival: str, n: int) -> ResultTable:
    """Tabulate one pair and n."""
    label = style_of(rival).label
    rows = []
    for point in points_of(results, rival, n):
        rtos = sum(results.values(point, lambda run: run.copa.rtos + run.rival.rtos))
        rows.append(
            (
                f"{point.buffer_bdp:g}",
                mean_and_interval(results.values(point, lambda run: run.copa.mbps)),
                mean_and_interval(results.values(point, lambda run: run.rival.mbps)),
                f"{results.mean(point, lambda run: run.rival_share):.0%}",
                f"{results.mean(point, lambda run: run.copa.rtt_ms):.0f}",
                f"{results.mean(point, lambda run: run.competitive_share):.0%}",
                "–" if math.isnan(rtos) else f"{rtos:g}",
                results.verdict(point),
            )
        )
    return ResultTable(
        title=f"Copa and {label}, n = {n}: mean throughput per flow",
        columns=(
            "buffer (BDP)", "Copa (Mbit/s)", f"{label} (Mbit/s)", f"{label}'s share",
            "RTT of Copa (ms)", "Copa competitive", "RTOs", "verdict",
        ),
        rows=tuple(rows),
    )  # fmt: skip

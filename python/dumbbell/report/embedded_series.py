"""The time series in a page: of each cell's first repetition, up to a size."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.figures.figure import Figure
from dumbbell.figures.y_range import Range, y_range
from dumbbell.plots.result_figures import SweepView
from dumbbell.plots.run_figures import draw_run
from dumbbell.report.chart import chart, script_json
from dumbbell.run import Run
from dumbbell.sweeps import SweepResult

__all__ = ["MAX_BYTES", "Embedded", "embed", "pack", "points_for"]

#: Of all time series of a page, as text.
MAX_BYTES = 8_000_000
#: Points of a line: of a page with few cells, and of one with many.
MOST_POINTS, FEWEST_POINTS = 600, 120
#: Cells up to which a line has the most points.
FEW_CELLS = 32


@dataclass(frozen=True)
class Embedded:
    """Time series of a cell.

    Attributes
    ----------
    cell
        Its index in the first sweep.
    which
        0, or 1 for the second of two sweeps.
    text
        Its charts: base64 of gzip of JSON.
    seed, verdict
        Of the run.
    """

    cell: int
    which: int
    text: str
    seed: int
    verdict: str


def points_for(cells: int) -> int:
    """Return how many points a line has on a page of this many cells."""
    return max(FEWEST_POINTS, MOST_POINTS * FEW_CELLS // max(cells, FEW_CELLS))


def embed(
    sweeps: Sequence[SweepView], on_progress: Callable[[float], None]
) -> tuple[list[Embedded], int]:
    """Pack the first repetition of each cell, until the page is full.

    Returns
    -------
    list of Embedded
        In the order of the first sweep's cells.
    int
        Cells for which there was no room.
    """
    cells = sweeps[0].result.cells
    firsts = [first_repetitions(shown.result) for shown in sweeps]
    points = points_for(len(cells) * len(sweeps))
    found: list[Embedded] = []
    size = 0
    for place, cell in enumerate(cells):
        on_progress(place / len(cells))
        if size > MAX_BYTES:
            return found, len(cells) - place
        drawn: list[tuple[int, Run, list[Figure]]] = []
        for which, (shown, first) in enumerate(zip(sweeps, firsts, strict=True)):
            at = shown.cells.get(cell.index)
            rep = None if at is None else first.get(at)
            run = None if at is None or rep is None else shown.result.runs[at, rep]
            figures = [] if run is None else draw_run(run, points)
            if run is not None and figures:
                drawn.append((which, run, figures))
        extents = common_ranges([figures for _, _, figures in drawn])
        for which, run, figures in drawn:
            text = pack(
                [chart(each, zooms=True, extent=extents.get(each.name)) for each in figures]
            )
            size += len(text)
            found.append(Embedded(cell.index, which, text, run.scenario.seed, run.verdict.status))
    return found, 0


def common_ranges(sides: Sequence[Sequence[Figure]]) -> dict[str, Range]:
    """Return the range of the y axis of each figure that both sides have, which is one for both."""
    if len(sides) < 2:
        return {}
    by_name: dict[str, list[Figure]] = {}
    for figures in sides:
        for figure in figures:
            by_name.setdefault(figure.name, []).append(figure)
    return {
        name: y_range(each, whole_bars=True)
        for name, each in by_name.items()
        if len(each) > 1 and not each[0].y_names
    }


def first_repetitions(result: SweepResult) -> dict[int, int]:
    """Return the first repetition that finished, by the cell."""
    first: dict[int, int] = {}
    for cell, rep in sorted(result.runs):
        first.setdefault(cell, rep)
    return first


def pack(document: Any) -> str:
    """Return a document as base64 of gzip; the same document gives the same text."""
    text = script_json(document).encode()
    return base64.b64encode(gzip.compress(text, compresslevel=9, mtime=0)).decode()

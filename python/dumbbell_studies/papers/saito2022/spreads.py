"""Spreads of start times: which were run, which decide, which are drawn."""

from __future__ import annotations

from dumbbell_studies.papers.results import Results
from dumbbell_studies.papers.saito2022.measurements import Measured
from dumbbell_studies.papers.saito2022.runs import (
    AS_IT_RAN,
    BY_APPARATUS,
    ESTIMATED_SPREADS,
    FLOWS,
    PAPER_SPREAD,
    SPREADS,
    Point,
)

__all__ = ["DECIDING", "drawn_spread", "is_deciding", "spreads_of", "when"]

#: The runs that decide.
DECIDING = (*ESTIMATED_SPREADS, BY_APPARATUS)


def spreads_of(results: Results[Point, Measured]) -> list[str]:
    """Return the spreads of start times that were run."""
    return [s for s in (*SPREADS, BY_APPARATUS) if Point(FLOWS[0], s) in results]


def is_deciding(point: Point) -> bool:
    """Whether a finding depends on it: only the estimated start times decide one."""
    return point.variant == AS_IT_RAN and point.spread in DECIDING


def when(spread: str) -> str:
    """Say when the flows start."""
    return "as the apparatus has it" if spread == BY_APPARATUS else f"within {spread}"


def drawn_spread(results: Results[Point, Measured]) -> str:
    """Return the spread of the figures over time."""
    spreads = spreads_of(results)
    return PAPER_SPREAD if PAPER_SPREAD in spreads else spreads[0]

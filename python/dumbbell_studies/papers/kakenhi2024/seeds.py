"""How many seeds each run has."""

from __future__ import annotations

from dumbbell_studies.papers.kakenhi2024.rules import MANY_FLOWS
from dumbbell_studies.papers.kakenhi2024.runs import (
    C1_FLOWS,
    C2_BUFFERS_BDP,
    DEEP_BDP,
    ESTIMATED_SPREADS,
    Alone,
    Point,
)

__all__ = ["default_seeds"]

#: Seeds of start times that are reported, and of runs that are only drawn.
REPORTED_SEEDS, DRAWN_SEEDS = 5, 3


def default_seeds(point: Point) -> int:
    """Return ten for what C1 and C2 depend on, as they depend on single runs.

    C3 depends on all flows of 45 runs, C4 on 32 runs of each rival. The rest is drawn or reported.
    """
    if not isinstance(point, Alone):
        return 1
    if point.buffer_bdp == DEEP_BDP and point.flows == C1_FLOWS:
        return 10 if point.spread in ESTIMATED_SPREADS else REPORTED_SEEDS
    is_of_c2 = point.cc in ("l3dr", "bbr") and point.buffer_bdp in C2_BUFFERS_BDP
    return 10 if is_of_c2 and point.flows >= MANY_FLOWS else DRAWN_SEEDS

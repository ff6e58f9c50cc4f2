"""What was measured, by the kind of the runs."""

from __future__ import annotations

from typing import Any

from dumbbell_studies.papers.kakenhi2024.measurements import (
    AloneMeasured,
    IntervalMeasured,
    Measured,
)
from dumbbell_studies.papers.kakenhi2024.runs import Alone, Interval, Mixed, Point
from dumbbell_studies.papers.results import Results

__all__ = ["alone_of", "buffers", "flow_counts", "flows_of", "intervals_of", "mixed_of", "mixes"]


def alone_of(results: Results[Point, Measured]) -> Results[Alone, AloneMeasured]:
    """Return the runs of one congestion control algorithm alone."""
    return part_of(results, Alone)


def intervals_of(results: Results[Point, Measured]) -> Results[Interval, list[IntervalMeasured]]:
    """Return the runs of CUBIC alone."""
    return part_of(results, Interval)


def mixed_of(results: Results[Point, Measured]) -> Results[Mixed, float]:
    """Return the runs against CUBIC."""
    return part_of(results, Mixed)


def part_of(results: Results[Point, Measured], kind: type[Point]) -> Results[Any, Any]:
    """Return the part of the results at points of one kind."""
    measured = {point: found for point, found in results.measured.items() if type(point) is kind}
    return Results(measured, {p: runs for p, runs in results.runs.items() if type(p) is kind})


def flow_counts(alone: Results[Alone, AloneMeasured]) -> tuple[int, ...]:
    """Return the flow counts that were run, smallest first."""
    return tuple(sorted({point.flows for point in alone.measured}))


def flows_of(
    intervals: Results[Interval, list[IntervalMeasured]], point: Interval
) -> list[IntervalMeasured]:
    """Return the flows of all seeds."""
    return [flow for run in intervals.measured[point] for flow in run]


def mixes(mixed: Results[Mixed, float]) -> list[tuple[int, int]]:
    """Return the mixes that were run."""
    return sorted({point.mix for point in mixed.measured})


def buffers(mixed: Results[Mixed, float]) -> list[float]:
    """Return the buffers that were run against CUBIC."""
    return sorted({point.buffer_bdp for point in mixed.measured})

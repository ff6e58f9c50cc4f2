"""Two sets of runs of one scenario, compared measure by measure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.compare.measures import MEASURES, Measure, Values
from dumbbell.statistics import unpaired_difference

__all__ = ["CONFIDENCE", "Comparison", "Summary", "Worst", "compare", "summarize"]

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Comparison:
    """One measure in both engines.

    Attributes
    ----------
    measure
        Which.
    group
        Index of the group; None for the bottleneck.
    cc
        The group's congestion control; empty for the bottleneck.
    simulator, kernel
        A value per run.
    """

    measure: Measure
    group: int | None
    cc: str
    simulator: tuple[float, ...]
    kernel: tuple[float, ...]

    @property
    def difference(self) -> float | None:
        """Mean of the simulator minus mean of the kernel."""
        if not self.simulator or not self.kernel:
            return None
        return float(np.mean(self.simulator) - np.mean(self.kernel))

    @property
    def relative(self) -> float | None:
        """The difference over the kernel's mean."""
        difference = self.difference
        if difference is None:
            return None
        kernel = float(np.mean(self.kernel))
        return difference / kernel if kernel else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Confidence interval of the difference; None with a single run on either side."""
        return welch_interval(self.simulator, self.kernel)

    @property
    def excludes_zero(self) -> bool:
        """Whether the engines differ by more than their runs among themselves."""
        interval = self.interval
        return interval is not None and not interval[0] <= 0 <= interval[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as `xval --json` has it."""
        return {
            "measure": self.measure.key,
            "group": self.group,
            "cc": self.cc or None,
            "simulator": list(self.simulator),
            "kernel": list(self.kernel),
            "difference": self.difference,
            "interval": self.interval,
            "excludes_zero": self.excludes_zero,
        }


def welch_interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float] | None:
    """Return the interval of a's mean minus b's, by Welch's t; None with a single run."""
    interval = unpaired_difference(b, a, CONFIDENCE).interval
    return (interval.low, interval.high) if interval.bounded else None


def compare(
    ccs: Sequence[str], simulator: Sequence[Values], kernel: Sequence[Values]
) -> list[Comparison]:
    """Compare two sets of runs of one scenario.

    Parameters
    ----------
    ccs
        The congestion control of each group.
    simulator, kernel
        `measure` of each run.

    Returns
    -------
    list of Comparison
        Measure by measure, group by group. What a run does not tell is left out of its numbers.
    """
    comparisons = []
    for entry in MEASURES:
        groups = range(len(ccs)) if entry.of_group is not None else [None]
        for group in groups:
            first, second = (known(runs, entry.key, group or 0) for runs in (simulator, kernel))
            cc = "" if group is None else ccs[group]
            comparisons.append(Comparison(entry, group, cc, first, second))
    return comparisons


def known(runs: Iterable[Values], key: str, index: int) -> tuple[float, ...]:
    """Return a measure of each run that tells it."""
    values = (run[key][index] for run in runs)
    return tuple(value for value in values if value is not None)


@dataclass(frozen=True)
class Worst:
    """The largest difference of some.

    Attributes
    ----------
    mean
        Mean absolute difference.
    worst
        The largest.
    case, cc
        Where that is.
    """

    mean: float
    worst: float
    case: str
    cc: str


@dataclass(frozen=True)
class Summary:
    """All cases in a few numbers.

    Attributes
    ----------
    share
        Differences of throughput shares, in parts of 1; None when there is none.
    rtt_p50
        Differences of the median RTT, relative to the kernel's.
    excludes_zero, comparisons
        How many intervals exclude 0, of how many.
    """

    share: Worst | None
    rtt_p50: Worst | None
    excludes_zero: int
    comparisons: int

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as `xval --json` has it."""
        return {
            "share": None if self.share is None else vars(self.share),
            "rtt_p50": None if self.rtt_p50 is None else vars(self.rtt_p50),
            "excludes_zero": self.excludes_zero,
            "comparisons": self.comparisons,
        }


def summarize(cases: Iterable[tuple[str, Sequence[Comparison]]]) -> Summary:
    """Sum up comparisons, each case's under its name."""
    pairs = [(name, entry) for name, comparisons in cases for entry in comparisons]
    shares = [(n, c.cc, c.difference) for n, c in pairs if c.measure.key == "share"]
    rtts = [(n, c.cc, c.relative) for n, c in pairs if c.measure.key == "rtt_p50_us"]
    with_interval = [entry for _, entry in pairs if entry.interval is not None]
    return Summary(
        share=worst_of(shares),
        rtt_p50=worst_of(rtts),
        excludes_zero=sum(entry.excludes_zero for entry in with_interval),
        comparisons=len(with_interval),
    )


def worst_of(differences: Sequence[tuple[str, str, float | None]]) -> Worst | None:
    """Return the mean and the largest of absolute differences."""
    there = [(abs(value), case, cc) for case, cc, value in differences if value is not None]
    if not there:
        return None
    worst, case, cc = max(there, key=lambda entry: entry[0])
    return Worst(float(np.mean([value for value, _, _ in there])), worst, case, cc)

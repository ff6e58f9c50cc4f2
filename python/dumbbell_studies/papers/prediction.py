"""A prediction of what an element does, and how it ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from dumbbell.statistics import Difference, Interval, paired_difference, student_interval, wilson
from dumbbell_studies.papers.by_tcptrace import by_tcptrace
from dumbbell_studies.papers.element import Setup, Treatment
from dumbbell_studies.papers.trials import Trials, fresh

__all__ = [
    "Ended", "Evidence", "Prediction", "Verdict", "at_least", "counted", "only", "predicted",
    "within",
]  # fmt: skip


class Verdict(StrEnum):
    """How a prediction ended."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True)
class Ended:
    """How a prediction ended, and why.

    Attributes
    ----------
    verdict
        How.
    saw
        What was seen, or what is missing.
    """

    verdict: Verdict
    saw: str


@dataclass(frozen=True)
class Evidence:
    """What the runs of a prediction measured.

    Attributes
    ----------
    trials, seeds
        The runs.
    """

    trials: Trials[Any, Any]
    seeds: Sequence[int]

    def values(self, setup: Setup, point: Any, of: Callable[[Any], float]) -> list[float]:
        """Return a value of each seed."""
        return [float(of(self.trials[setup, point, seed])) for seed in self.seeds]

    def mean(self, setup: Setup, point: Any, of: Callable[[Any], float]) -> Interval:
        """Return the mean over the seeds with its interval."""
        return student_interval(np.array(self.values(setup, point, of)))

    def share(self, setup: Setup, point: Any, of: Callable[[Any], bool]) -> Interval:
        """Return the share of seeds in which something is so, with its interval."""
        values = self.values(setup, point, of)
        return wilson(int(sum(values)), len(values))

    def change(self, setup: Setup, point: Any, of: Callable[[Any], float]) -> Difference:
        """Return what a set-up changes against the plain one."""
        return paired_difference(self.values((), point, of), self.values(setup, point, of))


@dataclass(frozen=True)
class Prediction:
    """What was expected of an element.

    Attributes
    ----------
    id
        The finding's, a dot and a word: ``D3.sum``.
    text
        What was expected.
    setups, points
        The runs that decide it: all of these set-ups at all of these points.
    decide
        Returns how it ended.
    captured
        Whether it is about what tcptrace reports from captures at the senders.
    measured_before
        Whether something of it had been measured, with the elements or with stand-ins for them,
        when it was entered here. Then fresh seeds decide it.
    seeds_factor
        How many times as many seeds it needs as others.
    """

    id: str
    text: str
    setups: tuple[Setup, ...]
    points: tuple[Any, ...]
    decide: Callable[[Evidence], Ended]
    captured: bool = False
    measured_before: bool = False
    seeds_factor: int = 1

    @property
    def finding(self) -> str:
        """The finding's id."""
        return self.id.partition(".")[0]

    def end(self, trials: Trials[Any, Any], seeds: Sequence[int]) -> Ended:
        """Run what is needed and decide."""
        trials = by_tcptrace(trials) if self.captured else trials
        seeds = fresh(seeds) if self.measured_before else seeds
        after, more = max(seeds) + 1, (self.seeds_factor - 1) * len(seeds)
        seeds = [*seeds, *range(after, after + more)]
        trials.run(
            (setup, point, seed) for setup in self.setups for point in self.points for seed in seeds
        )
        return self.decide(Evidence(trials, seeds))


def within(seen: Interval, low: float, high: float) -> Verdict:
    """Return how a prediction ended that a value is in a range.

    Confirmed if the whole interval is, refuted if none of it is; otherwise the seeds do not decide.
    An end at 0 is not in the range: what changes nothing is neither more nor less.
    """
    is_above = seen.low > low or (seen.low == low and low != 0)
    is_below = seen.high < high or (seen.high == high and high != 0)
    if is_above and is_below:
        return Verdict.CONFIRMED
    ends = [seen.high < low, seen.low > high, low == 0 >= seen.high, high == 0 <= seen.low]
    return Verdict.REFUTED if any(ends) else Verdict.UNDECIDABLE


def predicted(seen: Interval, low: float, high: float, form: str) -> Ended:
    """Return how a prediction of a range ended, with what was seen: ``{:.1f} ({:.1f} to {:.1f})``.

    The form takes the mean and both ends of its interval.
    """
    if math.isnan(seen.mean):
        return Ended(Verdict.UNDECIDABLE, "nothing was measured")
    return Ended(within(seen, low, high), form.format(seen.mean, seen.low, seen.high))


def counted(values: Sequence[bool], low: float, high: float, what: str) -> Ended:
    """Return how a prediction ended that something is so in a share of the seeds.

    Confirmed if as many seeds are in the range, refuted if the whole interval of their share is
    out of it. (No interval of so few seeds would be inside.)
    """
    share = wilson(sum(values), len(values))
    saw = (
        f"{sum(values)} of {len(values)} seeds {what}: {share.mean:.0%} ({share.low:.0%} to "
        f"{share.high:.0%})"
    )
    if low <= share.mean <= high:
        return Ended(Verdict.CONFIRMED, saw)
    return Ended(
        Verdict.REFUTED if share.high < low or share.low > high else Verdict.UNDECIDABLE, saw
    )


def at_least(least: float, values: Sequence[bool], of: str) -> Ended:
    """Return how a prediction ended that something is so in more than a share of some runs."""
    share = wilson(sum(values), len(values))
    saw = f"{sum(values)} of {len(values)} {of} ({share.low:.0%} to {share.high:.0%})"
    return Ended(within(share, least, math.inf), saw)


def only(element: str, level: str) -> Setup:
    """Return the set-up with one element added."""
    return (Treatment(element, level),)

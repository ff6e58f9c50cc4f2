"""A fractional factorial experiment over the elements that matter for a finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.statistics import Interval, design, student_interval
from dumbbell_studies.papers.apparatus_element import Setup, Treatment
from dumbbell_studies.papers.question import Question
from dumbbell_studies.papers.trial import Trial, settle
from dumbbell_studies.papers.trials import Trials

__all__ = ["Factorial", "MainEffect", "experiment"]


@dataclass(frozen=True)
class MainEffect:
    """What an element changes in the mean over the levels of the others.

    Attributes
    ----------
    treatment
        The element at its level.
    share
        Change of the share of runs that show the finding.
    changes
        Of each quantity its change; the interval is over the seeds.
    """

    treatment: Treatment
    share: Interval
    changes: tuple[Interval, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "name": str(self.treatment),
            "share_change": self.share.to_dict(),
            "changes": [change.to_dict() for change in self.changes],
        }


@dataclass(frozen=True)
class Factorial:
    """The experiment.

    Attributes
    ----------
    effects
        Of each element.
    runs
        Each combination that ran.
    seeds
        How many seeds each has.
    """

    effects: tuple[MainEffect, ...]
    runs: tuple[Trial, ...]
    seeds: int

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "effects": [effect.to_dict() for effect in self.effects],
            "runs": [run.to_dict() for run in self.runs],
            "seeds": self.seeds,
        }


def setups(factors: Sequence[Treatment]) -> list[Setup]:
    """Return the combinations of a design of resolution IV or better."""
    return [
        tuple(factor for factor, is_high in zip(factors, run, strict=True) if is_high)
        for run in design(len(factors))
    ]


def experiment(
    trials: Trials[Any, Any],
    question: Question[Any, Any],
    factors: Sequence[Treatment],
    seeds: Sequence[int],
) -> Factorial:
    """Run the experiment over some elements."""
    found = settle(trials, [(question, setup) for setup in setups(factors)], seeds)
    runs = [found[question.finding, setup] for setup in setups(factors)]
    return Factorial(
        tuple(main_effect(factor, runs) for factor in factors), tuple(runs), len(seeds)
    )


def main_effect(factor: Treatment, runs: Sequence[Trial]) -> MainEffect:
    """Return the difference of the runs with an element and those without."""
    low, high = (
        [run for run in runs if (factor in run.setup) is is_high] for is_high in (False, True)
    )
    share = contrast(high, low, lambda run: [float(held) for held in run.results])
    changes = tuple(contrast(high, low, quantity(at)) for at in range(len(runs[0].values)))
    return MainEffect(factor, share, changes)


def quantity(at: int) -> Callable[[Trial], Sequence[float]]:
    """Return what gives a quantity of each seed."""
    return lambda run: run.values[at]


def contrast(
    high: Sequence[Trial], low: Sequence[Trial], of: Callable[[Trial], Sequence[float]]
) -> Interval:
    """Return by how much a value of each seed is larger in the mean of some runs than of others.

    What seeds have in common cancels, and each counts once however many combinations it ran.
    """
    first, second = (np.mean([of(run) for run in runs], axis=0) for runs in (high, low))
    return student_interval(first - second)

"""What a finding asks of runs: which it needs, its rule, and the quantity it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from dumbbell_studies.papers.finding import ClauseResult, evaluate

__all__ = ["FindingQuantity", "Question"]

#: A run's point in a paper's experiment, and what is measured of it.
P = TypeVar("P")
M = TypeVar("M")


@dataclass(frozen=True)
class FindingQuantity(Generic[P, M]):
    """A finding's own quantity.

    Attributes
    ----------
    name, unit
        ``dip of the total at 32 BDP``, ``Mbit/s``.
    of
        Returns it from one repetition's runs at the question's first points; NaN if it is unknown.
    """

    name: str
    unit: str
    of: Callable[[Mapping[P, M]], float]


@dataclass(frozen=True)
class Question(Generic[P, M]):
    """What a finding asks of runs.

    Attributes
    ----------
    finding
        Its id.
    points
        Every point that its rule needs.
    first
        Points that can refute it, which run first, and that its quantities need.
    rule
        The rule's checks of one repetition. At the first points alone it may leave open what the
        others decide.
    quantities
        What it is about, the main one first.
    average
        Returns the averages of several repetitions, if the rule is of these.
    base
        Which of the plain runs elements are added to, if the finding is of more: ``with starts
        within 0.1 s``.
    fewer
        The points at which single elements are tried and compared with the plain set-up; empty for
        all. What is said to show the finding is repeated at all points.
    thinned
        Why there are fewer.
    """

    finding: str
    points: tuple[P, ...]
    first: tuple[P, ...]
    rule: Callable[[Mapping[P, M]], Sequence[ClauseResult]]
    quantities: tuple[FindingQuantity[P, M], ...] = ()
    average: Callable[[Sequence[Mapping[P, M]]], Mapping[P, M]] | None = None
    base: str = ""
    fewer: tuple[P, ...] = ()
    thinned: str = ""

    @property
    def of_elements(self) -> Question[P, M]:
        """What is asked where a single element is added or removed."""
        return replace(self, points=self.fewer) if self.fewer else self

    def shown(self, seen: Mapping[P, M]) -> bool | None:
        """Whether a repetition shows the finding; None if points that decide it are missing."""
        result = evaluate(self.rule(seen))
        return None if result and len(seen) < len(self.points) else result

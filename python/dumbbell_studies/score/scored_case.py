"""A case of a board: a case of a suite that is scored instead of passed or failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dumbbell.gate import Case, Measure
from dumbbell_studies.score.bound import Bound

__all__ = ["ScoredCase"]


@dataclass(frozen=True)
class ScoredCase(Case):
    """A scenario with a place for what is under test, and the bounds that score it.

    Each cell of its axes is scored by itself.

    Attributes
    ----------
    category
        The category's name.
    bounds
        What is asked; a cell's score is that of its worst metric.
    weight
        Of each of its cells in the category's mean.
    kernel
        The axes that it has on the kernel engine; None if it does not run there.
    unlabelled
        What was drawn for it and is not in its cell's label.
    """

    category: str = ""
    bounds: tuple[Bound, ...] = ()
    weight: float = 1.0
    kernel: Mapping[str, Any] | None = None
    unlabelled: Mapping[str, Any] = field(default_factory=dict)

    @property
    def asked(self) -> list[tuple[Measure, str]]:
        """Every measure, with the key of the file that asks for it."""
        return [(bound.measure, str(bound.measure)) for bound in self.bounds]

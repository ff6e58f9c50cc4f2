"""The scores of one congestion control algorithm: of cells, categories, and of all together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dumbbell.statistics import Interval, jackknife_interval
from dumbbell_studies.score.aggregate import category_score, overall_score
from dumbbell_studies.score.board import Board, Category
from dumbbell_studies.score.bound import Bound
from dumbbell_studies.score.scored_case import ScoredCase

__all__ = ["CellScore", "ControlScore", "MetricScore"]


@dataclass(frozen=True)
class MetricScore:
    """A metric of a cell.

    Attributes
    ----------
    bound
        What is asked.
    values
        Of each seed; where several groups are under test, that of the worst. None without one.
    """

    bound: Bound
    values: tuple[float | None, ...]

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The score of each seed."""
        return tuple(map(self.bound.scale.score, self.values))

    @property
    def mean(self) -> float | None:
        """Mean of the values that there are; None without."""
        known = [value for value in self.values if value is not None]
        return math.fsum(known) / len(known) if known else None

    @property
    def score(self) -> float:
        """Mean of the scores."""
        return math.fsum(self.scores) / len(self.scores)


@dataclass(frozen=True)
class CellScore:
    """A cell of a case.

    Attributes
    ----------
    case
        The case.
    cell
        The cell's label; ``all`` for a case without axes.
    metrics
        What was asked of it.
    problems
        By seed, why the run is worth nothing: it failed, or is INVALID. Empty for a good one.
    """

    case: ScoredCase
    cell: str
    metrics: tuple[MetricScore, ...]
    problems: tuple[str, ...]

    @property
    def label(self) -> str:
        """The case and, where it has axes, the cell: ``fair[flows=4,buffer=2bdp]``."""
        return self.case.name if self.cell == "all" else f"{self.case.name}[{self.cell}]"

    @cached_property
    def scores(self) -> tuple[float, ...]:
        """The score of each seed: that of its worst metric, and 0 for a run that is no good."""
        return tuple(
            0.0 if problem else min(metric.scores[index] for metric in self.metrics)
            for index, problem in enumerate(self.problems)
        )

    @property
    def score(self) -> float:
        """Mean over the seeds."""
        return self.over(range(len(self.scores)))

    def over(self, seeds: Sequence[int]) -> float:
        """Return the mean over some seeds, by their places."""
        return math.fsum(self.scores[index] for index in seeds) / len(seeds)

    @property
    def limited_by(self) -> MetricScore | None:
        """The metric with the lowest score; None if all are at their bound, or no run was good."""
        if all(self.problems):
            return None
        worst = min(self.metrics, key=lambda metric: metric.score)
        return worst if worst.score < 1 else None

    @property
    def problem(self) -> str:
        """Why a run is worth nothing, and how many are; empty if all are good."""
        found = [problem for problem in self.problems if problem]
        return f"{len(found)} of {len(self.problems)} runs: {found[0]}" if found else ""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        limited_by = self.limited_by
        return {
            "category": self.case.category,
            "case": self.case.name,
            "cell": self.cell,
            "score": self.score,
            "scores": list(self.scores),
            "limited_by": None if limited_by is None else str(limited_by.bound.measure),
            "problems": list(self.problems),
            "metrics": [
                {
                    "metric": str(metric.bound.measure),
                    "score": metric.score,
                    "mean": metric.mean,
                    "values": list(metric.values),
                }
                for metric in self.metrics
            ],
        }


@dataclass(frozen=True)
class ControlScore:
    """A congestion control algorithm on a board.

    Attributes
    ----------
    board
        The board.
    cc
        As it was named.
    build
        Digest of what ran; empty if nothing did.
    cells
        Of every category, in the board's order.
    disqualified
        Why it is not ranked; empty if it is.
    """

    board: Board
    cc: str
    build: str
    cells: Mapping[str, tuple[CellScore, ...]]
    disqualified: str = ""

    @property
    def seed_count(self) -> int:
        """How many seeds each cell ran with."""
        return len(next(iter(self.cells.values()))[0].scores)

    @cached_property
    def categories(self) -> dict[str, float]:
        """The score of each category."""
        return {each.name: self._category(each, self._all) for each in self.board.categories}

    @cached_property
    def overall(self) -> float:
        """The score of all categories; 0 for one that is disqualified."""
        return 0.0 if self.disqualified else self._overall(self._all)

    @cached_property
    def interval(self) -> Interval:
        """The interval of `overall` over the seeds."""
        return within_one(jackknife_interval(self._overall, self.seed_count))

    def interval_of(self, category: Category) -> Interval:
        """Return the interval of a category's score over the seeds."""
        return within_one(
            jackknife_interval(lambda seeds: self._category(category, seeds), self.seed_count)
        )

    @property
    def _all(self) -> Sequence[int]:
        return range(self.seed_count)

    def _category(self, category: Category, seeds: Sequence[int]) -> float:
        """Return a category's score over some seeds."""
        cells = self.cells[category.name]
        return category_score(
            [cell.over(seeds) for cell in cells],
            [cell.case.weight for cell in cells],
            self.board.worst_share,
        )

    def _overall(self, seeds: Sequence[int]) -> float:
        """Return the score of all categories over some seeds."""
        return overall_score(
            [self._category(each, seeds) for each in self.board.categories],
            [each.weight for each in self.board.categories],
            self.board.floor,
        )

    def worst_of(self, category: Category) -> CellScore:
        """Return the cell with the lowest score of a category."""
        return min(self.cells[category.name], key=lambda cell: cell.score)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "cc": self.cc,
            "build": self.build,
            "disqualified": self.disqualified,
            "overall": self.overall,
            "interval": self.interval.to_dict(),
            "categories": {
                each.name: {
                    "score": self.categories[each.name],
                    "interval": self.interval_of(each).to_dict(),
                }
                for each in self.board.categories
            },
            "cells": [cell.to_dict() for cells in self.cells.values() for cell in cells],
        }


def within_one(interval: Interval) -> Interval:
    """Return an interval without what a score cannot be."""
    if not interval.bounded:
        return interval
    low, high = max(interval.low, 0.0), min(interval.high, 1.0)
    return Interval(interval.mean, low, high, interval.level, interval.n, interval.method)

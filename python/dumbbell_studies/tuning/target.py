"""What parameters are tuned on: a board's score, or metrics of a scenario."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias, Unpack

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.metrics import METRICS, AllMetrics, Metric
from dumbbell.run import INVALID, Run
from dumbbell.runs import Execution, Measures, measure_each
from dumbbell.scenario import Group, Scenario
from dumbbell_studies.score import Board, find_board, score_board, shipped_boards

__all__ = ["OVERALL", "BoardTarget", "Goal", "MetricTarget", "Target", "Values", "target_named"]

#: The score of all categories of a board.
OVERALL = "overall"
#: Cells drawn for each category of the held-out board, and the seed of the draw.
HELD_OUT_CELLS, HELD_OUT_SEED = 2, 20_001
#: How far the seeds of held-out runs are from those of the tuning.
HELD_OUT_FROM = 1000

#: A value for each goal; None if there is none, of an INVALID run for example.
Values: TypeAlias = tuple[float | None, ...]


@dataclass(frozen=True)
class Goal:
    """One number to be made better.

    Attributes
    ----------
    name
        In tables.
    is_higher_better
        Which way.
    scale, unit
        How it is shown.
    """

    name: str
    is_higher_better: bool = True
    scale: float = 1.0
    unit: str = ""

    def shown(self, value: float | None) -> str:
        """Write a value for a table."""
        return "–" if value is None else f"{value * self.scale:.4g}"

    @property
    def head(self) -> str:
        """The head of its column."""
        return f"{self.name}\n{self.unit}" if self.unit else self.name


class Target(ABC):
    """What CCAs are measured on, all on the same runs (common random numbers).

    Attributes
    ----------
    goals
        What is measured.
    """

    goals: tuple[Goal, ...]

    @abstractmethod
    def measure(self, ccs: Sequence[str], **how: Unpack[Execution]) -> list[Values]:
        """Return the values of each congestion control algorithm.

        Parameters
        ----------
        ccs
            Names or files, with parameters.
        how
            How runs are executed; without `cache` simulated ones are kept in the user's.
        """

    @abstractmethod
    def held_out(self) -> Target:
        """Return the same goals on what the tuning has not seen."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What runs, in a line."""


@dataclass(frozen=True)
class BoardTarget(Target):
    """Scores of a board: overall, or of single categories.

    Attributes
    ----------
    board
        The board.
    goals
        Named as the categories, or ``overall``.
    seeds
        Of every cell.
    """

    board: Board
    goals: tuple[Goal, ...]
    seeds: tuple[int, ...]

    def measure(self, ccs: Sequence[str], **how: Unpack[Execution]) -> list[Values]:
        """Return the scores of each congestion control algorithm."""
        league = score_board(self.board, ccs, seeds=self.seeds, **how)
        found: dict[str, Values] = {}
        for control in league.controls:
            of = {OVERALL: control.overall, **control.categories}
            found[control.cc] = tuple(of[goal.name] for goal in self.goals)
        return [found[str(CongestionControlChoice.parse(cc))] for cc in ccs]

    def held_out(self) -> BoardTarget:
        """Return the goals on freshly drawn cells; of categories without a draw on fresh seeds."""
        seeds = tuple(HELD_OUT_FROM + seed for seed in self.seeds)
        can_be_drawn = all(each.draws for each in self.board.categories)
        board = self.board
        if can_be_drawn:
            board = board.with_drawn_cells(HELD_OUT_CELLS, HELD_OUT_SEED)
        return BoardTarget(board, self.goals, seeds)

    @property
    def description(self) -> str:
        """What the target runs, in words."""
        drawn = "" if self.board.drawn is None else ", drawn cells"
        return f"board {self.board.name}{drawn}, seeds {self.seeds[0]} to {self.seeds[-1]}"


@dataclass(frozen=True)
class MetricTarget(Target):
    """Metrics of group 0 of a scenario, or of the run: means over the seeds.

    Attributes
    ----------
    scenario
        With any congestion control in group 0.
    metrics
        Of which one direction is better.
    seeds
        Of the runs.
    """

    scenario: Scenario
    metrics: tuple[Metric, ...]
    seeds: tuple[int, ...]

    @property
    def goals(self) -> tuple[Goal, ...]:  # type: ignore[override]
        """The metrics as goals."""
        return tuple(
            Goal(each.name, each.better == "higher", each.scale, each.shown_unit)
            for each in self.metrics
        )

    def measure(self, ccs: Sequence[str], **how: Unpack[Execution]) -> list[Values]:
        """Return the means of each algorithm's metrics."""
        scenarios = [
            ((number, seed), self.scenario_of(cc, seed))
            for number, cc in enumerate(ccs)
            for seed in self.seeds
        ]

        def take(_: tuple[int, int], rows: Measures, __: Callable[[], Run]) -> Values:
            if rows[0]["verdict"] == INVALID:
                return (None,) * len(self.metrics)
            return tuple(rows[0][metric.name] for metric in self.metrics)

        how = {"cache": None, **how}
        failed = (None,) * len(self.metrics)
        runs = measure_each(
            scenarios, lambda _: AllMetrics(), take, on_failed=lambda *_: failed, **how
        )
        return [means([runs[number, seed] for seed in self.seeds]) for number in range(len(ccs))]

    def scenario_of(self, cc: str, seed: int) -> Scenario:
        """Return the scenario with a congestion control algorithm in group 0."""
        words = self.scenario.to_dict()["group"][0]
        groups = [Group(**{**words, "cc": cc}), *self.scenario.groups[1:]]
        return self.scenario.replace(groups=groups, seed=seed)

    def held_out(self) -> MetricTarget:
        """Return the metrics on fresh seeds."""
        seeds = tuple(HELD_OUT_FROM + seed for seed in self.seeds)
        return MetricTarget(self.scenario, self.metrics, seeds)

    @property
    def description(self) -> str:
        """What the target runs, in words."""
        return f"seeds {self.seeds[0]} to {self.seeds[-1]}"


def means(runs: Sequence[Values]) -> Values:
    """Return the mean of each value; None if a run has none."""
    found: list[float | None] = []
    for column in zip(*runs, strict=True):
        known = [value for value in column if value is not None]
        found.append(fmean(known) if len(known) == len(column) else None)
    return tuple(found)


def target_named(text: str, scenario: Scenario, seeds: int) -> Target:
    """Return what ``--on`` names: ``ideal``, ``ideal.own,ideal.cubic`` or metrics.

    Parameters
    ----------
    text
        A board's name or file, with a category after a dot, or metrics with commas between.
    scenario
        Of the metrics; its seed is the first.
    seeds
        How many.

    Raises
    ------
    ScenarioError
        There is no such board, category or metric, or they cannot be combined.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    of_seeds = tuple(range(scenario.seed, scenario.seed + seeds))
    if all(name.partition("@")[0] in METRICS for name in names) and names:
        metrics = tuple(METRICS[name] for name in names)
        for metric in metrics:
            if metric.better is None:
                raise ScenarioError(
                    f"of `{metric.name}` neither more nor less is better; use another metric",
                    key="on",
                )
        return MetricTarget(scenario, metrics, of_seeds)
    return board_target(names, of_seeds)


def board_target(names: Sequence[str], seeds: tuple[int, ...]) -> BoardTarget:
    """Return scores of one board."""
    parts = [board_and_category(name) for name in names]
    boards = {board for board, _ in parts}
    if len(boards) != 1:
        known = [*shipped_boards(), *METRICS]
        raise ScenarioError(
            f"`--on {','.join(names)}` is neither one board nor metrics{nearest(names[0], known)}"
            if names
            else "`--on` names nothing; use a board like `ideal`, or metrics",
            key="on",
        )
    name = boards.pop()
    if name not in shipped_boards() and not name.endswith(".toml"):
        known = [*shipped_boards(), *METRICS]
        raise ScenarioError(f"unknown board or metric `{name}`{nearest(name, known)}", key="on")
    board = find_board(name)
    categories = [category for _, category in parts]
    if OVERALL not in categories:
        board = board.only(categories)
    return BoardTarget(board, tuple(Goal(category) for category in categories), seeds)


def board_and_category(name: str) -> tuple[str, str]:
    """Split ``ideal.own`` and ``mine.toml.own``; without a category it is all of them."""
    if name.endswith(".toml") or "." not in name:
        return name, OVERALL
    board, _, category = name.rpartition(".")
    return board, category

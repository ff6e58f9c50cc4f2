"""A league: the scores of several congestion control algorithms on one board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Unpack

from dumbbell import __version__
from dumbbell.base.errors import DumbbellError, PrivilegeError
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.gate import is_under_test, longest_first, observe
from dumbbell.run import INVALID, KERNEL, SIMULATOR, Run, engine_build
from dumbbell.runs import Execution, Measures, measure_each
from dumbbell_studies.score.board import Board
from dumbbell_studies.score.control import CellScore, ControlScore, MetricScore
from dumbbell_studies.score.oracle import oracle_of
from dumbbell_studies.score.scored_case import ScoredCase

__all__ = ["League", "score_board"]

#: Of `League.to_dict`.
FORMAT = 1


class Place(NamedTuple):
    """A run of a league."""

    cc: str
    category: str
    case: str
    cell: str
    seed: int


@dataclass(frozen=True)
class Seen:
    """What is kept of a run.

    Attributes
    ----------
    values
        By the bounds' order; those of the groups that a bound is about.
    problem
        Why it is worth nothing; empty for a good run.
    """

    values: tuple[tuple[float | None, ...], ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class League:
    """Congestion control algorithms on one board.

    Attributes
    ----------
    board
        The board, as far as it was run.
    controls
        In the order in which they were named.
    seeds
        Of every cell.
    engine, engine_version, engine_build
        What ran it.
    """

    board: Board
    controls: tuple[ControlScore, ...]
    seeds: tuple[int, ...]
    engine: str
    engine_version: str = __version__
    engine_build: str = field(default_factory=engine_build)

    @cached_property
    def ranking(self) -> list[ControlScore]:
        """The best first; those that are disqualified last."""
        return sorted(self.controls, key=lambda each: (bool(each.disqualified), -each.overall))

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON; docs/score.md describes it."""
        board = self.board
        drawn = None if board.drawn is None else dict(
            zip(("count", "seed"), board.drawn, strict=True)
        )  # fmt: skip
        return {
            "format": FORMAT,
            "board": {
                "name": board.name, "title": board.title, "floor": board.floor,
                "worst_share": board.worst_share, "drawn": drawn,
                "categories": [category_to_dict(each) for each in board.categories],
            },
            "engine": self.engine,
            "engine_version": self.engine_version,
            "engine_build": self.engine_build,
            "seeds": list(self.seeds),
            "controls": [control.to_dict() for control in self.ranking],
        }  # fmt: skip


def category_to_dict(category: Any) -> dict[str, Any]:
    """Return a category's bounds for JSON."""
    return {
        "name": category.name,
        "title": category.title,
        "weight": category.weight,
        "cases": [
            {
                "name": case.name,
                "weight": case.weight,
                "bounds": [bound.to_dict() for bound in case.bounds],
            }
            for case in category.cases
        ],
    }


def score_board(
    board: Board,
    ccs: Sequence[str | CongestionControlChoice],
    *,
    seeds: Sequence[int] = (1, 2, 3),
    **how: Unpack[Execution],
) -> League:
    """Run a board with congestion control algorithms and score them.

    Parameters
    ----------
    board
        The board.
    ccs
        What is under test: names, with parameters, or source files.
    seeds
        With which every cell runs.
    how
        How runs are executed; without `cache` simulated ones are kept in the user's. The kernel
        engine runs only the cases that a board has for it.

    Raises
    ------
    DumbbellError
        A congestion control algorithm is unknown, does not compile, or does not fit a scenario. A
        run that fails is none: its score is 0.
    """
    how = {"cache": None, **how}
    engine = how.get("engine", SIMULATOR)
    board = board.on_the_kernel() if engine == KERNEL else board
    choices = {str(cc): cc for cc in map(CongestionControlChoice.parse, ccs)}
    # What does not compile is an error here, and not the reason of a hundred zeros.
    disqualified = {name: oracle_of(cc) for name, cc in choices.items()}
    cases = {(case.category, case.name): case for each in board.categories for case in each.cases}
    scenarios = {(cc, at): case.cells(cc) for cc in choices for at, case in cases.items()}

    builds: dict[str, str] = {}

    def take(place: Place, measures: Measures, read: Callable[[], Run]) -> Seen:
        case = cases[place.category, place.case]
        if place.cc not in builds:  # one run shows it
            builds[place.cc] = build_of(case, read())
        return seen_of(case, measures, read)

    runs = measure_each(
        longest_first([
            (Place(cc, *at, cell, seed), scenario.replace(seed=seed))
            for (cc, at), cells in scenarios.items()
            for cell, scenario in cells
            for seed in seeds
        ]),
        lambda place: cases[place.category, place.case].measuring,
        take,
        on_failed=failed,
        **how,
    )  # fmt: skip
    controls = tuple(
        ControlScore(
            board, cc,
            builds.get(cc, ""),
            {
                each.name: tuple(
                    cell_score(case, cell, [
                        runs[Place(cc, case.category, case.name, cell, seed)] for seed in seeds
                    ])
                    for case in each.cases
                    for cell, _ in scenarios[cc, (case.category, case.name)]
                )
                for each in board.categories
            },
            disqualified[cc],
        )
        for cc in choices
    )  # fmt: skip
    return League(board, controls, tuple(seeds), engine)


def seen_of(case: ScoredCase, measures: Measures, read: Callable[[], Run]) -> Seen:
    """Return what is kept of a run."""
    observed = observe(case, measures)
    values = tuple(
        tuple(observed[each] for each in case.observed_of(bound.measure)) for bound in case.bounds
    )
    if measures[0]["verdict"] != INVALID:
        return Seen(values)
    reasons = [str(reason) for reason in read().verdict.reasons if reason.status == INVALID]
    return Seen(values, f"INVALID: {reasons[0]}")


def build_of(case: ScoredCase, run: Run) -> str:
    """Return the digest of what was under test."""
    loaded = zip(case.groups, run.summary["congestion_controls"], strict=True)
    return next(str(each["build"]) for words, each in loaded if is_under_test(words))


def failed(_: Place, error: DumbbellError) -> Seen:
    """Return what stands for a run that failed; without a privilege nothing can run."""
    if isinstance(error, PrivilegeError):
        raise error
    return Seen(problem=f"failed: {error}")


def cell_score(case: ScoredCase, cell: str, runs: Sequence[Seen]) -> CellScore:
    """Put the seeds of a cell together."""
    metrics = tuple(
        MetricScore(bound, tuple(worst(bound.scale.score, seen.values[at]) if seen.values else None
                                 for seen in runs))
        for at, bound in enumerate(case.bounds)
    )  # fmt: skip
    return CellScore(case, cell, metrics, tuple(seen.problem for seen in runs))


def worst(score: Callable[[float | None], float], values: Sequence[float | None]) -> float | None:
    """Return the value with the lowest score."""
    return min(values, key=score)

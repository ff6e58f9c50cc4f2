"""A league of congestion control algorithms as one HTML file, and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dumbbell.base.quantities import json_text
from dumbbell.base.writing import write_file
from dumbbell.report import render_template
from dumbbell.run import SIMULATOR
from dumbbell.statistics import Interval
from dumbbell_studies.score import Board, Bound, Category, ControlScore, League, ScoredCase
from dumbbell_studies.score.control import CellScore
from dumbbell_studies.score.text import cell_line, control_names, limit_lines, mean_text

__all__ = ["JSON_FILE", "PAGE_FILE", "render_league", "write_league"]

JSON_FILE, PAGE_FILE = "score.json", "report.html"


@dataclass(frozen=True)
class Row:
    """A control in the league's table.

    Attributes
    ----------
    rank
        From 1; empty for one that is disqualified.
    name, control, interval
        What it is called, its scores, and the interval of the whole.
    categories
        Each category's score, with its worst cell in words.
    limits
        What costs it most.
    """

    rank: str
    name: str
    control: ControlScore
    interval: Interval
    categories: Sequence[tuple[float, str]]
    limits: Sequence[str]


@dataclass(frozen=True)
class Section:
    """A category on the page."""

    category: Category
    controls: Sequence[ControlScore]

    @cached_property
    def bounds(self) -> list[tuple[Bound, list[str]]]:
        """Every bound with the cases that have it; none where all do."""
        found: dict[str, tuple[Bound, list[str]]] = {}
        for case in self.category.cases:
            for bound in case.bounds:
                found.setdefault(str(bound), (bound, []))[1].append(case.name)
        everywhere = len(self.category.cases)
        return [(bound, [] if len(names) == everywhere else names)
                for bound, names in found.values()]  # fmt: skip

    @property
    def names_cases(self) -> bool:
        """Whether some bound is not of all cases."""
        return any(names for _, names in self.bounds)

    @property
    def cases(self) -> list[ScoredCase]:
        """The cases that say what they are for."""
        return [case for case in self.category.cases if case.why]

    @cached_property
    def measures(self) -> list[str]:
        """Every measure of the cells."""
        return list(dict.fromkeys(str(bound.measure) for bound, _ in self.bounds))

    @property
    def scores(self) -> Iterator[tuple[str, list[tuple[float, str]]]]:
        """Each cell with the score of each control, and what limits it in words."""
        of_all = [control.cells[self.category.name] for control in self.controls]
        for cells in zip(*of_all, strict=True):
            yield cells[0].label, [(cell.score, cell_line(cell)) for cell in cells]

    def values_of(
        self, control: ControlScore
    ) -> Iterator[tuple[CellScore, list[tuple[str, float | None]]]]:
        """Return each cell of a control with its values, and their scores."""
        for cell in control.cells[self.category.name]:
            known = {str(metric.bound.measure): metric for metric in cell.metrics}
            values: list[tuple[str, float | None]] = []
            for measure in self.measures:
                metric = known.get(measure)
                if metric is None:
                    values.append(("", None))
                else:
                    values.append((mean_text(metric), metric.score))
            yield cell, values


class ScorePage:
    """What the page shows of a league."""

    def __init__(self, league: League) -> None:
        self.league = league
        self.board: Board = league.board
        self.title = self.board.title or f"Scores on the board {self.board.name}"
        names = control_names(league)
        self.rows = [
            Row(
                "" if control.disqualified else str(rank),
                names[control.cc],
                control,
                control.interval,
                [
                    (control.categories[each.name], cell_line(control.worst_of(each)))
                    for each in self.board.categories
                ],
                limit_lines(control),
            )
            for rank, control in enumerate(league.ranking, start=1)
        ]
        self.sections = [Section(each, league.ranking) for each in self.board.categories]

    @property
    def problems(self) -> int:
        """How many runs are worth nothing."""
        return sum(
            bool(problem)
            for control in self.league.controls
            for cells in control.cells.values()
            for cell in cells
            for problem in cell.problems
        )

    @property
    def command(self) -> str:
        """The command that makes the page again."""
        league, board = self.league, self.board
        words = ["dumbbell", "score", *(control.cc for control in league.controls)]
        words += ["--board", board.name, "--only", ",".join(each.name for each in board.categories)]
        words += ["--seeds", str(len(league.seeds)), "--seed", str(league.seeds[0])]
        if board.drawn is not None:
            words += ["--draw", str(board.drawn[0]), "--draw-seed", str(board.drawn[1])]
        if league.engine != SIMULATOR:
            words += ["--engine", league.engine]
        return shlex.join(words)


def write_league(league: League, directory: Path, language: str = "") -> Path:
    """Write score.json and report.html, each whole or not at all; return the page."""
    write_file(directory / JSON_FILE, json_text(league.to_dict()) + "\n")
    return write_file(directory / PAGE_FILE, render_league(league, language))


def render_league(league: League, language: str = "") -> str:
    """Return the page's HTML, which opens in a language or, without one, the browser's."""
    return render_template(
        "score.html.j2", language, package="dumbbell_studies.report", page=ScorePage(league)
    )

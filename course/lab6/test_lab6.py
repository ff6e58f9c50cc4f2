"""Grades lab 6: an algorithm that beats the board's bar. Run `pytest lab6`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import dumbbell
from dumbbell.cc_check import check
from dumbbell_studies.score import ControlScore, find_board, score_board
from dumbbell_studies.score.text import cell_line
from grading import Answers

BOARD = Path(__file__).with_name("board.toml")
#: The best of these is the bar: what researchers and companies have come up with.
RIVALS = ("copa", "bbr", "bbr3")


@cache
def best_of(*names: str) -> ControlScore:
    """Return the best of some algorithms on the lab's board."""
    return score_board(find_board(str(BOARD)), list(names)).ranking[0]


def file_of(answers: Answers) -> Path:
    """Return the student's file."""
    name = answers["file"]
    assert isinstance(name, str), f"`file` is {name!r}: give the path of your file as text"
    path = answers.directory / name
    where = answers.directory.name
    assert path.exists(), f"`file`: there is no {name} in {where}"
    assert path.is_file(), (
        f"`file`: {name} in {where} is a directory: give the C file in it, like {name}/mine.bpf.c"
    )
    return path


@cache
def error_of(path: Path) -> str:
    """Return what `dumbbell cc check` finds in a file; nothing if the file is sound."""
    try:
        checked = check(str(path), storms=1)
    except dumbbell.DumbbellError as error:
        return str(error)
    return next((each.message for each in checked.findings if each.level == "error"), "")


def test_a_prediction_was_recorded(answers: Answers) -> None:
    """Any will do."""
    assert answers["prediction"] is not None


def test_it_is_sound(answers: Answers) -> None:
    """It compiles, and stands a storm of random calls."""
    path = file_of(answers)
    error = error_of(path)
    assert not error, f"{path.name}: {error}"


def test_it_beats_the_bar(answers: Answers) -> None:
    """By the score of the board."""
    path = file_of(answers)
    # Each of the board's runs would wait for a loop without an end.
    assert not error_of(path), f"{path.name} was not scored: mend what `dumbbell cc check` finds"
    try:
        mine, bar = best_of(str(path)), best_of(*RIVALS)
    except dumbbell.DumbbellError as error:
        raise AssertionError(f"{path.name}: {error}") from None
    assert not mine.disqualified, f"{path.name} is disqualified: {mine.disqualified}"
    failed = [cell for cells in mine.cells.values() for cell in cells if cell.problem]
    assert not failed, f"{path.name}: {cell_line(failed[0])}"
    worst, score = min(mine.categories.items(), key=lambda each: each[1])
    assert mine.overall > bar.overall, (
        f"{path.name} scores {mine.overall:.2f}, and the bar is {bar.overall:.2f}, by {bar.cc}; "
        f"your worst category is `{worst}` ({score:.2f}), and `dumbbell score` says why"
    )

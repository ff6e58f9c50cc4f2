"""Answers in words, printed at the end of a run and a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.compare.answers import Answer, chance_of, run_answers, sweep_answers
from dumbbell.run import Run
from dumbbell.sweeps import SweepResult
from dumbbell.terminal.console import print_line

__all__ = ["print_best", "print_judged"]


def print_judged(result: Run) -> None:
    """Print how each group did by its metric; nothing for a scenario that asks nothing."""
    hint = "`dumbbell sweep` over alternatives says which is best for each"
    print_answers(run_answers(result), "best", hint)


def print_best(result: SweepResult) -> None:
    """Print which cell is best for each group that names a metric, and how surely."""
    print_answers(sweep_answers(result), "chance", chance_of(result))


def print_answers(answers: Sequence[Answer], about: str, hint: str) -> None:
    """Print answers, and what is known about all of them."""
    for each in answers:
        print_line(f"{each.name:12} {each.text}")
    if answers and hint:
        print_line(f"{about:12} {hint}")

"""Scenarios run with what is under test and with a reference in its place, on the same seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Unpack

from dumbbell.base.errors import DumbbellError
from dumbbell.compare.fair_part import part_of
from dumbbell.compare.worst import REALISTIC, Rows, Worst
from dumbbell.metrics import ChosenMetrics
from dumbbell.run import Run
from dumbbell.run.verdict import INVALID
from dumbbell.runs import Execution, measure_each
from dumbbell.scenario import Scenario

__all__ = ["ReferencePair", "Side", "compared", "mean_values"]


@dataclass(frozen=True)
class Side:
    """One run.

    Attributes
    ----------
    value
        What is measured; None where there is none.
    part
        The part of its fair share that group 0 got.
    fault
        Why the run does not count; empty if it does.
    """

    value: float | None
    part: float
    fault: str = ""


@dataclass(frozen=True)
class ReferencePair:
    """A scenario on one seed, with what is under test and with the reference in its place."""

    tested: Side
    reference: Side

    def score(self, worst: Worst) -> float | None:
        """Return how much worse one does; None if a run does not count or is not realistic."""
        if self.tested.fault or self.reference.fault:
            return None
        if self.tested.value is None or self.reference.value is None:
            return None
        if self.reference.part < REALISTIC:
            return None
        return worst.score(self.tested.value, self.reference.value)


def compared(
    scenarios: Iterable[tuple[Scenario, Scenario]],
    worst: Worst,
    **how: Unpack[Execution],
) -> list[ReferencePair]:
    """Run pairs of scenarios: with what is under test, and with the reference.

    Raises
    ------
    SweepInterrupted
        Ctrl-C.
    """
    listed = [((index, side), each) for index, pair in enumerate(scenarios)
              for side, each in enumerate(pair)]  # fmt: skip

    def take(_: tuple[int, int], rows: Rows, read: Callable[[], Run]) -> Side:
        run = read()
        fault = ""
        if run.verdict.status == INVALID:
            fault = next(each.message for each in run.verdict.reasons if each.status == INVALID)
        return Side(worst.value(run, rows), part_of(run.scenario, run.summary, 0), fault)

    def failed(_: tuple[int, int], error: DumbbellError) -> Side:
        return Side(None, 0.0, str(error))

    how = {"cache": None, **how}
    measuring = ChosenMetrics(worst.metrics)
    sides = measure_each(listed, lambda _: measuring, take, on_failed=failed, **how)
    return [ReferencePair(sides[n, 0], sides[n, 1]) for n in range(len(listed) // 2)]


def mean_values(outcomes: Sequence[ReferencePair], worst: Worst) -> tuple[float, float]:
    """Return the means of what is measured, under test and of the reference.

    They are over the outcomes that count; 0 if none does.
    """
    counted = [each for each in outcomes if each.score(worst) is not None]
    if not counted:
        return 0.0, 0.0
    return (
        fmean(each.tested.value or 0.0 for each in counted),
        fmean(each.reference.value or 0.0 for each in counted),
    )

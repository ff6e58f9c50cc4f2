"""The runs of a sweep: every repetition of every cell, and more where an interval is wide."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable

from dumbbell.base.errors import CongestionControlError, EngineError, ScenarioError
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.metrics import METRICS, value_in
from dumbbell.runs.handler import PendingRun
from dumbbell.runs.measuring import Measures
from dumbbell.scenario import Scenario
from dumbbell.sweeps.plan import Plan
from dumbbell.sweeps.until_ci import Precision

__all__ = ["Repetitions", "Taken"]

#: In the line of a compiler's message that says why.
REASON = re.compile(r"\b(?:[Ee]rror:|out of memory\b|cannot be read\b)")

#: A cell's index and the repetition.
Key = tuple[int, int]
#: Takes the metrics of a run: key, scenario, rows.
Taken = Callable[[Key, Scenario, Measures], None]


class Repetitions:
    """A sweep's runs, repetition by repetition.

    The first repetitions of all cells come first, so that an interrupted sweep has some of each,
    and the repetitions of a cell are spread over the day on the kernel. Repetitions are added to a
    cell by its own runs only, so that the order in which runs finish does not matter.

    Parameters
    ----------
    scenarios
        One per cell, with the first repetition's seed.
    plan
        Repetitions, and when to stop.
    take
        Called with the metrics of each run.

    Attributes
    ----------
    errors
        Why runs failed that a congestion control algorithm crashed, a line each.
    loose
        How many cells reached the maximum with an interval wider than wanted.
    """

    def __init__(self, scenarios: list[Scenario], plan: Plan, take: Taken) -> None:
        self.scenarios = scenarios
        self.plan = plan
        self.take = take
        self.precision = (
            None if plan.until_ci is None else Precision.parse(plan.until_ci, plan.metric)
        )
        self.planned = [0] * len(scenarios)
        self.open = [0] * len(scenarios)
        self.values: dict[Key, list[float | None]] = {}
        self.errors: dict[Key, str] = {}
        self.loose = 0
        self.waiting: deque[Key] = deque()
        self.total = 0
        self.total_s = 0.0
        for rep in range(plan.reps):
            for cell in range(len(scenarios)):
                self._plan(cell, rep)

    @property
    def notes(self) -> list[str]:
        """Notes on how often cells ran."""
        if not self.loose:
            return []
        limit = f"{self.plan.max_reps} runs with `{self.plan.metric}` not within"
        return [f"{pluralize(self.loose, 'cell')} reached {limit} {self.plan.until_ci}"]

    def _plan(self, cell: int, rep: int) -> None:
        self.waiting.append((cell, rep))
        self.planned[cell] += 1
        self.open[cell] += 1
        self.total += 1
        self.total_s += self.scenarios[cell].time.seconds

    def next(self) -> PendingRun[Key] | None:
        """Return the next run."""
        if not self.waiting:
            return None
        cell, rep = self.waiting.popleft()
        return PendingRun((cell, rep), self.at(cell, rep))

    def at(self, cell: int, rep: int) -> Scenario:
        """Return what runs: repetition r has the same seed in every cell."""
        scenario = self.scenarios[cell]
        return scenario.replace(seed=scenario.seed + rep) if rep else scenario

    def finished(self, case: PendingRun[Key], result: Measures) -> None:
        """Take the metrics of a run; plan more runs if they were the last and not enough."""
        self.take(case.key, case.scenario, result)
        if self.precision is not None:
            self.values[case.key] = [value_in(group, METRICS[self.plan.metric]) for group in result]
        self._ended(case.key[0])

    def failed(self, case: PendingRun[Key], error: EngineError | ScenarioError) -> bool:
        """Note the failure and continue with the other runs, if they may fare better.

        They may if the congestion control algorithm failed while it ran, or if other cells do not
        have the file that cannot be used.
        """
        files = {files_of(scenario) for scenario in self.scenarios}
        if not isinstance(error, CongestionControlError) and len(files) == 1:
            return False
        self.errors[case.key] = in_one_line(str(error))
        self._ended(case.key[0])
        return True

    def _ended(self, cell: int) -> None:
        self.open[cell] -= 1
        if self.precision is not None and self.open[cell] == 0:
            self._repeat(cell, self.precision)

    def _repeat(self, cell: int, precision: Precision) -> None:
        done = self.planned[cell]
        if any((cell, rep) in self.errors for rep in range(done)):
            return  # the mean would be of the runs that happened to survive
        by_group = list(zip(*(self.values[cell, rep] for rep in range(done)), strict=True))
        more = precision.more(by_group, self.plan.max_reps - done)
        if done == self.plan.max_reps and precision.more(by_group, 1):
            self.loose += 1
        for rep in range(done, done + more):
            self._plan(cell, rep)


def files_of(scenario: Scenario) -> frozenset[str]:
    """Return the files of a scenario's congestion control algorithms."""
    return frozenset(group.cc.name for group in scenario.groups if group.cc.is_file)


def in_one_line(message: str) -> str:
    """Return a message without the lines in which a compiler explains its first error."""
    first, *others = [line.strip() for line in message.splitlines() if line.strip()]
    reasons = [line for line in others if REASON.search(line)]
    return " ".join([first, *(reasons or others)[:1]])

"""What a sweep runs: every cell, every repetition, and more of a cell until it is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from dumbbell.errors import CongestionControlError
from dumbbell.quantities.pluralize import pluralize
from dumbbell.runs.handler import PendingRun
from dumbbell.runs.measures import Measures
from dumbbell.scenario import Scenario
from dumbbell.sweeps.plan import Plan
from dumbbell.sweeps.until_ci import Precision

__all__ = ["Repetitions", "Taken"]

#: A cell's index and the repetition.
Key = tuple[int, int]
#: Takes what was measured of a run: cell, repetition, scenario, measures.
Taken = Callable[[Key, Scenario, Measures], None]


class Repetitions:
    """A sweep's runs, repetition by repetition.

    All cells' first repetitions come first: an interrupted sweep has something of each, and on
    the kernel no hour of the day has a cell alone. What is added to a cell depends on its own
    runs only, so that the order in which they finish changes nothing.

    Parameters
    ----------
    scenarios
        One per cell, with the first repetition's seed.
    plan
        How often.
    take
        Told what was measured of each run.

    Attributes
    ----------
    errors
        What ended the runs that a congestion control crashed, in a line each.
    loose
        How many cells reached the limit of runs with an interval wider than asked.
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
        """What the reader should know of how often cells ran."""
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
        """Take what was measured; plan more of a cell whose last run was not enough."""
        self.take(case.key, case.scenario, result)
        if self.precision is not None:
            self.values[case.key] = [group[self.plan.metric] for group in result]
        self._ended(case.key[0])

    def failed(self, case: PendingRun[Key], error: CongestionControlError) -> bool:
        """Go on with the others: what foreign code does to its run is a finding about that."""
        self.errors[case.key] = str(error)
        self._ended(case.key[0])
        return True

    def _ended(self, cell: int) -> None:
        self.open[cell] -= 1
        if self.precision is not None and self.open[cell] == 0:
            self._repeat(cell, self.precision)

    def _repeat(self, cell: int, precision: Precision) -> None:
        done = self.planned[cell]
        if any((cell, rep) in self.errors for rep in range(done)):
            return  # its mean would be of the runs that happened to survive
        by_group = list(zip(*(self.values[cell, rep] for rep in range(done)), strict=True))
        more = precision.more(by_group, self.plan.max_reps - done)
        if done == self.plan.max_reps and precision.more(by_group, 1):
            self.loose += 1
        for rep in range(done, done + more):
            self._plan(cell, rep)

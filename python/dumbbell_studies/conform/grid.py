"""The grids on which algorithms are compared: cells of the gate's suites, two flows in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.gate import ANY_SUBJECT, Case, find_suite, is_under_test
from dumbbell.scenario import Group, Scenario

__all__ = ["GRIDS", "Cell", "grid_named"]

#: When flows start: at random in the first second, which is what repetitions differ in.
JITTER = "1s"
#: How long they run, as QUICbench's: a flow takes tens of seconds to find its share.
TIME = "120s"
#: Few cells of QUICbench's, for a first answer.
QUICK = {"rate": "20mbit", "rtt": "50ms", "buffer": "1bdp,3bdp"}
#: The suite of each grid.
GRIDS = {"quick": "quicbench", "quicbench": "quicbench", "rfc9743": "rfc9743"}


@dataclass(frozen=True)
class Cell:
    """A path on which two flows compete.

    Attributes
    ----------
    label
        What it differs in from the other cells.
    scenario
        The path, with any flows.
    """

    label: str
    scenario: Scenario

    def pair(
        self, first: Callable[..., Group], second: Callable[..., Group], seed: int
    ) -> Scenario:
        """Return the scenario with a group of each of two kinds."""
        groups = [make(jitter=JITTER) for make in (first, second)]
        return self.scenario.replace(groups=groups, time=TIME, seed=seed)


def grid_named(name: str) -> list[Cell]:
    """Return the cells of a grid.

    A grid is all paths of a suite on which a flow under test meets one other bulk flow.

    Raises
    ------
    ScenarioError
        There is no such grid.
    """
    if name not in GRIDS:
        raise ScenarioError(f"unknown grid `{name}`{nearest(name, GRIDS)}", key="grid")
    cases = [case for case in find_suite(GRIDS[name]).runnable if is_pair(case)]
    paths = [narrowed(case, is_quick=name == "quick") for case in cases]
    return [
        Cell(f"{case.name}, {label}" if len(paths) > 1 else label, scenario)
        for case in paths
        for label, scenario in case.cells(ANY_SUBJECT)
    ]


def is_pair(case: Case) -> bool:
    """Whether a case is a flow under test next to another that has as much as it can get."""
    return len(case.groups) == 2 and is_under_test(case.groups[0]) and all(
        group.keys() <= {"cc", "jitter"} for group in case.groups
    )  # fmt: skip


def narrowed(case: Case, *, is_quick: bool) -> Case:
    """Return a case without axes of what competes, which is the reference; or with few cells."""
    axes = {name: values for name, values in case.axes.items() if not name.endswith(".cc")}
    return replace(case, axes=QUICK if is_quick else axes)

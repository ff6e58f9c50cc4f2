"""What a suite measured with one congestion control."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dumbbell._core import ENGINE_VERSION
from dumbbell.errors import GateError
from dumbbell.gate.subject import RUN, UNDER_TEST, Measure
from dumbbell.gate.suite import Case, Suite, is_under_test
from dumbbell.metrics import value_in
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR, engine_build
from dumbbell.runs import Cache, Progress, measure_all
from dumbbell.runs.measures import Measures
from dumbbell.scenario import Scenario
from dumbbell.verdict import INVALID

__all__ = ["CellResult", "Observed", "SuiteResult", "run_suite"]


class Observed(NamedTuple):
    """A group or the run, and a metric: ``("{cc}", "goodput_bps")``, ``("", "jain")``."""

    subject: str
    metric: str


class RunKey(NamedTuple):
    """Which run of a suite."""

    case: str
    cell: str
    seed: int


@dataclass(frozen=True)
class CellResult:
    """A cell's repetitions.

    Attributes
    ----------
    case, cell
        The case's name and the cell's label.
    seeds, verdicts
        Of each repetition.
    values
        Of each repetition; None where the run has no value.
    reasons
        Why runs are INVALID; each once.
    """

    case: str
    cell: str
    seeds: tuple[int, ...]
    verdicts: tuple[str, ...]
    values: Mapping[Observed, tuple[float | None, ...]]
    reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The case and, where it has axes, the cell: ``alone[buffer=2bdp]``."""
        return self.case if self.cell == "all" else f"{self.case}[{self.cell}]"

    @property
    def invalid_count(self) -> int:
        """How many repetitions are INVALID."""
        return self.verdicts.count(INVALID)

    def observed_of(self, measure: Measure) -> list[Observed]:
        """Return the values that a measure asks for."""
        name = measure.metric.name
        return [of for of in self.values if of.metric == name and measure.is_of(of.subject)]

    def valid(self, observed: Observed) -> dict[int, float | None]:
        """Return the values of the repetitions that are not INVALID, by seed."""
        values = self.values[observed]
        return {
            seed: value
            for seed, verdict, value in zip(self.seeds, self.verdicts, values, strict=True)
            if verdict != INVALID
        }


@dataclass(frozen=True)
class SuiteResult:
    """A suite's cells, and what produced them.

    Attributes
    ----------
    suite
        The suite.
    cc
        The congestion control under test.
    engine, engine_version, engine_build
        What ran it.
    builds
        The build of each congestion control; the one under test is ``{cc}``.
    cells
        Those of the cases that can be run.
    """

    suite: Suite
    cc: str
    engine: str
    engine_version: str
    engine_build: str
    builds: Mapping[str, str]
    cells: tuple[CellResult, ...]

    @property
    def seeds(self) -> frozenset[int]:
        """Every seed."""
        return frozenset(seed for cell in self.cells for seed in cell.seeds)


def run_suite(
    suite: Suite,
    cc: str,
    *,
    engine: str = SIMULATOR,
    seed: int | None = None,
    jobs: int | None = None,
    cache: Cache | str | Path | bool | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> SuiteResult:
    """Run every case of a suite that can be run.

    Parameters
    ----------
    suite
        The suite.
    cc
        The congestion control under test: a name, with parameters, or a source file.
    engine
        ``simulator`` or ``kernel``.
    seed
        Of each cell's first repetition; the suite's by default.
    jobs
        Runs at a time.
    cache
        Where runs are found and kept, as `dumbbell.run_all` has it; None is the user's with the
        simulator, and none with the kernel.
    on_progress
        Called several times a second.

    Returns
    -------
    SuiteResult
        The values that the suite compares or has criteria for.

    Raises
    ------
    DumbbellError
        A scenario does not fit, or a run failed.
    """
    first = suite.seed if seed is None else seed
    cases = [case for case in suite.cases if not case.needs]
    if not cases:
        raise GateError(f"suite `{suite.name}` has no case that this version can run")
    cells = {case.name: case.cells(cc) for case in cases}
    scenarios = [
        (RunKey(case.name, label, first + rep), scenario.replace(seed=first + rep))
        for case in cases
        for label, scenario in cells[case.name]
        for rep in range(case.reps)
    ]
    by_name = {case.name: case for case in cases}
    runs = measure_all(
        longest_first(scenarios), warmup=lambda key: by_name[key.case].warmup_text, engine=engine,
        workers=jobs, cache=cache, on_progress=on_progress,
    )  # fmt: skip
    results = [
        cell_result(case, label, {first + rep: runs[RunKey(case.name, label, first + rep)]
                                  for rep in range(case.reps)})
        for case in cases
        for label, _ in cells[case.name]
    ]  # fmt: skip
    builds = builds_of(by_name, {key: run for key, (run, _) in runs.items()})
    return SuiteResult(suite, cc, engine, ENGINE_VERSION, engine_build(), builds, tuple(results))


def longest_first(scenarios: Sequence[tuple[RunKey, Scenario]]) -> list[tuple[RunKey, Scenario]]:
    """Start long runs first, so that none is left to a single core at the end."""
    return sorted(scenarios, key=lambda entry: -work_of(entry[1]))


def work_of(scenario: Scenario) -> int:
    """Return how much a run has to carry, at most."""
    return sum(int(link.rate) for link in scenario.links) * int(scenario.time)


def observe(case: Case, measures: Measures) -> dict[Observed, float | None]:
    """Return what a case compares or requires of a run, from its rows of metrics."""
    values: dict[Observed, float | None] = {}
    for asked in case.measures:
        name = asked.metric.name
        if not asked.metric.of_groups:
            values[Observed(RUN, name)] = value_in(measures[0], asked.metric)
            continue
        for subject, row in zip(case.subjects, measures, strict=True):
            if asked.is_of(subject):
                values[Observed(subject, name)] = value_in(row, asked.metric)
    return values


def cell_result(case: Case, label: str, runs: Mapping[int, tuple[Run, Measures]]) -> CellResult:
    """Put a cell's repetitions together, which are given by their seeds."""
    verdicts = [run.verdict for run, _ in runs.values()]
    reasons = [str(r) for v in verdicts for r in v.reasons if r.status == INVALID]
    observed = [observe(case, measures) for _, measures in runs.values()]
    return CellResult(
        case.name,
        label,
        tuple(runs),
        tuple(verdict.status for verdict in verdicts),
        {at: tuple(values[at] for values in observed) for at in observed[0]},
        tuple(dict.fromkeys(reasons)),
    )


def builds_of(cases: Mapping[str, Case], runs: Mapping[RunKey, Run]) -> dict[str, str]:
    """Return the build of each congestion control; the one under test is ``{cc}``."""
    builds = {}
    for key, run in runs.items():
        for index, group in enumerate(run.groups):
            tested = is_under_test(cases[key.case].groups[index])
            cc = UNDER_TEST if tested else str(run.scenario.groups[index].cc)
            builds[cc] = str(group["build"])
    return dict(sorted(builds.items()))

"""What a suite measured with one congestion control algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar, Unpack

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.errors import GateError
from dumbbell.gate.case import Case, Observed, Subject, is_under_test
from dumbbell.gate.silent_clients import check_clients
from dumbbell.gate.subject import UNDER_TEST, Measure
from dumbbell.gate.suite import Suite
from dumbbell.metrics import column_in
from dumbbell.metrics.phase import IN
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR, engine_build
from dumbbell.run.verdict import INVALID
from dumbbell.runs import Execution, measure_all
from dumbbell.runs.measuring import Measures
from dumbbell.scenario import Scenario

__all__ = ["CellResult", "Observed", "SuiteResult", "longest_first", "observe", "run_suite"]

K = TypeVar("K")


class RunKey(NamedTuple):
    """A run of a suite."""

    case: str
    cell: str
    seed: int
    is_reference: bool = False


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
    reference
        Values of the reference, as `values`; empty for a case without.
    """

    case: str
    cell: str
    seeds: tuple[int, ...]
    verdicts: tuple[str, ...]
    values: Mapping[Observed, tuple[float | None, ...]]
    reasons: tuple[str, ...] = ()
    reference: Mapping[Observed, tuple[float | None, ...]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The case and, where it has axes, the cell: ``alone[buffer=2bdp]``."""
        return self.case if self.cell == "all" else f"{self.case}[{self.cell}]"

    @property
    def invalid_count(self) -> int:
        """How many repetitions are INVALID."""
        return self.verdicts.count(INVALID)

    def valid(self, observed: Observed) -> dict[int, float | None]:
        """Return the values of the repetitions that are not INVALID, by seed."""
        return self._valid(self.values[observed])

    def valid_reference(self, observed: Observed) -> dict[int, float | None]:
        """Return the reference's values, of the same seeds."""
        return self._valid(self.reference[observed])

    def _valid(self, values: Sequence[float | None]) -> dict[int, float | None]:
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
    subject
        What was under test.
    engine, engine_version, engine_build
        What ran it.
    builds
        The build of each congestion control algorithm; the one under test is ``{cc}``.
    cells
        Those of the cases that can be run.
    """

    suite: Suite
    subject: Subject
    engine: str
    engine_version: str
    engine_build: str
    builds: Mapping[str, str]
    cells: tuple[CellResult, ...]

    @property
    def cc(self) -> str:
        """The congestion control algorithm under test; empty for none."""
        return self.subject.cc

    @property
    def seeds(self) -> frozenset[int]:
        """All seeds of the runs."""
        return frozenset(seed for cell in self.cells for seed in cell.seeds)


def run_suite(
    suite: Suite,
    cc: str | Subject,
    *,
    seed: int | None = None,
    **how: Unpack[Execution],
) -> SuiteResult:
    """Run every case of a suite that can be run, and its reference.

    Parameters
    ----------
    suite
        The suite.
    cc
        What is under test. Text is a congestion control algorithm: a name, with parameters, or a
        source file.
    seed
        Of each cell's first repetition; the suite's by default.
    how
        How runs are executed; without `cache` simulated ones are kept in the user's.

    Returns
    -------
    SuiteResult
        The values that the suite compares or has criteria for.

    Raises
    ------
    DumbbellError
        A scenario does not fit, or a run failed.
    """
    subject = Subject(cc) if isinstance(cc, str) else cc
    first = suite.seed if seed is None else seed
    if not suite.runnable:
        raise GateError(f"suite `{suite.name}` has no case that this version can run")
    suite.check_subject(subject)
    by_name = {case.name: case for case in suite.runnable}
    how = {"cache": None, **how}
    runs = measure_all(
        longest_first([
            (RunKey(case.name, label, seed, is_reference), scenario.replace(seed=seed))
            for case in suite.runnable
            for is_reference, cells in (
                (False, case.cells(subject)),
                (True, case.reference_cells(subject)),
            )
            for label, scenario in cells
            for seed in range(first, first + case.reps)
        ]),
        lambda key: by_name[key.case].measuring,
        **how,
    )  # fmt: skip
    by_cell: dict[tuple[str, str], dict[RunKey, tuple[Run, Measures]]] = {}
    for key, run in runs.items():
        by_cell.setdefault((key.case, key.cell), {})[key] = run
    results = [
        cell_result(case, label, by_cell[case.name, label])
        for case in suite.runnable
        for label, _ in case.cells(subject)
    ]
    builds = builds_of(by_name, {key: run for key, (run, _) in runs.items()})
    return SuiteResult(
        suite,
        subject,
        how.get("engine", SIMULATOR),
        ENGINE_VERSION,
        engine_build(),
        builds,
        tuple(results),
    )


def longest_first(scenarios: Sequence[tuple[K, Scenario]]) -> list[tuple[K, Scenario]]:
    """Start long runs first, so that none is left to a single core at the end."""
    return sorted(scenarios, key=lambda entry: -work_of(entry[1]))


def work_of(scenario: Scenario) -> int:
    """Return how much a run has to carry, at most."""
    return sum(int(link.rate) for link in scenario.links) * int(scenario.time)


def observe(case: Case, measures: Measures) -> dict[Observed, float | None]:
    """Return what a case compares or requires of a run, from its rows of metrics."""
    values: dict[Observed, float | None] = {}
    for asked in case.measures:
        rows = [value_of(row, asked) for row in measures]
        observed = case.observed_of(asked)
        if not asked.metric.of_groups:
            values[observed[0]] = rows[0]
        elif asked.is_ratio:
            over, under = (rows[index] for index in asked.groups)
            values[observed[0]] = None if over is None or not under else over / under
        else:
            values |= {at: rows[case.subjects.index(at.subject)] for at in observed}
    return values


def value_of(row: Mapping[str, Any], measure: Measure) -> float | None:
    """Return a measure's value in a row of metrics, of its phase."""
    during = "" if measure.phase is None else f"{IN}{measure.phase}"
    # Columns are looked for by the metric alone, whose link may be the run's only one.
    names = [name.removesuffix(during) for name in row if name.endswith(during)]
    value: float | None = row[column_in(names, measure.source) + during]
    return value


def cell_result(case: Case, label: str, runs: Mapping[RunKey, tuple[Run, Measures]]) -> CellResult:
    """Put a cell's repetitions together; one is INVALID if its reference is."""
    own = {key.seed: run for key, run in runs.items() if not key.is_reference}
    references = {key.seed: run for key, run in runs.items() if key.is_reference}
    for each in (own, references):
        check_clients(case.name, (run for run, _ in each.values()))
    verdicts, reasons = [], []
    for seed in sorted(own):
        both = [runs_of[seed][0].verdict for runs_of in (own, references) if seed in runs_of]
        verdicts.append(max((v.status for v in both), key=lambda status: status == INVALID))
        reasons += [str(r) for v in both for r in v.reasons if r.status == INVALID]
    return CellResult(
        case.name,
        label,
        tuple(sorted(own)),
        tuple(verdicts),
        values_of(case, own),
        tuple(dict.fromkeys(reasons)),
        values_of(case, references),
    )


def values_of(
    case: Case, runs: Mapping[int, tuple[Run, Measures]]
) -> dict[Observed, tuple[float | None, ...]]:
    """Return what is observed of runs, which are given by their seeds; nothing without runs."""
    observed = [observe(case, runs[seed][1]) for seed in sorted(runs)]
    return {at: tuple(values[at] for values in observed) for at in (observed or [{}])[0]}


def builds_of(cases: Mapping[str, Case], runs: Mapping[RunKey, Run]) -> dict[str, str]:
    """Return the build of each congestion control algorithm; the one under test is ``{cc}``."""
    builds = {}
    for key, run in runs.items():
        if key.is_reference:
            continue
        for index, group in enumerate(run.groups):
            tested = is_under_test(cases[key.case].groups[index])
            cc = UNDER_TEST if tested else str(run.scenario.groups[index].cc)
            builds[cc] = str(group["build"])
    return dict(sorted(builds.items()))

"""The gate: a suite's results evaluated by its criteria and against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dumbbell.base.errors import GateError
from dumbbell.congestion_control.quic import split_params
from dumbbell.gate.case import ComparedMetric
from dumbbell.gate.comparison import Change, MetricChange, compare_cells
from dumbbell.gate.criterion_outcome import CriterionOutcome, Met, evaluate_criteria
from dumbbell.gate.subject import Measure
from dumbbell.gate.suite import MIN_REPS
from dumbbell.gate.suite_result import SuiteResult
from dumbbell.gate.tolerance import Tolerance
from dumbbell.run.engine import SIMULATOR
from dumbbell.statistics import holm

__all__ = ["LEVEL", "Gate", "NotEvaluated", "evaluate", "fresh_seed"]

#: Chance of any false alarm in a gate, were every metric worse by exactly its tolerance.
LEVEL = 0.01


@dataclass(frozen=True)
class NotEvaluated:
    """A cell whose runs are INVALID, so that its values are not trustworthy.

    Attributes
    ----------
    cell
        Its label, with its case.
    invalid, repetitions
        How many runs are INVALID, of how many.
    reason
        An example.
    """

    cell: str
    invalid: int
    repetitions: int
    reason: str

    def __str__(self) -> str:
        return f"{self.invalid} of {self.repetitions} runs are INVALID: {self.reason}"


@dataclass(frozen=True)
class Gate:
    """What the gate found.

    Attributes
    ----------
    after, before
        The suite's result now, and the baseline; None if only criteria were evaluated.
    comparisons
        Every compared metric of every cell.
    criteria
        Every criterion of every cell.
    not_evaluated
        Cells whose runs are INVALID.
    level
        Chance of any false alarm.
    """

    after: SuiteResult
    before: SuiteResult | None
    comparisons: tuple[MetricChange, ...]
    criteria: tuple[CriterionOutcome, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    level: float

    @property
    def passed(self) -> bool:
        """Whether nothing is worse, no criterion is missed, and every cell could be evaluated."""
        return not (self.worse or self.missed or self.not_evaluated)

    @property
    def compares_nothing(self) -> bool:
        """Whether there is neither a baseline nor a criterion."""
        return self.before is None and not self.criteria

    @property
    def worse(self) -> list[MetricChange]:
        """The metrics that became worse."""
        return self.changed(Change.WORSE)

    @property
    def missed(self) -> list[CriterionOutcome]:
        """The criteria that are missed, and were not before."""
        return [outcome for outcome in self.criteria if outcome.met == Met.MISSED]

    @property
    def skipped(self) -> list[tuple[str, str]]:
        """The cases that could not be run, with what they need."""
        return [(case.name, case.needs) for case in self.after.suite.cases if case.needs]

    @property
    def same_builds(self) -> bool:
        """Whether the baseline was made by the same engine, builds and parameters."""
        return self.before is not None and made_by(self.before) == made_by(self.after)

    def changed(self, change: Change) -> list[MetricChange]:
        """Return the comparisons with an outcome."""
        return [comparison for comparison in self.comparisons if comparison.change == change]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON; docs/gate.md describes it."""
        before = self.before
        return {
            "format": 1,
            "suite": self.after.suite.name,
            "passed": self.passed,
            "cc": self.after.cc,
            "qdisc": self.after.subject.qdisc,
            "baseline_cc": None if before is None else before.cc,
            "baseline_qdisc": None if before is None else before.subject.qdisc,
            "engine": self.after.engine,
            "engine_version": self.after.engine_version,
            "baseline_engine_version": None if before is None else before.engine_version,
            "same_builds": self.same_builds,
            "level": self.level,
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "criteria": [outcome.to_dict() for outcome in self.criteria],
            "not_evaluated": [{"cell": u.cell, "reason": str(u)} for u in self.not_evaluated],
            "skipped": [{"case": name, "needs": needs} for name, needs in self.skipped],
        }


def evaluate(
    after: SuiteResult,
    before: SuiteResult | None = None,
    *,
    tolerances: Sequence[str] = (),
    level: float = LEVEL,
) -> Gate:
    """Evaluate a suite's result.

    A metric is worse if it worsened by more than its tolerance and not by chance: the p values of
    all comparisons and criteria together are adjusted by Holm's method and must not exceed
    `level`. A criterion is missed if its mean misses the bound, not by chance; with a baseline,
    only if the baseline's mean meets it.

    Parameters
    ----------
    after
        The results now.
    before
        The baseline.
    tolerances
        Instead of the suite's: ``10%`` replaces every relative part; ``METRIC=10% + 1ms`` one.
    level
        Chance of any false alarm.

    Raises
    ------
    GateError
        A tolerance is invalid, or the results are of different cells or seeds.
    """
    comparisons: list[MetricChange] = []
    if before is not None:
        check_same_cells(before, after)
        compared = {case.name: case.compared for case in after.suite.cases}
        comparisons = list(compare_cells(before, after, replaced(compared, tolerances)))
    criteria = list(evaluate_criteria(after))
    worse = holm([*(c.p_worse for c in comparisons), *(c.p for c in criteria)])
    better = holm([c.p_better for c in comparisons])
    old = {} if before is None else {key(c): c for c in evaluate_criteria(before)}
    return Gate(
        after,
        before,
        tuple(
            comparison.decided(p_worse, p_better, level)
            for comparison, p_worse, p_better in zip(comparisons, worse, better, strict=False)
        ),
        tuple(
            outcome.decided(p, level, old.get(key(outcome)))
            for outcome, p in zip(criteria, worse[len(comparisons) :], strict=True)
        ),
        tuple(not_evaluated(after, before)),
        level,
    )


def made_by(result: SuiteResult) -> tuple[Any, ...]:
    """Return what a result depends on besides the suite and the seeds."""
    parameters = split_params(result.cc)[1]
    return (
        result.engine, result.engine_build, dict(result.builds), parameters, result.subject.qdisc
    )  # fmt: skip


def key(outcome: CriterionOutcome) -> tuple[str, str, str]:
    """Return what identifies a criterion."""
    return outcome.cell, outcome.observed.subject, str(outcome.criterion)


def check_same_cells(before: SuiteResult, after: SuiteResult) -> None:
    """Refuse results that cannot be compared."""
    cells = [{(cell.case, cell.cell) for cell in result.cells} for result in (before, after)]
    if not cells[1] <= cells[0]:
        case, label = min(cells[1] - cells[0])
        raise GateError(f"the baseline has no cell `{label}` of case `{case}`; record it again")
    old = {(cell.case, cell.cell): cell for cell in before.cells}
    for cell in after.cells:
        seeds = set(cell.seeds), set(old[cell.case, cell.cell].seeds)
        if seeds[0] != seeds[1] and seeds[0] & seeds[1]:
            raise GateError(
                "some seeds are the baseline's and some are not; use "
                f"`--seed {fresh_seed(before)}` or higher, or omit `--seed`"
            )


def fresh_seed(baseline: SuiteResult) -> int:
    """Return a first seed after all seeds of a baseline."""
    return max(baseline.seeds) + 1


def replaced(
    compared: Mapping[str, Sequence[ComparedMetric]], tolerances: Sequence[str]
) -> dict[str, Sequence[ComparedMetric]]:
    """Return what is compared, with the user's tolerances."""
    result = {name: list(entries) for name, entries in compared.items()}
    for text in tolerances:
        name, equals, value = text.rpartition("=")
        if equals:
            Measure(name.strip())
        for entries in result.values():
            entries[:] = [with_tolerance(entry, name.strip(), value) for entry in entries]
    return dict(result)


def with_tolerance(entry: ComparedMetric, name: str, text: str) -> ComparedMetric:
    """Return an entry with a tolerance if the name fits; no name replaces the relative part."""
    metric = entry.measure.metric
    if not name:
        read = Tolerance.parse(text, metric)
        if read.absolute:
            raise GateError(f"tolerance `{text}` names no metric; use `METRIC={text}` or `10%`")
        return ComparedMetric(entry.measure, replace(entry.tolerance, relative=read.relative))
    if name in (str(entry.measure), metric.name):
        return ComparedMetric(entry.measure, Tolerance.parse(text, metric))
    return entry


def not_evaluated(after: SuiteResult, before: SuiteResult | None) -> list[NotEvaluated]:
    """Find the cells whose runs are not trustworthy.

    In the simulator one INVALID run is enough, unless the baseline has it too. On the kernel a run
    may be disturbed: there a cell is evaluated by its other runs if enough are left.
    """
    old = {} if before is None else {(c.case, c.cell): c.invalid_count for c in before.cells}
    found = []
    for cell in after.cells:
        left = len(cell.seeds) - cell.invalid_count
        too_few = left < min(MIN_REPS, len(cell.seeds))
        new = after.engine == SIMULATOR and cell.invalid_count > old.get((cell.case, cell.cell), 0)
        if too_few or new:
            found.append(
                NotEvaluated(cell.label, cell.invalid_count, len(cell.seeds), cell.reasons[0])
            )
    return found

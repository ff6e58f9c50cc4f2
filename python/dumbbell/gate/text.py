"""The gate's findings as sentences and table rows, for the terminal, Markdown and JUnit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.quantities.significant import significant
from dumbbell.gate.baseline import shown_cc
from dumbbell.gate.case import Subject
from dumbbell.gate.comparison import Change, MetricChange
from dumbbell.gate.criterion_outcome import CriterionOutcome, Met
from dumbbell.gate.gate import Gate
from dumbbell.gate.metric_value import write_difference, write_value
from dumbbell.gate.subject import RUN, UNDER_TEST
from dumbbell.gate.suite_result import SuiteResult
from dumbbell.run.engine import SIMULATOR

__all__ = [
    "CHANGE_COLUMNS",
    "CRITERION_COLUMNS",
    "change_row",
    "changes",
    "criterion_row",
    "headline",
    "outline",
    "say_change",
    "say_criterion",
    "unmet",
]

CHANGE_COLUMNS = ("case", "metric", "before", "after", "difference (95 %)", "tolerated", "outcome")
CRITERION_COLUMNS = ("case", "criterion", "mean", "p", "outcome")
#: Shown where no repetition has a value.
NONE = "–"


def headline(gate: Gate) -> str:
    """Return the gate's outcome in a line."""
    outcome = "passed" if gate.passed else "failed"
    if gate.passed and gate.compares_nothing:
        outcome = "compared nothing"
    after = gate.after.subject
    what = f"gate {outcome}: {named(after)} in suite `{gate.after.suite.name}`"
    if gate.before is None:
        return what
    before = gate.before.subject
    same = before in (after, after._replace(cc=shown_cc(after.cc)))
    return f"{what} compared with {'its baseline' if same else named(before)}"


def named(subject: Subject) -> str:
    """Name what is under test: `` `cubic` ``, `` `pie:target=20ms` ``, both, or programs."""
    return " with ".join(f"`{name}`" for name in subject if name) or "the program"


def outline(gate: Gate) -> list[str]:
    """Return what was evaluated and found, in lines."""
    runs = sum(len(cell.seeds) for cell in gate.after.cells)
    lines = [
        f"{pluralize(len(gate.after.cells), 'cell')}, {pluralize(runs, 'run')}; engine "
        f"{gate.after.engine} {gate.after.engine_version}"
    ]
    if gate.before is not None:
        found = pluralize(len(gate.comparisons), "comparison")
        lines.append(f"{found}: {counts(gate.comparisons, Change)}")
        lines += provenance(gate.before, gate)
    if gate.criteria:
        noun = "criterion" if len(gate.criteria) == 1 else "criteria"
        lines.append(f"{len(gate.criteria)} {noun}: {counts(gate.criteria, Met)}")
    lines += advice(gate)
    lines += [f"{entry.cell}: {entry}" for entry in gate.not_evaluated]
    lines += [f"skipped {name}: needs {needs}" for name, needs in gate.skipped]
    return lines


def counts(found: Sequence[MetricChange | CriterionOutcome], kinds: type[StrEnum]) -> str:
    """Return how many there are of each outcome: ``2 worse, 1 unclear``."""
    outcomes = Counter[StrEnum](
        entry.change if isinstance(entry, MetricChange) else entry.met for entry in found
    )
    return ", ".join(f"{outcomes[kind]} {kind}" for kind in kinds if outcomes[kind])


def advice(gate: Gate) -> list[str]:
    """Return how many repetitions would settle what is unclear."""
    unclear: list[MetricChange | CriterionOutcome] = [
        *gate.changed(Change.UNCLEAR),
        *(c for c in gate.criteria if c.met == Met.UNCLEAR),
    ]
    known = [entry.reps_to_settle for entry in unclear if entry.reps_to_settle is not None]
    if not known:
        return []
    which = "it" if len(unclear) == 1 else "them"
    if len(known) < len(unclear):
        which = f"{len(known)} of them"
    how = "run again" if gate.before is None else "record the baseline again"
    return [
        f"{len(unclear)} unclear: {max(known)} repetitions would probably settle {which}; {how} "
        f"with `--reps {max(known)}`"
    ]


def provenance(before: SuiteResult, gate: Gate) -> list[str]:
    """Return how the baseline was made differently, and whether results should be the same."""
    after, lines = gate.after, []
    if (before.engine, before.engine_version) != (after.engine, after.engine_version):
        lines.append(f"the baseline was made with engine {before.engine} {before.engine_version}")
    elif before.engine_build != after.engine_build:
        lines.append("the baseline was made with another build of the engine")
    others = [
        cc for cc, build in after.builds.items()
        if cc != UNDER_TEST and before.builds.get(cc, build) != build
    ]  # fmt: skip
    if others:
        lines.append(f"other builds than in the baseline: {', '.join(others)}")
    paired = all(comparison.sides.paired for comparison in gate.comparisons)
    if after.engine == SIMULATOR and gate.same_builds and paired:
        same = all(
            comparison.change in (Change.IDENTICAL, Change.NO_VALUE)
            for comparison in gate.comparisons
        )
        lines.append(
            "same engine, builds and seeds as the baseline"
            + (", and the same results" if same else ": the results should be the same")
        )
    return lines


def changes(gate: Gate) -> list[MetricChange]:
    """Return the comparisons to show, the worse ones first."""
    return [
        comparison
        for change in (Change.WORSE, Change.UNCLEAR, Change.BETTER)
        for comparison in gate.changed(change)
    ]


def unmet(gate: Gate) -> list[CriterionOutcome]:
    """Return the criteria that are not met, the missed ones first."""
    return [
        outcome
        for met in (Met.MISSED, Met.UNCLEAR, Met.MISSED_BEFORE)
        for outcome in gate.criteria
        if outcome.met == met
    ]


def whose(subject: str) -> str:
    """Return the group of a value, `` (tested)`` or `` (cubic)``; nothing for the run's."""
    return "" if subject == RUN else f" ({subject.replace(UNDER_TEST, 'tested')})"


def change_row(comparison: MetricChange) -> tuple[str, ...]:
    """Return a comparison as a row of `CHANGE_COLUMNS`."""
    metric = comparison.metric
    before, after = (
        NONE if mean is None else write_value(mean, metric) for mean in comparison.means
    )
    missing = comparison.sides.missing
    if missing[1] > missing[0]:
        after += f" (none in {missing[1]} runs, before in {missing[0]})"
    return (
        comparison.cell,
        comparison.metric.title + whose(comparison.observed.subject),
        before,
        after,
        say_difference(comparison),
        comparison.tolerance.write(metric),
        str(comparison.change),
    )


def say_difference(comparison: MetricChange) -> str:
    """Return the difference of the means with its interval."""
    interval, metric = comparison.difference, comparison.metric
    if not comparison.sides.a or not comparison.sides.b:
        return NONE
    said = write_difference(interval.mean, metric)
    if not interval.bounded:
        return said
    low, high = (significant(end * metric.scale, spec="+") for end in (interval.low, interval.high))
    return f"{said} ({low} to {high})"


def say_change(comparison: MetricChange) -> str:
    """Return a comparison as a sentence."""
    _, metric, before, after, difference, tolerance, change = change_row(comparison)
    return f"{metric} is {change}: {before} → {after}, {difference}; tolerated {tolerance}"


def criterion_row(outcome: CriterionOutcome) -> tuple[str, ...]:
    """Return a criterion as a row of `CRITERION_COLUMNS`."""
    mean = outcome.mean
    said = NONE if mean is None else write_value(mean, outcome.criterion.measure.metric)
    if outcome.reference is not None:
        said += f" (reference {write_value(outcome.reference, outcome.criterion.measure.metric)})"
    if outcome.missing:
        said += f" (none in {outcome.missing} runs)"
    return (
        outcome.cell,
        f"{outcome.criterion}{whose(outcome.observed.subject)}",
        said,
        f"{outcome.p:.2g}",
        str(outcome.met),
    )


def say_criterion(outcome: CriterionOutcome) -> str:
    """Return a criterion as a sentence."""
    _, criterion, mean, _, met = criterion_row(outcome)
    return f"{criterion} is {met}: the mean is {mean}"

"""The gate's findings as sentences and table rows, for the terminal, Markdown and JUnit alike."""

from __future__ import annotations

from dumbbell.gate.baseline import shown_cc
from dumbbell.gate.comparison import Change, Comparison
from dumbbell.gate.criterion_outcome import CriterionOutcome, Met
from dumbbell.gate.gate import Gate
from dumbbell.gate.metric_value import write_difference, write_value
from dumbbell.gate.subject import RUN, UNDER_TEST
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
#: A value that no repetition has.
NONE = "–"


def headline(gate: Gate) -> str:
    """Return the gate's outcome in a line."""
    outcome = "passed" if gate.passed else "failed"
    what = f"gate {outcome}: `{gate.after.cc}` in suite `{gate.after.suite.name}`"
    if gate.before is None:
        return what
    same = gate.before.cc in (gate.after.cc, shown_cc(gate.after.cc))
    against = "its baseline" if same else f"`{gate.before.cc}`"
    return f"{what} against {against}"


def outline(gate: Gate) -> list[str]:
    """Return what was looked at and found, in lines."""
    lines = []
    runs = sum(len(cell.seeds) for cell in gate.after.cells)
    lines.append(
        f"{len(gate.after.cells)} cells, {runs} runs; engine {gate.after.engine} "
        f"{gate.after.engine_version}"
    )
    if gate.before is not None:
        counts = {change: len(gate.changed(change)) for change in Change}
        said = ", ".join(f"{count} {change}" for change, count in counts.items() if count)
        lines.append(f"{len(gate.comparisons)} comparisons: {said}")
        lines += provenance(gate)
    if gate.criteria:
        counts_met = {met: sum(c.met == met for c in gate.criteria) for met in Met}
        said = ", ".join(f"{count} {met}" for met, count in counts_met.items() if count)
        lines.append(f"{len(gate.criteria)} criteria: {said}")
    lines += [f"{entry.cell}: {entry}" for entry in gate.not_evaluated]
    lines += [f"skipped {name}: needs {needs}" for name, needs in gate.skipped]
    return lines


def provenance(gate: Gate) -> list[str]:
    """Say what differs from the baseline in how it was made, and what should not."""
    before, after = gate.before, gate.after
    assert before is not None  # noqa: S101 - callers have asked
    lines = []
    if (before.engine, before.engine_version) != (after.engine, after.engine_version):
        lines.append(f"the baseline is of engine {before.engine} {before.engine_version}")
    elif before.engine_build != after.engine_build:
        lines.append("the baseline is of another build of the engine")
    others = [
        cc for cc, build in after.builds.items()
        if cc != UNDER_TEST and before.builds.get(cc, build) != build
    ]  # fmt: skip
    if others:
        lines.append(f"of another build than in the baseline: {', '.join(others)}")
    paired = all(comparison.paired for comparison in gate.comparisons)
    if after.engine == SIMULATOR and gate.same_builds and paired:
        same = all(comparison.change == Change.IDENTICAL for comparison in gate.comparisons)
        lines.append(
            "same engine, builds and seeds as the baseline"
            + (", and the same results" if same else ": the results should be the same")
        )
    return lines


def changes(gate: Gate) -> list[Comparison]:
    """Return the comparisons that a person wants to see: what is worse first."""
    return [
        comparison
        for change in (Change.WORSE, Change.UNCLEAR, Change.BETTER)
        for comparison in gate.changed(change)
    ]


def unmet(gate: Gate) -> list[CriterionOutcome]:
    """Return the criteria that are not met: those missed first."""
    return [
        outcome
        for met in (Met.MISSED, Met.UNCLEAR, Met.MISSED_BEFORE)
        for outcome in gate.criteria
        if outcome.met == met
    ]


def whose(subject: str) -> str:
    """Say whose a value is: `` (tested)``, `` (cubic)``; nothing for the whole run's."""
    return "" if subject == RUN else f" ({subject.replace(UNDER_TEST, 'tested')})"


def change_row(comparison: Comparison) -> tuple[str, ...]:
    """Return a comparison as a row of `CHANGE_COLUMNS`."""
    metric = comparison.metric
    before, after = (
        NONE if mean is None else write_value(mean, metric) for mean in comparison.means
    )
    missing = comparison.missing
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


def say_difference(comparison: Comparison) -> str:
    """Return the difference of the means with its interval."""
    interval, metric = comparison.difference, comparison.metric
    if not comparison.before or not comparison.after:
        return NONE
    said = write_difference(interval.mean, metric)
    if not interval.bounded:
        return said
    low, high = interval.low * metric.scale, interval.high * metric.scale
    return f"{said} ({low:+.3g} to {high:+.3g})"


def say_change(comparison: Comparison) -> str:
    """Return a comparison as a sentence."""
    _, metric, before, after, difference, tolerance, change = change_row(comparison)
    return f"{metric} is {change}: {before} → {after}, {difference}; tolerated {tolerance}"


def criterion_row(outcome: CriterionOutcome) -> tuple[str, ...]:
    """Return a criterion as a row of `CRITERION_COLUMNS`."""
    mean = outcome.mean
    said = NONE if mean is None else write_value(mean, outcome.criterion.measure.metric)
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

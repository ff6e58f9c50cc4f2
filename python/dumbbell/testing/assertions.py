"""Assertions for tests of a congestion control algorithm; a failure shows the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dumbbell.base.errors import GateError
from dumbbell.gate import (
    LEVEL,
    Change,
    Criterion,
    Gate,
    Met,
    Subject,
    SuiteResult,
    evaluate,
    find_suite,
    is_baseline,
    load_baseline,
    run_suite,
    save_baseline,
)
from dumbbell.gate.metric_value import write_value
from dumbbell.gate.text import headline, outline, say_change, say_criterion
from dumbbell.metrics import Metric
from dumbbell.metrics.warmup import Warmup
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR
from dumbbell.run.verdict import INVALID
from dumbbell.scenario.describe_path import describe_path

__all__ = ["assert_criteria", "assert_fair", "assert_no_regression", "assert_suite"]


def assert_fair(run: Run, jain: float = 0.9, *, warmup: str | None = None) -> None:
    """Assert that a run's flows share fairly.

    Parameters
    ----------
    run
        The run.
    jain
        Jain's index at least.
    warmup
        What metrics leave out of the run's start: ``20s`` or ``auto``.

    Raises
    ------
    AssertionError
        They do not, or the run is INVALID; the message has each flow's goodput.
    """
    __tracebackhide__ = True
    assert_criteria(run, f"jain >= {jain}", warmup=warmup)


def assert_criteria(
    run: Run,
    *criteria: str,
    tested: int | None = None,
    warmup: str | None = None,
) -> None:
    """Assert bounds on a run's metrics.

    Parameters
    ----------
    run
        The run.
    criteria
        ``utilization >= 90%``, ``queue_delay_p95_us <= 20ms``, ``retransmission_rate <= 1%``. A
        metric of groups must hold in every group, or in group `tested`; ``others.share >= 30%``
        in every group but that.
    tested
        Index of the group under test.
    warmup
        What metrics leave out of the run's start: ``20s`` or ``auto``.

    Raises
    ------
    AssertionError
        A bound is missed, a metric has no value, or the run is INVALID.
    GateError
        A criterion cannot be read.
    """
    __tracebackhide__ = True
    read = [of_whole_run(Criterion.parse(text)) for text in criteria]
    cut = None if warmup is None else Warmup.parse(warmup)
    missed = []
    if run.verdict.status == INVALID:
        missed.append(f"the run is INVALID: {run.verdict.reasons[0]}")
    for criterion in read:
        missed += misses(run, criterion, 0 if tested is None else tested, tested, cut)
    if missed:
        raise AssertionError("\n".join([*missed, *describe(run)]))


def of_whole_run(criterion: Criterion) -> Criterion:
    """Refuse a criterion that one whole run cannot be held against."""
    if not criterion.measure.is_plain or criterion.of_reference is not None:
        raise GateError(
            f"`{criterion}`: phases, a group's index and references are for suites; write a suite "
            "and use `assert_suite`"
        )
    return criterion


def misses(
    run: Run, criterion: Criterion, first: int, tested: int | None, warmup: Warmup | None
) -> list[str]:
    """Return how a run misses a criterion, a line per group."""
    metric = criterion.measure.metric
    value = metric.of(run, warmup)
    if not isinstance(value, list):
        return miss(criterion, metric, value, "")
    lines = []
    for index, of_group in enumerate(value):
        is_other = index != first
        asked = is_other if criterion.measure.of_others else tested is None or not is_other
        if asked:
            lines += miss(
                criterion,
                metric,
                of_group,
                f" in group {index} ({run.scenario.group_labels[index]})",
            )
    return lines


def miss(criterion: Criterion, metric: Metric, value: float | None, where: str) -> list[str]:
    """Return how a value misses a criterion; nothing if it meets it."""
    if value is None:
        return [f"{criterion}: the run has no {metric.name}{where}"]
    if criterion.shortfall(value) <= 0:
        return []
    return [f"{criterion}: {metric.name} is {write_value(value, metric)}{where}"]


def describe(run: Run) -> list[str]:
    """Return the scenario and the goodput of each group, in lines."""
    scenario, link = run.scenario, run.summary["bottleneck"]
    lines = [
        f"  {describe_path(scenario)}, {scenario.time}, "
        f"seed {scenario.seed}, {run.engine}: {100 * link['utilization']:.1f} % used, "
        f"queueing delay {link['queue_delay_mean_us'] / 1e3:.1f} ms, Jain's index {run.jain:.3f}"
    ]
    for index, group in enumerate(run.groups):
        flows = [f for f in run.summary["flows"] if f["group"] == group["group"]]
        rates = ", ".join(f"{flow['goodput_bps'] / 1e6:.2f}" for flow in flows[:8])
        more = f", … ({len(flows)} flows)" if len(flows) > 8 else ""
        lines.append(f"  group {index} ({run.scenario.group_labels[index]}): {rates}{more} Mbit/s")
    return lines


def assert_suite(
    suite: str | Path,
    cc: str = "",
    *,
    qdisc: str = "",
    cases: Sequence[str] = (),
    level: float = LEVEL,
    **settings: Any,
) -> Gate:
    """Assert that a congestion control algorithm or a queue discipline meets a suite's criteria.

    Parameters
    ----------
    suite
        A suite's file, or the name of one that comes with dumbbell.
    cc, qdisc
        The congestion control algorithm and the queue discipline under test.
    cases
        Only these.
    level
        Chance of a false alarm.
    settings
        Of `dumbbell.gate.run_suite`: ``engine``, ``seed``, ``jobs``.

    Returns
    -------
    Gate
        What was found.

    Raises
    ------
    AssertionError
        A criterion is missed.
    """
    __tracebackhide__ = True
    chosen = find_suite(suite)
    chosen = chosen.of_cases(cases) if cases else chosen
    gate = evaluate(run_suite(chosen, Subject(str(cc), qdisc), **settings), level=level)
    check_passed(gate)
    return gate


def assert_no_regression(
    suite: str | Path,
    cc: str,
    baseline: str | Path,
    *,
    record: bool = False,
    tolerances: Sequence[str] = (),
    level: float = LEVEL,
    engine: str = SIMULATOR,
    jobs: int | None = None,
) -> Gate:
    """Assert that a congestion control algorithm is not worse than a stored baseline.

    Parameters
    ----------
    suite
        A suite's file, or the name of one that comes with dumbbell.
    cc
        The congestion control algorithm under test.
    baseline
        The baseline's directory.
    record
        Store the results as the baseline instead of comparing with it; the fixture
        `dumbbell_gate` does so with ``--dumbbell-record``.
    tolerances
        Instead of the suite's: ``10%``, ``queue_delay_mean_us=10% + 1ms``.
    level
        Chance of a false alarm.
    engine, jobs
        What runs it, and how many runs at a time.

    Returns
    -------
    Gate
        What was found.

    Raises
    ------
    AssertionError
        A metric is worse, a criterion is missed that was met, or no baseline of the suite exists.
    """
    __tracebackhide__ = True
    chosen = find_suite(suite)
    place = Path(baseline)
    if record:
        after = run_suite(chosen, str(cc), engine=engine, jobs=jobs)
        save_baseline(after, place)
        return evaluate(after, level=level)
    if not is_baseline(place):
        raise AssertionError(f"{place}: holds no baseline; record it with `--dumbbell-record`")
    before = load_baseline(place)
    check_same_suite(before, chosen.document, place)
    after = run_suite(chosen, str(cc), engine=engine, jobs=jobs, seed=min(before.seeds))
    gate = evaluate(after, before, tolerances=tolerances, level=level)
    check_passed(gate)
    return gate


def check_same_suite(before: SuiteResult, document: Any, place: Path) -> None:
    """Refuse a baseline of a suite that was changed since."""
    __tracebackhide__ = True
    if before.suite.document != document:
        raise AssertionError(
            f"{place}: the suite has changed since it was recorded; "
            "record it again with `--dumbbell-record`"
        )


def check_passed(gate: Gate) -> None:
    """Fail with what the gate found."""
    __tracebackhide__ = True
    if gate.passed:
        return
    found = [f"{c.cell}: {say_change(c)}" for c in gate.changed(Change.WORSE)]
    found += [f"{c.cell}: {say_criterion(c)}" for c in gate.criteria if c.met == Met.MISSED]
    raise AssertionError("\n".join([headline(gate), *found, *(f"  {x}" for x in outline(gate))]))

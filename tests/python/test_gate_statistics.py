"""What counts as worse: more than the tolerance, and no chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy  # its packages are imported where they are used

from dumbbell.base.errors import GateError
from dumbbell.gate import Criterion, Tolerance
from dumbbell.gate.metric_value import write_difference, write_value
from dumbbell.gate.non_inferiority import Shift, beyond_bound, beyond_tolerance, p_more_missing
from dumbbell.gate.subject import Measure
from dumbbell.metrics import METRICS
from dumbbell.statistics import holm

NONE = Tolerance()
FIVE_PERCENT = Tolerance(relative=0.05)


def p_worse(*values: Any, paired: bool) -> float:
    shift = beyond_tolerance(*values, paired=paired)
    return 1.0 if shift is None else shift.p


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_without_a_tolerance_it_is_students_test_of_pairs(rng: np.random.Generator) -> None:
    before, after = rng.normal(10, 1, 12), rng.normal(10.5, 1, 12)
    expected = scipy.stats.ttest_rel(after, before, alternative="greater").pvalue
    assert p_worse(before, after, "higher", NONE, paired=True) == pytest.approx(expected, rel=1e-10)
    assert p_worse(before, after, "lower", NONE, paired=True) == pytest.approx(1 - expected)


def test_other_seeds_make_it_welchs(rng: np.random.Generator) -> None:
    before, after = rng.normal(10, 1, 12), rng.normal(10.5, 3, 8)
    expected = scipy.stats.ttest_ind(after, before, equal_var=False, alternative="greater").pvalue
    p = p_worse(before, after, "higher", NONE, paired=False)
    assert p == pytest.approx(expected, rel=1e-10)


def test_a_tolerance_is_of_the_baselines_value() -> None:
    before, after = [100.0] * 5, [104.0] * 5
    assert p_worse(before, after, "higher", FIVE_PERCENT, paired=True) == 1
    assert p_worse(before, [106.0] * 5, "higher", FIVE_PERCENT, paired=True) == 0
    assert p_worse(before, [94.0] * 5, "lower", FIVE_PERCENT, paired=True) == 0
    fixed = Tolerance(0.05, 2.0)
    assert p_worse(before, [106.0] * 5, "higher", fixed, paired=True) == 1
    assert p_worse(before, [107.5] * 5, "higher", fixed, paired=False) == 0


def test_rounding_is_not_evidence() -> None:
    before = [0.1 + 0.2, 0.3, 0.3]
    assert p_worse(before, [0.3, 0.1 + 0.2, 0.3], "higher", NONE, paired=True) > 0.1
    assert p_worse([0.0] * 4, [0.0] * 4, "higher", NONE, paired=False) == 1


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_at_the_tolerances_edge_false_alarms_stay_at_the_level(
    rng: np.random.Generator, paired: bool, shape: str
) -> None:
    """Exactly 5 % worse is not more than 5 % worse; 60 such metrics, 300 gates."""
    alarms = 0
    for _ in range(300):
        p_values = []
        for _ in range(60):
            noise = (
                rng.normal(0, 1, (2, 10)) if shape == "normal" else rng.exponential(1, (2, 10)) - 1
            )
            before, after = 100 + noise[0], 105 + noise[1]
            p_values.append(p_worse(before, after, "higher", FIVE_PERCENT, paired=paired))
        alarms += min(holm(p_values)) <= 0.05
    # Binomial(300, 0.05) exceeds 27 once in a thousand times.
    assert alarms <= 27


def test_a_change_beyond_the_tolerance_is_found(rng: np.random.Generator) -> None:
    """10 % worse with 1 % of spread, among 60 metrics: found in at least 19 of 20 gates."""
    found = 0
    for _ in range(20):
        p_values = [
            p_worse(rng.normal(100, 1, 10), rng.normal(110 if at == 0 else 100, 1, 10),
                    "higher", FIVE_PERCENT, paired=True)
            for at in range(60)
        ]  # fmt: skip
        found += holm(p_values)[0] <= 0.01
    assert found >= 19


def test_values_that_go_missing_are_worse() -> None:
    assert p_more_missing(0, 0, (10, 10)) == 1
    assert p_more_missing(5, 5, (10, 10)) == 1
    assert p_more_missing(0, 1, (10, 10)) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("before", "after", "repetitions"),
    [(0, 10, (10, 10)), (0, 1, (10, 10)), (3, 7, (10, 10)), (1, 5, (12, 5)), (20, 90, (300, 200))],
)
def test_missing_values_are_compared_by_fishers_test(
    before: int, after: int, repetitions: tuple[int, int]
) -> None:
    table = [[after, before], [repetitions[1] - after, repetitions[0] - before]]
    expected = scipy.stats.fisher_exact(table, alternative="greater").pvalue
    assert p_more_missing(before, after, repetitions) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("shift", [Shift(0.7, 0.5, 9, 10), Shift(1.0, 0.9, 3.7, 5)])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_repetitions_to_settle_follow_the_quantile_of_the_level(shift: Shift, level: float) -> None:
    reps = shift.reps_to_settle(level)
    assert reps is not None

    def settles(reps: int) -> bool:
        freedom = shift.freedom * (reps - 1) / (shift.reps - 1)
        needed = scipy.stats.t.ppf(1 - level, freedom) + scipy.stats.norm.ppf(0.8)
        return bool(shift.mean * (reps / shift.reps / shift.squared_error) ** 0.5 >= needed)

    assert settles(reps)
    assert not settles(reps - 1)


def test_a_bound_is_missed_by_more_than_chance() -> None:
    assert beyond_bound([0.1, 0.1, 0.1]).p == 0
    assert beyond_bound([-0.1, -0.1]).p == 1
    assert 0.05 < beyond_bound([-0.1, 0.2, 0.1]).p < 0.5


@pytest.mark.parametrize("paired", [True, False])
def test_as_many_repetitions_as_said_settle_four_of_five(
    rng: np.random.Generator, paired: bool
) -> None:
    """7 % worse with 5 % tolerated: the mean and spread of 10 repetitions are as they are."""
    exact = np.array([-1.5, -1.2, -0.8, -0.4, -0.1, 0.1, 0.4, 0.8, 1.2, 1.5])
    before = np.full(10, 100.0) if paired else 100 + 2 * exact
    shift = beyond_tolerance(before, 107 + 2 * exact, "higher", FIVE_PERCENT, paired=paired)
    assert shift is not None
    assert shift.p > 0.001
    reps = shift.reps_to_settle(0.001)
    assert reps is not None
    assert reps > 10
    spread = 2 * exact.std(ddof=1)
    settled = 0
    for _ in range(500):
        before = np.full(reps, 100.0) if paired else rng.normal(100, spread, reps)
        after = rng.normal(107, spread, reps)
        settled += p_worse(before, after, "higher", FIVE_PERCENT, paired=paired) <= 0.001
    # Binomial(500, 0.8) is outside of this once in a thousand times.
    assert 365 <= settled <= 430


def test_what_is_within_its_tolerance_needs_no_more_repetitions() -> None:
    shift = beyond_tolerance([100, 101, 99], [102, 103, 104], "higher", FIVE_PERCENT, paired=True)
    assert shift is not None
    assert shift.reps_to_settle(0.01) is None
    hopeless = beyond_tolerance([100, 140, 60], [105, 146, 64.1], "higher", NONE, paired=False)
    assert hopeless is not None
    assert hopeless.reps_to_settle(0.01) is None


@pytest.mark.parametrize(
    ("text", "metric", "relative", "absolute"),
    [
        ("5%", "goodput_bps", 0.05, 0),
        ("5% + 1ms", "queue_delay_mean_us", 0.05, 1000),
        ("2mbit", "goodput_bps", 0, 2e6),
        ("10 % + 0.001", "retransmission_rate", 0.1, 0.001),
    ],
)
def test_tolerances_are_read(text: str, metric: str, relative: float, absolute: float) -> None:
    tolerance = Tolerance.parse(text, METRICS[metric])
    assert tolerance.relative == pytest.approx(relative)
    assert tolerance.absolute == pytest.approx(absolute)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("jain >= 0.95", 0.95),
        ("utilization>=90%", 0.9),
        ("queue_delay_p95_us <= 20ms", 20_000),
        ("others.goodput_bps >= 5mbit", 5e6),
        ("convergence_time_s <= 5s", 5),
    ],
)
def test_criteria_are_read(text: str, bound: float) -> None:
    assert Criterion.parse(text).bound == pytest.approx(bound)


@pytest.mark.parametrize(
    "text", ["jain", "jain = 0.9", "jain >= x", "others.jain >= 0.5", "fairness >= 1", "rtt >= 1ms"]
)
def test_an_invalid_criterion_is_refused(text: str) -> None:
    with pytest.raises(GateError):
        Criterion.parse(text)


def test_values_and_differences_have_no_exponent():
    metric = Measure("run_time_us").metric
    assert write_difference(1.751e6, metric) == "+1751 ms"
    assert write_value(12_345_678, metric) == "12346 ms"
    assert write_difference(-1234, metric) == "-1.23 ms"


def test_a_tolerance_without_a_unit_is_answered_with_a_share_of_the_baseline():
    with pytest.raises(GateError, match=r"`10` has no unit; use `10%` of the baseline, or an"):
        Tolerance.parse("10", METRICS["goodput_bps"])
    assert Tolerance.parse("0.1", METRICS["jain"]).absolute == pytest.approx(0.1)

"""Intervals cover the true mean as often as they say: by simulation, with a fixed seed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy  # its packages are imported where they are used

from dumbbell.statistics import mean_interval, paired_difference

pytestmark = pytest.mark.slow

DRAWS = 1000
#: Where the share of 1000 intervals lies with a probability of 99.9 % if it is 95 %.
LOW, HIGH = 0.926, 0.971


def coverage(interval_of: Callable[[Any], Any], draw: Callable[[Any], Any], mean: float) -> float:
    """The share of intervals that hold the mean, over fresh values."""
    generator = np.random.default_rng(2026)
    hits = 0
    for _ in range(DRAWS):
        interval = interval_of(draw(generator))
        hits += interval.low <= mean <= interval.high
    return hits / DRAWS


def test_the_bound_is_what_it_says():
    ends = scipy.stats.binom.ppf([0.0005, 0.9995], DRAWS, 0.95) / DRAWS
    assert list(ends) == [LOW, HIGH]


@pytest.mark.parametrize("n", [3, 5, 10, 20])
def test_nominal_for_normal_values(n):
    method = "Student t" if n < 10 else "bootstrap-t"
    assert mean_interval(np.arange(n) ** 2.0).method == method
    assert LOW <= coverage(mean_interval, lambda g: g.normal(50, 5, n), 50) <= HIGH


@pytest.mark.parametrize("n", [20, 30])
def test_nominal_for_skewed_values_from_twenty_on(n):
    """Exponential: skewness 2."""
    assert LOW <= coverage(mean_interval, lambda g: g.exponential(size=n), 1) <= HIGH


@pytest.mark.parametrize(("n", "at_least"), [(5, 0.85), (10, 0.91)])
def test_below_that_skewed_values_are_covered_less_as_the_document_says(n, at_least):
    found = coverage(mean_interval, lambda g: g.exponential(size=n), 1)
    assert at_least <= found <= HIGH


def test_nominal_for_differences_of_pairs():
    def interval(pairs):
        return paired_difference(*pairs).interval

    def draw(generator):
        seeds = generator.exponential(20, size=10)
        return seeds, seeds + generator.normal(1, 2, size=10)

    def draw_with_outliers(generator):
        seeds = generator.exponential(20, size=10)
        return seeds, seeds + 1 + generator.standard_t(3, size=10)

    assert LOW <= coverage(interval, draw, 1) <= HIGH
    assert coverage(interval, draw_with_outliers, 1) >= LOW


def test_p_is_below_five_hundredths_in_five_of_a_hundred_when_nothing_differs():
    generator = np.random.default_rng(7)
    alarms = sum(
        (paired_difference(generator.normal(size=10), generator.normal(size=10)).p or 0) < 0.05
        for _ in range(DRAWS)
    )
    assert 1 - HIGH <= alarms / DRAWS <= 1 - LOW


def test_bca_would_cover_too_little():
    """Why intervals are studentized: scipy's BCa of ten normal values falls short of 95 %."""

    def bca(values):
        return scipy.stats.bootstrap(
            (values,), np.mean, n_resamples=999, method="BCa",
            rng=np.random.default_rng(1),
        ).confidence_interval  # fmt: skip

    assert coverage(bca, lambda g: g.normal(50, 5, 10), 50) < LOW

"""Intervals, differences, effect sizes and adjusted p values, by examples from the literature."""

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.statistics import (
    cliffs_delta,
    effect_size,
    hedges_g,
    holm,
    jain,
    mcnemar,
    mean,
    mean_and_interval,
    mean_interval,
    newcombe,
    paired_difference,
    paired_newcombe,
    unpaired_difference,
    wilson,
)
from dumbbell.statistics.factorial import MOST_FACTORS, design

#: Student 1908, table of Cushny and Peebles: hours of sleep gained by two drugs, ten patients.
DRUG_1 = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
DRUG_2 = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_students_own_example():
    difference = paired_difference(DRUG_1, DRUG_2)
    assert difference.interval.mean == pytest.approx(1.58)
    assert difference.p == pytest.approx(0.002833, abs=1e-6)  # R's t.test(sleep), paired
    # d_z is t / sqrt(n) = 4.0621 / sqrt(10), times J = 1 - 3 / (4·9 - 1).
    assert difference.effect == pytest.approx(4.0621 / math.sqrt(10) * (1 - 3 / 35), rel=1e-4)


def test_the_same_example_without_pairs():
    difference = unpaired_difference(DRUG_1, DRUG_2)
    interval = difference.interval
    assert (interval.low, interval.high) == pytest.approx((-0.2054832, 3.3654832), abs=1e-6)
    assert difference.p == pytest.approx(0.07939, abs=1e-5)
    assert interval.method == "Welch t"


def test_a_few_values_have_students_interval():
    # t of 4 degrees of freedom at 97.5 %: 2.776445.
    interval = mean_interval([1, 2, 3, 4, 5])
    half = 2.776445 * math.sqrt(2.5 / 5)
    assert (interval.low, interval.high) == pytest.approx((3 - half, 3 + half), abs=1e-5)
    assert (interval.n, interval.method) == (5, "Student t")


def test_an_interval_of_many_follows_the_skew():
    x = np.random.default_rng(3).exponential(size=30)
    interval = mean_interval(x)
    assert interval.method == "bootstrap-t"
    assert interval.high - interval.mean > 1.2 * (interval.mean - interval.low)
    mirrored = mean_interval(-x)
    assert mirrored.mean - mirrored.low > 1.2 * (mirrored.high - mirrored.mean)


def test_the_same_values_have_the_same_interval():
    x = np.random.default_rng(1).normal(size=12)
    assert mean_interval(x) == mean_interval(list(x))


def test_an_interval_of_thousands_needs_little_memory():
    values = np.random.default_rng(1).exponential(size=2000)
    tracemalloc.start()
    interval = mean_interval(values)
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_bytes < 10_000_000
    assert (interval.low, interval.high) == (0.9485919678109946, 1.0349283409274568)


def test_in_another_unit_the_interval_is_the_same():
    x = np.random.default_rng(1).normal(10, 1, size=12)
    shifted = mean_interval(1e6 * x + 5)
    expected = mean_interval(x).scaled(1e6)
    assert shifted.low - 5 == pytest.approx(expected.low)
    assert shifted.high - 5 == pytest.approx(expected.high)


@pytest.mark.parametrize("count", [2, 5, 20])
def test_equal_values_have_no_width(count):
    interval = mean_interval([4.5] * count)
    assert (interval.low, interval.high, interval.method) == (4.5, 4.5, "all equal")


def test_nearly_equal_values_have_a_finite_interval():
    # One of twelve differs: many resamples have no spread.
    interval = mean_interval([0.0] * 11 + [1.0])
    assert interval.bounded
    assert interval.low < 1 / 12 < interval.high
    three = mean_interval([0.0] * 10 + [1.0, 2.0])
    assert three.bounded


def test_one_value_says_nothing_of_the_next():
    interval = mean_interval([7.0])
    assert interval.mean == 7
    assert not interval.bounded
    assert not interval.excludes(1e9)
    assert interval.to_dict() == {
        "mean": 7.0, "low": None, "high": None, "level": 0.95, "n": 1, "method": "too few",
    }  # fmt: skip


def test_what_is_not_known_is_left_out():
    assert mean_interval([1.0, None, 3.0, math.nan]) == mean_interval([1.0, 3.0])
    assert mean_interval([None]).n == 0
    assert paired_difference([1, None, 3], [2, 5, 4]).interval.n == 2


def test_pairs_are_of_one_length():
    with pytest.raises(ValueError, match="argument"):
        paired_difference([1, 2], [1])


def test_pairs_that_differ_by_the_same_amount_differ_for_sure():
    same = paired_difference([1, 2, 3], [1, 2, 3])
    assert (same.p, same.effect) == (1, 0)
    more = paired_difference([1, 2, 3], [2, 3, 4])
    assert (more.p, more.effect) == (0, None)  # no spread to measure it by
    assert more.interval.excludes(0)


def test_the_last_digits_of_floats_are_no_difference():
    ones = [1.0, 1.0, 1.0]
    rounded = paired_difference(ones, [1 - 2e-16] * 3)
    assert (rounded.p, rounded.effect, rounded.interval.mean) == (1, 0, 0)


def test_interval_and_p_of_a_difference_agree():
    generator = np.random.default_rng(8)
    for _ in range(200):
        a, b = generator.exponential(size=12), 0.4 + generator.exponential(size=12)
        difference = paired_difference(a, b)
        assert difference.p is not None
        assert difference.interval.excludes(0) == (difference.p < 0.05)


def test_pairing_sees_what_the_spread_of_the_seeds_hides():
    seeds = np.random.default_rng(5).normal(20, 4, size=12)
    changed = seeds + np.random.default_rng(6).normal(0.5, 0.2, size=12)
    paired, unpaired = (f(seeds, changed).p for f in (paired_difference, unpaired_difference))
    assert paired is not None
    assert paired < 0.001
    assert unpaired is not None
    assert unpaired > 0.3


def test_effect_sizes():
    # Pooled deviation 1, means 2 apart, J = 1 - 3 / (4·4 - 1).
    assert hedges_g([1, 2, 3], [3, 4, 5]) == pytest.approx(2 * 0.8)
    assert effect_size([1, 2, 3], [3, 4, 5], paired=False) == pytest.approx(1.6)
    assert effect_size([1], [2]) is None
    assert cliffs_delta([1, 2, 3], [4, 5]) == 1
    assert cliffs_delta([1, 2], [1, 2]) == 0
    assert cliffs_delta([2, 3], [1, 2]) == pytest.approx(-0.75)


def test_holm_as_r_adjusts():
    # What its p.adjust says of these four.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1, 1]
    assert holm([]) == []


def test_repetitions_as_text():
    assert mean_and_interval([2.0]) == "2.00"
    assert mean_and_interval([1.0, 3.0]) == "2.00 (1.00–3.00)"
    assert mean_and_interval([1.0, 2.0, 3.0]) == "2.00 ± 2.48"
    assert mean_and_interval([2.0, 2.0, 2.0]) == "2.00 ± 0.00"
    assert mean_and_interval([2.0, 2.001, 2.0]) == "2.00 ± <0.01"
    skewed = list(np.random.default_rng(3).exponential(size=30))
    assert mean_and_interval(skewed).startswith(f"{np.mean(skewed):.2f} [")


def test_a_share_s_interval_is_wilson_s():
    # Newcombe 1998, two-sided confidence intervals for the single proportion, table I, method 3.
    for held, of, low, high in (
        (81, 263, 0.2553, 0.3662),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        interval = wilson(held, of)
        assert [interval.low, interval.high] == pytest.approx([low, high], abs=5e-5)


def test_pairs_that_change_are_tested_by_mcnemar():
    """Eight seeds gained and none lost: 2/2^8; what does not change says nothing."""
    before, after = [False] * 8 + [True] * 2, [True] * 10
    assert mcnemar(before, after) == mcnemar(after, before) == pytest.approx(2 / 256)
    assert mcnemar(before, before) == 1.0
    assert mcnemar([True, False], [False, True]) == 1.0


def test_a_difference_of_shares_has_newcombe_s_interval():
    # Newcombe 1998, interval estimation for the difference, table II, method 10.
    for a, m, b, n, low, high in (
        (56, 70, 48, 80, 0.0524, 0.3339), (9, 10, 3, 10, 0.1705, 0.8090),
        (10, 10, 0, 10, 0.6075, 1.0),
    ):  # fmt: skip
        first, second = ([index < held for index in range(of)] for held, of in ((b, n), (a, m)))
        interval = newcombe(first, second)
        assert interval.mean == pytest.approx(a / m - b / n)
        assert [interval.low, interval.high] == pytest.approx([low, high], abs=5e-5)
    assert wilson(0, 0).method == "too few"


def test_a_difference_of_shares_over_pairs_has_newcombe_s_interval():
    """Of pairs, how many have both, the first alone, the second alone, and neither."""
    for both, first, second, neither, low, high in (
        # Newcombe 1998, based on paired data, table II, method 10.
        (20, 12, 2, 16, -0.3292, -0.0562),
        # Fagerland, Lydersen, Laake 2014, recommended tests for paired proportions, Bentur's data.
        (1, 1, 7, 12, 0.026, 0.507),
    ):
        a = [True] * (both + first) + [False] * (second + neither)
        b = [True] * both + [False] * first + [True] * second + [False] * neither
        interval = paired_newcombe(a, b)
        assert interval.mean == pytest.approx((second - first) / len(a))
        assert [interval.low, interval.high] == pytest.approx([low, high], abs=5e-4)
    # Without any variance on a side pairs have nothing in common.
    a, b = [False] * 10, [True] * 9 + [False]
    apart, paired = newcombe(a, b), paired_newcombe(a, b)
    assert (paired.low, paired.high) == (apart.low, apart.high)


@pytest.mark.parametrize("factors", range(1, MOST_FACTORS + 1))
def test_a_design_mixes_up_no_main_effect_with_less_than_three_others(factors):
    runs = np.array([[1 if high else -1 for high in run] for run in design(factors)])
    assert len(runs) == len({tuple(run) for run in runs}) <= 16
    for order in (1, 2, 3):
        for columns in combinations(range(factors), order):
            # No product of up to three columns is constant: each word has four letters or more.
            assert runs[:, columns].prod(axis=1).sum() == 0


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=12))
def test_few_numbers_add_up_as_numpy_adds_them(values):
    """Run records were written with its last digit."""
    x = np.array(values)
    assert mean(values) == float(np.mean(x))
    squares = float(np.sum(x * x))
    assert jain(values) == (1 if squares == 0 else float(np.sum(x)) ** 2 / (len(x) * squares))

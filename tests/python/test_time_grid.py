"""Time series that are thinned for a page."""

import numpy as np
import pytest

from dumbbell.plots.time_grid import TimeGrid
from dumbbell.report.chart import rounded


def test_no_peak_is_lost_and_their_order_is_kept():
    time_s = 0.01 * np.arange(1, 12_001, dtype=np.float64)
    values = np.sin(time_s)
    values[7_777], values[7_778] = 50, -50
    grid = TimeGrid(duration_s=120, sample_s=0.01, max_points=600)
    drawn = grid.extremes(time_s, values)
    assert drawn.size == grid.time_s.size == 600
    assert (drawn.max(), drawn.min()) == (50, -50)
    assert int(np.argmax(drawn)) < int(np.argmin(drawn))
    assert abs(grid.time_s[int(np.argmax(drawn))] - time_s[7_777]) < grid.bin_s


def test_few_samples_are_drawn_as_they_are():
    time_s = 0.1 * np.arange(1, 51, dtype=np.float64)
    values = np.arange(50.0)
    grid = TimeGrid(duration_s=5, sample_s=0.1, max_points=600)
    assert grid.time_s == pytest.approx(time_s)
    assert (grid.extremes(time_s, values) == values).all()
    assert (grid.means(time_s, values) == values).all()


def test_a_flow_that_starts_late_has_nothing_before():
    time_s = 10 + 0.01 * np.arange(1, 1001, dtype=np.float64)
    grid = TimeGrid(duration_s=20, sample_s=0.01, max_points=100)
    drawn = grid.extremes(time_s, np.ones(1000))
    assert np.isnan(drawn[:50]).all()
    assert (drawn[50:] == 1).all()


def test_the_mean_of_the_means_is_the_mean():
    rng = np.random.default_rng(1)
    values = rng.exponential(size=12_000)
    grid = TimeGrid(duration_s=120, sample_s=0.01, max_points=200)
    means = grid.means(0.01 * np.arange(1, 12_001, dtype=np.float64), values)
    assert means.size == grid.middles_s.size == 100
    assert means.mean() == pytest.approx(values.mean())


def test_what_is_missing_is_none_and_digits_are_few():
    assert rounded(np.array([np.nan, 1 / 3, 2.0, 123456.0])) == [None, 0.3333, 2, 123460]


def test_values_that_differ_little_keep_their_difference():
    assert rounded(np.array([1000.12345, 1000.12399])) == [1000.12345, 1000.12399]


def test_the_last_bin_of_a_flow_that_stops_is_what_it_sent_or_nothing():
    grid = TimeGrid(duration_s=10, sample_s=0.01, max_points=20)  # bins of a second
    for samples, last in ((370, 1.0), (330, np.nan)):
        time_s = 0.01 * np.arange(1, samples + 6, dtype=np.float64)
        values = np.ones(time_s.size)
        values[samples:] = 0.0  # until it is known that all has arrived
        drawn = grid.means(time_s, values)
        assert drawn[:3] == pytest.approx(1)
        assert drawn[3] == pytest.approx(last, nan_ok=True)
        assert np.isnan(drawn[4:]).all()
    starved = np.repeat([1.0, 0.0], [350, 650])
    assert grid.means(0.01 * np.arange(1, 1001, dtype=np.float64), starved)[-1] == 0, (
        "it still sends at the end"
    )

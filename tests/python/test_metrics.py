import numpy as np
import pytest

from dumbbell.metrics import jain, share, spearman, utilization


def test_jain():
    assert jain([5, 5, 5, 5]) == pytest.approx(1)
    assert jain([1, 0, 0, 0]) == pytest.approx(1 / 4)
    assert jain([2, 1]) == pytest.approx(0.9)  # twice as much: the threshold of "fair"
    assert jain([0, 0]) == 1


def test_share():
    assert share(1, 4) == 0.25
    assert share(0, 0) == 0


def test_utilization():
    # 50 Mbit/s for 2 s is 12.5 MB.
    assert utilization(12_500_000, 50_000_000, 2_000_000_000) == pytest.approx(1)


def test_spearman():
    x = [0.5, 1, 2, 4, 8]
    assert spearman(x, [1, 2, 3, 4, 5]) == pytest.approx(1)
    assert spearman(x, [5, 4, 3, 2, 1]) == pytest.approx(-1)
    assert spearman(x, [1, 1, 1, 1, 1]) == 0
    # One pair swapped of five: 1 - 6·2/(5·24).
    assert spearman(x, [1, 2, 4, 3, 5]) == pytest.approx(0.9)
    # Ties share their mean rank: Pearson's correlation of (0, 1.5, 1.5, 3) and (0, 1, 2, 3).
    expected = np.corrcoef([0, 1.5, 1.5, 3], [0, 1, 2, 3])[0, 1]
    assert spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(expected)

from typing import Any

import numpy as np
import pytest

from dumbbell.run.groups import group_metrics, utilization
from dumbbell.statistics import jain, share, spearman


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


def flow(start_s: int, end_s: int, goodput_bps: int) -> Any:
    counts = dict.fromkeys(
        ("inflight_mean_pkts", "outstanding_mean_pkts", "sent_pkts", "retransmitted_pkts",
         "dropped_pkts", "lost_pkts", "rto_count", "rtt_min_us", "rtt_mean_us"), 0
    )  # fmt: skip
    return {
        **counts,
        "start_us": start_s * 10**6,
        "end_us": end_s * 10**6,
        "goodput_bps": goodput_bps,
        "throughput_bps": 1.05 * goodput_bps,
        "received_bytes": goodput_bps * (end_s - start_s) // 8,
    }


def test_group_rates_are_over_the_time_from_first_start_to_last_end():
    # One after the other at 40 Mbit/s: together 40, not 80.
    metrics = group_metrics([flow(0, 10, 40_000_000), flow(10, 20, 40_000_000)], 200_000_000)
    assert metrics["goodput_bps"] == pytest.approx(40e6)
    assert metrics["throughput_bps"] == pytest.approx(42e6)
    assert metrics["goodput_per_flow_bps"] == pytest.approx(40e6)
    assert metrics["share"] == pytest.approx(0.5)
    # All the time together: the sum, as ever.
    metrics = group_metrics([flow(0, 10, 10_000_000), flow(0, 10, 30_000_000)], 50_000_000)
    assert metrics["goodput_bps"] == pytest.approx(40e6)
    assert metrics["goodput_per_flow_bps"] == pytest.approx(20e6)
    assert metrics["share"] == pytest.approx(1)


def test_group_without_time_has_no_rate():
    assert group_metrics([flow(5, 5, 0)], 0)["goodput_bps"] == 0
    assert group_metrics([], 0)["goodput_bps"] == 0


def test_a_sum_with_an_unknown_value_is_unknown():
    flows = [flow(0, 10, 10_000_000), {**flow(0, 10, 10_000_000), "lost_pkts": None}]
    metrics = group_metrics(flows, 50_000_000)
    assert metrics["lost_pkts"] is None
    assert metrics["sent_pkts"] == 0

import pyarrow as pa
import pytest

from dumbbell import Run, Scenario
from dumbbell_studies.papers.inflight_counts import COLUMNS, compare_counts
from dumbbell_studies.papers.series import flow_series


def test_compares_the_counts_by_seconds_with_and_without_losses():
    # Four seconds, four samples each; a retransmission falls in the second of them.
    time_us = [250_000 * i for i in range(16)]
    inflight = [10] * 16
    outstanding = [10] * 4 + [20] * 4 + [11] * 8
    retransmitted = [0] * 5 + [1] * 11
    flows = pa.table(
        {
            "time_us": time_us,
            "flow": [0] * 16,
            "inflight_pkts": inflight,
            "outstanding_pkts": outstanding,
            "retransmitted_pkts": retransmitted,
        }
    )
    run = Run(Scenario(["copa"], time="4s"), {}, {"flows": flows})
    counts = compare_counts([flow_series(run, 0, *COLUMNS)] * 2)
    assert (counts.lossy_seconds, counts.quiet_seconds) == (2, 6)
    assert counts.excess_lossy == pytest.approx(1.0)
    assert counts.excess_quiet == pytest.approx(2 / 30)
    # Of the two seconds with losses tcptrace has 10 packets more each; they do not spread.
    assert counts.difference_pkts.mean == pytest.approx(10)
    assert counts.difference_pkts.low == pytest.approx(10)

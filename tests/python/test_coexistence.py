"""The rules of D1 to D3 on made-up measurements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dumbbell_studies.papers.coexistence import (
    BUFFERS_BDP,
    PAPER,
    QUICK_BUFFERS_BDP,
    Measured,
    Point,
    check_findings,
)
from dumbbell_studies.papers.finding import Outcome
from dumbbell_studies.papers.results import Results


def world(*, alone=9.4, sum_falls=True, rtos=0.3, buffers=BUFFERS_BDP) -> Results[Any, Any]:
    m: Results[Any, Any] = Results({})
    for buffer in buffers:
        rank = BUFFERS_BDP.index(buffer)
        bbr = 8 - 0.35 * rank
        total = 9.5 - (0.1 * rank if sum_falls else 0)
        m.measured[Point(with_cubic=False, buffer_bdp=buffer)] = [Measured(alone, 0, 0)]
        run = Measured(bbr, total - bbr, rtos * rank)
        m.measured[Point(with_cubic=True, buffer_bdp=buffer)] = [run]
    return m


def shown(m: Results[Any, Any]) -> dict[str, bool]:
    return {finding.id: finding.shown for finding in check_findings(m)}


def test_shown_when_it_is_as_the_experiment_says():
    assert shown(world()) == {"D1": True, "D2": True, "D3": True}


def test_a_bbr_that_is_slow_alone_is_not_d1():
    assert shown(world(alone=7.9)) == {"D1": False, "D2": True, "D3": True}


def test_a_bbr_that_differs_as_much_alone_is_not_d1():
    m = world()
    m.measured[Point(with_cubic=False, buffer_bdp=9.0)] = [Measured(16.4, 0, 0)]
    assert shown(m) == {"D1": False, "D2": True, "D3": True}


def test_a_sum_that_stays_is_not_d3():
    assert not shown(world(sum_falls=False))["D3"]


def test_a_sum_that_falls_without_timeouts_is_not_d3():
    finding = check_findings(world(rtos=0.0))[2]
    assert not finding.shown
    assert "expected the number of timeouts tends to grow with the buffer" in finding.evidence
    assert "saw 0.00" in finding.evidence


def test_a_sum_that_falls_while_timeouts_become_fewer_is_not_d3():
    """Then timeouts are not why it falls."""
    m = world()
    for rank, buffer in enumerate(BUFFERS_BDP):
        point = Point(with_cubic=True, buffer_bdp=buffer)
        m.measured[point] = [replace(m.measured[point][0], rtos=20 - rank)]
    assert not shown(m)["D3"]


def test_timeouts_that_were_not_counted_are_not_d3():
    finding = check_findings(world(rtos=float("nan")))[2]
    assert not finding.shown
    assert "from unknown" in finding.evidence


@pytest.mark.parametrize(
    ("buffer", "bbr", "cubic"), [(BUFFERS_BDP[0], 4.0, 5.0), (BUFFERS_BDP[-1], 6.0, 3.0)]
)
def test_a_bbr_that_starts_behind_or_stays_ahead_is_not_d2(buffer, bbr, cubic):
    m = world()
    m.measured[Point(with_cubic=True, buffer_bdp=buffer)] = [Measured(bbr, cubic, 1)]
    assert not shown(m)["D2"]


def test_a_bbr_that_does_not_fall_is_not_d2():
    m = world()
    for buffer in BUFFERS_BDP[1:-1]:
        m.measured[Point(with_cubic=True, buffer_bdp=buffer)] = [Measured(2 + 0.3 * buffer, 1, 1)]
    assert not shown(m)["D2"]


def test_the_repetitions_are_averaged_before_the_rule():
    m = world()
    point = Point(with_cubic=True, buffer_bdp=BUFFERS_BDP[0])
    m.measured[point] = [Measured(8, 1, 3), Measured(8, 1, 3), Measured(1, 8, 3)]
    d2 = check_findings(m)[1]
    assert (d2.outcome, d2.count) == (Outcome.SHOWN, "")


def test_a_thinned_grid_does_not_confirm():
    found = check_findings(world(buffers=QUICK_BUFFERS_BDP))
    assert {f.outcome for f in found} == {Outcome.NOT_DECIDED}


def test_ten_repetitions_of_36_points():
    runs = PAPER.scenarios(range(1, 11))
    assert len(runs) == len({name for name, _ in runs}) == 360
    assert len(PAPER.scenarios([1], quick=True)) == 16
    for _, scenario in runs:
        assert str(scenario.rate) == "10mbit"
        assert str(scenario.time) == "120s"
        assert {str(group.rwnd) for group in scenario.groups} == {"100MB"}

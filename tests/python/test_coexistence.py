"""The rules of D1 to D3 on made-up measurements."""

from __future__ import annotations

from dumbbell.papers.coexistence.findings import check_findings
from dumbbell.papers.coexistence.measurements import Measured, Measurements
from dumbbell.papers.coexistence.points import BUFFERS_BDP, Point, quick_scenarios, scenarios


def world(*, alone=9.4, sum_falls=True, rtos=3.0) -> Measurements:
    m = Measurements({})
    for rank, buffer in enumerate(BUFFERS_BDP):
        bbr = 8 - 0.35 * rank
        total = 9.5 - (0.1 * rank if sum_falls else 0)
        m.measured[Point(with_cubic=False, buffer_bdp=buffer)] = [Measured(alone, 0, 0, "OK")]
        m.measured[Point(with_cubic=True, buffer_bdp=buffer)] = [
            Measured(bbr, total - bbr, rtos, "OK")
        ]
    return m


def shown(m: Measurements) -> dict[str, bool]:
    return {finding.id: finding.shown for finding in check_findings(m)}


def test_shown_when_it_is_as_the_experiment_says():
    assert shown(world()) == {"D1": True, "D2": True, "D3": True}


def test_a_bbr_that_is_slow_alone_is_not_d1():
    assert shown(world(alone=8.9)) == {"D1": False, "D2": True, "D3": True}


def test_a_sum_that_stays_is_not_d3():
    assert not shown(world(sum_falls=False))["D3"]


def test_a_sum_that_falls_without_timeouts_is_not_d3():
    assert not shown(world(rtos=0.0))["D3"]


def test_timeouts_that_nobody_counted_are_not_d3():
    finding = check_findings(world(rtos=float("nan")))[2]
    assert not finding.shown
    assert "unknown RTOs" in finding.evidence


def test_a_bbr_that_stays_ahead_is_not_d2():
    m = world()
    largest = Point(with_cubic=True, buffer_bdp=BUFFERS_BDP[-1])
    m.measured[largest] = [Measured(6, 3, 1, "OK")]
    assert not shown(m)["D2"]


def test_ten_repetitions_of_36_points():
    runs = scenarios(range(1, 11))
    assert len(runs) == len({name for name, _ in runs}) == 360
    assert len(quick_scenarios([1])) == 16
    for _, scenario in runs:
        assert str(scenario.rate) == "10mbit"
        assert str(scenario.time) == "120s"
        assert {str(group.rwnd) for group in scenario.groups} == {"100MB"}

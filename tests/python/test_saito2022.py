"""The rules of B1 to B3 on made-up measurements, and where the runs lie."""

from __future__ import annotations

from dataclasses import replace

import dumbbell
from dumbbell.papers.saito2022.figures import causes_table
from dumbbell.papers.saito2022.findings import check_findings
from dumbbell.papers.saito2022.measurements import Measured, Measurements, measure, point_of
from dumbbell.papers.saito2022.points import (
    FLOWS,
    PAPER_SPREAD,
    SPREADS,
    VARIANTS,
    Point,
    quick_scenarios,
    scenarios,
)  # fmt: skip

FREE = Measured(953, 42, (41, 41, 41), (206, 206, 206), 0.02, 0.0, 0.0, 0.0, "OK")
LOCKED = Measured(955, 300, (200, 300, 400), (100, 150, 200), 0.9, 1.0, 1.0, 1.0, "OK")


def world(spreads=(PAPER_SPREAD,)) -> Measurements:
    m = Measurements({})
    for spread in spreads:
        for n in FLOWS:
            m.measured[Point(n, spread)] = [LOCKED if n >= 64 else FREE]
    return m


def changed(n: int, **values) -> dict[str, bool]:
    m = world()
    point = Point(n, PAPER_SPREAD)
    m.measured[point] = [replace(m.measured[point][0], **values)]
    return {finding.id: finding.shown for finding in check_findings(m)}


def test_shown_when_it_is_as_the_paper_says():
    assert {f.id: f.shown for f in check_findings(world())} == {"B1": True, "B2": True, "B3": True}


def test_an_idle_link_is_not_b1():
    assert changed(32, total_mbps=880) == {"B1": False, "B2": True, "B3": True}


def test_a_raised_rtt_of_few_flows_is_not_b2():
    assert not changed(16, rtt_mean_ms=90)["B2"]


def test_an_rtt_of_many_flows_that_is_not_raised_is_not_b2():
    assert not changed(64, rtt_mean_ms=71)["B2"]


def test_flows_that_get_free_again_are_not_b3():
    assert not changed(128, competitive_at_end=0.4)["B3"]


def test_an_rtt_that_does_not_grow_is_not_b3():
    assert not changed(64, rtt_ms=(300, 300, 290))["B3"]


def test_few_flows_in_competitive_mode_are_not_b3():
    assert not changed(16, competitive_share=0.8)["B3"]


def test_a_note_says_what_other_start_times_show():
    m = world(SPREADS)
    m.measured[Point(32, "1s")] = [replace(FREE, rtt_mean_ms=120)]
    b2 = check_findings(m)[1]
    assert b2.shown, "a note decides nothing"
    assert "starts within 1s: not 32 flows: mean RTT 120 ms < 80 ms" in b2.note
    assert "starts within 5s: all holds" in b2.note


def test_runs_lie_where_their_names_say():
    runs = scenarios([1, 2])
    assert len(runs) == len({name for name, _ in runs}) == 2 * (12 + 24)
    assert [s.groups[0].flows for _, s in quick_scenarios([1])] == list(FLOWS)
    for variant, cc in VARIANTS.items():
        assert str(Point(64, "1s", variant).scenario(1).groups[0].cc) == cc


def test_measures_a_run():
    point = Point(16, PAPER_SPREAD)
    scenario = point.scenario(1).replace(time="4s", rate="100mbit")
    run = dumbbell.run(scenario)
    assert point_of(run) == point
    measured = measure(run)
    assert 80 < measured.total_mbps < 96
    assert 40 < measured.rtt_mean_ms < 400
    assert 0 < measured.competitive_share <= 1, "ccp_copa starts in competitive mode"
    assert measured.is_locked == (measured.all_competitive_at_end > 0.5)


def test_a_long_run_is_compared_with_short_ones_by_its_first_minute():
    m = world()
    point = Point(64, PAPER_SPREAD)
    m.measured[point] = [replace(LOCKED, all_competitive_early=0.1)]
    for variant in VARIANTS:
        for spread in SPREADS:
            for n in FLOWS[2:]:
                m.measured.setdefault(Point(n, spread, variant), [LOCKED])
    table = causes_table(m)
    assert table.rows[0][:3] == ("as it ran", "0 of 1", "1 of 1"), "locked, but not by then"

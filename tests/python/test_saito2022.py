"""The rules of B1 to B3 on made-up measurements, and where the runs lie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import dumbbell
from dumbbell_studies.papers.finding import Outcome
from dumbbell_studies.papers.results import Results
from dumbbell_studies.papers.saito2022 import PAPER
from dumbbell_studies.papers.saito2022.measurements import Means, Measured, measure
from dumbbell_studies.papers.saito2022.rules import check_findings
from dumbbell_studies.papers.saito2022.runs import (
    CAUSE_SPREADS,
    ESTIMATED_SPREADS,
    FLOWS,
    PAPER_SPREAD,
    SPREADS,
    VARIANTS,
    Point,
    scenario,
)
from dumbbell_studies.papers.saito2022.tables import causes_table

FEW_MEANS, MANY_MEANS = Means(41, 206), Means(300, 250)
FREE = Measured(953, 42, 996, FEW_MEANS, FEW_MEANS, FEW_MEANS, 0.02, 0.0, 0.0, 0.0)
LOCKED = Measured(955, 300, 998, MANY_MEANS, None, MANY_MEANS, 0.9, 1.0, 1.0, 1.0)


def world(spreads=ESTIMATED_SPREADS, seeds=1) -> Results[Any, Any]:
    m: Results[Any, Any] = Results({})
    for spread in spreads:
        for n in FLOWS:
            m.measured[Point(n, spread)] = [LOCKED if n >= 64 else FREE] * seeds
    return m


def changed(n: int, **values) -> dict[str, bool]:
    m = world()
    for spread in ESTIMATED_SPREADS:
        point = Point(n, spread)
        m.measured[point] = [replace(m.measured[point][0], **values)]
    return {finding.id: finding.shown for finding in check_findings(m)}


def test_shown_when_it_is_as_the_paper_says():
    assert {f.id: f.shown for f in check_findings(world())} == {"B1": True, "B2": True, "B3": True}


def test_an_idle_link_is_not_b1():
    assert changed(32, link_mbps=949) == {"B1": False, "B2": True, "B3": True}


def test_a_higher_rtt_of_32_flows_is_not_b2():
    assert not changed(32, rtt_mean_ms=64)["B2"]


@pytest.mark.parametrize("flows", [64, 128])
def test_an_rtt_of_many_flows_that_has_not_increased_is_not_b2(flows):
    assert not changed(flows, rtt_mean_ms=63)["B2"]


@pytest.mark.parametrize("flows", [64, 128])
@pytest.mark.parametrize(
    "values",
    [
        {"competitive_late": 0.5},
        {"competitive": Means(41, 250)},
        {"competitive": Means(300, 206)},
        {"default": Means(301, 100)},
        {"default": Means(100, 251)},
        {"competitive": None, "default": MANY_MEANS},
    ],
)
def test_each_clause_of_b3_can_be_violated(flows, values):
    assert changed(flows, **values) == {"B1": True, "B2": True, "B3": False}


def test_what_few_flows_do_is_not_part_of_b3():
    assert changed(32, competitive_late=0.8)["B3"]


def test_other_start_times_are_reported_and_decide_nothing():
    m = world(SPREADS, seeds=2)
    m.measured[Point(32, "1s")] = [FREE, replace(FREE, rtt_mean_ms=120)]
    b2 = check_findings(m)[1]
    assert (b2.outcome, b2.count) == (Outcome.SHOWN, "4 of 4")
    reported = {each.conditions: (each.held, each.outcome) for each in b2.variations}
    assert reported == {
        f"all flows start within {spread}": (2, Outcome.SHOWN) for spread in SPREADS
    } | {"all flows start within 1s": (1, Outcome.BY_CHANCE)}
    assert [each["shown_in"] for each in b2.to_dict()["variations"]] == [2, 2, 2, 1, 2]


def test_both_ends_of_the_estimated_start_times_decide():
    m = world(SPREADS, seeds=10)
    m.measured[Point(64, "100ms")] = [replace(LOCKED, rtt_mean_ms=43)] * 10
    b2 = check_findings(m)[1]
    assert (b2.outcome, b2.count) == (Outcome.BY_CHANCE, "10 of 20")


def test_runs_lie_where_their_names_say():
    runs = PAPER.scenarios([1, 2])
    assert len(runs) == len({name for name, _ in runs}) == 2 * (20 + 24)
    assert [name for name, _ in runs] == [scenario.name for _, scenario in runs]
    assert [s.groups[0].flows for _, s in PAPER.scenarios([1], quick=True)] == 2 * list(FLOWS)
    for variant, cc in VARIANTS.items():
        assert str(scenario(Point(64, "1s", variant), 1).groups[0].cc) == cc


def test_measures_a_run():
    point = Point(16, PAPER_SPREAD)
    run = dumbbell.run(scenario(point, 1).replace(time="4s", rate="100mbit"))
    measured = measure(point, run)
    assert 80 < measured.total_mbps < 96
    assert measured.total_mbps < measured.link_mbps < 100
    assert 40 < measured.rtt_mean_ms < 400
    assert 0 < measured.competitive_share <= 1, "ccp_copa starts in competitive mode"
    assert measured.competitive is not None
    parts = [part.rtt_ms for part in (measured.competitive, measured.default) if part is not None]
    assert min(parts) <= measured.whole.rtt_ms <= max(parts)
    assert measured.is_locked == (measured.all_competitive_at_end > 0.5)


def test_a_long_run_is_compared_with_short_ones_by_its_first_minute():
    m = world()
    point = Point(64, PAPER_SPREAD)
    m.measured[point] = [replace(LOCKED, all_competitive_early=0.1)]
    for variant in VARIANTS:
        for spread in CAUSE_SPREADS:
            for n in FLOWS[2:]:
                m.measured.setdefault(Point(n, spread, variant), [LOCKED])
    table = causes_table(m)
    assert table.rows[0][:3] == ("as it ran", "0 of 1", "1 of 1"), "locked, but not by then"

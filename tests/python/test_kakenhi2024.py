"""The rules of C1 to C4 on made-up measurements, and how a run is measured."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell_studies.papers.finding import Outcome
from dumbbell_studies.papers.kakenhi2024 import PAPER
from dumbbell_studies.papers.kakenhi2024.measurements import (
    AloneMeasured,
    IntervalMeasured,
    loss_starts_s,
    measure,
    measure_intervals,
    rows_by_flow,
)
from dumbbell_studies.papers.kakenhi2024.rules import check_findings, unfairness
from dumbbell_studies.papers.kakenhi2024.runs import (
    ALONE_CCS,
    BUFFERS_BDP,
    C1_SPREADS,
    C1_VERSIONS,
    C2_BUFFERS_BDP,
    DEEP_BDP,
    ESTIMATED_SPREADS,
    FLOW_COUNTS,
    INTERVAL_BUFFERS_BDP,
    INTERVAL_FLOWS,
    INTERVAL_RTTS,
    MIXES,
    RIVALS,
    Alone,
    Interval,
    Mixed,
    scenario,
)
from dumbbell_studies.papers.kakenhi2024.tables import devices_table
from dumbbell_studies.papers.results import Results

GOOD = AloneMeasured(2.0, 5.0, 0.0, 0.98, 0.99)
BBR = AloneMeasured(100.0, 250.0, 8.0, 0.98, 0.98)
SHARES = {"bbr_fca": 1.1, "bbr": 2.0, "bbr3": 1.6, "copa": 1.0}


def predicted(interval_s: float, of_model: float) -> IntervalMeasured:
    """A flow whose throughput is that many times the model's."""
    flow = IntervalMeasured((interval_s,) * 5, 0.06, 0.04, 1.0)
    return flow._replace(rate_pkts_per_s=of_model * flow.predict_pkts_per_s())


def world(seeds=1) -> Results[Any, Any]:
    m: Results[Any, Any] = Results({})
    for cc in C1_VERSIONS.values():
        for spread in C1_SPREADS:
            m.measured[Alone(cc, 128, DEEP_BDP, spread)] = [BBR] * seeds
    for cc, n, buffer in product(ALONE_CCS, FLOW_COUNTS, C2_BUFFERS_BDP):
        m.measured[Alone(cc, n, buffer)] = [GOOD if cc == "l3dr" else BBR] * seeds
    for rtt, n, buffer in product(INTERVAL_RTTS, INTERVAL_FLOWS, INTERVAL_BUFFERS_BDP):
        m.measured[Interval(rtt, n, buffer)] = [
            [predicted(t, of_model=3) for t in (2.0, 4.0)]
        ] * seeds
    for cc, mix, buffer in product(RIVALS, MIXES, BUFFERS_BDP):
        m.measured[Mixed(cc, mix, buffer)] = [SHARES[cc]] * seeds
    return m


def shown(m: Results[Any, Any]) -> dict[str, bool]:
    return {finding.id: finding.shown for finding in check_findings(m)}


def test_shown_when_it_is_as_the_report_says():
    # No device in the table delays a packet for 10 s.
    assert shown(world()) == {"C1": True, "C2": True, "C3": True, "C4": True, "C5": False}


def test_other_start_times_and_versions_do_not_decide_c1():
    m = world(seeds=2)
    short = BBR._replace(queue_delay_p95_ms=199)
    for spread in C1_SPREADS:
        m.measured[Alone("bbr_4_15", 128, DEEP_BDP, spread)] = [short, short]
    m.measured[Alone("bbr", 128, DEEP_BDP, "0s")] = [BBR, short]
    c1 = check_findings(m)[0]
    assert (c1.outcome, c1.count) == (Outcome.SHOWN, "4 of 4")
    reported = {each.conditions: each for each in c1.variations}
    assert len(reported) == 10
    assert reported["BBR, all flows start within 0s"].outcome is Outcome.BY_CHANCE
    assert reported["BBR as in Linux 4.15, all flows start within 5s"].held == 0
    assert reported["BBR, all flows start within 0s"].seen == "95th percentile 224 ms"


def test_a_short_queue_with_the_estimated_start_times_is_not_c1():
    m = world()
    for spread in ESTIMATED_SPREADS:
        m.measured[Alone("bbr", 128, DEEP_BDP, spread)] = [BBR._replace(queue_delay_p95_ms=199)]
    assert shown(m) == {"C1": False, "C2": True, "C3": True, "C4": True, "C5": False}


@pytest.mark.parametrize("buffer", [1.0, 10.0])
@pytest.mark.parametrize(
    ("flows", "values"),
    [
        (16, {"queue_delay_ms": 100.0}),
        (128, {"drop_pct": 8.0}),
        (64, {"utilization": 0.969}),
        (32, {"jain": 0.979}),
    ],
)
def test_what_l3dr_must_not_do(flows, buffer, values):
    m = world()
    m.measured[Alone("l3dr", flows, buffer)] = [GOOD._replace(**values)]
    assert not shown(m)["C2"]


def test_few_flows_are_not_part_of_c2():
    m = world()
    for n in (1, 2, 4, 8):
        m.measured[Alone("l3dr", n, 1.0)] = [AloneMeasured(999.0, 999.0, 50.0, 0.1, 0.1)]
    assert shown(m)["C2"]


def test_a_drop_rate_of_0_cannot_be_undercut():
    m = world()
    m.measured[Alone("bbr", 16, 10.0)] = [BBR._replace(drop_pct=0.0)]
    assert shown(m)["C2"]
    m.measured[Alone("l3dr", 16, 10.0)] = [GOOD._replace(drop_pct=0.001)]
    assert not shown(m)["C2"]


def test_a_model_that_does_not_order_the_flows_is_not_c3():
    m = world()
    for point in [point for point in m.measured if isinstance(point, Interval)]:
        ((slow, fast),) = m.measured[point]
        rate = slow.rate_pkts_per_s
        m.measured[point] = [[slow, fast._replace(rate_pkts_per_s=rate)]]
    assert not shown(m)["C3"]


def test_a_model_that_is_off_by_a_factor_can_still_order_them():
    c3 = check_findings(world())[2]
    assert c3.shown
    assert "67% off in the median" in c3.checks[0].seen


def test_no_losses_at_all_are_not_c3():
    m = world()
    m.measured |= {point: [[]] for point in m.measured if isinstance(point, Interval)}
    assert not shown(m)["C3"]


def test_a_variant_that_is_fairer_is_not_c4():
    m = world()
    for mix in MIXES:
        for buffer in BUFFERS_BDP:
            m.measured[Mixed("bbr3", mix, buffer)] = [1.0]
    assert not shown(m)["C4"]


def test_c4_is_not_about_copa_which_is_not_a_variant_of_bbr():
    assert shown(world())["C4"], "a fair Copa"


def test_a_thinned_grid_decides_only_what_it_has_whole():
    m = world()
    m = Results({point: runs for point, runs in m.measured.items() if point in PAPER.quick_points})
    outcomes = {found.id: found.outcome for found in check_findings(m)}
    assert outcomes == {
        "C1": Outcome.SHOWN,
        "C2": Outcome.NOT_DECIDED,
        "C3": Outcome.NOT_DECIDED,
        "C4": Outcome.NOT_DECIDED,
        "C5": Outcome.NOT_SHOWN,
    }
    m.measured[Alone("l3dr", 16, 1.0)] = [GOOD._replace(drop_pct=9.0)]
    assert check_findings(m)[1].outcome is Outcome.NOT_SHOWN


def test_too_much_and_too_little_are_equally_unfair():
    assert unfairness([2.0]) == pytest.approx(unfairness([0.5])) == pytest.approx(2.0)
    assert unfairness([1.0, 1.0]) == pytest.approx(1.0)
    assert unfairness([0.0, 1.0]) == float("inf"), "a flow that got nothing"


def test_run_names_are_unique():
    runs = PAPER.scenarios([1, 2])
    assert len(runs) == len({name for name, _ in runs})


def test_loss_interval_of_a_cubic_flow():
    run = dumbbell.run(scenario(Interval("40ms", 1, 1.0), 1).replace(time="60s"))
    (rows,) = rows_by_flow(run)
    starts_s = loss_starts_s(rows)
    flow = run.summary["flows"][0]
    recoveries = flow["fast_recovery_count"] + flow["rto_count"]
    assert len(starts_s) == recoveries, "each recovery is seen once"
    (flow,) = measure_intervals(run)
    assert flow.intervals_s == pytest.approx(np.diff(starts_s))
    assert 0.04 <= flow.base_rtt_s < 0.041 < flow.rtt_s < 0.09
    # The link's packet rate; samples that end inside a packet leave half a percent.
    assert flow.rate_pkts_per_s == pytest.approx(50e6 / (8 * 1514), rel=0.005)


def test_measures_a_run_alone_and_a_run_against_cubic():
    alone = Alone("bbr", 2, 1.0)
    run = dumbbell.run(scenario(alone, 1).replace(time="62s", rate="10mbit"))
    measured = measure(alone, run)
    assert isinstance(measured, AloneMeasured)
    assert 0 < measured.queue_delay_ms < measured.queue_delay_p95_ms <= 41
    link = run.summary["bottleneck"]
    assert measured.drop_pct == pytest.approx(100 * link["dropped_pkts"] / link["offered_pkts"])
    assert 0.5 <= measured.jain <= 1
    mixed = Mixed("bbr", (1, 4), 1.0)
    run = dumbbell.run(scenario(mixed, 1).replace(time="4s"))
    rates = [flow["goodput_bps"] for flow in run.summary["flows"]]
    assert measure(mixed, run) == pytest.approx(rates[0] / np.mean(rates))


def test_delays_of_devices_are_buffer_over_capacity():
    table = devices_table()
    delays_ms = {(row[0], row[2]): float(row[3]) for row in table.rows}
    assert delays_ms["Juniper QFX3500, whole buffer", "10"] == pytest.approx(7.49)
    assert delays_ms["Arista 7280R3, whole buffer of a chip", "10"] == 6400
    assert list(delays_ms.values()) == sorted(delays_ms.values())

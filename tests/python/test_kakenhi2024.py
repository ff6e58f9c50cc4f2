"""The rules of C1 to C4 on made-up measurements, and how a run is measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dumbbell
from dumbbell.models.cubic_interval import rate_pkts_per_s
from dumbbell.papers.kakenhi2024.devices import devices_table
from dumbbell.papers.kakenhi2024.findings import check_findings, unfairness
from dumbbell.papers.kakenhi2024.measurements import (
    AloneMeasured,
    IntervalMeasured,
    Measurements,
    MixedMeasured,
    loss_starts_s,
    measure_intervals,
    rows_by_flow,
)  # fmt: skip
from dumbbell.papers.kakenhi2024.points import (
    ALONE_CCS,
    BUFFERS_BDP,
    DEEP_BDP,
    FLOW_COUNTS,
    MIXES,
    RIVALS,
    SPREADS,
    Alone,
    Interval,
    Mixed,
    scenarios,
)  # fmt: skip

GOOD = AloneMeasured(2.0, 0.0, 0.98, 0.99, 1.0, "OK")
SHARES = {"bbr_fca": 1.1, "bbr": 2.0, "bbr3": 1.6, "copa": 0.3}


def world() -> Measurements:
    m = Measurements({})
    for rank, n in enumerate(FLOW_COUNTS):
        m.alone[Alone("bbr", n, DEEP_BDP)] = [replace(GOOD, queue_delay_ms=10 + 60 * rank)]
        for buffer in (1.0, 10.0):
            for cc in ALONE_CCS:
                bad = replace(GOOD, queue_delay_ms=100.0, drop_pct=8.0)
                m.alone[Alone(cc, n, buffer)] = [GOOD if cc == "l3dr" else bad]
    for spread, delay_ms in zip(SPREADS[1:], (230, 480), strict=True):
        point = Alone("bbr", FLOW_COUNTS[-1], DEEP_BDP, spread)
        m.alone[point] = [replace(GOOD, queue_delay_ms=delay_ms)]
    m.intervals[Interval("40ms", 1, 1.0)] = [
        IntervalMeasured(t, 0.06, 1.1 * rate_pkts_per_s(t, 0.06)) for t in (2.0, 4.0, 6.0, 9.0)
    ]
    for cc in RIVALS:
        for mix in MIXES:
            for buffer in BUFFERS_BDP:
                m.mixed[Mixed(cc, mix, buffer)] = [MixedMeasured(SHARES[cc], 50.0, "OK")]
    return m


def shown(m: Measurements) -> dict[str, bool]:
    return {finding.id: finding.shown for finding in check_findings(m)}


def test_shown_when_it_is_as_the_report_says():
    assert shown(world()) == {"C1": True, "C2": True, "C3": True, "C4": True}


def test_a_short_queue_is_not_c1_whatever_other_start_times_show():
    m = world()
    m.alone[Alone("bbr", 128, DEEP_BDP)] = [replace(GOOD, queue_delay_ms=150)]
    assert shown(m) == {"C1": False, "C2": True, "C3": True, "C4": True}
    assert "128 flows that start within 1s: 230 ms; within 10s: 480 ms" in check_findings(m)[0].note


@pytest.mark.parametrize(
    ("flows", "buffer", "values"),
    [
        (16, 10.0, {"queue_delay_ms": 26.0}),
        (128, 10.0, {"queue_delay_ms": 99.0}),
        (2, 1.0, {"drop_pct": 0.9}),
        (1, 1.0, {"utilization": 0.96}),
        (64, 10.0, {"jain": 0.9}),
        (1, 10.0, {"filled_s": 3.5}),
        (1, 10.0, {"filled_s": float("nan")}),
    ],
)
def test_what_l3dr_must_not_do(flows, buffer, values):
    m = world()
    m.alone[Alone("l3dr", flows, buffer)] = [replace(GOOD, **values)]
    assert not shown(m)["C2"]


def test_delay_of_few_flows_is_not_asked_for():
    m = world()
    m.alone[Alone("l3dr", 8, 10.0)] = [replace(GOOD, queue_delay_ms=99.0)]
    assert shown(m)["C2"]


def test_a_model_that_is_off_is_not_c3():
    m = world()
    point = Interval("40ms", 1, 1.0)
    m.intervals[point] = [
        replace(f, rate_pkts_per_s=2 * f.rate_pkts_per_s) for f in m.intervals[point]
    ]
    assert not shown(m)["C3"]


def test_no_losses_at_all_are_not_c3():
    m = world()
    m.intervals = {Interval("40ms", 1, 1.0): []}
    assert not shown(m)["C3"]


def test_a_variant_that_is_fairer_is_not_c4():
    m = world()
    for mix in MIXES:
        for buffer in BUFFERS_BDP:
            m.mixed[Mixed("bbr3", mix, buffer)] = [MixedMeasured(1.0, 50.0, "OK")]
    assert not shown(m)["C4"]


def test_too_much_and_too_little_are_equally_unfair():
    assert unfairness([2.0]) == pytest.approx(unfairness([0.5])) == pytest.approx(2.0)
    assert unfairness([1.0, 1.0]) == pytest.approx(1.0)
    assert unfairness([0.0]) == pytest.approx(100.0), "a starved flow does not make it infinite"


def test_run_names_are_unique():
    runs = scenarios([1, 2])
    assert len(runs) == len({name for name, _ in runs})


def test_loss_interval_of_a_cubic_flow():
    scenario = Interval("40ms", 1, 1.0).scenario(1).replace(time="60s")
    run = dumbbell.run(scenario)
    (rows,) = rows_by_flow(run)
    starts_s = loss_starts_s(rows)
    flow = run.summary["flows"][0]
    recoveries = flow["fast_recovery_count"] + flow["rto_count"]
    assert len(starts_s) == recoveries, "each recovery is seen once"
    (flow,) = measure_intervals(run)
    assert flow.interval_s == pytest.approx(np.mean(np.diff(starts_s)))
    assert 0.04 < flow.rtt_s < 0.09
    # The link's packet rate; samples that end inside a packet leave half a percent.
    assert flow.rate_pkts_per_s == pytest.approx(50e6 / (8 * 1514), rel=0.005)


def test_delays_of_devices_are_buffer_over_capacity():
    table = devices_table()
    delays_ms = {(row[0], row[2]): float(row[3]) for row in table.rows}
    assert delays_ms["Juniper QFX3500, whole buffer", "10"] == pytest.approx(7.49)
    assert delays_ms["Arista 7280R3, whole buffer of a chip", "10"] == 6400
    assert list(delays_ms.values()) == sorted(delays_ms.values())

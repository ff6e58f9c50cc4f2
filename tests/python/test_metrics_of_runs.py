"""Metrics of runs: what the tables say agrees with what the engine counted, and with arithmetic."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.metrics import METRICS, Observation, Phase, Warmup, harm, harm_of, measure, mser5


@pytest.fixture(scope="module")
def duel():
    """Copa against two CUBIC flows for forty seconds."""
    return dumbbell.run(Scenario(["copa", Group("cubic", 2)], buffer="2bdp", time="40s"))


def flow(number: int, group: int, start_s: float, end_s: float, **counts: float) -> Any:
    return {
        "flow": number, "group": group, "cc": "reno", "base_rtt_us": 40_000,
        "start_us": round(start_s * 1e6), "end_us": round(end_s * 1e6), "finished": False,
        "received_bytes": 0, "goodput_bps": 0.0, "throughput_bps": 0.0,
        "rtt_mean_us": 50_000.0, "rtt_min_us": 40_000, "rtt_p50_us": 50_000, "rtt_p95_us": 60_000,
        "rtt_p99_us": 70_000, "inflight_mean_pkts": 10.0, "outstanding_mean_pkts": 10.0,
        "sent_pkts": 100, "retransmitted_pkts": 0, "dropped_pkts": 0, "lost_pkts": 0,
        "rto_count": 0, **counts,
    }  # fmt: skip


def run_of_rates(
    rates_mbps: Any, *, starts_s: Any = None, groups: Any = None, duration_s: int = 20
) -> Any:
    """A run whose flows have these rates, a number per second each, sampled every 100 ms."""
    rates = np.repeat(np.asarray(rates_mbps, dtype=float), 10, axis=1) * 1e6
    count, samples = rates.shape
    starts_s = starts_s or [0.0] * count
    groups = groups or [Group("reno", count)]
    times_us = np.repeat(np.arange(1, samples + 1) * 100_000, count)
    numbers = np.tile(np.arange(count), samples)
    goodput = rates.T.ravel()
    there = times_us > 1e6 * np.asarray(starts_s)[numbers]
    table = pa.table(
        {
            "time_us": pa.array(times_us[there], pa.int64()),
            "flow": pa.array(numbers[there], pa.uint32()),
            "goodput_bps": pa.array(goodput[there].astype(np.uint64), pa.uint64()),
        }
    )
    owners = [index for index, group in enumerate(groups) for _ in range(group.flows)]
    flows = []
    for number in range(count):
        life_s = duration_s - starts_s[number]
        received = float(rates[number, round(10 * starts_s[number]) :].sum()) / 80
        flows.append(
            flow(
                number, owners[number], starts_s[number], duration_s,
                received_bytes=round(received), goodput_bps=8 * received / life_s,
            )
        )  # fmt: skip
    scenario = Scenario(groups, time=f"{duration_s}s", sample="100ms")
    loaded = [
        {"group": index, "cc": "reno", "build": "", "params": {}} for index in range(len(groups))
    ]
    summary = {
        "engine": "simulator", "engine_version": "0", "seed": 1, "duration_ns": duration_s * 10**9,
        "congestion_controls": loaded, "flows": flows, "bottleneck": {},
    }  # fmt: skip
    return dumbbell.Run(scenario, summary, {"flows": table, "queue": pa.table({})})


def of(name: str, run: dumbbell.Run, warmup: str | None = None) -> Any:
    return METRICS[name].of(run, None if warmup is None else Warmup.parse(warmup))


def test_without_warmup_metrics_are_the_engines_own(duel):
    rows = measure(duel)
    assert [row["cc"] for row in rows] == ["copa", "cubic"]
    link = duel.summary["bottleneck"]
    for row, group in zip(rows, duel.groups, strict=True):
        for key in ("goodput_bps", "goodput_per_flow_bps", "throughput_bps", "share", "rtt_mean_us",
                    "inflight_mean_pkts", "outstanding_mean_pkts", "rto_count"):  # fmt: skip
            assert row[key] == pytest.approx(group[key])
        assert row["utilization"] == link["utilization"]
        assert row["queue_delay_p95_us"] == link["queue_delay_p95_us"]
        assert row["drop_rate"] == link["dropped_pkts"] / link["offered_pkts"]
        assert row["jain"] == pytest.approx(duel.jain)
        assert set(row) == {"group", "cc", "flows", "verdict", *METRICS}


@pytest.mark.parametrize(
    ("name", "within"),
    [("goodput_bps", 1e-4), ("goodput_per_flow_bps", 1e-4), ("share", 1e-4), ("jain", 1e-4),
     ("utilization", 2e-3), ("queue_delay_mean_us", 0.01), ("queue_delay_p95_us", 0.02),
     ("rtt_mean_us", 0.05), ("inflight_mean_pkts", 0.01), ("drop_rate", 0.01),
     ("retransmission_rate", 0.01)],
)  # fmt: skip
def test_the_time_series_say_what_the_engine_counted(duel, name, within):
    """A warm-up of a microsecond leaves nothing out, but asks the tables."""
    assert of(name, duel, "1us") == pytest.approx(of(name, duel), rel=within)


def test_rtt_inflation_is_what_is_above_the_base_rtt_of_each_flow():
    groups = [Group("reno", 2), Group("cubic")]
    run = run_of_rates([[10] * 20] * 3, groups=groups)
    for number, rtt_us in enumerate((50_000.0, 60_000.0, 40_500.0)):
        run.summary["flows"][number]["rtt_mean_us"] = rtt_us
    obs = Observation(run)
    assert METRICS["rtt_inflation_mean_us"].observe(obs) == [15_000, 500]
    assert METRICS["rtt_inflation_p99_us"].observe(obs) == [30_000, 30_000]


def test_marks_per_rtt_are_those_of_a_mean_rtt():
    run = run_of_rates([[10] * 20] * 2, groups=[Group("reno"), Group("cubic")])
    first, second = run.summary["flows"]
    first["marked_pkts"] = 800  # in 20 s of RTTs of 50 ms
    second["marked_pkts"] = None
    assert METRICS["marks_per_rtt"].observe(Observation(run)) == [2, None]


def test_after_a_warmup_the_start_does_not_count():
    run = run_of_rates([[10] * 10 + [30] * 10, [30] * 10 + [10] * 10])
    assert of("jain", run) == pytest.approx(1)
    assert of("jain", run, "10s") == pytest.approx(40**2 / (2 * 1000))
    assert of("goodput_bps", run, "10s") == pytest.approx([40e6])
    assert of("min_max_ratio", run, "10s") == pytest.approx(1 / 3)
    late = run_of_rates([[10] * 20, [0] * 12 + [10] * 8], starts_s=[0, 12])
    assert of("goodput_per_flow_bps", late, "10s") == pytest.approx([10e6])
    assert of("goodput_bps", late, "10s") == pytest.approx([18e6])


def test_metrics_from_the_summary_are_unknown_after_a_warmup(duel):
    assert of("throughput_bps", duel, "10s") == [None, None]
    timed_out = run_of_rates([[10] * 20])
    timed_out.summary["flows"][0]["rto_count"] = 3
    assert of("rto_count", timed_out) == [3]
    assert of("rto_count", timed_out, "10s") == [None]
    assert of("rto_count", run_of_rates([[10] * 20]), "10s") == [0]


def test_convergence_is_when_all_have_stayed_near_their_share():
    # Within a quarter of 10 from second 4 to 7, which is too short, and from second 12 on.
    first = [18] * 4 + [11] * 4 + [17] * 4 + [12] * 8
    run = run_of_rates([first, [20 - rate for rate in first]])
    assert of("convergence_time_s", run) == 12
    assert of("converged", run) == 1


def test_convergence_counts_from_the_last_start():
    late = run_of_rates([[20] * 5 + [18] * 3 + [10] * 12, [0] * 5 + [2] * 3 + [10] * 12],
                        starts_s=[0, 5])  # fmt: skip
    assert of("convergence_time_s", late) == 3


def test_never_converging_differs_from_nothing_to_converge():
    unfair = run_of_rates([[15] * 20, [5] * 20])
    assert (of("convergence_time_s", unfair), of("converged", unfair)) == (None, 0)
    alone = run_of_rates([[15] * 20])
    assert (of("convergence_time_s", alone), of("converged", alone)) == (None, None)
    short = run_of_rates([[10] * 4, [10] * 4], duration_s=4)
    assert of("converged", short) is None


def test_starvation():
    groups = [Group("reno"), Group("cubic")]
    run = run_of_rates([[19] * 10 + [19.5] * 10, [1.1] * 10 + [0.5] * 10], groups=groups)
    assert of("starved_time_share", run) == pytest.approx([0, 0.5])
    assert of("min_max_ratio", run) == pytest.approx(0.8 / 19.25)
    assert of("starved_time_share", run_of_rates([[0] * 20])) == [None]  # a flow alone


def test_oscillation_is_the_coefficient_of_variation():
    run = run_of_rates([[10] * 20, [8, 12] * 10])
    assert of("oscillation", run) == pytest.approx([(0 + 0.2) / 2])


def test_power_is_goodput_over_rtt():
    assert of("power", run_of_rates([[10] * 20])) == pytest.approx([10e6 / 0.05])


def test_completion_times():
    sized = dumbbell.run(
        Scenario([Group("cubic", 3, size="1MB"), "reno"], time="20s", sample="100ms")
    )
    times = [(f["end_us"] - f["start_us"]) / 1e6 for f in sized.summary["flows"][:3]]
    assert of("fct_mean_s", sized) == [pytest.approx(np.mean(times)), None]
    assert of("fct_p95_s", sized)[0] <= max(times)
    # The mean of those that made it would be of the quick ones.
    cut_short = dumbbell.run(Scenario([Group("cubic", 3, size="100MB")], time="2s"))
    assert of("fct_mean_s", cut_short) == [None]


def test_harm_is_what_competing_takes():
    assert harm_of(10, 4, "higher") == pytest.approx(0.6)
    assert harm_of(50, 100, "lower") == pytest.approx(0.5)
    assert harm_of(10, 12, "higher") == pytest.approx(-0.2)
    assert harm_of(0, 0, "lower") == 0
    assert harm_of(0, 5, "higher") is None
    assert harm_of(None, 5, "lower") is None


def test_harm_to_cubic_by_bbr():
    scenario = Scenario(["cubic"], buffer="0.5bdp", time="20s")
    alone = dumbbell.run(scenario)
    beside = dumbbell.run(scenario.replace(groups=(Group("bbr"), Group("cubic"))))
    (row,) = harm(beside, alone)
    assert row["group"] == 1
    expected = 1 - beside.groups[1]["goodput_bps"] / alone.groups[0]["goodput_bps"]
    assert row["goodput_bps"] == pytest.approx(expected)
    assert row["goodput_bps"] > 0.5
    with pytest.raises(ResultError, match="one group alone, but this one has 2: bbr, cubic"):
        harm(alone, beside)
    with pytest.raises(ResultError, match="no group of 1 × `reno` like"):
        harm(beside, dumbbell.run(scenario.replace(groups=(Group("reno"),))))


def test_mser5_finds_where_a_transient_ends():
    noise = np.random.default_rng(4).normal(0, 1, 1000)
    transient = np.concatenate([np.linspace(40, 0, 200), np.zeros(800)])
    assert 150 <= mser5(noise + transient) <= 250
    assert mser5(noise) <= 100
    assert mser5(np.ones(1000)) == 0
    assert mser5(np.arange(30.0)) == 0  # too few
    # Without an end it is half: more would be an accident of the last few.
    assert mser5(np.arange(1000.0)) == 500


def test_mser5_is_its_formula():
    x = np.random.default_rng(9).gamma(2, size=200) + np.repeat([5, 0], [60, 140])
    batches = x.reshape(40, 5).mean(axis=1)
    errors = [np.sum((batches[d:] - batches[d:].mean()) ** 2) / (40 - d) ** 2 for d in range(21)]
    assert mser5(x) == 5 * int(np.argmin(errors))


def test_a_detected_warmup_ends_after_slow_start(duel):
    cut_us = Warmup.parse("auto").cut_us(duel)
    assert 500_000 < cut_us <= 20_000_000
    assert of("utilization", duel, "auto") >= of("utilization", duel)


def test_warmups_as_written():
    assert str(Warmup.parse("20s")) == "20s"
    assert Warmup.parse("auto") == Warmup()
    with pytest.raises(ScenarioError, match="warmup"):
        Warmup.parse("20")
    Warmup.parse("auto").check(Scenario(["reno"]))
    with pytest.raises(ScenarioError, match="leaves nothing of a run of `60s`"):
        Warmup.parse("60s").check(Scenario(["reno"]))
    with pytest.raises(ScenarioError, match="needs time series"):
        Warmup.parse("auto").check(Scenario(["reno"], sample="0s"))


def test_a_warmup_needs_time_series_and_a_longer_run(duel):
    bare = dumbbell.Run(duel.scenario, duel.summary, {})
    assert measure(bare)[0]["oscillation"] is None
    with pytest.raises(ResultError, match="needs time series"):
        measure(bare, Warmup.parse("5s"))
    with pytest.raises(ResultError, match="leaves nothing of a run of `40s`"):
        measure(duel, Warmup.parse("40s"))


def test_a_loaded_run_measures_the_same(duel, tmp_path):
    loaded = dumbbell.Run.load(duel.save(tmp_path / "run"))
    assert measure(loaded) == measure(duel)
    assert measure(loaded, Warmup.parse("auto")) == measure(duel, Warmup.parse("auto"))


@pytest.mark.usefixtures("fabricated_kernel")
def test_what_the_kernel_does_not_report_is_unknown():
    run = dumbbell.run(Scenario(["cubic", "reno"], time="4s"), engine="kernel")
    for warmup in (None, Warmup.parse("1s")):
        rows = measure(run, warmup)
        assert [row["rto_count"] for row in rows] == [None, None]
        assert all(row["retransmission_rate"] is not None for row in rows)


def test_a_link_that_changes_its_rate_is_used_by_what_it_can_carry():
    run = dumbbell.run(Scenario(["cubic"], time="20s", rate_steps="5s:10mbit, 12s:20mbit"))
    assert 0.9 < of("utilization", run, "3s") <= 1.001


def test_every_metric_says_its_formula_and_source():
    for metric in METRICS.values():
        doc = inspect.cleandoc(metric.doc)
        assert "References\n----------" in doc, metric.name
        assert metric.unit, metric.name
        suffix = {"bit/s": "_bps", "us": "_us", "s": "_s", "pkts": "_pkts"}.get(metric.unit, "")
        assert metric.name.endswith(suffix), metric.name


def test_time_limited_by_the_receive_window():
    run = dumbbell.run(
        Scenario([Group("cubic", 2, rwnd="20kB"), "reno"], buffer="2bdp", time="10s")
    )
    limited, free = of("rwnd_limited_share", run)
    assert limited == pytest.approx(
        sum(f["rwnd_limited_us"] for f in run.summary["flows"][:2])
        / sum(f["end_us"] - f["start_us"] for f in run.summary["flows"][:2])
    )
    assert limited > 0.5
    assert free == 0
    # The time series do not have it: after a cut only its absence is known.
    assert of("rwnd_limited_share", run, "2s") == [None, 0]


def test_outstanding_counts_what_a_receiver_holds_behind_a_hole(duel):
    for whole, cut, inflight in zip(
        of("outstanding_mean_pkts", duel),
        of("outstanding_mean_pkts", duel, "10ms"),
        of("inflight_mean_pkts", duel),
        strict=True,
    ):
        assert whole > inflight
        assert cut == pytest.approx(whole, rel=0.01)


def test_a_fair_share_is_the_mean_over_all_flows(duel):
    rates = [flow["goodput_bps"] for flow in duel.summary["flows"]]
    fair = sum(rates) / 3
    copa, cubic = (row["fair_share_ratio"] for row in measure(duel))
    assert copa == pytest.approx(rates[0] / fair)
    assert cubic == pytest.approx((rates[1] + rates[2]) / 2 / fair)
    # Weighted by their flows, groups have 1 in the mean.
    late = [row["fair_share_ratio"] for row in measure(duel, Warmup.parse("20s"))]
    assert (late[0] + 2 * late[1]) / 3 == pytest.approx(1)
    alone = dumbbell.run(Scenario(["reno"], time="1s"))
    assert METRICS["fair_share_ratio"].of(alone) == [None]


def test_the_peak_of_a_queue_is_the_engine_s_and_no_sample_is_above_it(duel):
    peak = METRICS["queue_delay_max_us"].of(duel)
    assert peak == duel.bottleneck["queue_delay_max_us"]
    assert duel.bottleneck == duel.link("bottleneck")
    later = measure(duel, Warmup.parse("20s"))[0]
    assert later["queue_delay_p99_us"] <= later["queue_delay_max_us"] <= peak


def test_a_queue_returns_when_its_mean_wait_of_two_seconds_is_low():
    run = dumbbell.run(
        Scenario([Group("copa"), Group("cubic", stop="6s")], buffer="4bdp", time="20s")
    )
    phase = Phase.parse("6s..20s")
    found = METRICS["queue_return_time_s"].observe(Observation(run, phase))
    times = run.queue["time_us"].to_numpy()
    waits = run.queue["sojourn_us"].to_pandas().fillna(0).to_numpy()

    def is_low(start_us: float) -> bool:
        inside = (times > start_us) & (times <= start_us + 2_000_000)
        return bool(waits[inside].mean() <= 10_000)

    assert isinstance(found, float)
    assert 0 < found < 12
    assert is_low(6e6 + found * 1e6)
    earlier = [t for t in (6_000_000, *times) if 6_000_000 <= t < 6e6 + found * 1e6]
    assert not any(map(is_low, earlier))
    # CUBIC's queue in a deep buffer does not return, and an empty one has not been away.
    full = dumbbell.run(Scenario(["cubic"], buffer="4bdp", time="20s"))
    assert METRICS["queue_return_time_s"].observe(Observation(full, phase)) is None
    idle = dumbbell.run(Scenario([Group("reno", size="10kB")], time="20s"))
    assert METRICS["queue_return_time_s"].observe(Observation(idle, phase)) == 0

"""Metrics of transfers, on tables whose numbers are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dumbbell
from dumbbell import Group, Run, Scenario
from dumbbell.base.errors import ResultError
from dumbbell.metrics import METRICS, Warmup, measure
from dumbbell.run.directory import encode
from dumbbell.run.transfers import transfers_schema
from dumbbell.statistics.survival import SurvivalCurve

#: kind, connection, size in bytes, start and end in ms.
Row = tuple[str, int, int, float, float | None]


@pytest.fixture(scope="module")
def base() -> Run:
    """A run of one second at 50 Mbit/s and 40 ms, whose transfers tests replace."""
    return dumbbell.run(Scenario(["cubic"], time="1s"))


def with_transfers(base: Run, rows: Sequence[Row]) -> Run:
    table = pa.Table.from_pylist(
        [
            {
                "group": 0,
                "flow": 0,
                "connection": connection,
                "kind": kind,
                "size_bytes": size,
                "start_us": int(1000 * start),
                "end_us": None if end is None else int(1000 * end),
            }
            for kind, connection, size, start, end in rows
        ],
        transfers_schema(),
    )
    scenario = Scenario([Group("cubic", traffic="poisson:load=10%,size=10kB")], time="1s")
    return Run(scenario, base.summary, {**base.tables, "transfers": table})


def of(run: Run, name: str, warmup: Warmup | None = None) -> Any:
    (value,) = METRICS[name].of(run, warmup)  # type: ignore[misc]
    return value


def test_times_of_flows_that_all_end(base: Run) -> None:
    rows: list[Row] = [("flow", n, 10_000, 10 * n, 10 * n + 50 + n) for n in range(20)]
    run = with_transfers(base, rows)
    assert of(run, "fct_mean_s") == pytest.approx(np.mean([0.05 + n / 1000 for n in range(20)]))
    assert of(run, "fct_p50_s") == pytest.approx(0.059)  # the tenth of twenty
    assert of(run, "fct_p95_s") == pytest.approx(0.068)
    assert of(run, "unfinished_share") == 0
    assert of(run, "rpc_latency_p50_us") is None
    later = np.mean([0.05 + n / 1000 for n in range(10, 20)])
    assert of(run, "fct_mean_s", Warmup.parse("100ms")) == pytest.approx(later)


def test_flows_that_did_not_end_count_as_longer_than_they_were_seen(base: Run) -> None:
    rows: list[Row] = [
        ("flow", 0, 10_000, 0, 100),
        ("flow", 1, 10_000, 850, None),  # for 150 ms
        ("flow", 2, 10_000, 0, 200),
        ("flow", 3, 10_000, 0, 400),
    ]
    run = with_transfers(base, rows)
    # S falls by 1/4 at 100 ms, by half of the rest at 200 ms: of two that were seen for so long.
    assert of(run, "fct_p50_s") == pytest.approx(0.2)
    assert of(run, "fct_mean_s") == pytest.approx(0.1 + 0.75 * 0.1 + 0.375 * 0.2)
    assert of(run, "unfinished_share") == 0.25
    # The mean of those that did end would be of the fast ones.
    unseen = with_transfers(base, [*rows[:3], ("flow", 3, 10_000, 0, None)])
    assert of(unseen, "fct_mean_s") is None
    assert of(unseen, "fct_p99_s") is None


def test_a_censored_estimate_is_right_where_the_plain_mean_is_not() -> None:
    draw = np.random.default_rng(3)
    times = draw.exponential(100, 40_000)
    seen = draw.uniform(0, 1_000, times.size)
    curve = SurvivalCurve(np.minimum(times, seen), times <= seen)
    assert curve.mean() == pytest.approx(100, rel=0.02)
    assert curve.quantile(0.95) == pytest.approx(-100 * np.log(0.05), rel=0.02)
    assert np.mean(times[times <= seen]) < 92


def test_the_slowdown_is_the_time_over_the_ideal_by_size(base: Run) -> None:
    def ideal_ms(size: int) -> float:
        return 40 + 8e3 * size * 1514 / 1448 / 50e6

    sizes = (10_000, 50_000, 1_000_000, 2_000_000)
    rows: list[Row] = [
        ("flow", n, size, 0, (n + 2) * ideal_ms(size)) for n, size in enumerate(sizes)
    ]
    run = with_transfers(base, rows)
    for key, expected in zip(("10kB", "100kB", "1MB", "larger"), (2, 3, 4, 5), strict=True):
        assert of(run, f"slowdown_mean_{key}") == pytest.approx(expected, rel=1e-3)
        assert of(run, f"slowdown_p99_{key}") == pytest.approx(expected, rel=1e-3)
    assert of(run, "slowdown_mean") == pytest.approx(3.5, rel=1e-3)
    assert of(with_transfers(base, rows[:1]), "slowdown_p99_larger") is None


def test_requests_pages_and_responsiveness(base: Run) -> None:
    rows: list[Row] = [("request", 0, 1, 20 * n, 20 * n + 20) for n in range(40)]
    run = with_transfers(base, [*rows, ("page", 1, 50_000, 0, 300), ("page", 2, 50_000, 300, 500)])
    assert of(run, "rpc_latency_p99_us") == 20_000
    assert of(run, "page_load_time_mean_s") == pytest.approx(0.25)
    # An idle link with an RTT of 20 ms has 3,000 round trips per minute.
    assert of(run, "foreign_rpm") == pytest.approx(3_000)
    # The longest 5 % are not counted, and a connection for each request takes a second round trip.
    slow: list[Row] = [("request", n, 1, 0, 40 if n else 900) for n in range(40)]
    assert of(with_transfers(base, slow), "foreign_rpm") == pytest.approx(3_000)
    flow = base.summary["flows"][0]
    span_s = (flow["end_us"] - flow["start_us"]) / 1e6
    assert of(run, "transactions_per_s") == pytest.approx(40 / span_s)


def test_flows_with_a_size_are_transfers_too() -> None:
    run = dumbbell.run(Scenario([Group("cubic", 3, size="200kB"), "reno"], time="5s"))
    times_s = [(f["end_us"] - f["start_us"]) / 1e6 for f in run.summary["flows"][:3]]
    assert METRICS["fct_mean_s"].of(run) == [pytest.approx(np.mean(times_s)), None]
    assert METRICS["fct_p99_s"].of(run) == [pytest.approx(max(times_s)), None]
    table = run.transfers
    assert table["size_bytes"].to_pylist() == [200_000] * 3
    assert table["kind"].to_pylist() == ["flow"] * 3


def test_a_run_without_its_transfers_says_so(base: Run) -> None:
    run = with_transfers(base, [])
    without = Run(run.scenario, run.summary, dict(base.tables))
    assert of(without, "fct_mean_s") is None
    with pytest.raises(ResultError, match="no table `transfers`"):
        _ = without.transfers


def test_transfers_are_saved_and_read_back(base: Run, tmp_path: Any) -> None:
    rows: list[Row] = [("flow", 0, 10_000, 0, 100), ("flow", 1, 10_000, 50, None)]
    run = with_transfers(base, rows)
    again = Run.load(run.save(tmp_path / "run"))
    assert again.transfers.equals(run.transfers)
    assert measure(again) == measure(run)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("flow", 7, "column `flow` has values that the run cannot have"),
        ("group", 1, "column `group` has values"),
        ("end_us", 2_000_000, "column `end_us` has values"),
        ("start_us", 500_000, "column `end_us` has values below those of `start_us`"),
        ("kind", "rumour", "column `kind` has `rumour`, which no run has"),
    ],
)
def test_a_table_that_no_run_has_is_refused(
    base: Run, tmp_path: Any, column: str, value: Any, says: str
) -> None:
    run = with_transfers(base, [("flow", 0, 10_000, 0, 100)])
    field = transfers_schema().field(column)
    damaged = run.tables["transfers"].set_column(
        transfers_schema().get_field_index(column), field, pa.array([value], field.type)
    )
    place = run.save(tmp_path / "run")
    (place / "transfers.parquet").write_bytes(encode(damaged))
    with pytest.raises(ResultError, match=says):
        measure(Run.load(place))


def test_what_applications_measure_is_a_metric_of_their_group(base: Run) -> None:
    measured = {
        "one_way_delay_p95_us": 31_000, "jitter_us": 250, "lost_datagrams": 10,
        "late_datagrams": 10, "received_datagrams": 990, "sent_datagrams": 1_001,
        "r_milli": 86_200, "mos_milli": 4_259, "offered_bytes": 1_000_000,
    }  # fmt: skip
    flows = [{**base.summary["flows"][0], "application": measured}]
    run = Run(with_transfers(base, []).scenario, {**base.summary, "flows": flows}, base.tables)
    assert of(run, "one_way_delay_p95_us") == 31_000
    assert of(run, "jitter_us") == 250
    assert of(run, "late_or_lost_share") == pytest.approx(0.02)
    assert (of(run, "r_factor"), of(run, "mos")) == (86.2, pytest.approx(4.259))
    flow = flows[0]
    span_s = (flow["end_us"] - flow["start_us"]) / 1e6
    assert of(run, "offered_load") == pytest.approx(8e6 / (50e6 * 1448 / 1514 * span_s))
    loaded = [{**flow, "application": {"rpm": 900, "foreign_rpm": 1_500, "self_rpm": 300}}]
    client = Run(run.scenario, {**base.summary, "flows": loaded}, run.tables)
    rpms = [of(client, name) for name in ("responsiveness_rpm", "foreign_rpm", "self_rpm")]
    assert rpms == [900, 1_500, 300]
    # An application measures the whole run only.
    assert of(run, "jitter_us", Warmup.parse("500ms")) is None

import errno
import json
from pathlib import Path

import pyarrow as pa
import pytest

import dumbbell
from dumbbell import Group, ResultError, Run, Scenario
from dumbbell.run import SCHEMA_VERSION


def test_has_groups_and_flows(short_run):
    assert [group["cc"] for group in short_run.groups] == ["copa", "cubic"]
    assert [group["flows"] for group in short_run.groups] == [1, 2]
    assert sum(group["share"] for group in short_run.groups) == pytest.approx(1)
    assert len(short_run.summary["flows"]) == 3
    assert 1 / 3 <= short_run.jain <= 1


def test_verdict_of_a_plain_run_is_ok(short_run):
    assert short_run.verdict.status == "OK", short_run.verdict.reasons


def test_tables_are_arrow_with_units(short_run):
    assert isinstance(short_run.flows, pa.Table)
    frame = short_run.flows.to_pandas()
    assert sorted(frame["flow"].unique()) == [0, 1, 2]
    # 10 ms samples of 2 s; the first are before the handshake is done.
    assert 150 <= len(frame[frame["flow"] == 0]) <= 201
    for column in ("cwnd_pkts", "inflight_pkts", "outstanding_pkts", "srtt_us", "goodput_bps"):
        assert column in frame.columns
    assert {"time_us", "backlog_bytes", "dropped_pkts"} <= set(short_run.queue.column_names)
    assert set(short_run.state(0).to_pandas()["mode"]) <= {"default", "competitive", "loss"}


def test_has_no_state_where_none_is_declared():
    run = dumbbell.run(Scenario(["reno"], time="1s"))
    with pytest.raises(KeyError, match="no state series"):
        run.state(0)


def test_runs_what_a_scenario_is_made_of():
    scenario = Scenario(["reno"], time="1s", buffer="2bdp")
    path = Path(__file__).parents[2] / "scenarios" / "rtt-unfairness.toml"
    assert dumbbell.run(["reno"], time="1s", buffer="2bdp").scenario == scenario
    assert dumbbell.run(scenario, seed=7).scenario == scenario.replace(seed=7)
    assert dumbbell.run(path, time="1s").scenario == Scenario.from_toml(path).replace(time="1s")
    with pytest.raises(TypeError, match="tyme"):
        dumbbell.run(["reno"], tyme="1s")


def test_a_directory_with_the_name_of_a_table_is_refused(short_run, tmp_path):
    with pytest.raises(
        ResultError, match="name one, like `x`, then use `dumbbell report export DIR"
    ):
        short_run.save(tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


def test_records_no_series_if_sampling_is_off():
    run = dumbbell.run(Scenario(["reno"], time="1s", sample="0s"))
    assert list(run.tables) == []
    assert run.summary["flows"][0]["received_bytes"] > 0
    says = "the run recorded no time series; run it with a sample interval"
    with pytest.raises(ResultError, match=says):
        _ = run.flows
    with pytest.raises(ResultError, match=says):
        _ = run.queue
    with pytest.raises(ResultError, match=says):
        run.state(0)


def test_names_a_table_that_is_missing(short_run):
    with pytest.raises(ResultError, match="the run has no table `queue`; run its scenario again"):
        _ = Run(short_run.scenario, short_run.summary, {}).queue


def test_shares_sum_to_1_when_flows_live_at_different_times():
    early, late = Group("reno", jitter="0s", stop="1s"), Group("reno", start="2s", jitter="0s")
    run = dumbbell.run(Scenario([early, late], time="5s", sample="0s"))
    first, second = run.groups
    assert first["share"] + second["share"] == pytest.approx(1)
    flows = run.summary["flows"]
    for group, flow in zip(run.groups, flows, strict=True):
        # One flow's own time is its group's.
        assert group["goodput_bps"] == pytest.approx(flow["goodput_bps"], rel=1e-3)
        assert group["share"] == pytest.approx(
            flow["received_bytes"] / sum(f["received_bytes"] for f in flows)
        )


def test_a_group_that_takes_turns_carries_no_more_than_the_link():
    path = Path(__file__).parents[2] / "scenarios" / "latecomer.toml"
    run = dumbbell.run(Scenario.from_toml(path).replace(sample="0s"))
    assert sum(group["share"] for group in run.groups) == pytest.approx(1)
    assert all(group["goodput_bps"] < 50e6 for group in run.groups)
    assert all(group["throughput_bps"] <= 50e6 for group in run.groups)


def test_same_seed_same_bytes():
    scenario = Scenario(["copa", Group("bbr", 2)], time="2s", seed=3)
    first, second = dumbbell.run(scenario), dumbbell.run(scenario)
    other = dumbbell.run(scenario.replace(seed=4))
    assert first.to_json() == second.to_json()
    for name, table in first.tables.items():
        assert table.equals(second.tables[name])
    assert not first.flows.equals(other.flows)


def test_saves_and_loads(short_run, tmp_path):
    directory = short_run.save(tmp_path / "a" / "run")
    loaded = Run.load(directory)
    assert loaded.scenario == short_run.scenario
    assert loaded.to_json() == short_run.to_json()
    assert sorted(loaded.tables) == sorted(short_run.tables)
    for name, table in short_run.tables.items():
        assert loaded.tables[name].to_pylist() == table.to_pylist()
    assert sorted(p.name for p in directory.parent.iterdir()) == ["run"]  # no scratch left


def test_a_damaged_table_is_named(short_run, tmp_path):
    path = short_run.save(tmp_path / "run") / "flows.parquet"
    path.write_bytes(path.read_bytes()[:99])
    with pytest.raises(ResultError, match=r"run/flows.parquet: is damaged: not a whole Parquet"):
        Run.load(tmp_path / "run").flows  # noqa: B018 (it is read when asked for)


def test_saving_again_replaces_a_run_and_nothing_else(short_run, tmp_path):
    short_run.save(tmp_path / "run")
    (tmp_path / "run" / "state-7-stale.parquet").touch()
    (tmp_path / "run" / ".dumbbell-0123456789abcdef").mkdir()
    short_run.save(tmp_path / "run")
    assert "state-7-stale" not in Run.load(tmp_path / "run").tables

    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(ResultError, match="exists and does not hold a run"):
        short_run.save(other)
    assert (other / "thesis.tex").exists()

    (tmp_path / "run" / "report.html").touch()
    short_run.save(tmp_path / "run")
    (tmp_path / "run" / "thesis.tex").touch()
    with pytest.raises(ResultError, match=r"run: also holds `thesis.tex`, which is not of a run"):
        short_run.save(tmp_path / "run")
    assert (tmp_path / "run" / "thesis.tex").exists()
    (tmp_path / "run" / "thesis.tex").rename(tmp_path / "run" / "mine.parquet")
    with pytest.raises(ResultError, match=r"run: also holds `mine.parquet`"):
        short_run.save(tmp_path / "run")
    short_run.save(tmp_path / "run", sources_in=tmp_path)
    assert not (tmp_path / "run" / "mine.parquet").exists()


def test_saves_whole_or_not_at_all(short_run, tmp_path):
    class Broken(dict[str, pa.Table]):
        def items(self):
            yield from super().items()
            raise OSError(errno.ENOSPC, "as Arrow says it")

    with pytest.raises(ResultError, match="run: cannot be written: no space left on device"):
        Run(short_run.scenario, short_run.summary, Broken(short_run.tables)).save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_refuses_a_directory_that_holds_no_run(tmp_path):
    with pytest.raises(ResultError, match="holds no run"):
        Run.load(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(ResultError, match=r"run.json: is damaged: not JSON: line 1, column 2"):
        Run.load(tmp_path)
    (tmp_path / "run.json").write_text('{"schema_version": 99}')
    with pytest.raises(ResultError, match=f"format 99, this version reads {SCHEMA_VERSION}"):
        Run.load(tmp_path)


def test_json_has_the_documented_keys(short_run):
    document = json.loads(short_run.to_json())
    assert list(document) == [
        "schema_version", "scenario", "engine", "engine_version", "engine_build", "seed",
        "duration_ns", "verdict", "groups", "flows", "links", "bottleneck", "jain", "emulation",
    ]  # fmt: skip
    assert set(document["verdict"]) == {"status", "reasons"}
    assert {"cc", "flows", "goodput_bps", "share", "rtt_mean_us"} <= set(document["groups"][0])
    assert {
        "flow", "group", "cc", "goodput_bps", "throughput_bps", "rtt_mean_us", "rtt_p95_us",
        "inflight_mean_pkts", "retransmitted_pkts", "rto_count",
    } <= set(document["flows"][0])  # fmt: skip
    assert {
        "utilization", "queue_delay_mean_us", "queue_delay_p95_us", "dropped_pkts",
        "forwarded_pkts",
    } <= set(document["bottleneck"])  # fmt: skip


def test_is_cancelled_from_another_thread():
    control = dumbbell.Control()
    control.cancel()
    with pytest.raises(dumbbell.Cancelled):
        dumbbell.run(Scenario(["reno"], time="60s"), control=control)


def test_reports_progress():
    seen: list[float] = []
    dumbbell.run(Scenario([Group("cubic", 4)], rate="1gbit", time="10s"), on_progress=seen.append)
    assert seen == sorted(seen)
    assert all(0 <= share <= 1 for share in seen)

import errno
import json
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from dumbbell import EngineError, Group, Run, Scenario, ScenarioError, Sweep, SweepResult, run_all
from dumbbell.runs import Progress, handler
from dumbbell.runs.key import run_key
from dumbbell.sweeps.kept_runs import KeptRuns
from dumbbell.sweeps.until_ci import Precision

SCENARIO = Scenario(["copa", "cubic"], time="2s", rate="10mbit")
AXES = {"buffer": "1..4bdp", "flows": [1, 2]}
SIGNALLED = Path(__file__).with_name("signalled_sweep.py")


def files(directory: Path) -> dict[str, bytes]:
    found = {str(p.relative_to(directory)): p for p in directory.rglob("*") if p.is_file()}
    return {name: path.read_bytes() for name, path in sorted(found.items())}


def test_results_are_the_same_bytes_on_threads_and_processes(tmp_path):
    sweep = Sweep(SCENARIO, AXES, reps=2)
    sweep.run(cache=False, jobs=1, out=tmp_path / "one")
    sweep.run(cache=False, jobs=4, out=tmp_path / "four")
    seen: list[Progress] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        sweep.run(cache=False, executor=pool, out=tmp_path / "pool", on_progress=seen.append)
        alone = run_all([("a", SCENARIO)], executor=pool)
    first = files(tmp_path / "one")
    # Eight files a run; two sources with their listings.
    assert len(first) == 2 + 12 * 8 + 2 * 2
    assert files(tmp_path / "four") == files(tmp_path / "pool") == first
    assert (seen[-1].finished, seen[-1].total, seen[-1].simulated_s) == (12, 12, 24)
    assert alone["a"].flows.equals(run_all([("a", SCENARIO)])["a"].flows)


def test_a_worker_with_another_build_is_refused(monkeypatch):
    job = handler.Job(SCENARIO, "simulator", run_key(SCENARIO, "simulator"), series=False)
    monkeypatch.setattr("dumbbell.runs.key.engine_build", lambda: "another")
    with pytest.raises(EngineError, match="a worker has another build of dumbbell"):
        handler.perform_remotely(job)


class Losing(Executor):
    """Loses the third run."""

    def __init__(self) -> None:
        self.runs = 0

    def submit(self, fn, /, *args, **kwargs):
        future: Future[Any] = Future()
        self.runs += 1
        if self.runs == 3:
            future.set_exception(BrokenProcessPool("a process was terminated abruptly.\nIndeed."))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_pool_that_breaks_leaves_what_was_finished(tmp_path):
    sweep = Sweep(SCENARIO, AXES)
    with pytest.raises(EngineError) as caught:
        sweep.run(cache=False, executor=Losing(), jobs=1, out=tmp_path)
    assert str(caught.value) == (
        "a run was lost with its worker: a process was terminated abruptly; finished runs are "
        "kept: run the command again"
    )
    assert len(SweepResult.load(tmp_path).runs) == 2


def test_runs_on_the_kernel_stay_on_this_machine(fabricated_kernel):
    sweep = Sweep(Scenario(["linux/cubic"], time="1s"), {}, engine="kernel")
    with pytest.raises(EngineError, match="an executor or a cluster cannot be used"):
        sweep.run(cluster="tcp://10.0.0.1:8786")
    assert fabricated_kernel.runs == 0


def test_a_full_disk_is_a_line_and_takes_nothing_along(cli, tmp_path, monkeypatch):
    sweep = ("sweep", "copa", "--buffer", "1..2bdp", "--time", "1s", "--no-cache", "--jobs", "1",
             "--out", str(tmp_path / "out"))  # fmt: skip
    whole, written = Path.write_bytes, []

    def fill(path: Path, content: bytes) -> int:
        written.append(path)
        if len(written) > 11:
            raise OSError(errno.ENOSPC, "as Linux says it", str(path))
        return whole(path, content)

    monkeypatch.setattr(Path, "write_bytes", fill)
    outcome = cli(*sweep)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "buffer=2bdp,rep=0: cannot be written: no space left on device" in outcome.err
    assert not list(tmp_path.rglob(".dumbbell-*"))
    assert len(SweepResult.load(tmp_path / "out").runs) == 1
    monkeypatch.undo()
    assert cli("sweep", "--resume", str(tmp_path / "out")).code == 0


def test_repetitions_differ_and_a_seed_says_which():
    result = Sweep(SCENARIO, {"buffer": "1..2bdp"}, reps=4).run(cache=False)
    frame = result.to_pandas()
    for _, cell in frame.groupby(["cell", "group"]):
        assert cell["goodput_bps"].nunique() == 4
    assert result.notes == ()
    assert [sorted(seeds) for seeds in frame.groupby("cell")["seed"].unique()] == [[1, 2, 3, 4]] * 2
    third = Sweep(SCENARIO.replace(seed=3), {"buffer": "1..2bdp"}).run(cache=False)
    again = frame[frame["rep"] == 2].drop(columns="rep").reset_index(drop=True)
    assert again.equals(third.to_pandas().drop(columns="rep"))


def test_repetitions_that_are_all_the_same_are_said_to_be():
    still = Scenario([Group("cubic", jitter="0s")], time="1s")
    result = Sweep(still, {}, reps=3).run(cache=False)
    assert len(result.rows["goodput_bps"].unique()) == 1
    (note,) = result.notes
    assert note.startswith("`all`: all repetitions have the same result")


def test_runs_until_the_interval_is_tight_and_no_further():
    loose = Sweep(SCENARIO, AXES, until_ci="40%", max_reps=40).run(cache=False)
    tight = Sweep(SCENARIO, AXES, until_ci="8%", max_reps=12, reps=3).run(cache=False, jobs=3)
    assert all(5 <= count < 40 for count in loose.reps.values())
    assert all(3 <= count <= 12 for count in tight.reps.values())
    assert sum(tight.reps.values()) > 3 * len(tight.cells)
    limit = Precision.parse("40%", "goodput_bps")
    frame = loose.to_pandas()
    for _, cell in frame.groupby(["cell", "group"]):
        assert limit.excess(list(cell["goodput_bps"])) <= 1
    alone = Sweep(SCENARIO, AXES, until_ci="8%", max_reps=12, reps=3).run(cache=False, jobs=1)
    assert alone.rows.equals(tight.rows)


def test_cells_that_reached_the_limit_are_told():
    cut = Sweep(SCENARIO, AXES, until_ci="0.001%", max_reps=5).run(cache=False)
    count = len(cut.cells)
    assert cut.notes == (f"{count} cells reached 5 runs with `goodput_bps` not within 0.001%",)
    loose = Sweep(SCENARIO, AXES, until_ci="40%", max_reps=40).run(cache=False)
    assert loose.notes == ()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"until_ci": "two"}, "invalid until-ci `two`: use `2%`"),
        ({"until_ci": "0%"}, "invalid until-ci `0%`"),
        ({"until_ci": "2"}, "use `2%` of the mean, or a width in Mbit/s, like `0.5Mbit/s`"),
        ({"until_ci": "2ms"}, "invalid until-ci `2ms`: use `2%`"),
        ({"until_ci": "2", "metric": "rtt_p50_us"}, "or a width in ms, like `0.5ms`"),
        ({"until_ci": "two", "metric": "jain"}, "or a width, like `0.01`"),
        ({"until_ci": "2%", "metric": "godput_bps"}, "did you mean `goodput_bps`?"),
        (
            {"until_ci": "2%", "reps": 9, "max_reps": 5},
            "reps is 9; an interval needs 2 to 5 repetitions",
        ),
        ({"reps": 0}, "reps is 0; it must be at least 1"),
        ({"warmup": "2s"}, "leaves nothing of a run of `2s`"),
    ],
)
def test_a_plan_that_makes_no_sense_is_a_line(words, says):
    with pytest.raises(ScenarioError) as caught:
        Sweep(SCENARIO, AXES, **words)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "metric", "limit"),
    [
        ("2%", "share", Precision(0.02, is_relative=True)),
        ("0.5Mbit/s", "goodput_bps", Precision(5e5, is_relative=False)),
        ("500 bit/s", "goodput_bps", Precision(500, is_relative=False)),
        ("2ms", "rtt_p50_us", Precision(2000, is_relative=False)),
        ("0.01", "jain", Precision(0.01, is_relative=False)),
    ],
)
def test_a_limit_is_of_the_mean_or_in_a_unit_of_the_metric(text, metric, limit):
    assert Precision.parse(text, metric) == limit


def test_a_number_of_python_s_is_in_the_metric_s_unit():
    assert Sweep(SCENARIO, AXES, until_ci=5e5).plan.until_ci == "500000.0bit/s"
    assert Sweep(SCENARIO, AXES, until_ci=0.01, metric="jain").plan.until_ci == "0.01"


def test_the_labelled_array_has_the_rows(tmp_path):
    axes = {"rate": "10mbit,20mbit", "rtt": "40ms,20ms", "flows": [1, 2]}
    # In 1 BDP, four flows' first 2 s at 20 Mbit/s drop a fifth of the packets: a WARN.
    scenario = SCENARIO.replace(buffer="2bdp")
    result = Sweep(scenario, axes, zipped=[("rate", "rtt")], reps=2).run(cache=False)
    array = result.to_xarray()
    assert dict(array.sizes) == {"rate+rtt": 2, "flows": 2, "rep": 2, "group": 2}
    assert array["goodput_bps"].attrs["units"] == "bit/s"
    assert array["rtt"].attrs["units"] == "ms"
    assert list(array["rate"].values) == [10e6, 20e6]
    assert array["goodput_bps"].dims == ("rate+rtt", "flows", "rep", "group")
    assert array["jain"].dims == array["verdict"].dims == ("rate+rtt", "flows", "rep")
    assert array["jain"].notnull().all()
    assert (array["verdict"] == "OK").all()
    assert list(array["cc"].values) == ["copa", "cubic"]
    assert array["flows"].dtype == int
    assert array["inflight_mean_pkts"].attrs["long_name"] == "mean inflight"
    one = array["share"].isel({"rate+rtt": 1}).sel(flows=2, rep=1, group=0)
    frame = result.to_pandas()
    rows = frame[(frame.rate == "20mbit") & (frame.axis_flows == "2") & (frame.rep == 1)]
    assert float(one) == rows[rows.group == 0]["share"].item()


def test_a_congestion_control_that_an_axis_changes_is_a_cell_s():
    result = Sweep(SCENARIO, {"1.cc": "cubic,reno", "flows": [1, 2]}).run(cache=False)
    array = result.to_xarray()
    assert array["cc"].dims == ("1.cc", "flows", "group")
    assert list(array["cc"].sel({"1.cc": "reno", "flows": 2}).values) == ["copa", "reno"]
    assert array["1.cc"].dtype.kind in "UO"


def test_rows_are_read_by_others(tmp_path):
    result = Sweep(SCENARIO, AXES).run(cache=False, out=tmp_path)
    found = (
        duckdb.read_parquet(str(tmp_path / "rows.parquet"))
        .filter("cc = 'copa'")
        .aggregate("buffer_bdp, avg(share)")
        .order("buffer_bdp")
        .fetchall()
    )
    assert [row[0] for row in found] == [1, 2, 4]
    frame = result.to_pandas().query("cc == 'copa'")
    assert np.allclose([row[1] for row in found], frame.groupby("buffer_bdp")["share"].mean())


def test_what_was_saved_is_loaded(tmp_path):
    result = Sweep(SCENARIO, AXES, reps=2, warmup="500ms").run(cache=False)
    result.save(tmp_path / "saved")
    loaded = SweepResult.load(tmp_path / "saved")
    assert loaded.rows.equals(result.rows)
    assert (loaded.axes, loaded.plan, loaded.reps) == (result.axes, result.plan, result.reps)
    assert loaded.runs[3, 1].to_json() == result.runs[3, 1].to_json()
    document = json.loads((tmp_path / "saved" / "sweep.json").read_text())
    assert document["progress"]["finished_runs"] == 12


def test_a_killed_sweep_goes_on_where_it_was(cli, tmp_path, monkeypatch):
    out = tmp_path / "out"
    arguments = ["sweep", "copa", "cubic", "--rate", "10mbit", "--buffer", "1..8bdp", "--reps",
                 "4", "--time", "2s", "--sample", "1s", "--no-cache"]  # fmt: skip
    command = [sys.executable, str(SIGNALLED), f"{signal.SIGKILL:d}", "3", *arguments]
    killed = subprocess.run([*command, "--out", str(out)], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (len(list(out.glob("runs/*/run.json"))), (out / "rows.parquet").exists()) == (3, False)
    kept = SweepResult.load(out)
    assert len(kept.runs) == 3
    assert all(run.flows.num_rows > 0 for run in kept.runs.values())
    times = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/run.json")}
    outcome = cli("sweep", "--resume", str(out), "--no-cache")
    assert outcome.code == 0, outcome.err
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert cli(*arguments, "--out", str(tmp_path / "whole")).code == 0
    assert pq.read_table(out / "rows.parquet").equals(
        pq.read_table(tmp_path / "whole" / "rows.parquet")
    )
    assert len(SweepResult.load(out).runs) == 16


def test_rows_of_another_warm_up_are_not_taken_for_those_of_a_killed_sweep(tmp_path):
    Sweep(SCENARIO, {}).run(cache=False, out=tmp_path)
    late = Sweep(SCENARIO, {}, warmup="1s")
    expected = late.run(cache=False)
    late._directory(tmp_path)  # it begins, and is killed
    assert SweepResult.load(tmp_path).rows.equals(expected.rows)


def test_tables_that_are_damaged_are_not_measured(tmp_path):
    Sweep(SCENARIO, {}).run(cache=False, out=tmp_path)
    (table,) = tmp_path.glob("runs/*/flows.parquet")
    content = table.read_bytes()
    table.write_bytes(content[:99])
    late = Sweep(SCENARIO, {}, warmup="1s")
    assert late.run(cache=False, out=tmp_path).rows.equals(late.run(cache=False).rows)
    assert table.read_bytes() == content


def test_of_flows_that_end_before_the_warm_up_it_is_said(cli):
    outcome = cli("sweep", "copa", "cubic", "--axis", "1.stop=500ms", "--time", "3s",
                  "--warmup", "1s", "--no-cache")  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "\nno run has a value of cubic Mbit/s/flow\n" in outcome.out


def test_another_sweep_is_not_written_over(cli, tmp_path):
    sweep = ("sweep", "copa", "--time", "1s", "--out", str(tmp_path))
    assert cli(*sweep, "--buffer", "1..2bdp").code == 0
    outcome = cli(*sweep, "--buffer", "1..4bdp")
    assert outcome.code == 2
    differs = "axis buffer is `1bdp,2bdp` there and `1bdp,2bdp,4bdp` now"
    said = f"holds another sweep ({differs}); resume it with `--resume {tmp_path}`"
    assert said in outcome.err
    words = ("cubic", "--rate", "20mbit", "--buffer", "1..2bdp", "--time", "1s")
    other = cli("sweep", *words, "--out", str(tmp_path))
    assert "rate is `50mbit` there and `20mbit` now" in other.err
    assert "group 0 cc is `copa` there and `cubic` now" in other.err
    assert len(SweepResult.load(tmp_path).runs) == 2
    more = cli(*sweep, "--buffer", "1..2bdp", "--reps", "3")
    assert more.code == 0
    assert len(SweepResult.load(tmp_path).runs) == 6


def test_a_directory_of_something_else_is_left_alone(cli, tmp_path):
    (tmp_path / "index.md").write_text("mine")
    outcome = cli("sweep", "copa", "--time", "1s", "--out", str(tmp_path))
    assert outcome.code == 2
    assert outcome.err == (
        f"error: {tmp_path}: is not empty and holds no sweep; use another `--out`\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["index.md"]


def test_what_a_killed_write_left_is_no_other_directory_s(cli, tmp_path):
    (tmp_path / ".dumbbell-killed").write_text("{")
    assert cli("sweep", "copa", "--time", "1s", "--out", str(tmp_path)).code == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "holds no sweep: sweep.json not found"),
        ("{", "sweep.json: is damaged"),
        ('{"schema_version": 9}', "sweep.json: written in format 9, this version reads 1"),
        ('{"schema_version": 1}', "sweep.json: is damaged"),
    ],
)
def test_a_directory_that_is_no_sweep_is_a_line(cli, tmp_path, content, says):
    if content is not None:
        (tmp_path / "sweep.json").write_text(content)
    outcome = cli("sweep", "--resume", str(tmp_path))
    assert outcome.code == 2
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_axes_on_the_command_line(cli):
    outcome = cli(
        "sweep", "copa", "cubic", "--axis", "1.cc=cubic,bbr", "--axis", "copa.mode_window_rtts=5,8",
        "--zip", "1.cc,copa.mode_window_rtts", "--time", "1s", "--json",
    )  # fmt: skip
    points = [document["point"] for document in json.loads(outcome.out)]
    assert points == [
        {"1.cc": "cubic", "copa.mode_window_rtts": 5}, {"1.cc": "bbr", "copa.mode_window_rtts": 8},
    ]  # fmt: skip
    for bad, says in (
        (("--axis", "flows"), "use `--axis NAME=VALUES`"),
        (("--axis", "flows=1", "--flows", "2"), "axis `flows` is given twice"),
        (("--zip", "rate,rtt"), "`rate` is not an axis of this sweep"),
        (("--resume", "x"), "it cannot be combined with algorithms"),
        (("--resume", "x"), "repeat the first command with more `--reps` and the same `--out`"),
        (("--warmup", "1min"), "leaves nothing of a run"),
    ):
        outcome = cli("sweep", "copa", *bad, "--time", "1s")
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)
        assert says in outcome.err


def test_a_single_value_is_no_axis(cli, tmp_path):
    words = ("--rate", "10mbit", "--rtt", "20ms", "--flows", "2", "--buffer", "1..2bdp")
    outcome = cli("sweep", "copa", "cubic", *words, "--time", "1s", "--out", str(tmp_path))
    assert outcome.code == 0, outcome.err
    result = SweepResult.load(tmp_path)
    assert [axis.name for axis in result.axes] == ["buffer"]
    assert (str(result.scenario.rate), str(result.scenario.rtt)) == ("10mbit", "20ms")
    assert [group.flows for group in result.scenario.groups] == [2, 2]
    zipped = ("--rate", "10mbit", "--rtt", "20ms", "--zip", "rate,rtt", "--time", "1s", "--json")
    (document,) = json.loads(cli("sweep", "copa", *zipped).out)
    assert document["point"] == {"rate": "10mbit", "rtt": "20ms"}


def test_figures_are_drawn_again_where_something_changed(cli, tmp_path):
    words = ("sweep", "copa", "cubic", "--buffer", "1..4bdp", "--time", "1s", "--out")
    directory = tmp_path / "s"

    def sweep(*more: str) -> None:
        outcome = cli(*words, str(directory), *more)
        assert outcome.code == 0, outcome.err

    sweep()
    figure, other, *_ = sorted((directory / "figures").glob("*.svg"))
    drawn = figure.read_bytes()
    figure.write_text("mine")
    sweep()
    assert figure.read_text() == "mine"
    other.unlink()
    sweep()
    assert other.is_file()
    assert figure.read_bytes() == drawn
    figure.write_text("mine")
    sweep("--reps", "3")
    assert figure.read_bytes() not in (b"mine", drawn)
    swept = figure.read_bytes()
    assert cli("plot", str(directory), "--format", "svg").code == 0
    assert figure.read_bytes() == swept
    assert list((directory / "plots").glob("*.svg"))
    sweep("--reps", "3")


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_many_runs_leave_no_files_open_and_little_in_memory():
    """Each run is looked at: of one, no file may be open and 3 kB may be left."""
    sweep = Sweep(Scenario(["reno"], time="200ms", sample="0s"), {"buffer": "1bdp,2bdp"}, reps=100)
    before = open_files()
    result = sweep.run(cache=False)
    assert open_files() <= before
    assert len(result.runs) == 200
    assert isinstance(result.runs, KeptRuns)
    packed = sum(len(kept.packed) for kept in result.runs.kept.values())
    assert packed < 200 * 3000
    assert isinstance(result.runs[1, 99], Run)

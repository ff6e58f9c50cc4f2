import json
import os
import re
import signal
import subprocess
import sys

import pytest

import dumbbell
from dumbbell import Reason, Run, Verdict
from tests.python.endless import ENDLESS_S, FLOWS, RATE, SAMPLE, running

FAST = ("--time", "1s")


def test_prints_a_table(cli):
    outcome = cli("run", "copa", "cubic", "--flows", "2", *FAST)
    assert outcome.code == 0
    assert outcome.err == ""
    for text in ("copa", "cubic", "Mbit/s", "RTT mean", "bottleneck", "Jain's index", "verdict"):
        assert text in outcome.out
    assert "3 cubic" in outcome.out  # each flow has a row


def test_prints_no_row_per_flow_for_many(cli):
    assert "20 reno" not in cli("run", "reno", "--flows", "24", *FAST).out


def test_json_is_all_there_is_on_stdout(cli):
    outcome = cli("run", "copa", "cubic", "--json", *FAST)
    assert outcome.code == 0
    document = json.loads(outcome.out)
    assert document["engine"] == "simulator"
    assert [group["cc"] for group in document["groups"]] == ["copa", "cubic"]


def test_saves(cli, tmp_path):
    outcome = cli("run", "reno", *FAST, "--out", str(tmp_path / "run"))
    assert outcome.code == 0
    assert f"saved in {tmp_path / 'run'}" in outcome.out
    assert Run.load(tmp_path / "run").groups[0]["cc"] == "reno"


def test_refuses_to_write_over_anything_but_a_run(cli, tmp_path):
    (tmp_path / "notes.txt").touch()
    outcome = cli("run", "reno", *FAST, "--out", str(tmp_path))
    assert outcome.code == 2
    assert "exists and does not hold a run" in outcome.err


def test_options_go_before_a_file(cli, tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text('time = "600s"\n[[group]]\ncc = "cubic"\n[[group]]\ncc = "reno"\nflows = 2\n')
    out = cli("run", str(path), *FAST, "--seed", "5", "--start", "0s,0.5s", "--json").out
    document = json.loads(out)
    assert document["seed"] == 5
    assert document["duration_ns"] == 1_000_000_000
    assert [group["flows"] for group in document["groups"]] == [1, 2]
    assert document["flows"][1]["start_us"] >= 500_000


def test_lists_congestion_controls(cli):
    outcome = cli("cc", "list")
    assert outcome.code == 0
    known = (
        "bbr",
        "bbr3",
        "bbr_fca",
        "copa",
        "cubic",
        "dctcp",
        "l3dr",
        "ledbat",
        "nagi",
        "prague",
        "reno",
        "vegas",
        "quic/quinn:cubic",
        "quic/noq@1.1.0:bbr3",
    )
    for text in known:
        assert text in outcome.out
    assert len(outcome.out.splitlines()) <= 30
    for text in ("mode_window_rtts", "1 to 30", "queueing"):
        assert text in cli("cc", "list", "copa").out
    documents = json.loads(cli("cc", "list", "copa", "--json").out)
    assert [document["name"] for document in documents] == ["copa"]
    assert {"name", "unit", "doc", "min", "max", "default"} == set(documents[0]["params"][0])


def test_sweeps(cli, tmp_path):
    arguments = ("sweep", "copa", "cubic", "--buffer", "1..2bdp", "--flows", "1,2", "--reps", "2")
    outcome = cli(*arguments, *FAST, "--out", str(tmp_path))
    assert outcome.code == 0
    assert outcome.err == ""
    assert outcome.out.count("2bdp") == 2
    runs = sorted(path.parent.name for path in tmp_path.rglob("run.json"))
    assert len(runs) == 8
    assert runs[0] == "buffer=1bdp,flows=1,rep=0"
    documents = json.loads(cli(*arguments, *FAST, "--json").out)
    assert len(documents) == 8
    assert documents[0]["point"] == {"buffer": "1bdp", "flows": 1}


@pytest.mark.parametrize("color", [True, False])
def test_no_color(color):
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    if not color:
        del environment["FORCE_COLOR"]
        environment["NO_COLOR"] = "1"
    command = [sys.executable, "-m", "dumbbell", "run", "reno", *FAST]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ("\x1b[" in result.stdout) == color


def test_invalid_is_exit_1_and_the_result_is_printed_and_saved(cli, monkeypatch, tmp_path):
    invalid = Verdict((Reason("INVALID", "rate", "too fast"),))
    monkeypatch.setattr(sys.modules["dumbbell.run.run"], "evaluate", lambda *_: invalid)
    outcome = cli("run", "reno", *FAST, "--json", "--out", str(tmp_path / "run"))
    assert outcome.code == 1
    assert json.loads(outcome.out)["verdict"]["status"] == "INVALID"
    assert Run.load(tmp_path / "run").tables
    assert cli("run", "reno", *FAST).code == 1


def test_warn_is_exit_0(cli, monkeypatch):
    warning = Verdict((Reason("WARN", "idle", "nothing"),))
    monkeypatch.setattr(sys.modules["dumbbell.run.run"], "evaluate", lambda *_: warning)
    assert cli("run", "reno", *FAST).code == 0


def test_a_closed_pipe_prints_no_traceback():
    command = f"{sys.executable} -m dumbbell cc list | head -1"
    result = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("bbr")
    assert result.stderr == ""


def test_a_mix_is_written_with_a_plus(cli):
    document = json.loads(cli("run", "copa+cubic", *FAST, "--json").out)
    assert [group["cc"] for group in document["groups"]] == ["copa", "cubic"]


def test_every_option_of_a_sweep_takes_a_list(cli):
    steps = ("--rate-steps", "500ms:5mbit;500ms:9mbit", "--mss", "1448B,500B")
    documents = json.loads(cli("sweep", "reno", *FAST, *steps, "--loss", "1%", "--json").out)
    assert [document["point"] for document in documents] == [
        {"rate_steps": "500ms:5mbit", "mss": "1448B"}, {"rate_steps": "500ms:5mbit", "mss": "500B"},
        {"rate_steps": "500ms:9mbit", "mss": "1448B"}, {"rate_steps": "500ms:9mbit", "mss": "500B"},
    ]  # fmt: skip
    assert {document["scenario"]["loss"] for document in documents} == {"1%"}


def test_groups_stop_one_by_one_as_they_start_in_a_sweep_too(cli):
    times = ("--start", "0s,0.1s", "--stop", "1.5s,0.8s")
    document = json.loads(cli("run", "copa", "cubic", *FAST, *times, "--json").out)
    (swept,) = json.loads(cli("sweep", "copa", "cubic", *FAST, *times, "--json").out)
    for groups in (document["scenario"]["group"], swept["scenario"]["group"]):
        assert [(group["start"], group["stop"]) for group in groups] == [
            ("0s", "1.5s"), ("100ms", "800ms"),
        ]  # fmt: skip


def test_metrics_are_the_columns_of_a_sweeps_table(cli):
    out = cli(
        "sweep", "copa", "cubic", "--buffer", "1,2bdp", *FAST, "--metric", "rtt_p95_us,jain"
    ).out
    assert "Jain's index" in out
    assert "queueing delay" not in out
    assert out.count("RTT, 95th") == 2  # a column for each group


def test_a_long_run_says_how_long_and_ctrl_c_stops_it():
    command = ["run", "cubic", "--rate", RATE, "--flows", f"{FLOWS}", "--sample", SAMPLE]
    with running(*command, "--time", ENDLESS_S) as process:
        assert process.stderr is not None
        estimate = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, last = process.communicate()
    assert (process.returncode, out, last) == (130, "", "error: interrupted\n")
    said = r"note: about \d+ (min|h|days) left at this pace; Ctrl-C ends it\n"
    assert re.fullmatch(said, estimate)


SLOW_TO_LOAD = {
    "dask",
    "distributed",
    "duckdb",
    "jinja2",
    "matplotlib",
    "pandas",
    "scipy",
    "xarray",
}


@pytest.mark.parametrize("arguments", [["run", "reno", *FAST], ["sweep", "reno", *FAST]])
def test_what_most_commands_do_not_need_is_not_loaded(arguments):
    """It takes longer to load than a short run."""
    assert loaded_by("from dumbbell.cli import main; main()", *arguments) & SLOW_TO_LOAD == set()


@pytest.mark.parametrize("ccs", [["reno"], ["copa", "cubic"]])
def test_a_run_that_saves_nothing_loads_no_large_package(ccs):
    large = SLOW_TO_LOAD | {"numpy", "pyarrow", "pydantic"}
    assert loaded_by("from dumbbell.cli import main; main()", "run", *ccs, *FAST) & large == set()


@pytest.mark.parametrize("code", ["import dumbbell", "from dumbbell.cli import main; main()"])
def test_import_and_help_load_no_large_package(code):
    large = SLOW_TO_LOAD | {"numpy", "pyarrow"}
    assert loaded_by(code, "--help") & large == set()


def loaded_by(code: str, *arguments: str) -> set[str]:
    """Return the packages that a process has loaded when it exits."""
    report = (
        "import atexit, sys\n"
        "packages = lambda: ' '.join({name.partition('.')[0] for name in sys.modules})\n"
        "atexit.register(lambda: print(packages(), file=sys.stderr))\n"
    )
    command = [sys.executable, "-c", report + code, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(result.stderr.splitlines()[-1].split())


def test_every_exported_name_can_be_loaded():
    """The stub lists the names; the modules that it names must have them."""
    assert [name for name in dumbbell.__all__ if not hasattr(dumbbell, name)] == []
    assert callable(dumbbell.run)


@pytest.mark.parametrize("first", ["import pyarrow", "pass"])
def test_frames_are_made_where_pandas_was_left_out(first):
    code = (
        f"{first}; import sys; from dumbbell.terminal.without_pandas import leave_pandas_out\n"
        "leave_pandas_out(); import pyarrow; table = pyarrow.table({'a': [1, None]})\n"
        "print('pandas' in sys.modules, table.to_pandas()['a'].sum())"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "False 1.0\n"


def test_version(cli):
    assert cli("--version").out == f"dumbbell {dumbbell.__version__}\n"


def test_a_call_is_rated_where_it_is_run(cli):
    """G.711 on an idle path: R is 93.2 less 0.024 for each ms from mouth to ear."""
    call = ("--traffic", "datagram:preset=voip,codec=g711")
    outcome = cli("run", "cubic", *call, "--rtt", "40ms", "--time", "5s")
    row = next(line for line in outcome.out.splitlines() if line.count("20.0") == 3)
    assert row.split()[-3:] == ["0.00", "92", "4.4"]
    assert "MOS" not in cli("run", "cubic", "--time", "1s").out


@pytest.mark.parametrize("words", [(), ("cc",)])
def test_a_group_of_commands_alone_prints_its_help(cli, words) -> None:
    outcome = cli(*words)
    assert (outcome.code, outcome.err) == (2, "")
    assert outcome.out.startswith("Usage: dumbbell")

"""The choice of the engine; the kernel's runs here are fabricated (conftest)."""

from __future__ import annotations

import json
import threading

import pytest

import dumbbell
from dumbbell import (
    CongestionControlChoice,
    EngineError,
    Group,
    PrivilegeError,
    Run,
    Scenario,
    ScenarioError,
)
from dumbbell.run import engine
from dumbbell.run.engine import check_engine, default_workers
from dumbbell.scenario.file import read_scenario

FAST = ("--time", "1s")


@pytest.fixture
def ordinary_user(monkeypatch):
    monkeypatch.setattr(engine, "has_capabilities", lambda *_bits: False)


def test_the_kernels_own_is_a_congestion_control_without_parameters_or_series():
    cc = CongestionControlChoice.parse("linux/cubic")
    assert (cc.is_kernels_own, cc.is_file, cc.kernel_name) == (True, False, "cubic")
    assert cc.series == ()
    assert str(cc) == "linux/cubic"
    assert Scenario([cc]).resolve()["groups"][0]["cc"] == {"name": "linux/cubic", "params": {}}


def test_a_file_in_a_directory_named_linux_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "linux").mkdir()
    (tmp_path / "linux" / "mine.bpf.c").touch()
    assert CongestionControlChoice.parse("linux/mine.bpf.c").is_file


def test_the_simulator_refuses_the_kernels_own():
    with pytest.raises(ScenarioError, match="use `--engine uml` or `kernel`, or `cubic`"):
        dumbbell.run(Scenario(["linux/cubic"]))
    with pytest.raises(ScenarioError, match=r"own; use `--engine uml` or `kernel`$"):
        dumbbell.run_all([(1, Scenario(["linux/westwood"]))])


def test_a_scenario_names_no_engine(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text('engine = "kernel"\n[[group]]\ncc = "reno"\n')
    with pytest.raises(ScenarioError, match=r":1: unknown key `engine`; .* use `--engine kernel`"):
        read_scenario(path)
    assert "engine" not in Scenario(["reno"]).to_dict()


def test_the_engine_is_an_argument_of_a_run(fabricated_kernel):
    scenario = Scenario(["linux/cubic", "copa"], time="1s")
    run = dumbbell.run(scenario, engine="kernel")
    assert fabricated_kernel.runs == 1
    assert (run.engine, run.summary["engine"]) == ("kernel", "kernel")
    assert run.emulation is not None
    assert ", kernel, " in repr(run)
    assert run.groups[0]["lost_pkts"] is None
    plain = dumbbell.run(scenario.replace(groups=["cubic"]))
    assert (plain.engine, plain.emulation) == ("simulator", None)


def test_a_run_on_the_kernel_is_saved_and_loaded(fabricated_kernel, tmp_path):
    run = dumbbell.run(Scenario(["linux/cubic"], time="1s"), engine="kernel")
    loaded = Run.load(run.save(tmp_path / "run"))
    assert loaded.to_json() == run.to_json()
    assert loaded.emulation == run.emulation
    assert loaded.verdict == run.verdict


def test_loads_what_was_written_before_there_were_two_engines(short_run, tmp_path):
    directory = short_run.save(tmp_path / "run")
    document = json.loads((directory / "run.json").read_text())
    del document["emulation"]
    (directory / "run.json").write_text(json.dumps(document))
    assert Run.load(directory).emulation is None


def test_leaves_out_what_the_kernel_does_not_count_and_prints_how_late_the_path_was(
    cli, fabricated_kernel
):
    outcome = cli("run", "copa", "cubic", "--engine", "kernel", *FAST)
    assert outcome.code == 0, outcome.err
    assert "on Linux 0.0.0-fabricated" in outcome.out
    assert "lateness     p50 12 µs, p99 80 µs, max 900 µs of 100,000 packets" in outcome.out
    assert "retrans." in outcome.out
    assert "RTOs" not in outcome.out
    document = json.loads(cli("run", "copa", "--engine", "kernel", "--json", *FAST).out)
    assert document["engine"] == "kernel"
    assert document["emulation"]["lateness_p99_us"] == 80


def test_runs_on_the_kernel_are_one_at_a_time_by_default(cli, fabricated_kernel, tmp_path):
    arguments = ("sweep", "linux/cubic", "--reps", "4", "--engine", "kernel", *FAST)
    assert cli(*arguments, "--out", str(tmp_path)).code == 0
    assert (fabricated_kernel.runs, fabricated_kernel.most) == (4, 1)
    assert len(list((tmp_path / "runs").iterdir())) == 4
    fabricated_kernel.meeting = threading.Barrier(4)
    assert cli(*arguments, "--jobs", "4").code == 0
    assert fabricated_kernel.most == 4
    assert default_workers("kernel") == 1 <= default_workers("simulator")


def test_help_says_why_one_at_a_time(cli):
    out = " ".join(cli("sweep", "--help-all").out.split())
    assert "share the cores in real time" in out
    assert "on the kernel 1" in out


def test_what_only_the_simulator_has_is_refused_before_anything_runs(ordinary_user):
    """Whoever asks: it needs no privileges to be refused."""
    old = Scenario([Group("cubic", tcp="4.15")], time="1s")
    with pytest.raises(EngineError, match="`tcp` of `cubic` is not supported by the kernel engine"):
        check_engine("kernel", Scenario(["reno"]), old)
    check_engine("simulator", old)


def test_an_ordinary_user_s_program_gets_instructions(ordinary_user):
    with pytest.raises(PrivilegeError, match="with `unshare --user --map-root-user` before it"):
        dumbbell.run(Scenario(["linux/cubic"]), engine="kernel")
    with pytest.raises(
        EngineError, match="`copa` on the kernel engine needs root's privileges"
    ) as caught:
        dumbbell.run(Scenario(["linux/cubic", "copa"]), engine="kernel")
    assert not isinstance(caught.value, PrivilegeError)
    dumbbell.run(Scenario(["reno"], time="1s"))


def test_capabilities_are_read_from_the_process(monkeypatch, tmp_path):
    status = tmp_path / "status"
    monkeypatch.setattr(engine, "Path", lambda _path: status)
    status.write_text("Name:\tx\nCapEff:\t0000000000201000\n")  # bits 12 and 21
    assert engine.has_capabilities(12, 21)
    assert not engine.has_capabilities(12, 39)
    status.write_text("Name:\tx\n")
    assert not engine.has_capabilities(12)
    status.unlink()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert not engine.has_capabilities(12)


def test_capabilities_are_as_good_as_root(monkeypatch):
    monkeypatch.setattr(engine, "has_capabilities", lambda *_bits: True)
    check_engine("kernel", Scenario(["copa"]))

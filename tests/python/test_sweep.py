import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import dumbbell
from dumbbell import Run, Scenario, SweepInterrupted, run_all
from dumbbell.runs import Progress
from tests.python.endless import ENDLESS_S, FLOWS, RATE, SAMPLE, endless, running


def scenarios(count: int, seconds: str = "1s") -> list[tuple[int, Scenario]]:
    return [(seed, Scenario(["cubic"], time=seconds, seed=seed)) for seed in range(1, count + 1)]


def test_keeps_the_order_whatever_the_workers():
    one = run_all(scenarios(5), jobs=1)
    many = run_all(scenarios(5), jobs=4)
    assert list(one) == list(many) == [1, 2, 3, 4, 5]
    for seed, run in one.items():
        assert run.to_json() == many[seed].to_json()
        assert run.flows.equals(many[seed].flows)


def test_reports_progress_in_simulated_seconds():
    seen: list[Progress] = []
    run_all(scenarios(3, "2s"), on_progress=seen.append)
    assert seen[-1] == Progress(finished=3, total=3, simulated_s=6, total_s=6)
    assert [p.simulated_s for p in seen] == sorted(p.simulated_s for p in seen)


def test_hands_over_each_run_as_it_finishes(tmp_path):
    def keep(seed: int, run: Run) -> Run:
        return Run.load(run.save(tmp_path / str(seed)))

    runs = run_all(scenarios(3), on_finished=keep)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1", "2", "3"]
    assert all(run.flows.num_rows > 0 for run in runs.values())


def test_first_error_stops_the_rest(tmp_path):
    broken = tmp_path / "broken.bpf.c"
    broken.write_text("no C")
    cases = [("broken", Scenario([str(broken)])), *((n, endless(seed=n)) for n in range(2, 52))]
    with pytest.raises(dumbbell.EngineError, match="does not compile"):
        run_all(cases, jobs=1)


def test_interrupt_stops_what_is_under_way_and_keeps_finished_runs():
    cases = [*scenarios(1), *((seed, endless(seed=seed)) for seed in range(2, 10))]

    def interrupt(progress: Progress) -> None:
        if progress.finished == 1:
            raise KeyboardInterrupt

    with pytest.raises(SweepInterrupted) as caught:
        run_all(cases, jobs=2, on_progress=interrupt)
    assert list(caught.value.finished) == [1]
    assert caught.value.total == 9
    assert str(caught.value) == "1 of 9 runs finished"


def test_ctrl_c_on_the_command_line(tmp_path):
    command = [
        "sweep", "cubic", "--rate", RATE, "--flows", f"{FLOWS}", "--sample", SAMPLE,
        "--time", f"1s,{ENDLESS_S}", "--reps", "2", "--jobs", "2", "--no-cache",
        "--out", str(tmp_path / "out"),
    ]  # fmt: skip
    with running(*command) as process:
        while not finished(tmp_path) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert out == ""
    # A machine that is slow enough says how long it would take.
    *notes, err = err.splitlines()
    assert [note for note in notes if " left at this pace; " not in note] == []
    assert err.startswith("error: interrupted: ")
    assert "of 4 runs finished, kept in" in err
    # As many as it says, each of them whole.
    kept = finished(tmp_path)
    assert f"interrupted: {len(kept)} of" in err
    assert all(Run.load(path.parent).flows.num_rows > 0 for path in kept)
    assert not list((tmp_path / "out").rglob(".dumbbell-*"))


def test_ctrl_c_with_nothing_finished_claims_no_directory(cli, monkeypatch, tmp_path):
    def interrupt(*_arguments, **_options):
        raise SweepInterrupted({}, 8)

    def stop(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["dumbbell.sweeps.sweep"], "drive", stop)
    monkeypatch.setattr(import_module("dumbbell_studies.papers.reproduce"), "run_all", interrupt)
    for command in ("sweep", "cubic", "--reps", "8"), ("reproduce", "ogino2021"):
        outcome = cli(*command, "--out", str(tmp_path / "out"))
        assert outcome.code == 130
        assert outcome.err == "error: interrupted: 0 of 8 runs finished\n"


def finished(directory: Path) -> list[Path]:
    # Runs are moved into place whole, so a directory may vanish under the walk: os.walk allows it.
    return [
        Path(at, "run.json")
        for at, _, files in os.walk(directory)
        if "run.json" in files and ".dumbbell-" not in at
    ]

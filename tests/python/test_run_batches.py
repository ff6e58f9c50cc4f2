import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from dumbbell import CongestionControlError, Group, ResultError, Run, Scenario, Sweep
from dumbbell.metrics import AllMetrics
from dumbbell.run import execute
from dumbbell.runs import Cache, handler, measure_all
from dumbbell.runs.executor import MAX_BATCH, LocalRunner
from dumbbell.runs.handler import PendingRun
from dumbbell.runs.inventory import take_inventory


def test_short_runs_go_in_batches_and_long_ones_one_by_one():
    def batches(scenario: Scenario, engine: str = "simulator", count: int = 40) -> list[int]:
        taken: list[int] = []

        def perform_all(cases: Sequence[Any]) -> list[int]:
            taken.append(len(cases))
            time.sleep(0.01)  # meanwhile the others are submitted
            return [0] * len(cases)

        does: Any = SimpleNamespace(engine=engine, find=lambda _: None, perform_all=perform_all)
        runner: LocalRunner[int, int] = LocalRunner(does, 2)
        futures = [runner.submit(PendingRun(at, scenario)) for at in range(count)]
        assert [future.result() for future in futures] == [(0, False)] * count
        runner.close()
        return taken

    short = Scenario(["reno"], time="1s", rate="5mbit")
    assert 8 < max(batches(short)) <= MAX_BATCH
    assert max(batches(short.replace(rate="500mbit"))) == 2
    assert max(batches(short.replace(rate="50mbit", time="20s"))) == 1
    assert max(batches(Scenario([Group("reno", flows=300)], time="1s", rate="5mbit"))) == 1
    assert max(batches(short, engine="kernel")) == 1
    assert max(batches(short, count=6)) <= 3  # for both threads


def test_a_run_that_fails_spoils_no_other_of_its_batch(tmp_path, monkeypatch):
    asked = []

    def fails_once(scenario: Scenario, *arguments: Any) -> Run:
        asked.append(scenario)
        if len(asked) == 3:
            raise CongestionControlError("it crashed")
        return execute(scenario, *arguments)

    monkeypatch.setattr(handler, "execute", fails_once)
    axes = {"buffer": [f"{size}kB" for size in range(20, 30)]}
    cache = Cache(tmp_path / "cache")
    result = Sweep(Scenario(["reno"], time="1s", rate="5mbit"), axes).run(cache=cache, jobs=1)
    assert (len(result.runs), list(result.failed.values())) == (9, ["it crashed"])
    assert take_inventory(cache).entries == 9


def test_a_run_that_cannot_be_measured_spoils_no_other_of_its_batch(tmp_path):
    cache = Cache(tmp_path / "cache")
    scenarios = [(at, Scenario(["reno"], time=f"{at}s", rate="5mbit")) for at in range(6, 0, -1)]
    with pytest.raises(ResultError, match="3s"):
        measure_all(scenarios, lambda _: AllMetrics("3s"), cache=cache, jobs=1)
    assert take_inventory(cache).entries == 3  # those that are longer than the warm-up

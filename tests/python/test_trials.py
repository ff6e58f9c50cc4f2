"""Runs of a paper's points in other set-ups: found again, and measured otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dumbbell.run import Run
from dumbbell.runs import Cache
from dumbbell.scenario import Scenario
from dumbbell_studies.papers import PAPERS, Paper
from dumbbell_studies.papers.apparatus_element import Treatment
from dumbbell_studies.papers.kakenhi2024.measurements import IntervalMeasured
from dumbbell_studies.papers.measured_text import decode, encode
from dumbbell_studies.papers.ogino2021.measurements import Kind, Measured
from dumbbell_studies.papers.trials import Trials, work


def utilization(_point: float, run: Run) -> float:
    return float(run.links[0]["utilization"])


def test_a_measurement_survives_the_cache():
    kind = Kind(25.0, 48.5, 109.0, float("nan"))
    before = Measured(kind, kind, 0.35)
    after = decode(json.loads(json.dumps(encode(before), allow_nan=False)))
    assert type(after) is Measured
    assert repr(after) == repr(before)
    with pytest.raises(ValueError, match="not a measurement of dumbbell's"):
        decode({"=": "os:PathLike"})


def test_an_array_is_read_back_as_a_tuple():
    before = IntervalMeasured(np.array([1.5, 2.0]), 0.05, 0.04, 400.0)  # type: ignore[arg-type]
    assert decode(json.loads(json.dumps(encode(before)))).intervals_s == (1.5, 2.0)


def test_a_run_is_found_again_in_the_cache(tmp_path, monkeypatch):
    paper: Any = Paper(
        "made-up", "Made up", "", (), (), (1.0,), (1.0,), "",
        run_name=str,
        scenario=lambda at, seed: Scenario(["reno"], buffer=f"{at:g}bdp", time="1s", seed=seed),
        measure=utilization,
        findings=lambda _results: [], tables=lambda _results: [], figures=lambda _results: [],
    )  # fmt: skip
    setup = (Treatment("single_segments", "on"),)
    counts = []
    for _ in range(2):
        trials: Trials[float, float] = Trials(paper, Cache(tmp_path))
        trials.run([((), 1.0, 1), (setup, 1.0, 1), (setup, 1.0, 1)])
        assert trials[setup, 1.0, 1] > 0
        counts.append((trials.executed, trials.found))
    assert counts == [(2, 0), (0, 2)]


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("ogino2021/measurements.py", True),
        ("ogino2021/runs.py", True),
        ("inflight_counts.py", True),
        ("coexistence.py", False),
    ],
)
def test_a_measurement_s_name_changes_with_the_files_that_decide_it(monkeypatch, file, decides):
    before = Trials(PAPERS["ogino2021"]).how
    read = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda path: read(path) + b"#" * path.match(f"papers/{file}")
    )
    assert (Trials(PAPERS["ogino2021"]).how != before) is decides


def test_the_longest_runs_begin_first(monkeypatch):
    paper = PAPERS["saito2022"]
    begun: list[Scenario] = []

    def stop(scenarios: Any, **_how: Any) -> None:
        begun.extend(scenario for _, scenario in scenarios)

    monkeypatch.setattr("dumbbell_studies.papers.trials.run_all", stop)
    trials: Trials[Any, Any] = Trials(paper)
    trials.run(((), point, 1) for point in paper.points[:4])
    assert [scenario.groups[0].flows for scenario in begun] == [128, 64, 32, 16]
    assert work(begun[0].replace(time="121s")) > work(begun[0])

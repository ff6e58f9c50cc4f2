"""The file format of measurements; the kernel's runs here are fabricated (conftest)."""

from __future__ import annotations

import json

import pytest

import dumbbell
from dumbbell import ResultError, Scenario
from dumbbell.compare import measurements
from dumbbell.compare.engines import METRIC_NAMES
from dumbbell.metrics import measure

SCENARIO = Scenario(["copa", "cubic"], time="1s")


@pytest.fixture
def runs(fabricated_kernel) -> list[dumbbell.Run]:
    return [dumbbell.run(SCENARIO.replace(seed=seed), engine="kernel") for seed in (1, 2)]


def test_reads_what_it_wrote(runs, tmp_path):
    path = tmp_path / "kernel.json"
    measurements.save([("mine", SCENARIO, runs), ("again", SCENARIO, runs[:1])], path)
    mine, again = measurements.load(path)
    assert (mine.name, mine.scenario) == ("mine", SCENARIO)
    assert len(again.values) == 1
    for found, run in zip(mine.values, runs, strict=True):
        for row, expected in zip(found, measure(run), strict=True):
            assert set(row) == set(METRIC_NAMES)
            for name in METRIC_NAMES:
                assert row[name] == pytest.approx(expected[name], rel=1e-5)


def test_reads_the_names_of_earlier_files(runs, tmp_path):
    path = tmp_path / "kernel.json"
    measurements.save([("mine", SCENARIO, runs)], path)
    (before,) = measurements.load(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("retransmission_rate", "retransmitted_share").replace(
        '"drop_rate"', '"dropped_share"'))  # fmt: skip
    (after,) = measurements.load(path)
    assert after.values == before.values


def test_has_its_provenance_and_a_line_per_case(runs, tmp_path):
    path = tmp_path / "kernel.json"
    measurements.save([("mine", SCENARIO, runs), ("again", SCENARIO, runs)], path)
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    assert document["kernel_release"] == "0.0.0-fabricated"
    assert document["cpus"] == 2
    assert {"format", "date", "dumbbell"} <= set(document)
    rep = document["cases"][0]["reps"][1]
    assert (rep["verdict"], rep["lateness_p99_us"], rep["reasons"]) == ("OK", 80, [])
    assert len(text.splitlines()) == 4
    assert list(tmp_path.iterdir()) == [path]


def test_invalid_runs_are_kept_and_not_used(runs, tmp_path):
    path = tmp_path / "kernel.json"
    measurements.save([("mine", SCENARIO, runs)], path)
    path.write_text(path.read_text().replace('"verdict":"OK"', '"verdict":"INVALID"', 1))
    (mine,) = measurements.load(path)
    assert (len(mine.reps), len(mine.values)) == (2, 1)


def test_refuses(runs, tmp_path, short_run):
    with pytest.raises(ResultError, match="only runs on the kernel"):
        measurements.save([("mine", SCENARIO, [short_run])], tmp_path / "x.json")
    with pytest.raises(ResultError, match="cannot be written"):
        measurements.save([("mine", SCENARIO, runs)], tmp_path)
    with pytest.raises(ResultError, match=r"absent\.json: no such file"):
        measurements.load(tmp_path / "absent.json")
    (tmp_path / "other.json").write_text('{"format": 99}')
    with pytest.raises(ResultError, match="not a file of measurements in format 1"):
        measurements.load(tmp_path / "other.json")

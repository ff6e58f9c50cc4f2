"""A sweep with a congestion control that crashes in some of its cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

import dumbbell
from dumbbell.report.sweep_page import render_sweep
from dumbbell.report.verdict_table import verdict_counts, verdict_notes
from dumbbell.runs import Cache, Progress
from dumbbell.runs.inventory import verify
from tests.python.conftest import Outcome

HOSTILE = Path(__file__).parents[1] / "data/hostile/hostile.bpf.c"
SCENARIO = dumbbell.Scenario([str(HOSTILE), "cubic"], time="2s", rate="10mbit")
#: Three buffers; in the second, `hostile` divides by zero.
BUFFERS, DEEDS = ("0.5bdp", "1bdp", "2bdp"), (0, 1, 0)
AXES = {"buffer": BUFFERS, "0.deed": DEEDS}
ZIPPED = [("buffer", "0.deed")]
FAILED = {(1, 0), (1, 1)}


def sweep() -> dumbbell.Sweep:
    return dumbbell.Sweep(SCENARIO, AXES, zipped=ZIPPED, reps=2)


@pytest.fixture(params=["threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor | None]:
    if request.param == "threads":
        yield None
        return
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


def test_the_others_of_a_sweep_run_on(executor: Executor | None, tmp_path: Path) -> None:
    cache, out = Cache(tmp_path / "cache"), tmp_path / "out"
    result = sweep().run(executor=executor, cache=cache, out=out)
    assert set(result.failed) == FAILED
    for why in result.failed.values():
        assert why.startswith(f"congestion control `{HOSTILE}` divided by zero in `cong_avoid`")
        assert "\n" not in why
    assert set(result.runs) == {(cell, rep) for cell in (0, 2) for rep in (0, 1)}
    assert set(result.rows["cell"].to_pylist()) == {0, 2}

    assert verify(cache) == (4, [])
    seen: list[Progress] = []
    again = sweep().run(cache=cache, on_progress=seen.append)
    assert (again.failed, seen[-1].cached) == (result.failed, 4)
    assert again.rows.equals(result.rows)
    assert verify(cache) == (4, [])

    document = json.loads((out / "sweep.json").read_text())
    assert document["failed"][1] == {"cell": 1, "rep": 1, "seed": 2, "error": result.failed[1, 1]}
    loaded = dumbbell.SweepResult.load(out)
    assert (loaded.failed, set(loaded.runs)) == (result.failed, set(result.runs))
    assert dumbbell.SweepResult.load(loaded.save(tmp_path / "copy")).failed == result.failed


def test_the_command_line_shows_the_cell_says_why_and_exits_1(
    cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    words = ["sweep", str(HOSTILE), "cubic", "--rate", "10mbit", "--time", "2s", "--no-cache"]
    words += ["--buffer", ",".join(BUFFERS), "--axis", "0.deed=0,1,0"]
    words += ["--zip", "buffer,0.deed", "--reps", "8", "--out", str(tmp_path / "out")]
    outcome = cli(*words)
    assert outcome.code == 1
    (marked,) = [line.split() for line in outcome.out.splitlines() if "FAILED" in line]
    assert "1bdp" in marked
    assert marked[-2:] == ["-", "FAILED"]
    *errors, count = outcome.err.splitlines()
    assert len(errors) == 5
    result = dumbbell.SweepResult.load(tmp_path / "out")
    first = f"{result.cells[1].label}, rep 0"
    assert errors[0].startswith(f"error: {first}: congestion control ")
    assert "divided by zero in `cong_avoid` (flow 0" in errors[0]
    assert count == "error: 3 more runs failed"
    assert verdict_counts(result)["FAILED"] == 8
    (remark,) = [remark for remark in verdict_notes(result) if remark.status == "FAILED"]
    assert (remark.runs, remark.examples[0]) == (8, first)
    assert "divided by zero" in render_sweep(result)


def test_resume_tries_the_failed_runs_again(tmp_path: Path) -> None:
    """They no longer fail once the file is fixed, and until-ci adds nothing to a cell with one."""
    fixed = tmp_path / "mine.bpf.c"
    fixed.write_text(HOSTILE.read_text())
    scenario = SCENARIO.replace(groups=[dumbbell.Group(str(fixed)), dumbbell.Group("cubic")])
    axes = {"0.deed": DEEDS, "buffer": BUFFERS}
    broken = dumbbell.Sweep(scenario, axes, zipped=[("0.deed", "buffer")], until_ci="1%", reps=2)
    broken.plan = replace(broken.plan, max_reps=4)
    result = broken.run(cache=False, out=tmp_path / "out")
    assert set(result.failed) == FAILED
    assert result.reps == {0: 4, 1: 0, 2: 4}

    fixed.write_text(HOSTILE.read_text().replace("ack / zero", "10"))
    with pytest.raises(dumbbell.ScenarioError, match=r"mine.bpf.c` has changed since the runs in"):
        dumbbell.Sweep.resume(tmp_path / "out")
    result = broken.run(cache=False, out=tmp_path / "out")
    assert not result.failed
    assert result.reps[1] >= 2
    assert not dumbbell.SweepResult.load(tmp_path / "out").failed


def test_a_list_of_runs_stops_at_the_first_that_fails() -> None:
    listed = [(deed, SCENARIO.replace(groups=[f"{HOSTILE}:deed={deed}"])) for deed in (1, 0)]
    with pytest.raises(dumbbell.CongestionControlError, match="divided by zero"):
        dumbbell.run_all(listed, jobs=1)


def test_a_file_that_cannot_be_used_ends_the_sweep_only_if_all_cells_have_it(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken.bpf.c"
    broken.write_text("#error not finished\n")
    axis = {"0.cc": ["cubic", str(broken), str(HOSTILE)]}
    mixed = dumbbell.Sweep(SCENARIO, axis).run(cache=False)
    (why,) = mixed.failed.values()
    assert set(mixed.runs) == {(0, 0), (2, 0)}
    assert why.startswith(f"congestion control `{broken}` does not compile")
    assert why.endswith(" error: #error not finished")
    alone = dumbbell.Sweep(SCENARIO.replace(groups=[str(broken)]), {"buffer": BUFFERS})
    with pytest.raises(dumbbell.EngineError, match="does not compile"):
        alone.run(cache=False)

"""What figures of a run over time say of groups: who has the queue, and when modes change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dumbbell
from dumbbell import Run, Scenario
from dumbbell.errors import ResultError
from dumbbell.plots import mode_marks as marks_module
from dumbbell.plots.mode_marks import mode_marks
from dumbbell.plots.run_figures import draw_run, draw_series
from dumbbell.report.chart import chart


@pytest.fixture(scope="module")
def nagi_run() -> Run:
    """nagi next to CUBIC, which fills the buffer: it competes, and dips now and then."""
    return dumbbell.run(Scenario(["nagi", "cubic"], buffer="4bdp", time="10s"))


def test_what_waits_of_each_group_adds_up_to_what_waits(nagi_run):
    by_group = nagi_run.queue_by_group.to_pandas().pivot_table(
        index="time_us", columns="group", values="backlog_bytes"
    )
    queue = nagi_run.queue.to_pandas()
    assert list(by_group.index) == list(queue["time_us"])
    assert (by_group.sum(axis=1).to_numpy() == queue["backlog_bytes"].to_numpy()).all()
    # 4 BDP are 1 MB, of which CUBIC has most.
    assert by_group[1].mean() > by_group[0].mean() > 0


def test_its_figure_has_a_curve_for_each_group(nagi_run):
    (figure,) = draw_series(nagi_run, ["queue-by-group"])
    assert [curve.label for curve in figure.curves] == ["nagi", "CUBIC"]
    assert figure.y_label == "queue by group (kB)"
    assert 100 < np.nanmax(figure.curves[1].y) <= 1000


def test_one_group_has_no_such_table():
    alone = dumbbell.run(Scenario(["cubic"], time="1s"))
    with pytest.raises(ResultError, match="only runs of several groups"):
        _ = alone.queue_by_group
    with pytest.raises(ResultError, match="no series `queue-by-group`"):
        draw_series(alone, ["queue-by-group"])


def test_changes_of_mode_are_marks_in_the_figures(nagi_run):
    state = nagi_run.state(0)
    rows = list(zip(state["time_us"].to_pylist(), state["mode"].to_pylist(), strict=True))
    changed = [now for before, now in itertools.pairwise(rows) if now[1] != before[1]]
    marks = mode_marks(nagi_run)
    assert [mark.x for mark in marks] == [time_us / 1e6 for time_us, _ in changed]
    assert [mark.label for mark in marks] == [f"nagi: {mode}" for _, mode in changed]
    assert "nagi: compete" in {mark.label for mark in marks}
    figures = {figure.name: figure for figure in draw_run(nagi_run)}
    for name in ("cwnd", "rtt", "queue", "queue-by-group"):
        assert figures[name].marks == marks
        assert len(chart(figures[name])["marks"]) == len(marks)
    assert not figures["state-0.mode"].marks


def test_a_mode_that_changes_all_the_time_has_no_marks(nagi_run, monkeypatch):
    monkeypatch.setattr(marks_module, "MAX_MARKS", 0)
    assert mode_marks(nagi_run) == ()

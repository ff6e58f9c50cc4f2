"""What figures of a run over time say of groups: who has the queue, and when modes change."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

import dumbbell
from dumbbell import Group, Link, Run, Scenario
from dumbbell.base.errors import ResultError
from dumbbell.plots import mode_marks as marks_module
from dumbbell.plots import run_figures
from dumbbell.plots.labels import group_labels
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


def test_of_several_links_it_names_the_link():
    groups = [Group("cubic", route=["a", "b"]), Group("reno", route=["b"])]
    links = [Link("a", rate="20mbit"), Link("b", rate="10mbit")]
    run = dumbbell.run(Scenario(groups, links=links, time="1s"))
    labels = [figure.y_label for figure in draw_series(run, ["queue-by-group"])]
    assert labels == ["queue at a by group (kB)", "queue at b by group (kB)"]


def test_names_are_not_found_again_for_each_group_and_link(monkeypatch):
    """They depend on all groups: a page of many would take the square of the time."""
    asked: list[int] = []

    def counted(scenario: Scenario) -> tuple[str, ...]:
        asked.append(len(scenario.groups))
        return group_labels(scenario)

    monkeypatch.setattr(run_figures, "group_labels", counted)
    for count in (2, 6):
        links = [Link(f"l{at}", rate="10mbit") for at in range(count)]
        groups = [Group("cubic", route=[link.name]) for link in links]
        draw_run(dumbbell.run(Scenario(groups, links=links, time="1s")))
    assert asked.count(2) == asked.count(6) > 0


def test_a_kernel_that_lets_no_state_be_read_is_named(nagi_run):
    tables = {name: nagi_run.tables[name] for name in ("flows", "queue")}
    unread = Run(nagi_run.scenario, {**nagi_run.summary, "engine": "kernel"}, tables)
    why = "no series `mode`: the kernel let no state be read; see `dumbbell doctor`"
    with pytest.raises(ResultError, match=why):
        draw_series(unread, ["mode"])
    with pytest.raises(KeyError, match="the kernel let none be read"):
        unread.state(0)
    with pytest.raises(ResultError, match="no series `modee`; known"):
        draw_series(unread, ["modee"])


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


def test_groups_are_sampled_at_the_links_that_they_cross():
    """A parking lot: the first group crosses both links, the second has its ACKs on one."""
    lot = Scenario(
        [
            Group("reno", route=["a", "b"]),
            Group("reno", route=["a"], back=["c"]),
            Group("reno", route=["b"]),
        ],
        links=[
            Link("a", rate="20mbit", delay="2ms"),
            Link("b", rate="10mbit", delay="2ms"),
            Link("c", rate="1mbit", delay="2ms"),
        ],
        time="2s",
    )
    run = dumbbell.run(lot)
    by_group = run.queue_by_group
    pairs = set(zip(by_group["link"].to_pylist(), by_group["group"].to_pylist(), strict=True))
    assert pairs == {("a", 0), ("a", 1), ("b", 0), ("b", 2), ("c", 1)}
    names = {figure.name for figure in draw_run(run)}
    assert {"queue-by-group@a", "queue-by-group@b", "queue-by-group@c"} <= names


def test_a_run_of_an_earlier_version_has_no_such_figure(nagi_run):
    tables = {name: table for name, table in nagi_run.tables.items() if name != "queue_by_group"}
    earlier = Run(nagi_run.scenario, nagi_run.summary, tables)
    assert "queue-by-group" not in {figure.name for figure in draw_run(earlier)}


def test_a_table_of_groups_that_the_run_does_not_have_is_damaged(nagi_run, tmp_path):
    wrong = nagi_run.queue_by_group.set_column(
        1, "group", pa.array([7] * nagi_run.queue_by_group.num_rows, pa.uint32())
    )
    tables = {**nagi_run.tables, "queue_by_group": wrong}
    directory = Run(nagi_run.scenario, nagi_run.summary, tables).save(tmp_path / "run")
    with pytest.raises(ResultError, match=r"queue_by_group\.parquet: is damaged: its column"):
        _ = Run.load(directory).queue_by_group


@pytest.mark.parametrize("names", [[], ["access", "core"]])
def test_a_link_is_in_no_legend_of_flows(names):
    links = [Link(name, rate="10mbit") for name in names]
    route = {"route": names} if names else {}
    groups = [Group("reno", **route), Group("cubic", **route)]
    run = dumbbell.run(groups, links=links, time="2s")
    (legend,) = run.plot("goodput", "queue", "sojourn").legends
    assert {text.get_text() for text in legend.get_texts()} == {"Reno", "CUBIC"}
    assert not [text for each in run.plot("queue").legends for text in each.get_texts()]


def test_state_panels_of_several_groups_say_whose_they_are():
    """Two panels were both `w_max (packets)`, told by their colours alone."""
    run = dumbbell.run(["reno", "cubic", "cubic"], time="2s")
    labels = [figure.y_label for figure in draw_series(run, ["w_max"])]
    assert labels == ["w_max of CUBIC #1 (packets)", "w_max of CUBIC #2 (packets)"]
    (lone,) = draw_series(dumbbell.run(["cubic"], time="2s"), ["w_max"])
    assert lone.y_label == "w_max (packets)"

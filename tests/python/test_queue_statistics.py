"""What queue disciplines tell of themselves: in results, tables, figures and reports."""

import json

import numpy as np
import pytest

from dumbbell import Group, Link, Run, Scenario, run
from dumbbell.base.errors import ResultError
from dumbbell.plots.run_figures import draw_run, draw_series
from dumbbell.records.check import Unexpected, check_record
from dumbbell.report.source import sweep_of_run
from dumbbell.report.sweep_page import render_sweep
from dumbbell.run.links import write_statistic

COLUMNS = [
    "time_us", "backlog_bytes", "backlog_pkts", "sojourn_us", "forwarded_pkts", "dropped_pkts",
    "link",
]  # fmt: skip


@pytest.fixture(scope="module")
def pie_run() -> Run:
    return run(["cubic"], rate="10mbit", queue="pie", time="5s")


@pytest.fixture(scope="module")
def two_queues() -> Run:
    """CoDel on the way there, and a plain queue on the way back."""
    return run(
        Scenario(
            [Group("cubic", route=["down"], back=["up"])],
            links=[Link("down", rate="10mbit", queue="codel"), Link("up", rate="10mbit")],
            time="4s",
        )
    )


def test_a_link_has_what_its_discipline_counts(pie_run):
    link = pie_run.link("bottleneck")
    assert link.statistics["dropped_pkts"] == link["dropped_pkts"] > 0
    assert link.statistics["in_pkts"] == link["offered_pkts"] - link["dropped_pkts"]
    assert json.loads(pie_run.to_json())["bottleneck"]["statistics"] == link.statistics


def test_a_plain_queue_tells_nothing_and_its_table_is_as_before():
    plain = run(["cubic"], time="1s")
    assert plain.link("bottleneck").statistics == {}
    assert "statistics" not in plain.summary["bottleneck"]
    assert plain.queue.column_names == COLUMNS


def test_the_series_are_columns_that_end_where_the_statistics_are(pie_run):
    table = pie_run.queue
    assert table.column_names == [*COLUMNS, "prob_ppb", "delay_ns"]
    probability = table["prob_ppb"].to_numpy()
    assert table["prob_ppb"].null_count == 0
    # PIE drops at random by its probability, so that was above zero before the first drop.
    first_drop = np.flatnonzero(table["dropped_pkts"].to_numpy() > 0)[0]
    assert probability[: first_drop + 1].max() > 0


def test_a_link_without_the_series_has_gaps(two_queues):
    table = two_queues.tables["queue"]
    assert table.column_names[:7] == COLUMNS
    more = table.column_names[7:]
    assert "count" in more
    for name in more:
        assert two_queues.queue_of("down")[name].null_count == 0
        assert two_queues.queue_of("up")[name].null_count == len(two_queues.queue_of("up"))


def test_they_are_kept_with_the_run(two_queues, tmp_path):
    read = Run.load(two_queues.save(tmp_path / "run"))
    assert read.link("down").statistics == two_queues.link("down").statistics
    assert read.tables["queue"].equals(two_queues.tables["queue"])


def test_a_panel_for_each_series_of_a_link_that_has_it(pie_run, two_queues):
    names = [figure.name for figure in draw_run(pie_run)]
    assert names[names.index("sojourn") + 1 :][:2] == ["prob", "delay"]
    (figure,) = draw_series(pie_run, ["prob"])
    assert figure.y_label == "prob (%)"
    assert np.nanmax(figure.curves[0].y) == pytest.approx(
        max(pie_run.queue["prob_ppb"].to_pylist()) / 1e7
    )
    assert [figure.name for figure in draw_series(two_queues, ["count"])] == ["count@down"]
    with pytest.raises(ResultError, match="no series `prob`"):
        draw_series(two_queues, ["prob"])


def test_the_terminal_has_a_line_and_the_page_a_table(pie_run, two_queues, cli, tmp_path):
    out = cli("run", "cubic", "--queue", "pie", "--rate", "10mbit", "--time", "2s").out
    line = next(line for line in out.splitlines() if line.startswith("queue "))
    assert "pie: " in line
    assert "dropped" in line
    page = render_sweep(sweep_of_run(two_queues))
    assert "What the queue disciplines count" in page
    assert write_statistic("count", two_queues.link("down").statistics["count"]) in page


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("prob_ppb", 25_000_000, "prob 2.5 %"),
        ("prob_ppb", 1, "prob 0.0000001 %"),
        ("delay_ns", 1_500_000, "delay 1.5 ms"),
        ("delay_ns", 0, "delay 0 ms"),
        ("delay_ns", 1, "delay 0.001 µs"),
        ("delay_ns", 999_700, "delay 1 ms"),
        ("delay_us", 18_200_000, "delay 18.2 s"),
        ("delay_us", 250, "delay 250 µs"),
        ("delay_us", 4_321_000_000, "delay 4,321 s"),
        ("dropped_pkts", 1200, "dropped 1,200 packets"),
        ("max_memory_used_bytes", 3028, "max_memory_used 3,028 bytes"),
        ("count", 7, "count 7"),
    ],
)
def test_a_statistic_is_written_with_its_unit(name, value, text):
    assert write_statistic(name, value) == text


@pytest.mark.parametrize("told", [{"ecn_mark_pkts": -1}, {"<b>": 1}, ["ecn_mark_pkts"]])
def test_foreign_code_cannot_send_other_things_as_statistics(pie_run, told):
    link = {**pie_run.summary["links"][0], "statistics": {"ecn_mark_pkts": 3}}
    check_record("link", link, engine="simulator")
    with pytest.raises(Unexpected, match="`statistics` is not an object with counts"):
        check_record("link", {**link, "statistics": told}, engine="simulator")

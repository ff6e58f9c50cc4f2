"""Algorithms that an axis changes have their names and colours where it gives one of them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import ResultError
from dumbbell.cli.plot import load_sources
from dumbbell.export.latex import latex_table
from dumbbell.figures.static import places_beside
from dumbbell.figures.style import style_of
from dumbbell.plots.kinds import draw_kind
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.result_figures import ResultFigures, SweepView
from dumbbell.report.source import load_results
from dumbbell.scenario import Group, Scenario
from dumbbell.sweeps import Sweep, SweepResult
from dumbbell.sweeps.design import make_design

ROOT = Path(__file__).parents[2]
AXES = {"buffer": "1..4bdp", "1.cc": "cubic,bbr"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Directories of a sweep over the other side's algorithm, and of one over a lone group's."""
    place = tmp_path_factory.mktemp("swept")
    two = Scenario(["copa", "cubic"], rate="10mbit", time="1s")
    Sweep(two, AXES, reps=2).run(cache=False, out=place / "two")
    mine = place / "mine.bpf.c"
    mine.write_text((ROOT / "cc" / "reno.bpf.c").read_text())
    lone = Scenario([Group(str(mine), name="AIMD-D")], rate="10mbit", time="1s")
    Sweep(lone, {"cc": f"{mine},cubic"}, reps=2).run(cache=False, out=place / "own")
    return place


def drawn(place: Path, kind: str, *names: str, **how: Any) -> Any:
    sources = load_sources([place / "two"], how.get("labels", ()))
    ((_, figures),) = draw_kind(Request(sources, names, **how), kind)
    return figures


def looks(figure: Any) -> set[tuple[str, str]]:
    every = [(each.label, each.color) for each in (*figure.curves, *figure.boxes)]
    return {(label.partition(",")[0], color) for label, color in every if label}


COPA, CUBIC, BBR = ((style_of(cc).label, style_of(cc).color) for cc in ("copa", "cubic", "bbr"))


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("cdf", ("goodput_bps",)), ("band", ("rtt",)), ("bar", ("share",)), ("points", ("share",)),
        ("box", ("share",)), ("scatter", ("rtt_mean_us", "goodput_bps")),
    ],
)  # fmt: skip
def test_a_panel_of_one_algorithm_has_its_name_and_colour(place, kind, names):
    against_cubic, against_bbr = drawn(place, kind, *names)
    assert [against_cubic.title, against_bbr.title] == ["against CUBIC", "against BBR"]
    for figure, other in ((against_cubic, CUBIC), (against_bbr, BBR)):
        assert {COPA, other} <= looks(figure)
        assert {label for label, _ in looks(figure)} <= {COPA[0], other[0], "1bdp", "2bdp", "4bdp"}


def test_a_heat_map_of_several_algorithms_names_all_and_whose_they_are(place):
    copa, swept = drawn(place, "heat", "share")
    assert (copa.title, swept.title) == ("Copa", "CUBIC / BBR")
    assert swept.grid.label == "throughput share of CUBIC / BBR (%)"
    assert "congestion control of group 1" in (swept.x_label, swept.y_label)


def test_places_of_an_axis_of_algorithms_have_these(place):
    for figure in drawn(place, "bar", "share", x="1.cc"):
        assert figure.x_label == "congestion control of group 1"
        assert looks(figure) == {COPA, CUBIC, BBR}
        assert {c.label: list(c.x) for c in figure.curves} == {
            "Copa": [0, 1], "CUBIC": [0], "BBR": [1],
        }  # fmt: skip
        aside = dict(zip([c.label for c in figure.curves], places_beside(figure.curves, figure),
                         strict=True))  # fmt: skip
        assert aside["CUBIC"] == aside["BBR"] > aside["Copa"], "no room for what is not there"
    figures = ResultFigures(SweepResult.load(place / "two"), x="1.cc")
    for figure in figures.draw(figures.metric("share"), models=[]):
        assert looks(figure) == {COPA, CUBIC, BBR}


def test_rows_and_tables_name_the_algorithm_of_their_cell(place):
    result = SweepResult.load(place / "two")
    assert {(row["1.cc"], row["name"]) for row in result.rows.to_pylist() if row["group"]} == {
        ("cubic", "cubic"), ("bbr", "bbr"),
    }  # fmt: skip
    table = latex_table(SweepView(result), ["share"])
    rows = [line.split(" & ")[1:3] for line in table.splitlines() if "pm" in line or "$" in line]
    assert rows[:4] == [["CUBIC", "Copa"], ["", "CUBIC"], ["BBR", "Copa"], ["", "BBR"]]


@pytest.mark.parametrize("kind", ["", "--kind bar", "--kind cdf", "--kind heat"])
def test_labels_name_each_algorithm_of_an_axis(cli, place, kind, tmp_path):
    words = f"plot {place / 'two'} --metric share {kind} --format svg --out {tmp_path}"
    labels = "--label Mine --label Old --label New"
    assert cli(*shlex.split(f"{words} {labels}")).code == 0
    outcome = cli(*shlex.split(f"{words} {labels} --label More"))
    assert "4 labels for 3 curves" in outcome.err
    figures = drawn(place, "bar", "share", labels=("Mine", "Old", "New"))
    assert [[curve.label for curve in each.curves] for each in figures] == [
        ["Mine", "Old"], ["Mine", "New"],
    ]  # fmt: skip


def test_the_name_of_a_user_s_algorithm_is_not_that_of_another(cli, place):
    result = load_results(place / "own")
    assert result.rows["name"].to_pylist() == ["AIMD-D"] * 2 + ["cubic"] * 2
    assert "AIMD-D & " in latex_table(SweepView(result), ["goodput_bps"])
    figures = ResultFigures(result)
    assert figures.layout.x_names == ("AIMD-D", "CUBIC")
    assert result.design.group_labels == ("AIMD-D / cubic",)


def test_a_part_is_no_name_of_an_algorithm():
    for name, labels in (("download", ("download",)), ("CUBIC", ("CUBIC / bbr",))):
        scenario = Scenario([Group("cubic", name=name)])
        assert make_design(scenario, {"cc": "cubic,bbr"}).group_labels == labels


def test_more_labels_than_algorithms_are_refused(place):
    with pytest.raises(ResultError, match="4 labels for 3 curves"):
        drawn(place, "heat", "share", labels=("a", "b", "c", "d"))

"""`dumbbell plot`: figures at the size they have in print."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes

import dumbbell
from dumbbell.base.errors import ResultError
from dumbbell.cli.plot import frames_of
from dumbbell.figures import frame
from dumbbell.figures.figure import Curve, Figure
from dumbbell.figures.frame import WIDTHS_MM, compose, save
from dumbbell.figures.style import style_of
from dumbbell.figures.y_range import y_ranges
from dumbbell.plots.result_figures import ResultFigures, drawn_ends
from dumbbell.plots.run_figures import draw_series
from dumbbell.plots.sweep_layout import lay_out, log_ticks
from dumbbell.report.source import load_results
from dumbbell.statistics import Interval, mean_interval
from dumbbell.sweeps import Sweep

POINTS_PER_MM = 72 / 25.4


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("sweep") / "s"
    scenario = dumbbell.Scenario(["bbr", "cubic"], rate="10mbit", time="2s")
    Sweep(scenario, {"buffer": "1..8bdp", "flows": [1, 2]}, reps=3).run(cache=False, out=directory)
    return directory


@pytest.fixture(scope="module")
def result(directory):
    return load_results(directory)


@pytest.mark.parametrize("size", ["1col", "2col"])
def test_figures_have_paper_width_and_carry_their_fonts(cli, directory, tmp_path, size):
    outcome = cli(
        "plot", str(directory), "--metric", "share", "--model", "ware", "--size", size,
        "--format", "svg,pdf,png", "--out", str(tmp_path),
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    stems = ["share"] if size == "2col" else ["share-flows-1", "share-flows-2"]
    names = {f"{stem}.{suffix}" for stem in stems for suffix in ("svg", "pdf", "png")}
    assert {path.name for path in tmp_path.iterdir()} == names
    root = ET.parse(tmp_path / f"{stems[0]}.svg").getroot()  # noqa: S314 -- our own file
    assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(
        WIDTHS_MM[size] * POINTS_PER_MM, rel=1e-3
    )
    assert not list(root.iter("{http://www.w3.org/2000/svg}text")), "letters are outlines"
    pdf = (tmp_path / f"{stems[0]}.pdf").read_bytes()
    assert b"/FontFile2" in pdf, "TrueType, embedded"
    assert b"/Type3" not in pdf, "which ACM and IEEE refuse"


def test_points_are_means_and_bars_their_intervals(result):
    figures = ResultFigures(result)
    one = figures.draw(figures.metric("share"))[0]
    assert (one.x_label, one.y_label) == ("buffer (BDP)", "throughput share (%)")
    assert list(one.x_ticks) == [1, 2, 4, 8]
    bbr = one.curves[0]
    assert bbr.low is not None
    assert bbr.high is not None
    rows = result.rows.to_pandas()
    at = (rows["buffer"] == "4bdp") & (rows["axis_flows"] == "1") & (rows["group"] == 0)
    interval = mean_interval(100 * rows[at]["share"])
    assert (bbr.y[2], bbr.low[2], bbr.high[2]) == pytest.approx(
        (interval.mean, interval.low, interval.high)
    )
    assert [curve.dashed for curve in one.curves] == [False, False, True, True]


@pytest.mark.parametrize(("name", "low"), [("goodput_bps", 0), ("qoe_lin", -30)])
def test_what_cannot_be_negative_has_no_bar_below_0(name, low):
    interval = Interval(10.0, -30.0, 50.0, 0.95, 3, "Student t")
    assert drawn_ends(interval, name) == (10, low, 50)


def test_another_axis_along_x(result):
    figures = ResultFigures(result, x="flows")
    drawn = figures.draw(figures.metric("jain"))
    assert [figure.title for figure in drawn] == [f"buffer {b}bdp" for b in (1, 2, 4, 8)]
    assert drawn[0].x_label == "flows"
    assert list(drawn[0].curves[0].x) == [1, 2]
    with pytest.raises(ResultError, match="no axis `bufer`; did you mean `buffer`"):
        lay_out(result, "bufer")


def test_a_sweep_draws_a_file_per_metric_and_few_points_none(cli, tmp_path):
    short = ("--rate", "10mbit", "--time", "1s", "--out")
    assert (
        cli("sweep", "bbr", "cubic", "--buffer", "1..4bdp", *short, str(tmp_path / "a")).code == 0
    )
    names = ("goodput_per_flow_bps", "queue_delay_mean_us", "share")
    assert {path.name for path in (tmp_path / "a" / "figures").glob("[!.]*")} == {
        f"{name}.{suffix}" for name in names for suffix in ("png", "svg")
    }
    assert cli("sweep", "bbr", "--buffer", "1..2bdp", *short, str(tmp_path / "b")).code == 0
    assert not (tmp_path / "b" / "figures").exists()


def test_a_sweep_of_many_panels_says_where_they_are(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("dumbbell.cli.show_sweep.MAX_PANELS", 1)
    axes = ("--buffer", "1..4bdp", "--axis", "rtt=10ms,20ms", "--time", "1s")
    outcome = cli("sweep", "reno", *axes, "--out", str(tmp_path / "a"))
    assert outcome.code == 0
    assert f"they would have 2 panels; `dumbbell report {tmp_path / 'a'}`" in outcome.err
    assert not (tmp_path / "a" / "figures").exists()


def panel(*ends: tuple[float, float]) -> Figure:
    low, high = (np.array(each, dtype=float) for each in zip(*ends, strict=True))
    curve = Curve("a", np.array([1.0, 4.0]), (low + high) / 2, "#000000", "o", low=low, high=high)
    return Figure("f", "", "flows", "share (%)", (curve,), x_values=(1, 4))


def composed(panels: list[Figure], size: str = "2col", style: str = "paper") -> list[Axes]:
    ranges = y_ranges(panels, whole_bars=True)
    return compose(panels, WIDTHS_MM[size], style, ranges).axes[: len(panels)]


def test_panels_share_a_y_axis_that_holds_every_whisker():
    panels = [panel((40, 50), (45, 55)), panel((60, 99), (10, 20)), panel((10, 12), (13, 14))]
    drawn = composed(panels)
    bottom, top = drawn[0].get_ylim()
    assert bottom == 0
    assert top > 99
    assert {axes.get_ylim() for axes in drawn} == {(bottom, top)}
    panels[1] = panel((-7, 99), (10, 20))
    assert composed(panels)[0].get_ylim()[0] < -7


def test_panels_of_very_different_heights_have_axes_of_their_own():
    drawn = composed([panel((40, 50), (45, 55)), panel((1, 2), (3, 4))])
    assert [axes.get_ylim()[0] for axes in drawn] == [0, 0]
    assert drawn[0].get_ylim()[1] == pytest.approx(1.05 * 55)
    assert drawn[1].get_ylim()[1] == pytest.approx(1.05 * 4)
    assert all(axes.yaxis.get_tick_params()["labelleft"] for axes in drawn)


def test_an_empty_panel_does_not_remove_the_common_axis():
    nothing = (np.nan, np.nan)
    panels = [panel((40, 50), (45, 55)), panel(nothing, nothing), panel((60, 70), (10, 20))]
    assert y_ranges(panels, whole_bars=True) == [(0, 70)] * 3
    small = [panel((0.01, 0.02), (0.02, 0.04)), panel(nothing, nothing)]
    assert y_ranges(small, whole_bars=True) == [(0, 0.04)] * 2
    assert y_ranges([panels[1]], whole_bars=True) == [(0, 1)]


@pytest.mark.parametrize("bars", [True, False])
def test_a_name_that_begins_with_an_underscore_is_in_the_legend(bars, tmp_path):
    figure = panel((1, 2), (3, 4))
    (curve,) = figure.curves
    bare = replace(curve, low=None, high=None)
    figure = replace(figure, curves=(replace(curve if bars else bare, label="_mine"),))
    (legend,) = compose([figure], 84, "paper", [(0, 4)]).legends
    assert [text.get_text() for text in legend.get_texts()] == ["_mine"]
    _, svg = save(replace(figure, name="f"), tmp_path)
    assert ">_mine<" in svg.read_text()


def test_a_lone_figure_has_the_same_axis_as_one_for_print(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(frame, "write", lambda canvas, *_: seen.append(canvas.axes[0].get_ylim()))
    bounded = replace(panel((60, 120), (10, 20)), y_bound=100.0)
    for figure in (bounded, panel((-7, 99), (10, 20))):
        save(figure, tmp_path)
        assert set(seen) == {composed([figure])[0].get_ylim()}
        seen.clear()


def test_files_of_one_metric_have_the_same_y_axis(result):
    figures = ResultFigures(result)
    small = figures.draw(figures.metric("queue_delay_mean_us"))
    ranges = [found[0] for _, _, found in frames_of("q", small, "1col") if found]
    assert len(ranges) == 2
    assert ranges[0] == ranges[1] == y_ranges(small, whole_bars=True)[0]


def test_what_can_be_no_more_ends_the_page_s_axis():
    share = replace(panel((60, 120), (10, 20)), y_bound=100.0)
    assert y_ranges([share], whole_bars=False) == [(0, 100)]
    assert y_ranges([panel((60, 120), (10, 20))], whole_bars=False) == [(0, 120)]


def test_the_lowest_panel_of_a_column_has_its_numbers():
    drawn = composed([panel((1, 2), (3, 4))] * 5)
    assert [axes.get_xlabel() for axes in drawn] == ["", "", "flows", "flows", "flows"]
    numbered = [axes.xaxis.get_tick_params()["labelbottom"] for axes in drawn]
    assert numbered == [False, False, True, True, True]


def test_flow_counts_are_marked_and_nothing_between_them(result):
    layout = lay_out(result, "flows")
    assert (layout.x_values, layout.x_ticks) == ((1, 2), ())
    figures = ResultFigures(result, x="flows")
    axes = composed(figures.draw(figures.metric("share")))[3]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2"]
    assert lay_out(result, "buffer").x_values == ()


def test_values_that_lie_close_are_marked_by_powers_of_two():
    close = tuple(0.5 + 5.5 * step for step in range(10))
    assert log_ticks(close) == (0.5, 1, 2, 4, 8, 16, 32)
    assert log_ticks((0.5, 1, 3, 10)) == (0.5, 1, 3, 10)
    assert log_ticks((1, 2, 4)) == ()


def test_a_rate_is_in_megabits(tmp_path):
    scenario = dumbbell.Scenario(["reno"], time="1s")
    swept = Sweep(scenario, {"rate": "5mbit,10mbit"}).run(cache=False)
    layout = lay_out(swept)
    assert layout.x_label == "rate (Mbit/s)"
    assert layout.facets[0].x == (5, 10)


def test_axes_that_change_together_are_one(tmp_path):
    scenario = dumbbell.Scenario(["reno"], time="1s")
    axes = {"rate": "5mbit,10mbit", "rtt": "40ms,20ms", "1.cc": "reno"}
    del axes["1.cc"]
    swept = Sweep(scenario, axes, zipped=[("rate", "rtt")]).run(cache=False)
    layout = lay_out(swept)
    assert len(layout.facets) == 1
    assert [layout.place_of(cell) for cell in swept.cells] == ["5mbit, 40ms", "10mbit, 20ms"]


def test_an_axis_without_numbers_has_names(tmp_path):
    scenario = dumbbell.Scenario(["reno", "cubic"], time="1s")
    swept = Sweep(scenario, {"0.cc": "reno,cubic,bbr"}).run(cache=False)
    figures = ResultFigures(swept)
    (figure,) = figures.draw(figures.metric("share"))
    assert figure.x_names == ("Reno", "CUBIC", "BBR")
    assert figure.x_label == "congestion control of group 0"
    assert {curve.shape for curve in figure.curves} == {"points"}, "nothing joins categories"
    curves = {curve.label: list(curve.x) for curve in figure.curves}
    assert curves == {"Reno": [0], "CUBIC (group 0)": [1], "BBR": [2], "CUBIC": [0, 1, 2]}
    assert len({curve.color for curve in figure.curves}) == 4


def test_a_swept_congestion_control_has_its_name_and_color_in_its_panel():
    scenario = dumbbell.Scenario(["reno", "cubic"], time="1s")
    swept = Sweep(scenario, {"0.cc": "reno,bbr", "buffer": "1..4bdp"}).run(cache=False)
    figures = ResultFigures(swept)
    drawn = figures.draw(figures.metric("share"), models=[])
    assert [[curve.label for curve in figure.curves] for figure in drawn] == [
        ["Reno", "CUBIC"], ["BBR", "CUBIC"],
    ]  # fmt: skip
    assert [figure.curves[0].color for figure in drawn] == [
        style_of("reno").color, style_of("bbr").color,
    ]  # fmt: skip
    assert figures.caption.startswith("Reno / BBR + CUBIC, ")


def test_one_repetition_has_no_bars():
    swept = Sweep(dumbbell.Scenario(["reno"], time="1s"), {"buffer": "1..4bdp"}).run(cache=False)
    figures = ResultFigures(swept)
    (figure,) = figures.draw(figures.metric("goodput_bps"))
    assert figure.curves[0].low is None
    assert np.isfinite(figure.curves[0].y).all()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "goodput"], "the runs have no metric `goodput`; did you mean `goodput_bps`"),
        (["--model", "wear"], "unknown model `wear`; did you mean `ware`"),
        (["--model", "copa"], "model `copa` does not predict `share` of these flows: it "),
        (["--size", "3col"], "unknown size `3col`"),
        (["--format", "gif"], "unknown format `gif`"),
        (["--style", "poster"], "unknown style `poster`"),
        (["--x", "rate"], "the sweep has no axis `rate`"),
    ],
)
def test_what_cannot_be_drawn_is_reported_in_one_line(cli, directory, tmp_path, words, said):
    outcome = cli("plot", str(directory), "--metric", "share", *words, "--out", str(tmp_path / "o"))
    assert outcome.code == 2
    assert said in outcome.err
    assert not (tmp_path / "o").exists()


def test_the_same_sweep_gives_the_same_bytes(cli, directory, tmp_path):
    for name in ("a", "b"):
        where = ("--metric", "share", "--format", "svg,pdf", "--out", str(tmp_path / name))
        assert cli("plot", str(directory), *where).code == 0
    for path in (tmp_path / "a").iterdir():
        other = (tmp_path / "b" / path.name).read_bytes()
        assert re.sub(rb"/ID \[.*?\]", b"", path.read_bytes()) == re.sub(
            rb"/ID \[.*?\]", b"", other
        )


def test_a_run_is_drawn_over_time_in_one_frame(cli, tmp_path, short_run):
    run = short_run.save(tmp_path / "run")
    outcome = cli("plot", str(run), "--series", "cwnd,rtt,queue", "--out", str(tmp_path / "o"))
    assert outcome.code == 0, outcome.err
    names = {path.name for path in (tmp_path / "o").iterdir()}
    assert names == {"cwnd-rtt-queue.svg", "cwnd-rtt-queue.pdf"}
    figures = draw_series(short_run, ["cwnd", "rtt", "queue"])
    axes = composed(figures, "1col")
    assert [each.get_ylabel() for each in axes] == ["cwnd (packets)", "RTT (ms)", "queue (packets)"]
    assert [each.get_title() for each in axes] == ["", "", ""], "the axes say it"
    assert {each.get_xlim() for each in axes} == {(0, short_run.summary["duration_ns"] / 1e9)}


def test_what_groups_are_judged_by_is_drawn(cli, tmp_path):
    words = ("sweep", "cubic", "reno", "--buffer", "1,2bdp", "--time", "1s")
    judged = ("--set", "0.metric=goodput_bps", "--set", "1.metric=rtt_p95_us")
    assert cli(*words, *judged, "--out", str(tmp_path / "s")).code == 0
    for kind, ending in (("line", ""), ("bar", "-bar")):
        place = tmp_path / kind
        assert cli("plot", str(tmp_path / "s"), "--kind", kind, "--out", str(place)).code == 0
        drawn = {path.stem for path in place.iterdir()}
        assert drawn == {f"goodput_bps{ending}", f"rtt_p95_us{ending}"}


def test_a_file_is_named_after_what_is_in_it(cli, tmp_path):
    """Of a run whose queue is always empty the queue is not drawn, nor in the name."""
    words = ("--traffic", "datagram:rate=10kbit", "--time", "1s", "--out", str(tmp_path / "r"))
    assert cli("run", "cubic", *words).code == 0
    outcome = cli("plot", str(tmp_path / "r"), "--format", "svg")
    drawn = [path.stem for path in (tmp_path / "r/plots").iterdir()]
    assert [f"{name}.svg" for name in drawn] == [outcome.out.strip().rpartition("/")[2]]
    assert "queue" not in drawn[0]


def test_a_state_series_has_the_names_of_its_values(short_run):
    figures = draw_series(short_run, ["mode"])
    assert figures
    (axes,) = composed(figures[:1], "1col")
    assert [label.get_text() for label in axes.get_yticklabels()] == list(figures[0].y_names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--series", "cwn"], "the run has no series `cwn`; did you mean `cwnd`"),
        (["--metric", "shore"], "the runs have no metric `shore`; did you mean `share`"),
        (
            ["--kind", "band", "--metric", "share"],
            "`share` has no values over time; use `--kind points`",
        ),
        (["--kind", "bar", "--series", "rtt"], "`rtt` has many values a run"),
        (["--kind", "pie"], "unknown kind `pie`; known: `line`, `bar`, `points`"),
        (["--kind", "heat"], "a heat map needs a sweep of two axes, like"),
        (["--xlim", "0..5"], "invalid --xlim `0..5`: use two numbers, like `--xlim 0,20`"),
        (["--model", "ware"], "--model is laid over a metric along an axis"),
        (["--x", "buffer"], "--x is for a sweep"),
    ],
)
def test_what_a_run_cannot_be_drawn_by_is_refused(cli, tmp_path, short_run, words, said):
    outcome = cli("plot", str(short_run.save(tmp_path / "run")), *words)
    assert outcome.code == 2
    assert said in outcome.err
    assert not (tmp_path / "run" / "plots").exists()


def test_a_model_that_does_not_apply_says_why(cli, tmp_path):
    """And one that has other metrics names them."""
    words = ("--axis", "cc=reno,cubic", "--loss", "1%,2%", "--time", "1s")
    assert cli("sweep", "cubic", *words, "--out", str(tmp_path / "loss")).code == 0
    drawn = cli("plot", str(tmp_path / "loss"), "--model", "mathis", "--metric", "goodput_bps")
    assert "of these flows: it does not cover `loss` (here `2%`); leave it out" in drawn.err
    words = ("--rate", "10mbit", "--buffer", "5,10pkt", "--time", "1s")
    assert cli("sweep", "reno", *words, "--out", str(tmp_path / "r")).code == 0
    drawn = cli("plot", str(tmp_path / "r"), "--model", "mathis", "--metric", "rtt_p95_us")
    assert "use `--metric " in drawn.err
    assert "`queue_delay_mean_us`" in drawn.err


def test_the_unit_of_a_parameter_is_once_on_its_axis(tmp_path):
    """It was `beta pct of Thesis (%)`."""
    scenario = dumbbell.Scenario(["copa", "cubic"], time="1s")
    result = Sweep(scenario, {"copa.cwnd_min_pkts": "2,4"}).run(out=tmp_path / "s")
    figures = ResultFigures(result)
    (figure, *_) = figures.draw(figures.metric("share"))
    assert figure.x_label == "cwnd min of copa (packets)"

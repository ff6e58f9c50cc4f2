"""Kinds of figures: what they show of several results, by the data of what is drawn."""

from __future__ import annotations

import dataclasses
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.container import BarContainer

import dumbbell
from dumbbell.base.errors import ResultError
from dumbbell.cli.plot import default_names, frames_asked, load_sources
from dumbbell.figures.canvas import Canvas
from dumbbell.figures.figure import Curve, Figure, Grid, Mark
from dumbbell.figures.static import DASHES
from dumbbell.figures.style import OWN, shades, style_of
from dumbbell.plots.arrange import Series
from dumbbell.plots.kinds import KINDS, default_kind, draw_kind
from dumbbell.plots.kinds.band import intervals
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.kinds.scatter import curves_of, ellipse
from dumbbell.plots.paper_figure import file_names
from dumbbell.plots.result_figures import ResultFigures
from dumbbell.plots.result_source import ResultSource
from dumbbell.plots.run_figures import draw_series
from dumbbell.plots.transfer_figures import log_marks
from dumbbell.report.source import sweep_of_run
from dumbbell.scenario import Group, Scenario
from dumbbell.statistics import mean_interval
from dumbbell.statistics.mean_interval import interval_within
from dumbbell.sweeps import Sweep
from tests.python.drawn_kinds import drawn, one, request

ROOT = Path(__file__).parents[2]
LONG = "An algorithm whose name is much longer than any column of any paper has room for, really"
SHORT_FLOWS = "poisson:load=110%,size=uniform(20kB;400kB)"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Directories of runs, sweeps and a capture."""
    place = tmp_path_factory.mktemp("results")
    for cc in ("cubic", "bbr"):
        scenario = Scenario([Group(cc, traffic=SHORT_FLOWS)], rate="10mbit", time="3s")
        dumbbell.run(scenario).save(place / cc)
    traced = Scenario(["cubic"], trace="cellular:rate=6mbit", time="4s")
    dumbbell.run(traced).save(place / "traced")
    two = Scenario(["copa", "cubic"], rate="10mbit", time="2s")
    Sweep(two, {"queue": "bfifo,codel,fq_codel"}, reps=3).run(cache=False, out=place / "queues")
    Sweep(two, {"rate": "5..20mbit", "rtt": "10ms,40ms"}, reps=2).run(
        cache=False, out=place / "grid"
    )
    Sweep(two, {}, reps=4).run(cache=False, out=place / "reps")
    capture = dumbbell.Capture(place / "cubic.pcapng", points=["sender"])
    dumbbell.run(Scenario(["cubic"], rate="10mbit", time="2s"), capture=capture)
    return place


def test_the_distributions_of_several_runs_are_in_one_figure(places):
    (figure,) = one(places, "cdf", "cubic", "bbr", name="rtt")
    assert [curve.label for curve in figure.curves] == ["CUBIC", "BBR"]
    assert figure.x_label == "RTT (ms)"
    for curve, which in zip(figure.curves, ("cubic", "bbr"), strict=True):
        rtts = dumbbell.Run.load(places / which).flows["rtt_us"].drop_null().to_numpy() / 1e3
        middle = curve.x[np.searchsorted(curve.y, 50)]
        assert middle == pytest.approx(np.median(rtts), rel=0.02)
        assert (curve.y[0], curve.y[-1]) == (0, pytest.approx(100))
        assert (np.diff(curve.x) >= 0).all()


def test_curves_of_coarse_samples_have_no_gaps(tmp_path):
    scenario = Scenario(["cubic"], rate="10mbit", time="3s", sample="100ms")
    for name in ("a", "b"):
        dumbbell.run(scenario).save(tmp_path / name)
    Sweep(scenario, {}, reps=2).run(cache=False, out=tmp_path / "reps")
    for kind, which in (("line", ("a", "b")), ("band", ("reps",))):
        for name in ("goodput", "rtt"):
            (figure,) = one(tmp_path, kind, *which, name=name)
            for curve in figure.curves:
                known = np.isfinite(curve.y)
                # The first RTT may be later than the first sample.
                assert known[1:].all()
                assert 25 <= known.sum() <= 30


@pytest.mark.parametrize("kind", ["cdf", "box"])
def test_a_distribution_has_the_samples_of_every_flow_of_a_group(tmp_path, kind):
    run = dumbbell.run(Scenario([Group("cubic", flows=4)], rate="10mbit", time="2s"))
    run.save(tmp_path / "four")
    rtts = run.flows["rtt_us"].drop_null().to_numpy() / 1e3
    (figure,) = one(tmp_path, kind, "four", name="rtt")
    if kind == "box":
        low, _, median, _, high = figure.boxes[0].values
        found = [low, median, high]
        wanted = [np.quantile(rtts, q, method="inverted_cdf") for q in (0.05, 0.5, 0.95)]
    else:
        (curve,) = figure.curves
        found, wanted = [curve.x.min(), curve.x.max()], [rtts.min(), rtts.max()]
    assert found == pytest.approx(wanted, rel=1e-6)
    # In a line over time they are one mean.
    (line,) = one(tmp_path, "line", "four", name="rtt")
    known = line.curves[0].y[np.isfinite(line.curves[0].y)]
    assert known.max() < rtts.max()


def test_transfers_that_the_end_cuts_off_are_not_left_out(places):
    (figure,) = one(places, "cdf", "cubic", name="fct")
    run = dumbbell.Run.load(places / "cubic")
    assert run.transfers["end_us"].null_count > 0
    ends, starts = (run.transfers[name].to_numpy() for name in ("end_us", "start_us"))
    seen = np.sort((ends - starts)[np.isfinite(ends)]) / 1e3
    only_seen = 100 * np.searchsorted(seen, figure.curves[0].x, "right") / seen.size
    assert (figure.curves[0].y <= only_seen + 1e-9).all()
    assert (figure.curves[0].y[1:] < only_seen[1:]).any(), "the slow ones count"
    assert figure.y_label == "transfers (%)"


def test_what_sets_series_apart_is_their_name_and_no_more(places):
    (figure,) = one(places, "cdf", "queues", name="sojourn")
    assert [curve.label for curve in figure.curves] == ["bfifo", "codel", "fq_codel"]
    (figure,) = one(places, "cdf", "queues", name="rtt")
    assert figure.curves[0].label == "Copa, bfifo"
    (figure,) = one(places, "cdf", "cubic", "bbr", name="sojourn", labels=("One", "Two"))
    assert [curve.label for curve in figure.curves] == ["One", "Two"]
    (figure,) = one(places, "cdf", "reps", name="rtt", labels=("Ours", "Theirs"))
    assert [curve.label for curve in figure.curves] == ["Ours", "Theirs"]


def test_a_curve_named_after_an_algorithm_has_its_colour(tmp_path):
    """The flows are CUBIC's; what differs is who else is there."""
    small = Group("cubic", traffic="poisson:load=20%,size=uniform(2kB;20kB)")
    scenario = Scenario([small, "bbr"], rate="10mbit", time="4s")
    Sweep(scenario, {"1.cc": "bbr,copa"}).run(cache=False, out=tmp_path / "s")
    (figure,) = one(tmp_path, "cdf", "s", name="fct")
    assert [(curve.label, curve.color) for curve in figure.curves] == [
        ("BBR", style_of("bbr").color), ("Copa", style_of("copa").color),
    ]  # fmt: skip


def test_numbers_of_an_axis_are_a_ramp(tmp_path):
    scenario = Scenario(["cubic"], rate="10mbit", time="1s")
    Sweep(scenario, {"buffer": "1..4bdp"}).run(cache=False, out=tmp_path / "s")
    (figure,) = one(tmp_path, "cdf", "s", name="rtt")
    assert [curve.label for curve in figure.curves] == ["1bdp", "2bdp", "4bdp"]
    light = [sum(int(c.color[at : at + 2], 16) for at in (1, 3, 5)) for c in figure.curves]
    assert light == sorted(light)


def test_algorithms_are_in_one_figure_and_keep_their_colours(tmp_path):
    axes = {"0.cc": "bbr,cubic", "buffer": "1bdp,2bdp"}
    for name, groups in (("lone", ["cubic"]), ("two", ["cubic", "copa"])):
        scenario = Scenario(groups, rate="10mbit", time="1s")
        Sweep(scenario, axes).run(cache=False, out=tmp_path / name)
    for figure, title in zip(
        one(tmp_path, "cdf", "lone", name="rtt"), ("buffer 1bdp", "buffer 2bdp"), strict=True
    ):
        assert figure.title == title
        assert [(curve.label, curve.color) for curve in figure.curves] == [
            (style_of(cc).label, style_of(cc).color) for cc in ("bbr", "cubic")
        ]
    figure, _ = one(tmp_path, "cdf", "two", name="rtt")
    first, second = shades(style_of("copa").color, 3)[:2]
    assert [(curve.label, curve.color) for curve in figure.curves] == [
        ("BBR", style_of("bbr").color), ("Copa with BBR", first),
        ("CUBIC", style_of("cubic").color), ("Copa with CUBIC", second),
    ]  # fmt: skip


def test_a_value_of_an_axis_has_one_colour_in_every_figure(places):
    (times,) = one(places, "cdf", "queues", name="sojourn")
    (bars,) = one(places, "bar", "queues", name="queue_delay_mean_us")
    (boxes,) = one(places, "box", "queues", name="sojourn")
    colors = [curve.color for curve in times.curves]
    assert len(set(colors)) == 3
    assert colors[0] != style_of("copa").color, "not the first group's"
    assert [curve.color for curve in bars.curves] == [box.color for box in boxes.boxes] == colors


def test_values_are_shades_and_dashes_of_the_algorithms(tmp_path):
    scenario = Scenario(["cubic", "copa"], rate="10mbit", time="1s")
    Sweep(scenario, {"buffer": "1..4bdp"}).run(cache=False, out=tmp_path / "s")
    (figure,) = one(tmp_path, "cdf", "s", name="rtt")
    for cc in ("cubic", "copa"):
        mine = [curve for curve in figure.curves if curve.label.startswith(style_of(cc).label)]
        assert [curve.color for curve in mine] == shades(style_of(cc).color, 4)[:3]
        assert [curve.dashed for curve in mine] == [0, 1, 2]


@pytest.mark.parametrize("kind", ["bar", "points"])
def test_nothing_joins_categories(places, kind):
    (figure,) = one(places, kind, "queues", name="goodput_bps")
    axes = drawn([figure]).axes[0]
    for line in axes.lines:
        assert (
            line.get_linestyle() == "None" or np.ptp(np.asarray(line.get_xdata(), dtype=float)) == 0
        )
    if kind == "bar":
        bars = [each for each in axes.containers if isinstance(each, BarContainer)]
        assert [len(each) for each in bars] == [3, 3]
        edges = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for b in bars for bar in b)
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(edges)), "bars beside one another"


def test_axes_that_change_together_are_one_panel(tmp_path):
    two = Scenario(["copa", "cubic"], rate="10mbit", time="1s")
    axes = {"queue": "bfifo,codel", "buffer": "1bdp,2bdp"}
    swept = Sweep(two, axes, zipped=[("queue", "buffer")])
    swept.run(cache=False, out=tmp_path / "joined")
    (figure,) = one(tmp_path, "bar", "joined", name="goodput_bps", x="queue")
    assert figure.x_names == ("bfifo", "codel")
    assert all(list(curve.x) == [0, 1] for curve in figure.curves)


@pytest.mark.parametrize("how", ["", "--kind bar", "--kind cdf", "--kind scatter"])
def test_more_labels_than_groups_are_refused(cli, places, how):
    metric = "" if "scatter" in how else "--metric goodput_bps"
    words = f"plot {places / 'queues'} {metric} {how} --label a --label b --label c"
    outcome = cli(*shlex.split(words))
    assert outcome.code == 2
    assert "3 labels for 2 groups" in outcome.err


def test_labels_of_a_sweep_over_algorithms_name_its_curves(tmp_path):
    swept = Sweep(Scenario(["cubic"], rate="10mbit", time="1s"), {"0.cc": "cubic,bbr"}, reps=2)
    swept.run(cache=False, out=tmp_path / "alone")
    labels = ("Thesis", "Baseline")
    (cdf,) = one(tmp_path, "cdf", "alone", name="rtt", labels=labels)
    assert [curve.label for curve in cdf.curves] == list(labels)
    (bars,) = one(tmp_path, "bar", "alone", name="goodput_bps", labels=labels)
    assert bars.x_names == labels
    pair = request(tmp_path, "alone", names=("rtt_mean_us", "goodput_bps"), labels=labels)
    ((_, (scatter,)),) = draw_kind(pair, "scatter")
    assert [curve.label for curve in scatter.curves if curve.label] == list(labels)
    for wrong, said in (((*labels, "Other"), "3 labels"), (labels[:1], "1 label")):
        with pytest.raises(ResultError, match=f"{said} for 2 curves"):
            one(tmp_path, "cdf", "alone", name="rtt", labels=wrong)


def test_bars_are_means_with_their_intervals(places):
    (figure,) = one(places, "bar", "queues", name="goodput_bps")
    rows = dumbbell.SweepResult.load(places / "queues").rows.to_pylist()
    codel = [r["goodput_bps"] / 1e6 for r in rows if r["queue"] == "codel" and r["group"] == 1]
    interval = mean_interval(codel)
    cubic = next(curve for curve in figure.curves if curve.label == "CUBIC")
    assert figure.x_names == ("bfifo", "codel", "fq_codel")
    assert figure.x_label == "queue discipline"
    at = list(cubic.x).index(1)
    assert (cubic.y[at], cubic.low[at], cubic.high[at]) == pytest.approx(
        (interval.mean, interval.low, interval.high)
    )


def test_runs_without_an_axis_stand_beside_one_another(places):
    (figure,) = one(places, "bar", "cubic", "bbr", name="goodput_bps")
    assert figure.x_names == ("CUBIC", "BBR")
    assert [curve.label for curve in figure.curves] == ["", ""], "the axis names them"
    assert len({curve.color for curve in figure.curves}) == 2


@pytest.mark.parametrize("kind", ["bar", "box"])
def test_a_run_stands_beside_the_cells_of_a_sweep(places, kind):
    (figure,) = one(places, kind, "queues", "cubic", name="goodput_bps")
    assert figure.x_names == ("bfifo", "codel", "fq_codel", "cubic")
    assert drawn([figure]).axes[0].get_xlim() == (-0.5, 3.5)


def test_a_scatter_has_an_ellipse_of_one_sigma_and_delay_falls_to_the_right(places):
    names = ("queue_delay_mean_us", "goodput_bps")
    ((_, drawn_of_both),) = draw_kind(request(places, "reps", names=names), "scatter")
    figure: Any = drawn_of_both[0]
    assert [curve.label for curve in figure.curves] == ["Copa", "", "CUBIC", ""]
    left, right = figure.x_range
    assert left > right >= 0
    rows = dumbbell.SweepResult.load(places / "reps").rows.to_pylist()
    pairs = [(r["queue_delay_mean_us"] / 1e3, r["goodput_bps"] / 1e6) for r in rows
             if r["group"] == 1]  # fmt: skip
    x, y = np.mean(pairs, axis=0)
    assert (figure.curves[2].x[0], figure.curves[2].y[0]) == pytest.approx((x, y))
    turn: Any = np.array([figure.curves[3].x, figure.curves[3].y]) - [[x], [y]]
    inverse = np.linalg.inv(np.cov(np.array(pairs).T))
    assert np.einsum("it,ij,jt->t", turn, inverse, turn) == pytest.approx(1.0)


def test_a_scatter_of_groups_and_values_has_a_short_legend(places):
    request_ = request(places, "queues", names=("queue_delay_mean_us", "goodput_bps"))
    ((_, (figure,)),) = draw_kind(request_, "scatter")
    assert [curve.label for curve in figure.curves if curve.label] == [
        "Copa", "CUBIC", "bfifo", "codel", "fq_codel",
    ]  # fmt: skip
    points = [c for c in figure.curves if c.shape == "points" and not c.label]
    for cc in ("copa", "cubic"):
        mine = [curve for curve in points if curve.marker == style_of(cc).marker]
        assert [curve.color for curve in mine] == shades(style_of(cc).color, 4)[:3]
    legend = drawn([figure]).legends[0]
    assert [text.get_text() for text in legend.get_texts()][:2] == ["Copa", "CUBIC"]


def test_a_scatter_of_groups_that_share_a_queue_is_over_their_own_rtts(places):
    assert default_names(request(places, "queues").sources, "scatter") == [
        "rtt_mean_us", "goodput_bps",
    ]  # fmt: skip
    assert default_names(request(places, "cubic").sources, "scatter")[0] == "queue_delay_mean_us"


def test_a_scatter_has_every_group_though_one_has_no_rtt(tmp_path):
    """A call has none: its figure was empty, and CUBIC's too, which is the second group."""
    groups = [Group("cubic", traffic="datagram:preset=voip"), Group("cubic")]
    dumbbell.run(Scenario(groups, rate="10mbit", time="2s")).save(tmp_path / "call")
    sources = request(tmp_path, "call").sources
    default = tuple(default_names(sources, "scatter"))
    assert default == ("queue_delay_mean_us", "goodput_bps")
    for names, count in ((default, 2), (("rtt_mean_us", "goodput_bps"), 1)):
        ((_, (figure,)),) = draw_kind(request(tmp_path, "call", names=names), "scatter")
        assert len([curve for curve in figure.curves if curve.label]) == count
    with pytest.raises(ResultError, match="no group has both `mos` and `rtt_mean_us`"):
        draw_kind(request(tmp_path, "call", names=("mos", "rtt_mean_us")), "scatter")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("which", ["cubic", "reps", "grid", "cubic.pcapng", "call"])
def test_every_kind_draws_something_of_every_result_or_says_why_not(places, which, kind):
    """Bars of a capture, and a distribution of a call without an RTT, were no file and no word."""
    if which == "call":
        group = Group("cubic", traffic="datagram:preset=voip")
        dumbbell.run(Scenario([group], rate="10mbit", time="2s")).save(places / "call")
    if kind == "heat" and which != "grid":
        with pytest.raises(ResultError, match="needs a sweep of two axes"):
            frames_asked(request(places, which), kind, (), "1col", is_named=False)
        return
    frames = frames_asked(request(places, which), kind, (), "1col", is_named=False)
    assert frames
    for figure in (figure for _, figures, _ in frames for figure in figures):
        has_curve = any(np.isfinite(np.asarray(each.y, float)).any() for each in figure.curves)
        assert has_curve or figure.boxes or figure.grid is not None, figure.name


def test_a_program_is_called_by_its_command_not_by_what_emulate_calls_its_run():
    group = Group(client=["curl", "x"], server=["true"])
    scenario = Scenario([group], rate="10mbit", name="curl x over 10mbit, 40ms")
    run = dumbbell.run(Scenario(["cubic"], rate="10mbit", time="1s"))
    run.scenario = scenario
    source = ResultSource(sweep_of_run(run), "r")
    assert (source.title, source.group_label(0, 0)) == ("", "curl")


@pytest.mark.parametrize("kind", ["bar", "points", "box"])
def test_the_algorithms_of_a_lone_group_are_side_by_side(tmp_path, kind):
    """Each had a file of its own, over losses as over queues."""
    axes = {"cc": "reno,bbr", "loss": "0.1%,1%,2%"}
    Sweep(Scenario(["cubic"], rate="10mbit", time="1s"), axes).run(cache=False, out=tmp_path / "l")
    for name in ("rtt",) if kind == "box" else ("goodput_bps", "queue_delay_mean_us"):
        (figure,) = one(tmp_path, kind, "l", name=name)
        series = figure.boxes if kind == "box" else figure.curves
        looks = {(each.label, each.color) for each in series}
        assert looks == {(style_of(cc).label, style_of(cc).color) for cc in ("reno", "bbr")}
        assert figure.x_names == ("0.1", "1", "2")
    # And where there are more algorithms than losses.
    axes = {"cc": "reno,bbr,copa", "queue": "bfifo,codel"}
    Sweep(Scenario(["cubic"], rate="10mbit", time="1s"), axes).run(cache=False, out=tmp_path / "q")
    (figure,) = one(tmp_path, kind, "q", name="rtt" if kind == "box" else "goodput_bps")
    assert figure.x_names == ("bfifo", "codel")


def test_groups_of_one_algorithm_have_markers_of_their_own(tmp_path):
    """On grey paper five groups of CUBIC were five squares."""
    groups = [Group("cubic", name=name) for name in ("down", "up", "pages")]
    scenario = Scenario(groups, rate="10mbit", time="1s")
    Sweep(scenario, {"queue": "bfifo,codel"}).run(cache=False, out=tmp_path / "q")
    figures = ResultFigures(dumbbell.SweepResult.load(tmp_path / "q"))
    (figure,) = figures.draw(figures.metric("goodput_bps"))
    assert len({curve.marker for curve in figure.curves}) == 3


def test_the_connections_of_a_run_s_capture_look_as_their_algorithms(cli, tmp_path):
    """The first looked as Copa and the second as CUBIC, whatever they were."""
    own = ROOT / "cc" / "reno.bpf.c"
    outcome = cli("run", "bbr", str(own), "--time", "1s", "--capture", "--out", str(tmp_path / "r"))
    assert outcome.code == 0, outcome.err
    (figure,) = one(tmp_path, "line", "r/capture.pcapng", name="goodput")
    looks = [curve.color for curve in figure.curves]
    assert looks == [style_of("bbr").color, OWN.color]


def test_no_ellipse_is_where_no_value_can_be():
    series = Series("a", "#000000", "o", 0, "", "", "a", ())
    pairs: list[tuple[float | None, float]] = [(0.0, 1.0), (9.0, 1.1), (0.1, 8.0), (0.2, 0.1)]
    _, turn = curves_of(series, pairs, (0.0, -np.inf))
    assert turn.x.min() == 0
    assert turn.y.min() < 0


def test_a_run_that_the_user_named_is_called_so(tmp_path):
    for name, cc in (("Thesis", "bbr"), ("", "cubic")):
        scenario = Scenario([cc], rate="10mbit", time="1s", name=name)
        dumbbell.run(scenario).save(tmp_path / cc)
    (figure,) = one(tmp_path, "cdf", "bbr", "cubic", name="rtt")
    assert [curve.label for curve in figure.curves] == ["Thesis", "CUBIC"]


def test_an_ellipse_of_values_on_a_line_is_a_line():
    x, y = ellipse(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]))
    assert y == pytest.approx(2 * x)


def test_a_heat_map_has_the_means_of_its_cells(places):
    copa, cubic = one(places, "heat", "grid", name="share")
    assert (copa.x_names, copa.y_names) == (("5", "10", "20"), ("10", "40"))
    assert (copa.x_label, copa.y_label) == ("rate (Mbit/s)", "base RTT (ms)")
    assert copa.grid.label == "throughput share of Copa (%)"
    assert copa.grid.values + cubic.grid.values == pytest.approx(100)
    rows = dumbbell.SweepResult.load(places / "grid").rows.to_pylist()
    wanted = [100 * r["share"] for r in rows
              if (r["rate"], r["rtt"], r["group"]) == ("20mbit", "10ms", 0)]  # fmt: skip
    assert copa.grid.values[0, 2] == pytest.approx(np.mean(wanted))
    image: Any = drawn([copa]).axes[0].images[0]
    assert image.get_array().shape == (2, 3)
    assert copa.y_range == cubic.y_range, "one scale for both"


def test_a_band_is_the_mean_over_seeds_and_its_interval(places):
    (figure,) = one(places, "band", "reps", name="goodput")
    runs = dumbbell.SweepResult.load(places / "reps").runs
    found = []
    for run in runs.values():
        rows = [r for r in run.flows.to_pylist() if r["flow"] == 1]
        inside = [r["goodput_bps"] / 1e6 for r in rows if 1.48 < r["time_us"] / 1e6 <= 1.52]
        found.append(np.mean(inside))
    cubic = figure.curves[1]
    at = int(np.argmin(abs(cubic.x - 1.5)))  # a bin is a base RTT
    interval = interval_within(np.array(found))
    assert (cubic.label, cubic.band) == ("CUBIC", True)
    assert cubic.y[at] == pytest.approx(interval.mean)
    assert cubic.high[at] == pytest.approx(interval.high)
    assert drawn([figure]).axes[0].collections, "the bands"


def test_a_band_stays_within_the_values():
    spiky = np.array([[48.0] * 9 + [180.0], np.linspace(10, 20, 10)]).T
    mean, low, high = intervals(spiky)
    assert mean == pytest.approx(spiky.mean(axis=0))
    assert (low >= spiky.min(axis=0)).all()
    assert (high <= spiky.max(axis=0)).all()
    calm = mean_interval(spiky[:, 1])
    assert (low[1], high[1]) == pytest.approx((calm.low, calm.high), rel=0.05)


def test_groups_of_a_run_differ_in_dashes():
    figures = draw_series(dumbbell.run(Scenario(["bbr", "cubic"], time="1s")), ["goodput", "cwnd"])
    assert [[curve.dashed for curve in figure.curves] for figure in figures] == [[0, 1]] * 2


def test_names_of_close_marks_are_in_one_line():
    marks = tuple(
        Mark(at, f"BBR: {name}", "#000000") for at, name in ((1, "drain"), (1.1, "probe"))
    )
    curve = Curve("", np.array([0.0, 10.0]), np.array([0.0, 1.0]), "#000000")
    axes = drawn([Figure("f", "", "", "", (curve,), marks=marks, x_range=(0.0, 10.0))]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["BBR: drain, probe"]


def test_a_flow_is_no_mean_and_what_has_no_value_is_in_no_legend():
    groups = [Group("cubic", 8), Group("reno"), Group("bbr", start="2s")]
    run = dumbbell.run(Scenario(groups, time="3s"))
    (figure,) = draw_series(run, ["cwnd"])
    assert [curve.label for curve in figure.curves] == ["CUBIC, mean of the flows", "Reno", "BBR"]


def test_boxes_are_quartiles(places):
    (figure,) = one(places, "box", "cubic", "bbr", name="rtt")
    assert figure.x_names == ("CUBIC", "BBR")
    rtts = dumbbell.Run.load(places / "cubic").flows["rtt_us"].drop_null().to_numpy() / 1e3
    low, first, median, third, high = figure.boxes[0].values
    assert median == pytest.approx(np.median(rtts), rel=0.02)
    assert low <= first <= median <= third <= high
    assert len(drawn([figure]).axes[0].patches) == 2


def test_captures_are_drawn_beside_runs(cli, places, tmp_path):
    assert cli("analyze", str(places / "cubic.pcapng"), "--out", str(tmp_path / "a")).code == 0
    for each in (places / "cubic.pcapng", tmp_path / "a"):
        sources = load_sources([each, places / "bbr"], ())
        ((_, (figure,)),) = draw_kind(Request(sources, ("rtt",)), "cdf")
        assert len(figure.curves) == 2
        assert figure.curves[0].x.min() >= 40
    outcome = cli("plot", str(places / "cubic.pcapng"), "--out", str(tmp_path / "o"))
    assert outcome.code == 0, outcome.err
    assert {path.name for path in (tmp_path / "o").iterdir()} == {
        "goodput-rtt.svg", "goodput-rtt.pdf",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("which", "name", "kind"),
    [
        (("cubic", "bbr"), "fct", "cdf"), (("cubic", "bbr"), "rtt", "line"),
        (("reps",), "goodput", "band"), (("cubic", "bbr"), "goodput_bps", "points"),
        (("queues",), "jain", "points"), (("grid",), "jain", "line"),
    ],
)  # fmt: skip
def test_the_kind_follows_from_the_data(places, which, name, kind):
    assert default_kind(request(places, *which), name) == kind


def test_what_is_drawn_by_default_is_what_there_is(places):
    assert default_names(request(places, "cubic", "bbr").sources, "cdf") == ["fct"]
    assert default_names(request(places, "reps").sources, "cdf") == ["rtt"]
    assert default_names(request(places, "cubic.pcapng").sources, None) == [
        "goodput", "rtt"
    ]  # fmt: skip


def is_whole(canvas: Canvas) -> bool:
    """Whether nothing that is drawn reaches beyond a canvas."""
    canvas.draw_without_rendering()
    box = canvas.get_tightbbox()
    width, height = canvas.get_size_inches()
    return bool(min(box.x0, box.y0) > -0.02 and box.x1 < width + 0.02 and box.y1 < height + 0.02)


@pytest.mark.parametrize("size", ["1col", "2col"])
@pytest.mark.parametrize(
    ("kind", "which", "name"),
    [
        ("cdf", ("cubic", "bbr"), "fct"), ("box", ("queues",), "rtt"),
        ("bar", ("queues",), "fct_p99_s"), ("bar", ("cubic", "bbr"), "fct_p99_s"),
        ("points", ("queues",), "queue_delay_p95_us"), ("heat", ("grid",), "queue_delay_p95_us"),
        ("band", ("reps",), "goodput"), ("line", ("cubic", "bbr"), "rtt"),
        ("scatter", ("queues",), "goodput_bps"),
    ],
)  # fmt: skip
def test_no_label_is_cut(places, kind, which, name, size):
    if name == "fct_p99_s" and which == ("queues",):
        name = "rtt_p95_us"
    names = (name, "queue_delay_p95_us") if kind == "scatter" else (name,)
    asked = request(places, *which, names=names, labels=(LONG, LONG.upper()))
    ((_, figures),) = draw_kind(asked, kind)
    for each in [figures] if size == "2col" else [[figure] for figure in figures]:
        assert is_whole(drawn(each, size, heading=LONG * 2))


def test_series_differ_without_their_colours(places):
    (figure,) = one(places, "cdf", "queues", name="sojourn")
    lines = drawn([figure]).axes[0].lines
    assert len({str(line.get_linestyle()) for line in lines}) == len(lines)
    (bars,) = one(places, "bar", "queues", name="goodput_bps")
    axes = drawn([bars]).axes[0]
    assert len({each[0].get_hatch() for each in axes.containers if isinstance(each, BarContainer)}
               ) == 2  # fmt: skip
    ((_, (scatter,)),) = draw_kind(
        request(places, "queues", names=("queue_delay_mean_us", "goodput_bps")), "scatter"
    )
    points = [curve for curve in scatter.curves if curve.shape == "points" and curve.label]
    assert len({(curve.marker, curve.color) for curve in points}) == 5
    ellipses = [curve for curve in scatter.curves if curve.shape == "strokes"]
    assert len({curve.dashed for curve in ellipses}) == 2
    assert len(DASHES) == 4


def test_results_have_shades_of_the_algorithms_colours_and_dashes_of_their_own(places, tmp_path):
    for name, ccs in {"two": ["copa", "cubic"], "three": ["copa", "cubic", "reno"]}.items():
        for queue in ("bfifo", "codel"):
            run = dumbbell.run(Scenario(ccs, queue=queue, rate="10mbit", time="1s"))
            run.save(tmp_path / f"{name}-{queue}")
    (two,) = one(tmp_path, "cdf", "two-bfifo", "two-codel", name="rtt")
    assert [curve.label for curve in two.curves[::2]] == ["two-bfifo: Copa", "two-codel: Copa"]
    assert [curve.dashed for curve in two.curves] == [0, 1, 2, 3]
    assert [curve.color for curve in two.curves[:2]] == [
        style_of(cc).color for cc in ("copa", "cubic")
    ]
    assert [curve.color for curve in two.curves[2:]] == [
        shades(style_of(cc).color, 3)[1] for cc in ("copa", "cubic")
    ]
    (three,) = one(tmp_path, "cdf", "three-bfifo", "three-codel", name="rtt")
    assert [curve.dashed for curve in three.curves] == [0, 0, 0, 1, 1, 1]
    assert len({curve.color for curve in three.curves}) == 6
    (plain,) = one(places, "cdf", "cubic", "traced", name="rtt", labels=("A", "B"))
    assert [curve.color for curve in plain.curves] == shades(style_of("cubic").color, 3)[:2]


def test_the_reader_s_words_are_in_the_figure(cli, places, tmp_path):
    outcome = cli(
        "plot", str(places / "cubic"), str(places / "bbr"), "--kind", "cdf", "--series", "rtt",
        "--label", "Ours", "--label", "Theirs", "--title", "Round trips", "--xlim", "0,500",
        "--ylim", "50,100", "--style", "report", "--format", "svg", "--out", str(tmp_path),
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    text = (tmp_path / "rtt-cdf.svg").read_text()
    for word in ("Ours", "Theirs", "Round trips", "500"):
        assert f">{word}<" in text
    assert ">40<" not in text, "below --ylim"


def test_files_of_panels_are_named_after_them_and_so_is_their_heading(cli, places, tmp_path):
    outcome = cli(
        "plot", str(places / "grid"), "--kind", "heat", "--metric", "share", "--title", "Mine",
        "--format", "svg", "--style", "report", "--out", str(tmp_path),
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    files = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert set(files) == {"share-heat-copa.svg", "share-heat-cubic.svg"}
    assert ">Mine: Copa<" in files["share-heat-copa.svg"]
    assert cli("plot", str(places / "grid"), "--metric", "jain", "--out", str(tmp_path)).code == 0
    assert {path.name for path in tmp_path.glob("jain*.pdf")} == {
        "jain-rtt-10ms.pdf", "jain-rtt-40ms.pdf",
    }  # fmt: skip
    same = [Figure("", title, "", "", ()) for title in ("A b", "a-B", "")]
    assert file_names("x", same) == ["x-a-b-0", "x-a-b-1", "x"]


def test_marks_of_a_logarithmic_axis_are_round_and_never_missing():
    for low, high, marks in (
        (90.0, 2100.0, (100, 200, 500, 1000, 2000)),
        (1100.0, 1900.0, (1200, 1400, 1600, 1800)),
        (3.0, 30.0, (5, 10, 20)),
        (0.5, 5e7, tuple(10.0**power for power in range(8))),
    ):
        assert log_marks(np.array([low, high])) == pytest.approx(marks)
    assert len(log_marks(np.array([7.0]))) == 3


def test_limits_of_an_axis_of_names_are_refused(cli, places):
    for kind in ("heat --metric jain", "box --series rtt"):
        outcome = cli(*shlex.split(f"plot {places / 'grid'} --kind {kind} --xlim 0,1"))
        assert (outcome.code, "--xlim is for an axis of numbers" in outcome.err) == (2, True)


def test_numbers_of_a_heat_map_have_even_decimals():
    grid = Grid(np.array([[8.0, 12.34]]), "ms")
    figure = Figure("f", "", "", "", (), grid=grid, x_names=("a", "b"), y_names=("c",))
    assert [text.get_text() for text in drawn([figure]).axes[0].texts] == ["8.0", "12.3"]


def test_intervals_of_one_place_stand_beside_one_another(places):
    swept = ResultFigures(dumbbell.SweepResult.load(places / "grid"), x="rate")
    figure = swept.draw(swept.metric("goodput_bps"))[0]
    curves = [
        dataclasses.replace(curve, low=curve.y - 1, high=curve.y + 1) for curve in figure.curves
    ]
    axes: Any = drawn([dataclasses.replace(figure, curves=tuple(curves))]).axes[0]
    left = [each.lines[0].get_transform().transform((5, 0))[0] for each in axes.containers]
    assert left[1] - left[0] > 1
    low, high = axes.get_xlim()
    assert 0 < low < 5 < 20 < high


def test_the_axis_alone_names_a_lone_curve_and_the_unit(places):
    swept = ResultFigures(dumbbell.SweepResult.load(places / "grid"), x="rate")
    (curve,) = swept.draw(swept.metric("jain"), models=[])[0].curves
    assert curve.label == ""
    (bars, _) = one(places, "bar", "grid", name="goodput_bps", x="rate")
    assert (bars.x_label, bars.x_names) == ("rate (Mbit/s)", ("5", "10", "20"))


def test_a_heat_map_has_axes_that_are_crossed(tmp_path):
    scenario = Scenario(["cubic"], time="1s")
    axes = {"rate": "5mbit,10mbit", "rtt": "10ms,20ms"}
    zipped = [["rate", "rtt"]]
    Sweep(scenario, axes, zipped=zipped).run(cache=False, out=tmp_path / "one")
    Sweep(scenario, {**axes, "buffer": "1..4bdp"}, zipped=zipped).run(
        cache=False, out=tmp_path / "two"
    )
    (figure,) = one(tmp_path, "heat", "two", name="jain")
    assert figure.grid.values.shape == (2, 3)
    assert np.isfinite(figure.grid.values).all()
    for which, how, says in (
        ("one", {}, "`rate` and `rtt` change together; cross them by two `--axis`"),
        ("two", {"x": "rate", "y": "rtt"}, "change together; use `--y buffer`"),
    ):
        with pytest.raises(ResultError, match=says):
            one(tmp_path, "heat", which, name="jain", **how)


def test_a_lone_curve_is_named_by_its_axis_not_by_the_legend(places):
    run = dumbbell.Run.load(places / "cubic")
    canvas = drawn(draw_series(run, ["goodput", "queue"]))
    (legend,) = canvas.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert "bottleneck" not in names


def test_a_result_that_lacks_what_is_asked_for_is_named(places):
    sources = request(places, "cubic", "reps").sources
    with pytest.raises(ResultError, match="reps: has no `fct`"):
        frames_asked(Request(sources, ("fct",)), "cdf", [], "1col", is_named=True)
    with pytest.raises(ResultError, match="a scatter shows two metrics, not 1"):
        draw_kind(Request(sources, ("goodput_bps",)), "scatter")
    assert set(KINDS) == {"line", "bar", "points", "cdf", "box", "scatter", "heat", "band"}


def test_several_sweeps_are_curves_of_one_figure(cli, places, tmp_path):
    sweeps = [str(places / "grid"), str(places / "grid")]
    outcome = cli(
        "plot", *sweeps, "--metric", "jain", "--label", "Before", "--label", "After",
        "--style", "report", "--format", "svg", "--size", "2col", "--out", str(tmp_path),
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    text = (tmp_path / "jain.svg").read_text()
    assert ">Before: Jain" in text
    assert ">After: Jain" in text


def test_the_guide_s_figures_are_drawn(cli, tmp_path, monkeypatch):
    """Every command of the page's section runs in an empty directory, in its order."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    section = text[text.index("## Figures for papers") : text.index("84 and 177 mm")]
    commands = [
        shlex.split(line, comments=True)[1:]
        for line in section.splitlines()
        if line.startswith("    dumbbell ")
    ]
    assert {words[0] for words in commands} == {"sweep", "run", "plot"}
    for words in commands:
        small = [] if words[0] == "plot" else ["--time", "3s"]
        words = ["0s,1s,2s" if word == "0s,5s,10s" else word for word in words]
        outcome = cli(*words, *small, *(["--format", "svg"] if words[0] == "plot" else []))
        assert outcome.code == 0, f"{' '.join(words)}: {outcome.err}"
    drawn_kinds = {words[words.index("--kind") + 1] for words in commands if "--kind" in words}
    assert drawn_kinds == {"cdf", "box", "scatter", "bar", "heat"}

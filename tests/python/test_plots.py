import re
from importlib import resources

import numpy as np
import pytest
from matplotlib.figure import Figure

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.figures import buffer_colors, style_of, thin
from dumbbell.figures.figure import MAX_POINTS, Box, Curve
from dumbbell.figures.static import draw_bars, draw_box, draw_curve
from dumbbell.figures.style import OWN, STYLES, shades
from dumbbell.plots import group_colors
from dumbbell.plots.kinds.kinds import draw_kind
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.result_figures import ResultFigures, usual_names
from dumbbell.plots.result_source import ResultSource
from dumbbell.plots.sweep_layout import lay_out
from dumbbell.report.sweep_page import FIRST


def test_thinning_keeps_every_peak_and_the_order():
    x = np.arange(12_000, dtype=np.float64)
    y = np.sin(x / 500)
    y[7_777], y[3_333] = 50, -50
    thin_x, thin_y = thin(x, y)
    assert thin_x.size <= MAX_POINTS
    assert (np.diff(thin_x) > 0).all()
    assert (thin_y.max(), thin_y.min()) == (50, -50)
    assert (y[thin_x.astype(int)] == thin_y).all()


def test_thinning_leaves_short_curves_alone():
    x = np.arange(10, dtype=np.float64)
    assert thin(x, x)[0] is x


def test_each_congestion_control_has_its_look():
    known = [style_of(name) for name in ("copa", "cubic", "bbr", "bbr3", "reno")]
    assert len({style.color for style in known}) == len({style.marker for style in known}) == 5
    assert style_of("mine").label == "mine"


def test_what_is_the_users_own_has_the_strongest_colour(tmp_path):
    mine = tmp_path / "mycc.bpf.c"
    mine.write_text("// mine\n")
    own = style_of(str(mine))
    assert (own.label, own.color) == ("mycc", "#000000")
    assert own.color not in {style.color for style in STYLES.values()}
    assert own.marker not in {style.marker for style in STYLES.values()}
    groups = [Group("cubic"), Group(str(mine)), Group(str(mine)), Group(client="curl x")]
    colors = group_colors(Scenario(groups))
    assert colors[:2] == ["#0072b2", "#000000"]
    assert len(set(colors)) == 4
    assert not {*colors[2:]} & {style.color for style in STYLES.values()}


def test_shades_of_buffers_are_distinct():
    assert len(set(buffer_colors(["a", "b", "c"]).values())) == 3


def test_eight_groups_have_distinct_styles():
    assert len(set(group_colors(Scenario(["cubic"] * 8)))) == 8
    assert group_colors(Scenario(["copa", "copa", "bbr"]))[::2] == ["#d55e00", "#009e73"]


def test_every_marker_has_a_shape_of_its_own_in_the_page():
    markers = {style.marker for style in (*STYLES.values(), OWN)}
    assert len(markers) == len(STYLES) + 1
    script = (
        resources.files("dumbbell.report").joinpath("templates", "curves.js").read_text("utf-8")
    )
    table = script[script.index("const MARKERS = {") : script.index("function mark(")]
    shapes = {
        a or b or c for a, b, c in re.findall(r'^ +(\w): |, (\w): |"(.)": ', table, re.MULTILINE)
    }
    assert markers - {"o"} == shapes, "`o` is the circle that every other marker would be"


def test_shades_of_a_colour_differ_and_begin_with_it():
    assert shades("#0072b2", 1) == ["#0072b2"]
    assert len(set(shades("#0072b2", 8))) == 8
    assert shades("#000000", 2) == ["#000000", "#999999"]


def test_a_mean_a_rounding_error_beyond_equal_values_has_a_bar():
    values = np.array([953.05554827])
    curve = Curve("Copa", np.array([16.0]), values + 1e-13, "black", "o", values, values)
    (bars,) = draw_curve(Figure().subplots(), curve)[2]
    assert np.ptp(bars.get_segments()[0][:, 1]) < 1e-9


def test_a_sample_without_neighbours_is_a_dot():
    nan = float("nan")
    axes = Figure().subplots()
    y = np.array([1.0, nan, 2.0, 3.0, nan, 4.0])
    draw_curve(axes, Curve("", np.arange(6.0), y, "black"))
    (_, dots) = axes.get_lines()
    assert list(np.asarray(dots.get_xdata())) == [0, 5]
    axes = Figure().subplots()
    draw_curve(axes, Curve("", np.arange(2.0), y[2:4], "black"))
    assert len(axes.get_lines()) == 1


@pytest.mark.parametrize(
    ("axes", "label", "names"),
    [
        (
            {"rate": "5mbit,10mbit", "rtt": "10ms,20ms"},
            "rate (Mbit/s), with base RTT (ms)",
            (),
        ),
        (
            {"0.cc": "cubic,bbr", "queue": "bfifo,codel"},
            "congestion control, with queue discipline",
            ("CUBIC, bfifo", "BBR, codel"),
        ),
    ],
)
def test_axes_that_change_together_are_both_named(axes, label, names):
    scenario = dumbbell.Scenario(["cubic"], time="1s")
    swept = dumbbell.Sweep(scenario, axes, zipped=[tuple(axes)]).run(cache=False)
    layout = lay_out(swept)
    assert (layout.x_label, layout.x_names) == (label, names)


def test_axes_that_are_alike_everywhere_are_named_once():
    """Both links' queue is one name, in curves and in bars."""
    groups = [Group("cubic", route=["down"], back=["up"])]
    links = [dumbbell.Link("down", rate="10mbit"), dumbbell.Link("up", rate="5mbit")]
    scenario = Scenario(groups, links=links, time="1s")
    axes = {f"link.{name}.queue": "bfifo,codel" for name in ("down", "up")}
    swept = dumbbell.Sweep(scenario, axes, zipped=[tuple(axes)]).run(cache=False)
    layout = lay_out(swept)
    assert (layout.x_label, layout.x_names) == (
        "queue discipline of down and up",
        ("bfifo", "codel"),
    )
    assert [layout.place_of(cell) for cell in swept.cells] == ["bfifo", "codel"]
    request = Request([ResultSource(swept, "queues")], ["utilization"])
    ((_, (drawn,)),) = draw_kind(request, "bar")
    assert (drawn.x_label, drawn.x_names) == (layout.x_label, layout.x_names)
    axes = {f"link.{name}.buffer": "1bdp,2bdp" for name in ("down", "up")}
    swept = dumbbell.Sweep(scenario, axes, zipped=[tuple(axes)]).run(cache=False)
    assert lay_out(swept).x_label == "buffer of down and up (BDP)"


def test_algorithms_of_a_lone_group_are_in_one_figure():
    """Of a metric of the group and of one of the run, over numbers; not of more groups."""
    axes = {"0.cc": "cubic,bbr,reno", "rate": "5mbit,10mbit"}
    swept = dumbbell.Sweep(Scenario(["cubic"], time="1s"), axes).run(cache=False)
    figures = ResultFigures(swept)
    for name in ("goodput_bps", "utilization"):
        (figure,) = figures.draw(figures.metric(name), models=[])
        assert [curve.label for curve in figure.curves] == ["CUBIC", "BBR", "Reno"]
        assert len({curve.color for curve in figure.curves}) == 3
        assert [list(curve.x) for curve in figure.curves] == [[5, 10]] * 3
    # Along x they are places; a page has a panel of each, and so have more groups.
    along = ResultFigures(swept, x="0.cc")
    assert [len(figure.curves) for figure in along.draw(along.metric("utilization"))] == [1, 1]
    assert len(ResultFigures(swept, joined=False).layout.facets) == 3
    swept = dumbbell.Sweep(Scenario(["cubic", "reno"], time="1s"), axes).run(cache=False)
    assert len(ResultFigures(swept).layout.facets) == 3


def test_paths_that_no_axis_tells_apart_have_a_place_each(tmp_path):
    """Three paths of 12 Mbit/s are three places, in the order given, and nothing joins them."""
    axes = {"rate": "12mbit,4mbit,12mbit,12mbit", "rtt": "40ms,100ms,100ms,40ms",
            "loss": "0%,0%,0%,1%"}  # fmt: skip
    scenario = dumbbell.Scenario(["cubic"], time="1s")
    swept = dumbbell.Sweep(scenario, axes, zipped=[tuple(axes)]).run(cache=False)
    names = ("12mbit, 40ms, 0%", "4mbit, 100ms, 0%", "12mbit, 100ms, 0%", "12mbit, 40ms, 1%")
    figures = ResultFigures(swept)
    (figure,) = figures.draw(figures.metric("goodput_per_flow_bps"))
    assert (figure.x_label, figure.x_names) == ("rate, with base RTT, with loss", names)
    assert list(figure.curves[0].x) == [0, 1, 2, 3]
    assert {curve.shape for curve in figure.curves} == {"points"}  # the models', too
    source = ResultSource(swept, "paths")
    for kind, name in (("bar", "goodput_per_flow_bps"), ("box", "rtt_mean_us")):
        ((_, (drawn,)),) = draw_kind(Request([source], [name], x="rtt"), kind)
        assert (drawn.x_label, drawn.x_names) == ("rate, rtt, loss", names)
        places = [x for curve in drawn.curves for x in curve.x] + [box.x for box in drawn.boxes]
        assert places == [0, 1, 2, 3]


def test_a_program_s_own_number_goes_first():
    known = ["goodput_per_flow_bps", "share", "queue_delay_mean_us", "measured"]
    assert usual_names(known, is_alone=True) == ["measured", known[0], known[2]]
    assert FIRST[0] == "measured"  # of the report's figures and numbers


def test_the_title_of_many_groups_is_short():
    groups = [dumbbell.Group("cubic", rtt=f"{10 + at}ms") for at in range(20)]
    swept = dumbbell.Sweep(dumbbell.Scenario(groups, time="1s"), {}).run(cache=False)
    assert swept.title.endswith(" + 14 more")


def test_lines_are_seen_on_black():
    box = Box("", 0.0, "#000000", (1.0, 2.0, 3.0, 4.0, 5.0))
    bar = Curve("", np.zeros(1), np.array([3.0]), "#000000", shape="bars",
                low=np.array([2.0]), high=np.array([4.0]))  # fmt: skip
    axes = Figure().subplots()
    draw_box(axes, box, 0.0, 0.5)
    assert "white" in {line.get_color() for line in axes.lines}, "the median"
    drawn = draw_bars(axes, bar, bar.x, 0.8)
    outlines = [part.get_path_effects() for part in drawn.errorbar.get_children()]
    assert outlines
    assert all(outlines), "a white edge"

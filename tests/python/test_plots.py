import numpy as np

from dumbbell.plots import buffer_colors, group_colors, style_of, thin
from dumbbell.plots.figure import MAX_POINTS
from dumbbell.plots.interactive import MARKERS
from dumbbell.plots.style import STYLES
from dumbbell.report.panel_svg import mark


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
    assert len(set(buffer_colors(["a", "b", "c"]).values())) == 3


def test_no_two_of_eight_groups_look_alike():
    assert len(set(group_colors(["cubic"] * 8))) == 8
    assert group_colors(["copa", "copa", "bbr"])[::2] == ["#0072b2", "#009e73"]


def test_every_marker_is_drawn_as_itself_everywhere():
    markers = {style.marker for style in STYLES.values()}
    assert len(markers) == len(STYLES)
    assert markers <= set(MARKERS)
    assert len({mark(marker, 0, 0) for marker in markers}) == len(markers)

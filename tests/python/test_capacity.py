"""What a link can carry, behind the goodput: traces and rates that change, and goodput above it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import dumbbell
from dumbbell.figures.figure import Curve
from dumbbell.plots.capacity import CAPACITY_COLOR, PEAKS, capacity_mbps, peaks_above
from dumbbell.plots.run_figures import draw_series
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.sweeps import Sweep
from tests.python.drawn_kinds import drawn, one


def test_goodput_above_a_changing_capacity_has_its_reason():
    curve = Curve("a", np.array([0.0, 1.0]), np.array([9.0, 12.0]), "#000000")
    area = Curve("capacity", np.array([0.0, 1.0]), np.array([8.0, 10.0]), CAPACITY_COLOR)
    assert peaks_above([curve], None, [area]) == PEAKS
    assert peaks_above([curve], None) == ""
    assert peaks_above([dataclasses.replace(curve, y=np.array([9.0, 10.0]))], None, [area]) == ""


def test_goodput_has_bins_of_an_rtt_and_peaks_have_their_reason(tmp_path, cli):
    slow = Scenario(["cubic"], rate="10mbit", rtt="200ms", buffer="16bdp", time="3s")
    Sweep(slow, {}, reps=2).run(cache=False, out=tmp_path / "slow")
    for kind in ("band", "line"):
        (figure,) = one(tmp_path, kind, "slow", name="goodput")
        assert np.diff(figure.curves[0].x).min() >= 0.2 - 1e-9
        assert figure.caption == ""
    (figure,) = draw_series(dumbbell.run(slow), ["goodput"])
    assert np.diff(figure.curves[0].x).min() >= 0.2 - 1e-9
    lossy = Scenario(["cubic"], rate="10mbit", buffer="8bdp", loss="1%", time="5s")
    dumbbell.run(lossy).save(tmp_path / "lossy")
    (figure,) = one(tmp_path, "line", "lossy", name="goodput")
    assert np.nanmax(figure.curves[0].y) > 10.5
    assert "in order" in figure.caption
    outcome = cli("plot", str(tmp_path / "lossy"), "--series", "goodput", "--format", "svg")
    assert "delivered in order" in outcome.err


def test_the_capacity_of_a_trace_is_behind_the_goodput(tmp_path):
    run = dumbbell.run(Scenario(["cubic"], trace="cellular:rate=6mbit", time="4s"))
    run.save(tmp_path / "traced")
    (figure,) = draw_series(run, ["goodput"])
    capacity = figure.curves[0]
    assert (capacity.label, capacity.shape) == ("capacity", "area")
    passed = np.sum(capacity.y[:-1] * np.diff(capacity.x)) * 1e6 / 8
    assert passed == pytest.approx(run.bottleneck["capacity_bytes"], rel=0.01)
    axes = drawn([figure]).axes[0]
    assert axes.collections[0].get_zorder() < axes.lines[0].get_zorder()
    (several,) = one(tmp_path, "line", "traced", "traced", name="goodput")
    assert several.curves[0].label == "capacity"


def test_each_panel_has_the_capacity_of_its_own_trace(tmp_path):
    """The first trace's was behind the goodput over each."""
    axes = {"trace": "cellular:rate=2mbit,cellular:rate=8mbit", "cc": "cubic,reno,bbr"}
    Sweep(Scenario(["cubic"], time="4s"), axes).run(cache=False, out=tmp_path / "t")
    for kind in ("band", "line"):
        slow, fast = one(tmp_path, kind, "t", name="goodput")
        assert (slow.curves[0].label, fast.curves[0].label) == ("capacity", "capacity")
        assert fast.curves[0].y.mean() == pytest.approx(4 * slow.curves[0].y.mean(), rel=0.05)
    (both,) = one(tmp_path, "line", "t", name="goodput", x="trace")[:1]
    assert all(curve.label != "capacity" for curve in both.curves), "it is not one"


def capacity_of(scenario: Scenario, bins: Any) -> Any:
    return capacity_mbps(scenario, "bottleneck", bins)


def test_a_rate_that_changes_is_a_capacity_and_one_that_does_not_is_none():
    bins = np.array([0.0, 1.0, 2.0, 3.0])
    changing = Scenario(["reno"], rate="10mbit", rate_steps="2s:5mbit", time="3s")
    assert capacity_of(changing, bins).tolist() == [10, 10, 5]
    assert capacity_mbps(Scenario(["reno"], time="3s"), "bottleneck", bins) is None


def test_a_trace_begins_again_at_its_end(tmp_path):
    trace = tmp_path / "t.trace"
    trace.write_text("500\n1000\n1000\n1000\n")
    scenario = Scenario(["reno"], trace=str(trace), buffer="50kB", time="4s")
    found = capacity_of(scenario, np.arange(0, 4.5, 0.5))
    one_of = 1504 * 8 / 1e6 / 0.5
    # What may pass at the end of a round is before the next one.
    assert found.sum() == pytest.approx(16 * one_of)
    assert found[0] == pytest.approx(one_of)


def test_the_capacity_and_the_queue_are_those_of_the_payload_s_link(tmp_path):
    """The way back is the fuller one, of ACKs."""
    links = [
        Link("down", rate="10mbit", rate_steps="1s:8mbit"),
        Link("up", rate="90kbit", rate_steps="1s:80kbit"),
    ]
    two = Scenario([Group("cubic", route=["down"], back=["up"])] * 2, links=links, time="2s")
    run = dumbbell.run(two)
    assert run.bottleneck["name"] == "up"
    for name in ("a", "b"):
        run.save(tmp_path / name)
    (figure,) = draw_series(run, ["goodput"])
    assert figure.curves[0].label == "capacity"
    assert figure.curves[0].y.max() == 10
    (figure,) = one(tmp_path, "line", "a", "b", name="goodput")
    assert figure.curves[0].y.max() == 10
    (figure,) = one(tmp_path, "line", "a", "b", name="queue")
    assert figure.y_label == "queue at down (packets)"
    assert [curve.label for curve in figure.curves] == ["a", "b"]

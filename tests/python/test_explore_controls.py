"""The controls of the page of `explore`, made of the declarations, and what they change."""

from __future__ import annotations

import pytest

from dumbbell.base.errors import ScenarioError
from dumbbell.explore.changes import changed
from dumbbell.explore.controls import controls_of, sections_of
from dumbbell.explore.words import scenario_of_toml
from dumbbell.guide import scenarios
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import fields_of


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(["copa", "bbr"], queue="fq_codel", impair="random_loss:loss=1%", time="2s"),
        scenario_of_toml(scenarios()["which-queue"].read_text(encoding="utf-8")),
    ],
    ids=["dumbbell", "links"],
)
def test_every_axis_of_a_sweep_has_a_control_and_every_control_is_one(scenario):
    names = controls_of(scenario)
    of_groups = [name for name, field in fields_of(Group).items() if field.is_axis]
    for index, group in enumerate(scenario.groups):
        for name in of_groups:
            assert name == "mtu" or f"{index}.{name}" in names  # no flow of ours has an MTU
        for parameter in group.cc.description.parameters:
            assert f"{index}.{parameter.name}" in names
    # What it shows can be set again, and changes nothing.
    same = {name: each.value for name, each in names.items() if each.value and not each.chosen}
    assert changed(scenario, list(same.items())).to_dict() == scenario.to_dict()


def test_a_slider_stops_at_values_that_a_command_takes():
    scenario = Scenario(["copa", "cubic"], time="2s")
    stops = controls_of(scenario)["buffer"].steps
    assert {"0.5bdp", "1bdp", "64bdp"} <= set(stops)
    for stop in stops:
        assert str(changed(scenario, [("buffer", stop)]).buffer) == stop


def test_the_value_of_a_field_is_among_the_stops_of_its_slider():
    scenario = Scenario(["cubic"], rate="31415kbit", buffer="77pkt", time="2s")
    found = controls_of(scenario)
    for name in ("rate", "buffer"):
        assert found[name].value in found[name].steps


def test_a_queue_s_parameters_appear_with_it_and_are_set():
    scenario = changed(Scenario(["cubic"], time="2s"), [("queue", "codel")])
    assert controls_of(scenario)["queue:target"].value == "5ms"
    scenario = changed(scenario, [("queue:target", "20ms")])
    assert str(scenario.queue) == "codel:target=20ms"
    assert "queue:target" not in controls_of(changed(scenario, [("queue", "")]))


def test_an_element_is_chosen_with_an_example_of_what_it_needs():
    scenario = changed(Scenario(["cubic"], time="2s"), [("0.traffic", "poisson")])
    assert controls_of(scenario)["0.traffic.load"].value == "30%"
    scenario = changed(scenario, [("impair", "policer+duplicate")])
    assert [each.name for each in scenario.impair] == ["policer", "duplicate"]
    again = changed(scenario, [("impair:0.rate", "7mbit")])
    assert "policer:rate=7mbit" in str(again.impair)


def test_changes_that_follow_a_pick_are_of_what_was_picked():
    scenario = Scenario(["cubic"], time="2s")
    picked = changed(scenario, [("rtt", "9ms"), ("0.traffic", "video"), ("0.traffic.chunks", "3")])
    assert (str(picked.rtt), str(picked.groups[0].traffic)) == ("9ms", "video:chunks=3")
    with pytest.raises(ScenarioError, match="no parameter `chunks`"):
        changed(picked, [("0.traffic", "page"), ("0.traffic.chunks", "3")])
    with pytest.raises(ScenarioError, match="neither a group's field nor a parameter of `reno`"):
        changed(scenario, [("0.cc", "reno"), ("0.beta", "500")])


def test_groups_come_and_go():
    scenario = Scenario(["copa", "cubic"], time="2s")
    three = changed(scenario, [("+group", "bbr")])
    assert [group.cc.name for group in three.groups] == ["copa", "cubic", "bbr"]
    assert [group.cc.name for group in changed(three, [("-group", "0")]).groups] == ["cubic", "bbr"]
    with pytest.raises(ScenarioError, match="needs a group"):
        changed(Scenario(["copa"], time="2s"), [("-group", "0")])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rate", "50"), "no unit"),
        (("nosuch", "1"), "not a field"),
        (("queue:target", "1ms"), "choose a queue first"),
        (("impair:0.loss", "1%"), "no impairment"),
        (("-group", "7"), "no group"),
        (("0.mode_window_rtts", "99"), "use 1 to 30"),
    ],
)
def test_what_cannot_be_set_is_refused_in_words(change, message):
    with pytest.raises(ScenarioError, match=message):
        changed(Scenario(["copa"], time="2s"), [change])


def test_sections_are_named_like_the_groups():
    titles = [section.title for section in sections_of(Scenario(["copa", "cubic"], time="2s"))]
    assert titles == ["the path", "Copa", "CUBIC"]

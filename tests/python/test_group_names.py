"""What groups are called: names that users give them, and labels that are right in every cell."""

import json
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Group, Scenario, Sweep
from dumbbell.base.errors import ScenarioError
from dumbbell.capture_analysis.analyze import analyze
from dumbbell.capture_analysis.connection_table import connection_label
from dumbbell.plots import group_labels
from dumbbell.plots.result_figures import ResultFigures
from dumbbell.runs.key import run_key
from dumbbell.sweeps.design import make_design
from dumbbell.terminal.scenario_options import base_scenario


def own(directory: Path, name: str) -> str:
    """Return the path of a file of the user's, in a directory of its own."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text("// a congestion control algorithm\n")
    return str(path)


def swept(groups: list[Any], axes: dict[str, Any], **fields: Any) -> tuple[str, ...]:
    """Return the labels of a sweep's groups."""
    return make_design(Scenario(groups, **fields), axes).group_labels


@pytest.mark.parametrize(
    ("groups", "axes", "labels"),
    [
        # No flow has the scenario's 40 ms.
        (
            [Group("cubic", rtt="20ms"), "cubic"],
            {"1.rtt": "80,160ms"},
            ("cubic (rtt 20ms)", "cubic"),
        ),
        ([Group("cubic", rtt="20ms"), "cubic"], {"rtt": "20,80ms"}, ("cubic (rtt 20ms)", "cubic")),
        (["cubic", "cubic"], {"1.rtt": "80,160ms"}, ("cubic (rtt 40ms)", "cubic")),
        (["cubic", "cubic"], {"rtt": "20,80ms"}, ("cubic #0", "cubic #1")),
        ([Group("cubic", 4), "cubic"], {"flows": "1,4"}, ("cubic #0", "cubic #1")),
        ([Group("cubic", 4), "cubic"], {"1.flows": "1,2"}, ("cubic ×4", "cubic")),
        (["copa:mode_window_rtts=5", "bbr"], {"copa.mode_window_rtts": "2,4"}, ("copa", "bbr")),
        (
            ["copa:mode_window_rtts=5", "copa"],
            {"1.mode_window_rtts": "2,4"},
            ("copa:mode_window_rtts=5", "copa"),
        ),
        (["cubic", "reno"], {"1.cc": "bbr,copa"}, ("cubic", "bbr / copa")),
        (
            [Group("cubic", traffic="poisson:load=30%,size=50kB"), "cubic"],
            {"traffic.load": "10%,20%"},
            ("cubic (poisson)", "cubic (bulk)"),
        ),
    ],
)  # fmt: skip
def test_a_label_has_no_field_that_is_an_axis(groups, axes, labels):
    assert swept(groups, axes) == labels


def test_labels_of_a_sweep_are_right_in_every_cell():
    """Whatever of a group a label says is so in each cell."""
    design = make_design(
        Scenario([Group("cubic", rtt="20ms"), Group("cubic", 2)]),
        {"1.rtt": ["80ms", "160ms"], "buffer": ["1bdp", "2bdp"]},
    )
    assert design.group_labels == ("cubic", "cubic ×2")
    for _, scenario in design.points:
        assert [group.flows for group in scenario.groups] == [1, 2]


def test_labels_are_short_and_no_path(tmp_path):
    mine = own(tmp_path / "mycc", "mycc.bpf.c")
    assert Scenario([mine, Group("cubic", 4)]).group_labels == ("mycc", "cubic")
    assert Scenario([mine, f"{mine}"]).group_labels == ("mycc #0", "mycc #1")
    assert Scenario(["cubic", Group("cubic", 4)]).group_labels == ("cubic", "cubic ×4")
    other = own(tmp_path / "other" / "deep", "mycc.bpf.c")
    assert Scenario([mine, other]).group_labels == ("mycc (mycc)", "mycc (deep)")
    python = own(tmp_path / "mycc", "mycc.py")
    assert Scenario([mine, python]).group_labels == ("mycc.bpf.c", "mycc.py")
    # One that is called like one of ours is not taken for it.
    assert Scenario([own(tmp_path, "cubic.bpf.c"), "reno"]).group_labels == ("cubic.bpf.c", "reno")
    table = Scenario([f"{mine}#first", f"{mine}#second"])
    assert table.group_labels == ("first", "second")


def test_a_label_gains_only_what_tells_it_from_the_others():
    scenario = Scenario(
        [
            Group("cubic", rtt="20ms", start="1s", flows=2),
            Group("cubic", rtt="20ms", start="2s", flows=2),
            Group("cubic", start="2s", flows=4),
        ]
    )
    assert scenario.group_labels == (
        "cubic (rtt 20ms, start 1s)", "cubic (rtt 20ms, start 2s)", "cubic (rtt 40ms, start 2s)",
    )  # fmt: skip
    call = Group("cubic", traffic="datagram:preset=voip")
    assert Scenario([call, "cubic"]).group_labels == ("voip", "cubic")


def test_a_program_is_called_by_its_command():
    commands = [
        "curl -so /dev/null http://server/",
        "/usr/bin/python3 ./rtc.py send",
        "bash -c true",
    ]
    scenario = Scenario([Group(client=command) for command in commands])
    assert scenario.group_labels == ("curl", "rtc.py", "bash")


def test_a_name_is_used_as_it_is(tmp_path):
    groups = [Group("cubic", name="Thesis"), Group("cubic", 4), Group("bbr", name="学位")]
    scenario = Scenario(groups)
    assert scenario.group_labels == ("Thesis", "cubic", "学位")
    assert group_labels(scenario) == ("Thesis", "CUBIC", "学位")
    program = Group(client="curl http://server/", name="Thesis")
    assert Scenario([program, "cubic"]).group_labels == ("Thesis", "cubic")
    path = tmp_path / "scenario.toml"
    path.write_text(scenario.to_toml())
    assert 'name = "Thesis"' in scenario.to_toml()
    assert Scenario.from_toml(path) == scenario
    assert Scenario.from_dict(json.loads(json.dumps(scenario.to_dict()))) == scenario


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("0", "a number is the index of a group, as in `0.rtt`; add a letter"),
        ("v1.2", "a dot is between a name and a field, as in `Thesis.rtt`; leave it out"),
        ("rtt", "axes have this word, as in `--axis rtt=…`; use another"),
        ("link", "axes have this word, as in `--axis link=…`; use another"),
        ("traffic", "axes have this word, as in `--axis traffic=…`; use another"),
        ("a=b", "`=` cannot be in it; use letters, digits, spaces and `-` `_` `(` `)` `'`"),
        ("a/b", "`/` cannot be in it; use letters, digits, spaces and `-` `_` `(` `)` `'`"),
        ("a, b", "`,` cannot be in it; use letters, digits, spaces and `-` `_` `(` `)` `'`"),
        ("-a", "it must begin with a letter or digit and not end in a space"),
        ("a ", "it must begin with a letter or digit and not end in a space"),
        ("x" * 33, "it has 33 characters; use at most 32"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_name_is_refused_with_a_reason(name, reason, tmp_path):
    with pytest.raises(ScenarioError) as error:
        Group("cubic", name=name)
    assert str(error.value) == f"invalid group name `{name}`: {reason}"
    path = tmp_path / "scenario.toml"
    path.write_text(f'[[group]]\ncc = "cubic"\nname = "{name}"\n')
    with pytest.raises(ScenarioError) as error:
        Scenario.from_toml(path)
    assert str(error.value) == f"{path}:3: invalid group name `{name}`: {reason}"


def test_names_are_unique():
    with pytest.raises(ScenarioError, match="groups 0 and 2 are both named `Thesis`; give each"):
        Scenario([Group("cubic", name="Thesis"), "reno", Group("bbr", name="Thesis")])
    with pytest.raises(
        ScenarioError, match="`bbr` is the name of group 0 and the algorithm of group 1; use"
    ):
        Scenario([Group("cubic", name="bbr"), "bbr"])
    # Its own algorithm may be its name.
    assert Scenario([Group("bbr", name="bbr"), "cubic"]).group_labels == ("bbr", "cubic")


def test_a_name_changes_nothing_that_runs():
    plain = Scenario(["cubic", Group("reno", 2)])
    named = Scenario([Group("cubic", name="Thesis"), Group("reno", 2, name="Baseline")])
    assert named.to_json() == plain.to_json()
    assert run_key(named, "simulator") == run_key(plain, "simulator")
    assert "name" not in plain.to_dict()["group"][0]


def test_settings_and_axes_find_a_group_by_its_name():
    words = ["Thesis.rtt=80ms", "Thesis.flows=3"]
    scenario = base_scenario(["cubic", "cubic"], {}, words, names=["0=Thesis", "A title"])
    assert scenario.name == "A title"
    assert [str(group.rtt) for group in scenario.groups] == ["80ms", "None"]
    assert [group.flows for group in scenario.groups] == [3, 1]
    design = make_design(scenario, {"Thesis.cc": ["bbr", "copa"], "Thesis.rtt": ["20ms"]})
    assert [cell.label for cell in design.cells] == [
        "Thesis.cc=bbr,Thesis.rtt=20ms", "Thesis.cc=copa,Thesis.rtt=20ms",
    ]  # fmt: skip
    assert design.group_labels == ("Thesis", "cubic")
    assert [str(design.scenario_of(cell).groups[0].cc) for cell in design.cells] == ["bbr", "copa"]
    with pytest.raises(
        ScenarioError, match=r"no group is named or runs `Tesis`; the groups are `0` \(Thesis\)"
    ):
        make_design(scenario, {"Tesis.rtt": ["20ms"]})


def test_a_name_that_is_set_as_a_field_is_led_to_its_option():
    with pytest.raises(ScenarioError, match=r"`name` cannot be set so; use `--name 0=Thesis`"):
        base_scenario(["copa", "cubic"], {}, ["0.name=Thesis"])


def test_names_are_given_by_index_or_algorithm():
    scenario = base_scenario(["copa", "cubic"], {}, names=["cubic=Baseline"])
    assert scenario.group_labels == ("copa", "Baseline")
    for names, message in [
        (["2=x"], "`--name 2=x`: no group runs `2`; the groups are `0` (copa), `1` (cubic)"),
        (["0=a", "0=b"], "`--name 0=b`: the group is named twice"),
        (["a", "b"], "`--name` gives two titles, `a` and `b`; a group's name is `--name 0=b`"),
        (["0=rtt"], "invalid group name `rtt`: axes have this word"),
    ]:
        with pytest.raises(ScenarioError) as error:
            base_scenario(["copa", "cubic"], {}, names=names)
        assert str(error.value).startswith(message)
    with pytest.raises(ScenarioError, match="`cubic` are 2 groups; name each by its number"):
        base_scenario(["cubic", "cubic"], {}, names=["cubic=x"])


def test_a_word_that_names_no_group_of_several_is_said_to_be_the_title(capsys):
    base_scenario(["copa", "cubic"], {}, names=["Thesis"])
    assert "`Thesis` is the title; a group's name is `--name 0=Thesis`" in capsys.readouterr().err
    base_scenario(["copa", "cubic"], {}, names=["Copa and CUBIC"])
    base_scenario(["copa"], {}, names=["Thesis"])
    assert capsys.readouterr().err == ""


def test_a_name_without_a_group_is_the_only_group_s():
    assert base_scenario(["cubic"], {}, names=["foo"]).groups[0].name == "foo"
    titled = base_scenario(["cubic"], {}, names=["20 Mbit/s: a title"])
    assert (titled.name, titled.groups[0].name) == ("20 Mbit/s: a title", None)
    two = base_scenario(["cubic", "reno"], {}, names=["foo"])
    assert (two.name, [group.name for group in two.groups]) == ("foo", [None, None])


def test_a_label_of_tables_names_its_group(tmp_path, cli):
    mine = own(tmp_path, "thesis.bpf.c")
    scenario = base_scenario([mine, "cubic", "cubic"], {}, names=["thesis=Thesis", "cubic #2=B"])
    assert scenario.group_labels == ("Thesis", "cubic", "B")


def test_a_renamed_group_hits_the_cache_and_shows_its_new_name(tmp_path):
    cached = []

    def sweep(name: str) -> Any:
        scenario = Scenario([Group("cubic", name=name), "reno"], time="1.2s", rate="10mbit")
        return Sweep(scenario, {"buffer": ["1bdp"]}).run(
            cache=tmp_path, on_progress=lambda progress: cached.append(progress.cached)
        )

    assert sweep("First").rows["name"].to_pylist() == ["First", "reno"]
    assert cached[-1] == 0
    again = sweep("Second")
    assert cached[-1] == 1
    assert again.rows["name"].to_pylist() == ["Second", "reno"]
    assert again.runs[0, 0].scenario.group_labels == ("Second", "reno")


def test_a_named_group_is_its_algorithm_where_an_axis_changes_that():
    groups = [Group("cubic", name="Thesis"), Group("reno")]
    swept = Sweep(
        Scenario(groups, time="1.2s"), {"Thesis.cc": ["cubic", "bbr"], "1.rtt": ["20ms", "80ms"]}
    ).run(cache=False)
    figures = ResultFigures(swept)
    assert (figures.layout.x_label, figures.layout.facets[0].label) == (
        "base RTT of Reno (ms)",
        "CUBIC",
    )
    drawn = figures.draw(figures.metric("goodput_bps"))
    labels = [[curve.label for curve in figure.curves] for figure in drawn]
    assert labels == [["CUBIC", "Reno"], ["BBR", "Reno"]]
    along = ResultFigures(swept, x="Thesis.cc")
    assert along.layout.x_label == "congestion control of Thesis"
    for figure in along.draw(along.metric("goodput_bps")):
        assert [curve.label for curve in figure.curves] == ["CUBIC", "BBR", "Reno"]
    alike = Sweep(
        Scenario(groups, time="1.2s"), {"Thesis.cc": ["reno", "bbr"], "1.rtt": ["20ms", "80ms"]}
    ).run(cache=False)
    figures = ResultFigures(alike)
    first = figures.draw(figures.metric("goodput_bps"))[0]
    assert [curve.label for curve in first.curves] == ["Reno (Thesis)", "Reno"]


def test_an_axis_is_of_the_group_that_it_changes(tmp_path, cli):
    mine = own(tmp_path / "mycc", "mycc.bpf.c")
    design = make_design(Scenario(["reno", "cubic"]), {"0.cc": ["bbr", mine], "1.rtt": ["20ms"]})
    assert design.axes[0].shown == {"bbr": "bbr", mine: "mycc"}
    swept = Sweep(Scenario(["reno", "cubic"], time="1.2s"), {"0.cc": ["bbr", "copa"]})
    figures = ResultFigures(swept.run(cache=False))
    assert figures.layout.x_label == "congestion control of group 0"
    (figure,) = figures.draw(figures.metric("goodput_bps"))
    assert [curve.label for curve in figure.curves] == ["BBR", "Copa", "CUBIC"]


def test_connections_of_a_capture_are_called_as_their_groups(tmp_path, cli):
    words = ("run", "cubic", "reno", "--name", "0=Thesis", "--time", "1s", "--capture")
    assert cli(*words, "--out", str(tmp_path / "r")).code == 0
    assert " Thesis" in cli("analyze", str(tmp_path / "r")).out
    analysis = analyze(tmp_path / "r")
    assert analysis.names == ("Thesis", "reno")
    assert [connection_label(analysis, number) for number in (0, 1)] == ["0: Thesis", "1: Reno"]

"""Traffic in scenarios: the grammar, loads, sweeps over parameters, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell import Group, Link, Scenario
from dumbbell.base.errors import ScenarioError
from dumbbell.run.verdict.load import check_load
from dumbbell.scenario.distribution import distributions
from dumbbell.scenario.traffic import TrafficChoice, applications
from dumbbell.sweeps.design import make_design
from tests.python.conftest import Outcome

PARETO = "poisson:load=30%,size=pareto(1.2;10kB)"


def engine_input(traffic: str, **words: object) -> dict[str, object]:
    """Return what the engine is given as a group's traffic, at 50 Mbit/s."""
    scenario = Scenario([Group("cubic", traffic=traffic, **words)])  # type: ignore[arg-type]
    found: dict[str, object] = scenario.resolve()["groups"][0]["traffic"]
    return found


def test_traffic_reads_back_as_it_is_written() -> None:
    for text in (
        "bulk",
        PARETO,
        "poisson:gap=20ms,size=10kB,count=7",
        "deterministic:load=5%,size=lognormal(p5=65536B;p95=2MiB)",
        "poisson:load=30%,size=points(0B 0;10kB 0.15;30MB 1)",
        "onoff:on=exponential(1s),off=pareto(1.5;200ms;max=1min),burst=100kB",
    ):
        choice = TrafficChoice.parse(text)
        assert TrafficChoice.parse(str(choice)) == choice
        scenario = Scenario([Group("cubic", traffic=choice)])
        assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert str(TrafficChoice.parse("poisson:load=30%,size=pareto(scale=10kB;shape=1.2)")) == PARETO
    assert str(TrafficChoice.parse("poisson:load=1%,size=websearch")).endswith("web_search")


def test_a_group_without_traffic_of_its_own_is_bulk() -> None:
    scenario = Scenario(["cubic"])
    assert "traffic" not in scenario.resolve()["groups"][0]
    assert scenario == Scenario([Group("cubic", traffic="bulk")])


def test_a_load_is_a_share_of_the_payload_of_the_narrowest_link() -> None:
    # λ = ρ·C·(1448/1514) / (8·E[S]); Pareto's mean is 6 times its scale at a shape of 1.2.
    arrivals_per_s = 0.3 * 50e6 * 1448 / 1514 / (8 * 60_000)
    gap_ns = engine_input(PARETO)["gap_ns"]
    assert gap_ns == pytest.approx(1e9 / arrivals_per_s, rel=1e-4)
    # The group's load: each of its flows is a fourth of it.
    assert engine_input(PARETO, flows=4)["gap_ns"] == pytest.approx(4e9 / arrivals_per_s, rel=1e-4)
    links = [Link("wide", rate="50mbit"), Link("narrow", rate="10mbit")]
    group = Group("cubic", traffic=PARETO, route=["wide", "narrow"])
    (resolved,) = Scenario([group], links=links).resolve()["groups"]
    assert resolved["traffic"]["gap_ns"] == pytest.approx(5e9 / arrivals_per_s, rel=1e-4)


def test_web_search_at_half_a_gigabit_is_35_flows_a_second() -> None:
    group = Group("cubic", traffic="poisson:load=50%,size=web_search")
    (resolved,) = Scenario([group], rate="1gbit").resolve()["groups"]
    assert 1e9 / resolved["traffic"]["gap_ns"] == pytest.approx(34.9, abs=0.05)


def test_a_file_of_a_cumulative_distribution(tmp_path: Path) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text("# bytes, share\n0 0\n10000 0.5\n1MB 1\n", encoding="utf-8")
    traffic = TrafficChoice.parse(f"poisson:load=30%,size=cdf({file})")
    assert str(traffic) == "poisson:load=30%,size=points(0B 0;10kB 0.5;1MB 1)", "a result is whole"
    assert traffic.mean_bytes() == pytest.approx(0.5 * 5_000 + 0.5 * 505_000)


def test_a_result_names_no_file(tmp_path: Path) -> None:
    words = Scenario(["cubic"]).to_dict()
    words["group"][0]["traffic"] = f"poisson:load=30%,size=cdf({tmp_path})"
    ccs = [group.cc for group in Scenario(["cubic"]).groups]
    with pytest.raises(ScenarioError, match="a result's traffic has its points"):
        Scenario.from_result(words, ccs)


@pytest.mark.parametrize(
    ("traffic", "says"),
    [
        ("", "traffic must be an application: `bulk`, "),
        ("poissn:load=30%", "did you mean `poisson`?"),
        ("poisson:laod=30%", "did you mean `load`?"),
        ("poisson:load=30%", "`poisson` needs `size`"),
        ("poisson:size=1kB", "`poisson` needs `load` or `gap`"),
        ("poisson:load=30%,gap=1s,size=1kB", "`load` and `gap` of `poisson` are the same"),
        ("poisson:load=0%,size=1kB", "`load` of `poisson` is `0%`, which is out of range"),
        ("poisson:load=30,size=1kB", "`load` of `poisson` `30` has no unit; use e.g. `30%`"),
        ("poisson:load=30%,size=-1kB", "`size` of `poisson` `-1kB` is negative"),
        ("poisson:load=30%,size=pareto(1.2;-1kB)", "`scale` of `pareto` `-1kB` is negative"),
        ("poisson:load=30%,size=pareto(0.9;10kB)", "there is no mean with `shape` 0.9; use more"),
        ("poisson:load=30%,size=paretto(1.2;1kB)", "did you mean `pareto`?"),
        ("poisson:load=30%,size=pareto(1.2)", "`pareto` needs `scale`"),
        ("poisson:load=30%,size=pareto(1.2;1kB;shape=2)", "sets `shape` twice"),
        ("poisson:load=30%,size=pareto(1.2;1kB;mean=2kB)", "takes `shape`, `scale`, `max`"),
        ("poisson:load=30%,size=lognormal(p5=1kB)", "set `mean` and `sd`, or `p5` and `p95`"),
        ("poisson:load=30%,size=points(1kB 0.5)", "the shares end at 0.5, not at 1"),
        ("poisson:load=30%,size=points(2kB 0.5;1kB 1)", "are not in order"),
        ("poisson:load=30%,size=points(1kB)", "is not a value and the share up to it"),
        ("poisson:load=30%,size=points(1kB 1.5)", "share `1.5` is not from 0 to 1"),
        ("poisson:load=30%,size=cdf()", "`cdf()` names no file"),
        ("poisson:load=30%,size=cdf(/none)", "/none: no such file"),
        ("video:ladder=300kbit;1mbit;500kbit", "`ladder` has 1mbit before 500kbit; sort its rates"),
        ("video:buffer=2s", "`buffer` is 2s; use at least a chunk, 4s"),
        ("video:first_rung=9", "`first_rung` is 9; use less than 6"),
        ("video:rule=bbb", "`rule` of `video` is `bbb`; did you mean `bba`?"),
        ("datagram", "traffic `datagram`: set `rate` or `interval`"),
        ("onoff:on=1", "`on` of `onoff` `1` has no unit"),
    ],
)
def test_what_cannot_be_is_one_line_with_the_remedy(traffic: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario([Group("cubic", traffic=traffic)])
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.key == "traffic"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("0 0\n10kB 0.9", "sizes.txt: the shares end at 0.9, not at 1"),
        ("0 0\n-5 0.9\n10 1", "sizes.txt:2: value `-5`"),
        ("0 0\nfive 1", "sizes.txt:2: value `five`"),
        ("0 0\n10 0.6\n20 0.5\n30 1", "sizes.txt: the points 10 (0.6) and 20 (0.5) are not in"),
        ("", "sizes.txt has no points"),
    ],
)
def test_a_file_that_is_no_distribution(tmp_path: Path, lines: str, says: str) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text(lines, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Group("cubic", traffic=f"poisson:load=30%,size=cdf({file})")
    assert says in str(caught.value)


def test_a_size_and_traffic_say_the_same_twice() -> None:
    with pytest.raises(ScenarioError, match="size `1MB` cannot be combined with traffic `onoff`"):
        Group("cubic", traffic="onoff", size="1MB")


def test_a_file_of_a_scenario_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    text = '[[group]]\ncc = "cubic"\n\n[[group]]\ncc = "bbr"\ntraffic = "onof"\n'
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(path)
    assert str(caught.value).startswith(f"{path}:6: unknown application `onof`")
    path.write_text(text.replace("onof", PARETO), encoding="utf-8")
    assert str(Scenario.from_toml(path).groups[1].traffic) == PARETO


def test_a_load_above_what_the_link_carries_is_a_warning() -> None:
    half = Group("cubic", traffic="poisson:load=60%,size=10kB")
    assert list(check_load(Scenario([half]))) == []
    (reason,) = check_load(Scenario([half, half, "bbr"]))
    assert (reason.status, reason.check) == ("WARN", "load")
    assert "arrivals offer the bottleneck 120% of what it carries" in reason.message


def test_a_sweep_varies_a_parameter_of_the_traffic() -> None:
    base = Scenario([Group("cubic", traffic=PARETO), "bbr"])
    cells = make_design(base, {"traffic.load": "10..40%"}).points
    assert [cell.label for cell, _ in cells] == [f"traffic.load={n}%" for n in (10, 20, 40)]
    assert [str(scenario.groups[0].traffic) for _, scenario in cells] == [
        PARETO.replace("30%", f"{n}%") for n in (10, 20, 40)
    ]
    assert all(scenario.groups[1].traffic.is_bulk for _, scenario in cells)
    (axis,) = make_design(base, {"0.traffic.load": "10%,20%"}).axes
    assert (axis.unit, axis.numbers) == ("pct", (10.0, 20.0))
    gaps = make_design(base, {"cubic.traffic.gap": "10ms,20ms"}).points
    assert "load" not in str(gaps[0][1].groups[0].traffic), "a gap takes the place of a load"
    with pytest.raises(ScenarioError, match="`bulk` has no parameter `load`"):
        make_design(base, {"bbr.traffic.load": "10%"})
    with pytest.raises(ScenarioError, match="has a parameter `laod`; did you mean `load`"):
        make_design(base, {"traffic.laod": "10%"})


def test_a_preset_sets_what_does_not_follow_it() -> None:
    voip = engine_input("datagram:preset=voip,interval=10ms")
    assert (voip["codec"], voip["size_bytes"], voip["interval_ns"]) == ("g711", 160, 10_000_000)
    # What is the application's default but not the preset's is kept.
    page = TrafficChoice.parse("page:preset=rfc7928,main=10kB")
    assert str(page) == "page:preset=rfc7928,main=10kB"
    assert "kind" in engine_input("page:preset=3gpp")
    with pytest.raises(ScenarioError, match="`preset` of `page` is `3gp`; did you mean `3gpp`"):
        TrafficChoice.parse("page:preset=3gp")


def test_groups_of_one_congestion_control_are_told_apart_by_what_they_send() -> None:
    groups = [Group("cubic", traffic="rpc:request=1kB"), Group("cubic", start="1s")]
    assert Scenario(groups).group_labels == ("cubic (rpc)", "cubic (bulk)")
    call = Group("cubic", traffic="datagram:preset=voip")
    assert Scenario([call, "cubic"]).group_labels == ("voip", "cubic")


def test_the_command_lists_every_application_and_distribution(
    cli: Callable[..., Outcome],
) -> None:
    listed = [line.split()[:2] for line in cli("list", "traffic").out.splitlines()[:-1]]
    expected = [["--traffic", name] for name in applications()]
    expected += [["distribution", name] for name in (*distributions(), "cdf")]
    assert listed == expected
    assert "load" in cli("list", "traffic", "poisson").out
    (document,) = json.loads(cli("list", "traffic", "poisson", "--json").out)
    assert [each["name"] for each in document["parameters"]][:3] == ["load", "gap", "size"]
    outcome = cli("list", "traffic", "poison")
    assert (outcome.code, "did you mean `poisson`" in outcome.err) == (2, True)


def test_the_terminal_says_what_a_player_gets(cli: Callable[..., Outcome]) -> None:
    """50 Mbit/s are more than ten times the highest rate: no stall."""
    outcome = cli("run", "cubic", "--traffic", "video", "--time", "20s")
    assert outcome.code == 0, outcome.err
    row = outcome.out[outcome.out.index("bitrate") :].splitlines()[3].split()
    name, bitrate_mbps, stalled_pct, stalls, start_up_s, *_ = row
    assert (name, stalled_pct, stalls) == ("cubic", "0.00", "0.0")
    assert 0.3 <= float(bitrate_mbps) < 5
    assert 0 < float(start_up_s) < 1

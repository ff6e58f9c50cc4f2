import json
from pathlib import Path
from typing import Any

import pytest

from dumbbell import CongestionControlChoice, Group, Run, Scenario, ScenarioError, run
from dumbbell.congestion_control.presets import PRESETS

ROOT = Path(__file__).parents[2]


def test_resolves_to_base_units():
    scenario = Scenario(
        [Group("copa:mode_window_rtts=5", 2, rtt="80ms", stop="9s", size="1MB"), "cubic"],
        rate="50mbit",
        rtt="40ms",
        buffer="2bdp",
        time="10s",
        seed=7,
    )
    resolved = scenario.resolve()
    assert resolved["seed"] == 7
    assert resolved["duration_ns"] == 10_000_000_000
    assert resolved["sample_interval_ns"] == 10_000_000
    assert resolved["links"] == [
        {
            "name": "bottleneck",
            "link_rate_bps": 50_000_000,
            "queue": {"kind": "bfifo", "limit_bytes": 500_000},
        }
    ]
    copa, cubic = resolved["groups"]
    assert copa["cc"] == {"name": "copa", "params": {"mode_window_rtts": 5}}
    assert (copa["flows"], copa["base_rtt_ns"], copa["stop_ns"]) == (2, 80_000_000, 9_000_000_000)
    assert copa["size_bytes"] == 1_000_000
    assert (cubic["flows"], cubic["base_rtt_ns"]) == (1, 40_000_000)
    assert (cubic["stop_ns"], cubic["size_bytes"]) == (None, None)
    assert cubic["rwnd_bytes"] == cubic["sndbuf_bytes"] == 2**30


def test_buffer_in_packets_is_a_pfifo():
    queue = Scenario(["reno"], buffer="64pkt").resolve()["links"][0]["queue"]
    assert queue == {"kind": "pfifo", "limit_pkts": 64}


def test_round_trips_through_its_words():
    scenario = Scenario([Group("copa:mode_window_rtts=5", 3, start="1s"), "bbr"], buffer="0.5bdp")
    assert Scenario.from_dict(scenario.to_dict()) == scenario


def test_is_replaced_not_changed():
    scenario = Scenario(["reno"])
    other = scenario.replace(buffer="4bdp", seed=2)
    assert (str(scenario.link_queue.limit), scenario.seed) == ("1bdp", 1)
    assert (str(other.buffer), other.seed) == ("4bdp", 2)
    with pytest.raises(AttributeError):
        scenario.seed = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            {"buffer": "1000B"},
            "buffer `1kB` is 1000 B, smaller than a packet; use at least `1514B`",
        ),
        ({"buffer": "0.001bdp"}, "buffer `0.001bdp` is 250 B, smaller than a packet"),
        ({"time": "0s"}, "time `0s` is zero"),
        ({"rtt": "-1ms"}, "rtt `-1ms` is negative"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": "x"}, "seed `x` is not a whole number"),
        ({"name": 5}, "name must be a string, not `5`"),
    ],
)
def test_refuses_scenario(words, says):
    with pytest.raises(ScenarioError) as caught:
        Scenario(["reno"], **words)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"flows": 0}, "flows is 0"),
        ({"flows": True}, "flows `true` is not a whole number"),
        ({"flows": 1_000_000}, "flows is 1000000; use 1 to 100000"),
        ({"rwnd": "1kB"}, "rwnd `1kB` is smaller than a segment"),
        ({"sndbuf": "100B"}, "sndbuf `100B` is smaller than a segment"),
        ({"tso": "yes"}, "tso must be true or false, not `yes`"),
        ({"tso": False, "gso": True}, "`gso` keeps bursts of segments together, and without `tso`"),
        ({"start": "2s", "stop": "1s"}, "stop at 1s, before they start at 2s"),
        (
            {"start": "1s", "stop": "1.05s"},
            "as late as 1.1s (start 1s + jitter 100ms), not before they stop at 1.05s",
        ),
        ({"mss": "10B"}, "mss `10B` is too small; use at least `88B`"),
        ({"mss": "9kB", "rwnd": "8kB"}, "mss `9kB` is larger than rwnd `8kB`; use a smaller `mss`"),
        ({"mss": "9kB", "sndbuf": "8kB"}, "mss `9kB` is larger than sndbuf `8kB`"),
        ({"mss": "2GiB"}, "mss `2GiB` does not fit in an IP packet; use at most `65483B`"),
        ({"rtt": "1999ns"}, "is too small; use at least `2us`"),
        ({"start": "1e10s"}, "start `1e10s` is too large; use at most `1000000000s`"),
    ],
)
def test_refuses_group(words, says):
    with pytest.raises(ScenarioError) as caught:
        Group("reno", **words)
    assert says in str(caught.value)


def test_refuses_flows_that_never_start():
    with pytest.raises(
        ScenarioError, match="never start: start `5s` is not before the end at `2s`"
    ):
        Scenario([Group("reno", start="5s")], time="2s")


def test_flows_may_start_until_the_end_and_no_later():
    Scenario([Group("reno", jitter="49ms")], time="50ms")
    with pytest.raises(ScenarioError) as caught:
        Scenario(["cubic", Group("reno", start="1s", jitter="1s")], time="2s")
    assert "`reno` may start as late as 2s (start 1s + jitter 1s)" in str(caught.value)
    assert (caught.value.key, caught.value.group) == ("jitter", 1)


def test_refuses_more_rows_than_memory_holds():
    # 100 million rows exactly, one more sample, and none at all.
    Scenario(["reno"], time="1000s", sample="10us")
    with pytest.raises(ScenarioError, match="1 flow sampled every `10us` for"):
        Scenario(["reno"], time="1000.01s", sample="10us")
    Scenario(["reno"], time="1000.01s", sample="0s")


def test_refuses_more_flows_than_memory_holds():
    halves = [Group("reno", 50_000), Group("cubic", 50_000)]
    Scenario(halves, sample="1s")
    with pytest.raises(ScenarioError, match="the groups have 100,001 flows; use at most 100,000"):
        Scenario([*halves, "bbr"])


def test_refuses_no_flows():
    with pytest.raises(ScenarioError, match="no flows"):
        Scenario([])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cubik", "unknown congestion control `cubik`; did you mean `cubic`?"),
        (
            "zzz",
            "unknown congestion control `zzz`; known: `bbr`, `bbr3`, `bbr_fca`, `copa`, `cubic`, "
            "`dctcp`, `l3dr`, `ledbat`, `nagi`, `prague`, `reno`, `vegas`",
        ),
        ("copa:mode_window_rtt=5", "did you mean `mode_window_rtts`?"),
        ("copa:mode_window_rtts=0", "is 0; use 1 to "),
        ("copa:mode_window_rtts=five", "is `five`, which is not a whole number"),
        ("copa:mode_window_rtts", "has no value"),
        ("reno:window=1", "`reno` has no parameter `window`; known: `abe`, `beta_ecn`"),
        ("./nothing.bpf.c", "congestion control `./nothing.bpf.c`: no such file"),
        ("./docs", "`./docs` is a directory; use `docs/conf.py`"),
        ("./README.md", "`./README.md`: its name ends in neither `.c` nor `.py`"),
        ("", "invalid congestion control"),
        ("copa@papers", "has no preset `papers`; use `copa@calm`, `copa@calm-2`, `copa@ccp-4.15`,"),
        ("copa@", "has no preset after `@`; use `copa@calm`, `copa@calm-2`, `copa@ccp-4.15`,"),
        ("reno@paper", "`reno@paper`: `reno` has no presets; use `reno`"),
        ("cubik@paper", "unknown congestion control `cubik`; did you mean `cubic`?"),
        ("copa@paper:velocity=1", "`copa` has no parameter `velocity`"),
    ],
)
def test_refuses_congestion_control(text, says, monkeypatch):
    monkeypatch.delenv("DUMBBELL_LINUX_TREE", raising=False)  # it would have more names
    with pytest.raises(ScenarioError) as caught:
        CongestionControlChoice.parse(text)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("cubic:beta=0.8", "cubic:beta=819"),  # in 1/1024
        ("bbr_fca:cubic_c_milli=0.4", "bbr_fca:cubic_c_milli=400"),
        ("cubic:bic_scale=0.4", "cubic:bic_scale=41"),  # in 10/1024
    ],
)
def test_a_fraction_is_written_as_a_decimal(text, written):
    assert str(CongestionControlChoice.parse(text)) == written
    with pytest.raises(ScenarioError, match=r"is `0\.8`, which is not a whole number"):
        CongestionControlChoice.parse("copa:mode_window_rtts=0.8")
    with pytest.raises(ScenarioError, match="`beta` of `cubic` is 1024; use 1 to 1023"):
        CongestionControlChoice.parse("cubic:beta=1.0")


def test_congestion_control_prints_as_it_reads():
    text = "copa:mode_window_rtts=5,default_inv_delta=4"
    assert str(CongestionControlChoice.parse(text)) == text
    assert CongestionControlChoice.parse(text).series[0].name == "mode"


@pytest.mark.parametrize(
    ("cc", "name"), [(cc, name) for cc, presets in PRESETS.items() for name in presets]
)
def test_a_preset_is_parameters_that_differ_from_the_defaults(cc, name):
    choice = CongestionControlChoice.parse(f"{cc}@{name}")
    assert (choice.name, str(choice)) == (cc, f"{cc}@{name}")
    defaults = {each.name: each.default for each in choice.description.parameters}
    assert choice.params
    assert all(value != defaults[param] for param, value in choice.params.items())
    assert not choice.is_file
    page = (ROOT / f"docs/{cc}.md").read_text(encoding="utf-8")
    assert f"`{cc}@{name}`" in page
    if name != "calm":  # which its page explains parameter by parameter
        spelled = ",".join(f"{param}={value}" for param, value in choice.params.items())
        assert f"\n{cc}:{spelled}\n" in page


def test_what_is_set_has_precedence_over_a_preset():
    changed = CongestionControlChoice.parse("copa@paper:velocity_max=8,default_inv_delta=4")
    assert str(changed) == "copa@paper:velocity_max=8,default_inv_delta=4"
    paper = CongestionControlChoice.parse("copa@paper")
    assert changed.params == {**paper.params, "velocity_max": 8, "default_inv_delta": 4}
    assert str(paper.with_param("velocity_max", 8)) == "copa@paper:velocity_max=8"
    assert paper == CongestionControlChoice.parse("copa@paper:velocity_max=1048576")
    assert paper != CongestionControlChoice.parse("copa")


def test_a_result_names_the_preset(tmp_path):
    words: dict[str, Any] = {"time": "2s", "buffer": "4bdp"}
    named = run(Scenario(["copa@paper", "copa"], **words))
    assert named.scenario.group_labels == ("copa@paper", "copa")
    assert [group["params"]["cwnd_min_pkts"] for group in named.groups] == [2, 0]
    spelled = ",".join(f"{k}={v}" for k, v in PRESETS["copa"]["paper"].params.items())
    same = run(Scenario([f"copa:{spelled}", "copa"], **words))
    assert named.flows.equals(same.flows)
    loaded = Run.load(named.save(tmp_path / "run"))
    (paper, _) = (group.cc for group in loaded.scenario.groups)
    assert (paper.name, paper.preset, str(paper)) == ("copa", "paper", "copa@paper")
    assert paper.params == PRESETS["copa"]["paper"].params


def test_the_presets_are_listed(cli):
    assert "copa@paper" in cli("cc", "list", "copa").out
    (copa,) = json.loads(cli("cc", "list", "copa", "--json").out)
    assert [preset["name"] for preset in copa["presets"]] == ["calm", "calm-2", "ccp-4.15", "paper"]


@pytest.mark.parametrize(
    ("limit", "says"),
    [
        ("48kB", "ooo_limit `48kB` is not in packets; use e.g. `48pkt`"),
        ("2bdp", "ooo_limit `2bdp` is not in packets; use e.g. `48pkt`"),
        ("2000000000pkt", "is too large; use at most `1073741824pkt`"),
        ("0pkt", "is zero"),
    ],
)
def test_an_out_of_order_limit_is_in_packets(limit, says):
    with pytest.raises(ScenarioError) as refused:
        Group("cubic", ooo_limit=limit)
    assert says in str(refused.value)


def test_what_a_receiver_drops_is_counted_and_accounted_for():
    group = Group("cubic", 2, ooo_limit="48pkt", jitter="0s")
    outcome = run(Scenario([group], rate="10mbit", rtt="40ms", buffer="8bdp", time="30s"))
    assert outcome.verdict.status == "OK"
    assert sum(flow.get("ooo_dropped_pkts", 0) for flow in outcome.summary["flows"]) > 100


def switches(tcp: str) -> dict[str, Any]:
    group = Scenario([Group("reno", tcp=tcp)], time="2s").resolve()["groups"][0]
    found: dict[str, Any] = group.get("tcp", {})
    return found


def test_a_release_of_linux_is_a_preset_of_switches():
    assert switches("6.18") == {}
    assert switches("6.18:rto_marks=all")["rto_marks"] == "all"
    earlier = switches("4.15")
    assert (earlier["detection"], earlier["undo_on_any_sack"]) == ("dupthresh_and_rack", False)
    assert switches("4.15:undo_on_any_sack=on") == earlier | {"undo_on_any_sack": True}
    assert {key for key, value in switches("4.12").items() if value != earlier[key]} == {
        "rack_window", "undo_on_any_sack", "pacing",
    }  # fmt: skip
    assert str(Group("reno", tcp="4.15:hint_defect=on,tlp=open-and-cwr").tcp) == (
        "4.15:tlp=open_and_cwr"
    )


@pytest.mark.parametrize(
    ("tcp", "says"),
    [
        ("4.14", "unknown release of Linux `4.14`: there are `6.18`, `4.15` and `4.12`"),
        (4.15, "tcp must be a release of Linux: `6.18`, `4.15` and `4.12`"),
        ("4.15:rto_mark=all", "`4.15` has no parameter `rto_mark`"),
        ("4.15:pacing=off", "`pacing` of `4.15` is `off`"),
    ],
)
def test_a_wrong_tcp_is_refused_with_what_there_is(tcp, says):
    with pytest.raises(ScenarioError) as refused:
        Group("cubic", tcp=tcp)
    assert says in str(refused.value)


def test_the_switches_of_a_release_are_listed(cli):
    assert [line.split()[1] for line in cli("list", "tcp").out.splitlines()[:-1]] == [
        "6.18", "4.15", "4.12",
    ]  # fmt: skip
    assert "undo_on_any_sack" in cli("list", "tcp", "4.15").out
    (document,) = json.loads(cli("list", "tcp", "4.12", "--json").out)
    assert {each["name"]: each["value"] for each in document["switches"]}["pacing"] == "none"
    assert "unknown release of Linux `4.14`" in cli("list", "tcp", "4.14").err

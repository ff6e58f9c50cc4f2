"""ECN: the words, and what a marking bottleneck does to flows with it and without."""

import json
from typing import Any

import pytest

from dumbbell import Group, Run, Scenario, ScenarioError, run
from dumbbell.run.verdict.links import check_links
from dumbbell.run.verdict.reason import OK, WARN
from dumbbell.sweeps import Sweep


def marking(*groups: str | Group, **changes: Any) -> Scenario:
    words = {"rate": "100mbit", "rtt": "10ms", "buffer": "4bdp", "time": "5s"}
    return Scenario(list(groups or ["dctcp"]), **(words | {"ecn_threshold": "20pkt"} | changes))


@pytest.mark.parametrize(
    ("threshold", "resolved"),
    [("20pkt", {"pkts": 20}), ("0.2bdp", {"bytes": 25_000}), ("30kB", {"bytes": 30_000})],
)
def test_a_threshold_has_the_buffers_units(threshold, resolved):
    scenario = marking(ecn_threshold=threshold)
    queue = scenario.resolve()["links"][0]["queue"]
    assert queue == {"kind": "step", "limit": {"bytes": 500_000}, "threshold": resolved}
    step = marking(queue=f"step:threshold={threshold}", ecn_threshold=None)
    assert step.resolve() == scenario.resolve(), "it is short for `step`"
    assert Scenario.from_dict(scenario.to_dict()) == scenario


def test_without_ecn_the_engine_s_input_has_none():
    scenario = marking("cubic", ecn_threshold=None)
    assert "ecn" not in scenario.to_json()
    assert "ecn" not in scenario.to_toml()
    assert scenario == marking("cubic", ecn_threshold="")


def test_a_scenario_file_keeps_the_words(tmp_path):
    path = tmp_path / "ecn.toml"
    scenario = marking("dctcp", Group("reno", ecn=True))
    path.write_text(scenario.to_toml())
    assert 'ecn_threshold = "20pkt"' in path.read_text()
    assert "ecn = true" in path.read_text()
    assert Scenario.from_toml(path) == scenario


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"ecn_threshold": "20"}, "has no unit"),
        ({"ecn_threshold": "20ms"}, "has the wrong unit"),
        ({"ecn_threshold": "0pkt"}, "is zero"),
        ({"ecn_threshold": "4bdp"}, "is not below buffer `4bdp`"),
        ({"ecn_threshold": "64pkt", "buffer": "64pkt"}, "nothing would be marked"),
    ],
)
def test_refuses_an_invalid_threshold(changes, says):
    with pytest.raises(ScenarioError) as raised:
        marking(**changes)
    assert says in str(raised.value)
    assert raised.value.key == "ecn_threshold"


def test_refuses_an_ecn_that_is_not_a_flag():
    with pytest.raises(ScenarioError, match="invalid ecn `yes`: use `off`, `on`"):
        Group("reno", ecn="yes")


def test_dctcp_holds_the_queue_at_the_threshold(tmp_path):
    scenario = marking(Group("dctcp", 2))
    result = run(scenario)
    assert result.verdict.status == OK, result.verdict
    link = result.summary["bottleneck"]
    assert link["queue"] == "step"
    assert link["dropped_pkts"] == 0
    # 20 packets of 1514 B at 100 Mbit/s wait 2.4 ms.
    assert link["queue_delay_p95_us"] < 3000
    assert link["utilization"] > 0.98
    assert link["marked_pkts"] >= sum(flow["marked_pkts"] for flow in result.summary["flows"]) > 0
    result.save(tmp_path / "run")
    assert Run.load(tmp_path / "run").scenario == scenario


def test_only_flows_with_ecn_are_marked():
    result = run(marking(Group("reno", ecn=True), "reno"))
    with_ecn, without = result.summary["flows"]
    assert with_ecn["marked_pkts"] > 0
    assert without["marked_pkts"] == 0
    assert [group["marked_pkts"] for group in result.groups] == [with_ecn["marked_pkts"], 0]


def test_marks_without_a_marking_bottleneck_are_invalid():
    scenario = marking()
    summary = json.loads(json.dumps(run(scenario).summary))
    summary["flows"][0]["marked_pkts"] = summary["links"][0]["marked_pkts"] + 1
    assert [reason.check for reason in check_links(scenario, summary)] == ["conservation"]


@pytest.mark.parametrize("group", [Group("dctcp"), Group("reno", ecn=True)])
def test_ecn_without_marking_is_reported(group):
    plain = run(Scenario([group, "cubic"], time="2s", sample="0s"))
    assert [reason.check for reason in plain.verdict.reasons] == ["ecn"]
    assert f"`{group.cc}` received no ECN marks" in str(plain.verdict.reasons[0])
    assert "--ecn-threshold" in str(plain.verdict.reasons[0])
    marked = run(Scenario([group, "cubic"], time="2s", sample="0s", ecn_threshold="20pkt"))
    assert marked.verdict.status == OK
    assert run(Scenario(["cubic"], time="2s", sample="0s")).verdict.status == OK


def test_a_loaded_run_reports_it_too(tmp_path):
    plain = run(Scenario(["dctcp", "cubic"], time="2s", sample="0s"))
    assert plain.verdict.status == WARN
    assert Run.load(plain.save(tmp_path / "run")).verdict == plain.verdict


def test_a_sweep_and_its_runs_agree_on_it(tmp_path):
    sweep = Sweep(Scenario(["dctcp"], time="2s", sample="0s"), {"buffer": "1bdp,2bdp"})
    for directory in ("simulated", "cached"):
        result = sweep.run(out=tmp_path / directory)
        assert set(result.rows["verdict"].to_pylist()) == {WARN}
        files = list((tmp_path / directory).rglob("run.json"))
        assert len(files) == 2
        assert {json.loads(file.read_text())["verdict"]["status"] for file in files} == {WARN}


def test_the_command_line_has_the_words(cli):
    common = ("--rate", "100mbit", "--rtt", "10ms", "--time", "2s", "--sample", "0s")
    outcome = cli("run", "reno", "--ecn", "--ecn-threshold", "30kB", *common)
    assert outcome.code == 0
    assert "; marked " in outcome.out
    assert "marked" not in cli("run", "reno", *common).out
    refused = cli("run", "reno", "--ecn-threshold", "30", *common)
    assert refused.code == 2
    assert "`2bdp`, `500kB` or `64pkt`" in refused.err


def test_a_sweep_says_why_its_runs_are_doubtful(cli):
    outcome = cli("sweep", "dctcp", "--buffer", "1..2bdp", "--time", "1s", "--rate", "10mbit")
    assert outcome.code == 0
    assert "note: 2 runs WARN; the first, buffer=1bdp, rep 0: " in outcome.err
    assert "--ecn-threshold" in outcome.err


@pytest.mark.parametrize(("word", "engine"), [("off", None), ("on", True), ("accecn", "accecn")])
def test_ecn_has_three_words_and_the_flags_of_before(word, engine, tmp_path):
    scenario = marking(Group("cubic", ecn=word))
    assert scenario.resolve()["groups"][0].get("ecn") == engine
    path = tmp_path / "words.toml"
    path.write_text(scenario.to_toml())
    assert Scenario.from_toml(path) == scenario
    if word != "accecn":
        assert scenario == marking(Group("cubic", ecn=word == "on"))


CODEL: dict[str, Any] = {
    "rate": "20mbit",
    "rtt": "20ms",
    "buffer": "8bdp",
    "time": "4s",
    "sample": "0s",
}


@pytest.mark.parametrize("cc", ["reno", "cubic", "bbr", "bbr3", "copa", "vegas"])
@pytest.mark.parametrize("queue", ["codel:ecn=on", "fq_codel:ecn=on", "pie:ecn=on"])
def test_any_flow_is_marked_where_it_would_be_dropped(cc, queue):
    marked = {}
    for ecn in ("on", "accecn"):
        flow = run(Scenario([Group(cc, ecn=ecn)], queue=queue, **CODEL)).summary["flows"][0]
        # PIE marks up to a probability of 10 % (RFC 8033 §5.1), and BBR's start goes beyond it.
        assert flow["dropped_pkts"] == flow["retransmitted_pkts"] == 0 or queue.startswith("pie")
        marked[ecn] = flow["marked_pkts"]
    dropped = run(Scenario([Group(cc)], queue=queue, **CODEL)).summary["flows"][0]["dropped_pkts"]
    assert (marked["on"] > 0) == (marked["accecn"] > 0) == (dropped > 0)


def test_abe_keeps_more_after_marks():
    """RFC 8511 §3: it gains where a mark comes early, as from CoDel."""
    goodput = {}
    for abe in (0, 1):
        scenario = Scenario(
            [Group(f"reno:abe={abe}", ecn="on")], queue="codel:ecn=on", rate="50mbit", rtt="80ms",
            buffer="4bdp", time="20s", sample="0s",
        )  # fmt: skip
        flow = run(scenario).summary["flows"][0]
        assert (flow["dropped_pkts"], flow["marked_pkts"] > 0) == (0, True)
        goodput[abe] = flow["goodput_bps"]
    assert goodput[1] > goodput[0]


def flood(ecn: str, **changes: Any) -> Run:
    """Run CUBIC next to datagrams that take half of a link that marks."""
    traffic = f"datagram:rate=10mbit,size=1448B,ecn={ecn}"
    words: dict[str, Any] = {"rate": "20mbit", "rtt": "20ms", "queue": "dualpi2", "time": "10s"}
    return run(Scenario(["cubic", Group("reno", traffic=traffic)], **(words | changes)))


@pytest.mark.parametrize("ecn", ["not_ect", "ect0", "ect1"])
def test_datagrams_are_dropped_or_marked_as_their_codepoint_says(ecn):
    result = flood(ecn)
    assert result.verdict.status == OK, result.verdict
    flow = result.summary["flows"][1]
    statistics = result.summary["bottleneck"]["statistics"]
    assert flow["sent_pkts"] > 8_000
    # RFC 9331 §5.1: ECT(1) waits in the L4S queue, everything else in the classic one.
    assert statistics["in_l_pkts"] == (flow["sent_pkts"] if ecn == "ect1" else 0)
    assert (flow["dropped_pkts"] > 0) == (ecn == "not_ect")
    assert (flow["marked_pkts"] > 0) == (ecn != "not_ect")
    assert 0 <= flow["marked_pkts"] - flow["ce_arrived_pkts"] <= flow["on_path_pkts"]


def test_a_mark_of_a_datagram_that_is_lost_on_the_way_is_reported():
    result = flood("ect1")
    summary = json.loads(json.dumps(result.summary))
    flow = summary["flows"][1]
    flow["ce_arrived_pkts"] = flow["marked_pkts"] - flow["on_path_pkts"] - 1
    assert [reason.check for reason in check_links(result.scenario, summary)] == ["conservation"]


def test_a_middlebox_changes_the_codepoint_of_datagrams():
    result = flood("ect1", impair="bleach")
    flow = result.summary["flows"][1]
    assert result.summary["bottleneck"]["statistics"]["in_l_pkts"] == 0
    assert (flow["marked_pkts"], flow["dropped_pkts"] > 0) == (0, True)

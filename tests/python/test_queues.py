"""Queue disciplines: how a user names them, what errors say, and that runs go through them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Group, Link, Scenario, ScenarioError, run
from dumbbell.scenario.element import QueueChoice, media, queue_disciplines
from dumbbell.scenario.fields import fields_of
from dumbbell.sweeps.design import make_design

DOCS = Path(__file__).parents[2] / "docs"
IMPAIRMENTS = (
    "random_loss", "gilbert_elliott", "loss_state", "bursts", "every", "listed", "outage",
    "corrupt", "policer", "duplicate", "jitter", "reorder", "route_change",
    "ack_thinning", "bleach",
)  # fmt: skip
NAMES = [
    "bfifo", "pfifo", "step", "dummynet", "fq", "sfq", "drr", "tbf", "codel", "fq_codel", "pie",
    "fq_pie", "red", "dualpi2", "cake",
]  # fmt: skip


def queue_of(**words: Any) -> dict[str, Any]:
    queue: dict[str, Any] = Scenario(["cubic"], **words).resolve()["links"][0]["queue"]
    return queue


def test_the_engine_declares_them():
    known = queue_disciplines()
    assert list(known) == NAMES
    out_of_order = {"fq", "sfq", "drr", "fq_codel", "fq_pie", "dualpi2", "cake"}
    assert {name for name in NAMES if not known[name].is_fifo} == out_of_order
    assert {name for name in NAMES if known[name].holds_back} == {"tbf", "fq", "cake"}
    target = known["codel"].parameters["target"]
    assert (target.field, target.default, target.default_text) == ("target_ns", 5_000_000, "5ms")


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_in_range_and_explained(name):
    for parameter in queue_disciplines()[name].parameters.values():
        default = parameter.default
        if parameter.unit == "choice":
            assert default in parameter.choices
        else:
            values = default if isinstance(default, tuple) else (default,)
            in_range = all(
                value is None or parameter.min <= value <= parameter.max for value in values
            )
            assert in_range or parameter.must_be_set
        assert parameter.doc.endswith(".")
        assert parameter.doc[0].isupper()
        if not parameter.must_be_set and parameter.name != "limit":
            shown = parameter.default_text
            assert parameter.show(parameter.parse(shown, name)) == shown


def test_parameters_reach_the_engine_in_base_units():
    queue = queue_of(queue="fq_codel:target=10ms,limit=64pkt,quantum=300B,ecn=off,ce_threshold=1ms")
    given = {
        "kind": "fq_codel", "target_ns": 10_000_000, "limit_pkts": 64, "quantum_bytes": 300,
        "ecn": False, "ce_threshold_ns": 1_000_000,
    }  # fmt: skip
    assert queue.items() >= given.items()
    rest = queue_of(queue="fq_codel")
    assert (rest["limit_pkts"], rest["interval_ns"], rest["ecn"]) == (10_240, 100_000_000, True)
    assert "ce_threshold_ns" not in rest


@pytest.mark.parametrize(
    ("queue", "given", "shown"),
    [
        ("cake:rate=95%,rtt=metro", {"rate_bps": 47_500_000, "rtt_ns": 10_000_000}, "rtt=10ms"),
        ("cake:rate=12.5%", {"rate_bps": 6_250_000}, "cake:rate=12.5%"),
        ("cake:rate=unlimited,rtt=internet", {"rtt_ns": 100_000_000}, "cake"),
        ("cake:isolation=dual-srchost", {"isolation": "dual_srchost"}, "isolation=dual_srchost"),
        ("cake:limit=1MB", {"limit_bytes": 1_000_000}, "limit=1MB"),
    ],
)
def test_rates_are_shares_of_the_link_and_words_stand_for_times(queue, given, shown):
    resolved = queue_of(queue=queue)
    assert resolved.items() >= given.items()
    assert ("rate_bps" in resolved) == ("rate_bps" in given)
    choice = QueueChoice.parse(queue)
    assert shown in str(choice)
    assert QueueChoice.parse(str(choice)) == choice


def test_a_queue_that_finds_its_own_limit_has_none_unless_it_is_given():
    assert "limit_bytes" not in queue_of(queue="cake")
    assert queue_of(queue="cake", buffer="2bdp")["limit_bytes"] == 500_000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({}, {"kind": "bfifo", "limit_bytes": 250_000}),
        ({"buffer": "64pkt"}, {"kind": "pfifo", "limit_pkts": 64}),
        ({"queue": "bfifo"}, {"kind": "bfifo", "limit_bytes": 250_000}),
        ({"queue": "bfifo", "buffer": "64pkt"}, {"kind": "bfifo", "limit_bytes": 64 * 1514}),
        ({"queue": "pfifo"}, {"kind": "pfifo", "limit_pkts": 165}),
        ({"queue": "pfifo:limit=2bdp"}, {"kind": "pfifo", "limit_pkts": 330}),
    ],
)
def test_drop_tail_has_a_bdp_unless_a_limit_is_given(words, expected):
    assert queue_of(**words) == expected


def test_dummynet_has_50_slots_unless_a_limit_in_slots_or_bytes_is_given():
    assert queue_disciplines()["dummynet"].parameters["limit"].default_text == "50pkt"
    assert queue_of(queue="dummynet") == {"kind": "dummynet", "limit": {"pkts": 50}}
    assert queue_of(queue="dummynet:limit=100pkt")["limit"] == {"pkts": 100}
    assert queue_of(queue="dummynet:limit=900kB")["limit"] == {"bytes": 900_000}
    assert queue_of(queue="dummynet", buffer="2bdp")["limit"] == {"bytes": 500_000}


def test_buffer_is_the_limit_of_every_discipline():
    assert queue_of(queue="codel")["limit_pkts"] == 1000
    assert queue_of(queue="codel", buffer="64pkt")["limit_pkts"] == 64
    assert queue_of(queue="codel", buffer="4bdp")["limit_pkts"] == 1_000_000 // 1514
    assert queue_of(queue="codel:limit=1MB")["limit_pkts"] == 1_000_000 // 1514


def test_a_choice_reads_back_as_it_is_written():
    text = "fq_codel:limit=2bdp,target=10ms,ecn=off"
    choice = QueueChoice.parse(text)
    assert str(choice) == text
    assert QueueChoice.parse(str(choice)) == choice
    assert hash(choice) == hash(QueueChoice.parse("fq_codel:ecn=off,target=10ms,limit=2bdp"))
    assert str(QueueChoice.parse("fq_codel:target=5ms,ecn=on")) == "fq_codel", "the defaults"
    assert QueueChoice.parse("codel:ce_threshold=off") == QueueChoice.parse("codel")
    scenario = Scenario(["cubic"], queue=text)
    assert Scenario.from_dict(json.loads(json.dumps(scenario.to_dict()))) == scenario


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"queue": "hfsc"}, "unknown queue discipline `hfsc`: there are `bfifo`, `pfifo`"),
        ({"queue": 5}, "queue must be a queue discipline: `bfifo`"),
        ({"queue": "codel:foo=1"}, "`codel` has no parameter `foo`: it has `limit`, `target`"),
        ({"queue": "codel:targt=1ms"}, "and `mtu`; did you mean `target`?"),
        ({"queue": "codel:target=5"}, "`target` of `codel` `5` has no unit; use e.g. `40ms`"),
        ({"queue": "codel:target=5B"}, "has the wrong unit `B`"),
        ({"queue": "codel:target=200s"}, "is `200s`, which is out of range; use `0s` to `100s`"),
        ({"queue": "codel:target=off"}, "`off` is not a number with a unit"),
        ({"queue": "codel:target"}, "parameter `target` has no value: use `target=…`"),
        ({"queue": "cake:rtt=lunar"}, "`rtt` of `cake` `lunar` is not a number with a unit"),
        ({"queue": "cake:rate=0%"}, "`rate` of `cake`"),
        ({"queue": "cake:tins=two"}, "`tins` of `cake` is `two`"),
        ({"queue": "codel:ecn=1"}, "`ecn` of `codel` is `1`; use `on` or `off`"),
        ({"queue": "codel:ecn=on,ecn=off"}, "sets parameter `ecn` twice; remove one"),
        ({"queue": "fq_codel:flows=many"}, "`flows` of `fq_codel` is `many`; use a whole number"),
        ({"queue": "fq_codel:flows=0"}, "is `0`, which is out of range; use `1` to `65536`"),
        ({"queue": "codel:limit=100B"}, "is 100 B, smaller than a packet; use at least `1514B`"),
        ({"queue": "codel:limit=9pkt", "buffer": "9pkt"}, "are the same; remove one"),
        ({"queue": "codel", "buffer": "1000B"}, "buffer `1kB` is 1000 B, smaller than a packet"),
        ({"queue": "codel", "ecn_threshold": "20pkt"}, "use `codel:ecn=on`"),
        ({"queue": "step"}, "`step` needs `threshold`: use e.g. `step:threshold=20pkt`"),
        ({"queue": "step:threshold=20"}, "`threshold` of `step` `20` has no unit"),
        ({"queue": "step:threshold=0ms"}, "is zero; use e.g. `20pkt`, `30kB` or `1ms`"),
        (
            {"queue": "step:threshold=2bdp"},
            "`2bdp` is not below buffer `1bdp`",
        ),
        ({"queue": "step:threshold=1ms", "ecn_threshold": "9pkt"}, "use `step:threshold=9pkt`"),
        ({"queue": "tbf:rate=8mbit"}, "`tbf` needs `burst`"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_line(words, says):
    with pytest.raises(ScenarioError) as raised:
        Scenario(["cubic"], **words)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)
    assert raised.value.key in words


def test_the_engine_refuses_what_is_out_of_range_too():
    from dumbbell._core import EngineError
    from dumbbell._core import run as run_engine

    document = Scenario(["cubic"], queue="fq_codel", time="1s").resolve()
    document["links"][0]["queue"]["quantum_bytes"] = 10
    with pytest.raises(EngineError, match="`quantum_bytes` is 10; use 256 to 1048576"):
        run_engine(json.dumps(document))


def test_it_is_an_axis_of_sweeps():
    plain = Scenario(["cubic"])
    design = make_design(plain, {"queue": "bfifo,codel:target=1ms,interval=20ms,fq_codel"})
    assert design.axes[0].labels == ("bfifo", "codel:target=1ms,interval=20ms", "fq_codel")
    both = make_design(plain, {"queue": "bfifo,codel", "buffer": "1,2bdp"})
    limits = [
        scenario.resolve()["links"][0]["queue"] for scenario in map(both.scenario_of, both.cells)
    ]
    assert [limit.get("limit_bytes", limit.get("limit_pkts")) for limit in limits] == [
        250_000, 500_000, 165, 330,
    ]  # fmt: skip


def test_runs_go_through_them():
    flows = [Group("cubic", 2, rtt="20ms"), Group("reno", 2, rtt="80ms")]
    by_queue = {
        name: run(Scenario(flows, queue=name, time="20s", sample="0s"))
        for name in ("bfifo", "codel", "fq_codel:perfect_hash=on")
    }
    delay_us = {
        name: run.summary["bottleneck"]["queue_delay_p50_us"] for name, run in by_queue.items()
    }
    assert delay_us["codel"] < delay_us["bfifo"] / 2
    assert by_queue["fq_codel:perfect_hash=on"].jain > by_queue["bfifo"].jain
    assert "queue" not in by_queue["bfifo"].summary["bottleneck"]
    assert by_queue["codel"].summary["bottleneck"]["queue"] == "codel"
    assert all(run.verdict.status == "OK" for run in by_queue.values())


def test_marks_are_reported_where_a_discipline_marks():
    def marked(queue: str) -> tuple[int | None, list[str]]:
        scenario = Scenario(["dctcp"], queue=queue, time="3s", sample="0s")
        result = run(scenario)
        return result.summary["bottleneck"].get("marked_pkts"), [
            r.check for r in result.verdict.reasons
        ]

    pkts, checks = marked("fq_codel")
    assert pkts is not None
    assert pkts > 0
    assert "ecn" not in checks
    pkts, checks = marked("codel")
    assert pkts is None
    assert "ecn" in checks


def test_the_command_lists_them(cli):
    listed = [line.split()[:2] for line in cli("list", "queues").out.splitlines()[:-1]]
    assert listed[: len(NAMES)] == [["--queue", name] for name in NAMES]
    assert listed[len(NAMES) :] == [["--impair", name] for name in [*IMPAIRMENTS, *media()]]
    assert "quantum" in cli("list", "queues", "fq_codel").out
    # A list of choices leaves room for what the parameter is.
    rows = cli("list", "queues", "cake").out.splitlines()
    assert max(line.count(", ") for line in rows if "interplanetary" in line) <= 2
    document = json.loads(cli("list", "queues", "codel", "--json").out)
    assert document[0]["parameters"][1]["name"] == "target"
    outcome = cli("list", "queues", "fqcodel")
    assert (outcome.code, outcome.out) == (2, "")
    assert "did you mean `fq_codel`?" in outcome.err


def test_impairments_are_named_alike():
    text = "random_loss:loss=1%+policer:rate=8mbit,burst=15kB"
    scenario = Scenario(["cubic"], impair=text)
    assert scenario == Scenario(["cubic"], impair=text.split("+"))
    assert scenario.resolve()["links"][0]["impairments"] == [
        {"kind": "random_loss", "loss_ppb": 10_000_000, "place": "before"},
        {"kind": "policer", "rate_bps": 8_000_000, "burst_bytes": 15_000},
    ]
    assert Scenario.from_dict(json.loads(json.dumps(scenario.to_dict()))) == scenario
    assert "impairments" not in Scenario(["cubic"]).resolve()["links"][0]


@pytest.mark.parametrize(
    ("impair", "says"),
    [
        (
            "netem",
            "unknown impairment `netem`: there are `random_loss`, `gilbert_elliott`, `loss_state`",
        ),
        ("policer:rate=8mbit", "`policer` needs `burst`: use e.g. `policer:burst=500kB"),
        ("random_loss:loss=1", "`loss` of `random_loss` `1` has no unit"),
        (5, "impair must be a list of impairments"),
        ([5], "impair must be an impairment: `random_loss`"),
    ],
)
def test_impairments_that_cannot_be_are_refused(impair, says):
    with pytest.raises(ScenarioError) as raised:
        Scenario(["cubic"], impair=impair)
    assert says in str(raised.value)
    assert raised.value.key == "impair"


def test_a_policer_passes_its_rate():
    scenario = Scenario(
        ["reno"], rtt="20ms", impair="policer:rate=8mbit,burst=40kB", time="20s", sample="0s"
    )
    result = run(scenario)
    link = result.summary["bottleneck"]
    assert 4e6 < link["forwarded_bytes"] * 8 / 20 <= 8e6 + 40_000 * 8 / 20
    assert link["random_loss_pkts"] == link["dropped_pkts"] > 0
    assert link["queue_delay_p95_us"] < 1000, "it has no queue"


def test_the_command_line_names_one(cli):
    words = ("run", "cubic", "--time", "2s", "--sample", "0s")
    outcome = cli(*words, "--queue", "codel:target=1ms,interval=20ms")
    assert "queue codel:target=1ms,interval=20ms" in outcome.out
    refused = cli(*words, "--queue", "codel,fq_codel")
    assert "lists 2 values" in refused.err


def test_the_default_that_help_shows_is_a_discipline():
    words = re.findall(r"\w+", fields_of(Link)["queue"].default_text)
    named = [word for word in words if word in queue_disciplines()]
    assert named == ["bfifo", "pfifo"]
    for queue, buffer in zip(named, ("1bdp", "64pkt"), strict=True):
        by_default, by_name = (
            Scenario(["reno"], buffer=buffer, queue=each) for each in (None, queue)
        )
        assert by_default.to_json() == by_name.to_json()

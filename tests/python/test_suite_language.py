"""What a suite can say: the queue under test, phases, groups by index, references, needs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell import Group, Link, Scenario
from dumbbell import run as run_scenario
from dumbbell.base.errors import GateError, ScenarioError
from dumbbell.congestion_control import congestion_controls
from dumbbell.gate import (
    Criterion,
    Met,
    Subject,
    build_suite,
    evaluate,
    find_suite,
    load_baseline,
    read_suite,
    run_suite,
    save_baseline,
    shipped_suites,
)
from dumbbell.gate.case import Observed
from dumbbell.gate.subject import Measure
from dumbbell.metrics import METRICS, Observation, Phase, measure
from dumbbell.scenario.element import impairments, queue_disciplines
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.traffic import applications
from tests.python.conftest import Outcome

QUEUES = """\
title = "queues"
reps = 3
rate = "20mbit"
rtt = "20ms"
time = "6s"
sample = "10ms"
queue = "{qdisc}"

[[case]]
name = "delay"
reference = { qdisc = "bfifo" }
axes = { "1.flows" = "1,2" }
require = [
  "queue_delay_p95_us in 3s..6s <= 60% of reference + 1ms",
  "0/1.goodput_per_flow_bps >= 0.3",
  "1.share >= 10%",
]

[[case.group]]
cc = "cubic"

[[case.group]]
cc = "reno"
"""
#: What no version will have, or a case says in words only.
NEVER = "a multipath transport"


def suite_of(folder: Path, text: str, name: str = "mine") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_queue_discipline_is_compared_with_a_reference(tmp_path: Path) -> None:
    suite = read_suite(suite_of(tmp_path, QUEUES))
    subject = Subject(qdisc="codel")
    (case,) = suite.cases
    assert [str(s.links[0].queue) for _, s in case.cells(subject)] == ["codel", "codel"]
    assert [str(s.links[0].queue) for _, s in case.reference_cells(subject)] == ["bfifo", "bfifo"]
    result = run_suite(suite, subject, cache=False)
    gate = evaluate(result)
    assert gate.passed
    delay = Observed("", "queue_delay_p95_us in 3s..6s")
    for cell in result.cells:
        ours, drop_tail = cell.valid(delay), cell.valid_reference(delay)
        assert ours.keys() == drop_tail.keys()
    ratio = next(o for o in gate.criteria if o.criterion.measure.is_ratio)
    assert ratio.observed == ("cubic : reno", "goodput_per_flow_bps")
    assert ratio.mean is not None
    assert 0.3 < ratio.mean < 10
    # Drop-tail is its own reference: it cannot have 60 % of its own delay.
    missed = [o for o in evaluate(run_suite(suite, Subject(qdisc="bfifo"), cache=False)).criteria
              if o.criterion.of_reference is not None]  # fmt: skip
    assert {o.met for o in missed} == {Met.MISSED}


def test_a_baseline_keeps_the_queue_and_the_reference(
    cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    path = suite_of(tmp_path, QUEUES)
    stored = tmp_path / "baseline"
    outcome = cli("gate", str(path), "--qdisc", "pie:target=10ms", "--record", str(stored))
    assert outcome.code == 0, outcome.out
    assert "gate passed: `pie:target=10ms` in suite `mine`" in outcome.out
    loaded = load_baseline(stored)
    assert loaded.subject == ("", "pie:target=10ms")
    assert all(cell.reference for cell in loaded.cells)
    again = tmp_path / "again"
    save_baseline(loaded, again)
    assert load_baseline(again).cells == loaded.cells
    assert cli("gate", str(stored)).code == 0


def test_the_command_line_names_what_the_suite_tests(
    cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    path = str(suite_of(tmp_path, QUEUES))
    outcome = cli("gate", path)
    assert outcome.code == 2
    assert "name the queue discipline to test, as in `--qdisc" in outcome.err
    outcome = cli("gate", path, "--qdisc", "pie", "--cc", "cubic")
    assert outcome.code == 2
    assert "tests no congestion control; omit `--cc cubic`" in outcome.err
    outcome = cli("gate", path, "--qdisc", "pei")
    assert outcome.code == 2
    assert "did you mean `pie`" in outcome.err
    outcome = cli("gate", path, "--qdisc", "pie", "--queue", "codel")
    assert "use `--qdisc`" in outcome.err


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("3s..6s", "3s..9s", 5, "ends after a run of `6s`"),
        ("3s..6s", "3s-6s", 13, "use `20s..40s`"),
        ("3s..6s", "6s..3s", 13, "does not end after it begins"),
        ('sample = "10ms"', 'sample = "0s"', 6, "needs time series"),
        ("0/1.", "0/2.", 13, "has no group 2"),
        ('{ qdisc = "bfifo" }', '{ qdisk = "bfifo" }', 11, "did you mean `qdisc`"),
        ('{ qdisc = "bfifo" }', '{ qdisc = "bfiffo" }', 11, "did you mean `bfifo`"),
        ('{ qdisc = "bfifo" }', '{ cc = "reno" }', 11, "has no `{cc}`"),
        ('{ qdisc = "bfifo" }', "{}", 13, "the case has no reference"),
        ("1.share", "bulk.share", 13, "a group's index"),
        ("1.share >= 10%", "others.share >= 10%", 13, "no other group"),
        ("of reference + 1ms", "of reference + 1mbit", 13, "wrong unit"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, old: str, new: str, line: int, says: str) -> None:
    assert old in QUEUES
    with pytest.raises(GateError) as caught:
        read_suite(suite_of(tmp_path, QUEUES.replace(old, new, 1)))
    message = str(caught.value)
    assert says in message
    assert message.startswith(f"{tmp_path / 'mine.toml'}:{line}: "), message


def test_a_reference_may_change_what_an_axis_changes(tmp_path: Path) -> None:
    text = QUEUES.replace('{ qdisc = "bfifo" }', '{ loss = "0%" }').replace(
        '"1.flows" = "1,2"', 'loss = "0.1%,1%", "1.flows" = "1,2"'
    )
    (case,) = read_suite(suite_of(tmp_path, text)).cases
    subject = Subject(qdisc="codel")
    own, reference = case.cells(subject), case.reference_cells(subject)
    assert [label for label, _ in own] == [label for label, _ in reference]
    assert {str(s.links[0].loss) for _, s in reference} == {"0%"}
    assert [s.groups[1].flows for _, s in reference] == [1, 2, 1, 2]


def test_both_may_be_under_test() -> None:
    group = {"cc": "{cc}"}
    case = {"name": "a", "queue": "{qdisc}", "require": ["jain >= 0"], "group": [group]}
    suite = build_suite("both", {"case": [case]})
    suite.check_subject(Subject("cubic", "pie"))
    with pytest.raises(GateError, match="name the congestion control"):
        suite.check_subject(Subject(qdisc="pie"))


def test_a_phase_is_measured_by_itself() -> None:
    # 20 Mbit/s for 4 s, 5 Mbit/s for 4 s: each phase's goodput is its own link's.
    scenario = Scenario(
        ["cubic"], rate="20mbit", rtt="20ms", buffer="1bdp", time="8s", sample="10ms",
        rate_steps="4s:5mbit",
    )  # fmt: skip
    run = run_scenario(scenario)
    phases = [Phase.parse("1s..4s"), Phase.parse("5s..8s")]
    (row,) = measure(run, phases=phases)
    assert 17e6 < row["goodput_bps in 1s..4s"] < 20e6
    assert 4.5e6 < row["goodput_bps in 5s..8s"] < 5e6
    for phase in phases:
        assert 0.95 < row[f"utilization in {phase}"] <= 1.001
    assert row["queue_delay_p95_us in 5s..8s"] > 2 * row["queue_delay_p95_us in 1s..4s"]
    # Both halves together are the whole.
    (both,) = measure(run, phases=[Phase.parse("0s..4s"), Phase.parse("4s..8s")])
    halves = both["goodput_bps in 0s..4s"] * 4, both["goodput_bps in 4s..8s"] * 4
    assert sum(halves) == pytest.approx(row["goodput_bps"] * 8, rel=0.03)
    drops = [both[f"drop_rate in {half}"] for half in ("0s..4s", "4s..8s")]
    assert min(drops) <= row["drop_rate"] <= max(drops)


def test_time_to_recover_counts_from_the_phases_start() -> None:
    # A second flow comes back at 3 s: until then the link is idle from 1 s on.
    scenario = Scenario(
        [
            Group("cubic", stop="1s", jitter="0s"),
            Group("cubic", start="3s", jitter="0s"),
        ],
        rate="10mbit", rtt="20ms", buffer="2bdp", time="8s", sample="10ms",
    )  # fmt: skip
    run = run_scenario(scenario)
    after_stop = Observation(run, Phase.parse("2s..8s"))
    value = METRICS["recovery_time_s"].observe(after_stop)
    assert isinstance(value, float)
    assert 0.8 < value < 1.5
    assert METRICS["recovery_time_s"].observe(Observation(run, Phase.parse("2s..3s"))) is None
    assert METRICS["recovery_time_s"].observe(Observation(run, Phase.parse("5s..8s"))) == 0


def test_a_breaker_trips_after_three_seconds_of_heavy_loss() -> None:
    # 12 Mbit/s of datagrams into 10 Mbit/s lose a sixth, for 7 s: it trips twice.
    flood = Group("reno", traffic="datagram:rate=12mbit,size=1448B", jitter="0s", stop="7s")
    scenario = Scenario([flood], rate="10mbit", buffer="1bdp", time="9s", sample="100ms")
    (row,) = measure(run_scenario(scenario), phases=[Phase.parse("5s..9s")])
    assert row["breaker_trips"] == 2
    assert row["breaker_trips in 5s..9s"] == 0
    mild = scenario.replace(groups=(Group("reno", traffic="datagram:rate=10.5mbit,size=1448B"),))
    (row,) = measure(run_scenario(mild))
    assert row["drop_rate"] > 0.05
    assert row["breaker_trips"] == 0


def test_an_empty_second_does_not_end_what_a_breaker_counts() -> None:
    # 2 s of loss, 3 s without a packet, then loss again: the third second in a row that counts.
    flood = "datagram:rate=12mbit,size=1448B"
    floods = [
        Group("reno", traffic=flood, jitter="0s", stop="1900ms"),
        Group("reno", traffic=flood, jitter="0s", start="5s", stop="6500ms"),
    ]
    scenario = Scenario(floods, rate="10mbit", buffer="10pkt", time="8s", sample="100ms")
    rows = measure(run_scenario(scenario))
    assert [row["breaker_trips"] for row in rows] == [1, 1]


def test_time_to_recover_is_of_flows_that_cross_the_bottleneck() -> None:
    # 30 Mbit/s on another link say nothing about the 10 Mbit/s, which are idle until 3 s.
    links = [Link("narrow", rate="10mbit"), Link("wide", rate="100mbit")]
    groups = [
        Group("cubic", route=["narrow"], start="3s", jitter="0s"),
        Group("cubic", route=["wide"], rwnd="75kB", jitter="0s"),
    ]
    scenario = Scenario(groups, links=links, rtt="20ms", time="6s", sample="10ms")
    run = run_scenario(scenario)
    assert run.summary["bottleneck"]["name"] == "narrow"
    value = METRICS["recovery_time_s"].observe(Observation(run, Phase.parse("1s..6s")))
    assert isinstance(value, float)
    assert 1.5 < value < 2.5


def test_time_to_recover_is_not_known_of_a_medium() -> None:
    scenario = Scenario(["cubic"], trace="constant:rate=10mbit", time="3s", sample="10ms")
    assert METRICS["recovery_time_s"].observe(Observation(run_scenario(scenario))) is None


def test_a_phase_beyond_the_run_is_refused() -> None:
    with pytest.raises(ScenarioError, match="ends after"):
        Phase.parse("1s..9s").check(Scenario(["cubic"], time="8s"))


@pytest.mark.parametrize(
    ("text", "whose", "column"),
    [
        ("jain", (), "jain"),
        ("utilization@far in 1s..2s", (), "utilization@far in 1s..2s"),
        ("2.goodput_bps", (2,), "goodput_bps"),
        ("0/1.rtt_p95_us in 1s..2s", (0, 1), "rtt_p95_us in 1s..2s"),
    ],
)
def test_a_measure_is_written_as_it_is_read(text: str, whose: tuple[int, ...], column: str) -> None:
    read = Measure(text)
    assert (str(read), read.groups, read.column) == (text, whose, column)
    assert read.metric.unit == ("1" if len(whose) == 2 or whose == () else "bit/s")
    assert Criterion.parse(f"{text} <= 50% of reference").of_reference == 0.5


def test_nothing_is_skipped_that_this_version_has() -> None:
    there = {
        *fields_of(Scenario),
        *fields_of(Link),
        *queue_disciplines(),
        *impairments(),
        *METRICS,
        *applications(),
        *congestion_controls(),
    }
    for name in shipped_suites():
        for case in find_suite(name).cases:
            if not case.needs or case.needs == NEVER:
                continue
            wanted = re.findall(r"`([^`]+)`", case.needs)
            assert wanted, f"{name}: {case.name}: write what it needs in backticks: {case.needs}"
            missing = [what for what in wanted if what not in there]
            assert missing, f"{name}: {case.name}: {case.needs} is there now; fill in the case"

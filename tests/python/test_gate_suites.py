"""Suites as data: shipped ones run, a user's own is TOML, and mistakes in it are reported."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dumbbell.base.errors import GateError
from dumbbell.gate import (
    Subject,
    Suite,
    build_suite,
    evaluate,
    find_suite,
    read_suite,
    run_suite,
    shipped_suites,
)
from dumbbell.gate.case import Observed
from tests.python.conftest import Outcome

DOCS = Path(__file__).parents[2] / "docs"
SMALL = """\
title = "a small one"
reps = 3
rate = "10mbit"
time = "3s"
sample = "0s"

[judge]
utilization = "5%"
queue_delay_mean_us = "5% + 1ms"
"others.goodput_bps" = "10%"

[[case]]
name = "alone"
axes = { buffer = "1bdp,2bdp" }
require = ["utilization >= 90%"]

[[case.group]]
cc = "{cc}"

[[case]]
name = "beside"

[[case.group]]
cc = "{cc}"
flows = 2

[[case.group]]
cc = "reno"
"""


def suite_of(folder: Path, text: str) -> Suite:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return read_suite(path)


@pytest.mark.parametrize("name", shipped_suites())
def test_shipped_suites_take_anything_to_test(name: str) -> None:
    subject = Subject("copa:mode_window_rtts=5", "codel:target=7ms")
    for case in find_suite(name).runnable:
        for _, scenario in case.cells(subject):
            tested = {group.cc.name for group in scenario.groups}
            queues = {str(link.queue) for link in scenario.links}
            assert ("copa" in tested) == case.tests_cc
            assert ("codel:target=7ms" in queues) == case.tests_queue
            assert scenario.to_json()


@pytest.mark.parametrize(
    ("suite", "case", "subject"),
    [
        ("rfc9743", "extreme-loss", Subject("cubic")),
        ("rfc9743", "short-outage", Subject("cubic")),
        ("rfc9743", "slow-links", Subject("reno")),
        ("bbr-draft", "sub-packet-bdp", Subject("bbr3")),
        ("topologies", "wasted-work-with-fair-queues", Subject("reno")),
        ("rfc7928", "flood", Subject(qdisc="pie")),
        ("rfc7928", "first-burst", Subject(qdisc="codel")),
        ("bufferbloat", "responsiveness", Subject(qdisc="fq_codel")),
    ],
)
def test_a_case_is_met_by_what_it_is_met_by(suite: str, case: str, subject: Subject) -> None:
    chosen = find_suite(suite).of_cases([case]).with_reps(3)
    gate = evaluate(run_suite(chosen, subject))
    assert gate.criteria
    assert [str(o.criterion) for o in gate.criteria if not o.mean_meets] == []


def test_a_case_is_missed_by_what_it_is_made_for() -> None:
    chosen = find_suite("bufferbloat").of_cases(["deep"])
    gate = evaluate(run_suite(chosen, Subject(qdisc="bfifo")))
    assert not gate.passed
    (outcome,) = gate.criteria
    assert outcome.mean is not None
    assert outcome.mean < 300, "16 BDP of drop-tail: RPM is poor (draft-ietf-ippm-responsiveness)"


def test_the_table_of_outcomes_counts_criteria_by_case() -> None:
    make = runpy.run_path(str(DOCS.with_name("tools") / "suite_outcomes.py"))
    outcomes = [("a[flows=1]", "met"), ("a[flows=2]", "missed"), ("b", "unclear")]
    result: dict[str, Any] = {
        "suite": "mine", "cc": "cubic", "qdisc": "", "engine": "simulator", "engine_version": "1",
        "criteria": [{"cell": cell, "outcome": outcome} for cell, outcome in outcomes],
    }  # fmt: skip
    assert make["row_of"](result) == "| `mine` | `cubic` | 1 of 3 | `a` (1/2) | `b` (1/1) |"
    page = "x\n<!-- outcomes -->\nold\n<!-- end -->\ny\n"
    written = make["with_outcomes"](page, [result], "2026-01-02")
    assert "On 2026-01-02, engine simulator 1" in written
    assert "old" not in written
    assert make["with_outcomes"](written, [result], "2026-01-02") == written
    parts = [{**c, "criterion": "jain >= 0", "of": ""} for c in result["criteria"]]
    (whole,) = make["merged"]([{**result, "criteria": part} for part in (parts[:2], parts[1:])])
    assert whole["criteria"] == parts


def test_every_shipped_suite_is_listed(cli: Callable[..., Outcome]) -> None:
    outcome = cli("gate", "--list")
    assert outcome.code == 0
    assert all(name in outcome.out for name in shipped_suites())


def test_the_papers_grid_is_the_papers() -> None:
    cases = {case.name: case for case in find_suite("ogino2021").cases}
    cells = cases["beside-cubic"].cells("copa")
    assert len(cells) == 16
    assert {str(s.buffer) for _, s in cells} >= {"0.5bdp", "64bdp"}
    assert {s.flow_count for _, s in cells} == {2, 8}
    assert all(s.time.seconds == 120 for _, s in cells)


def test_nsperfs_five_cases_are_there_and_can_be_run() -> None:
    needs = {case.name: case.needs for case in find_suite("nsperf").cases}
    assert list(needs) == ["coexist", "random_loss", "shallow", "bufferbloat", "ecn_bulk"]
    assert not any(needs.values())
    assert len(find_suite("nsperf").cases[1].cells("bbr")) == 13


def test_rfc9743_has_calls_and_several_bottlenecks_and_skips_multipath() -> None:
    cases = {case.name: case for case in find_suite("rfc9743").cases}
    calls = cases["beside-real-time"]
    assert calls.subjects == ["{cc}", "datagram"], "a call is not named after a cc"
    assert {scenario.groups[0].flows for _, scenario in calls.cells("cubic")} == {1, 4}
    assert [name for name, case in cases.items() if case.needs] == ["multipath"]
    assert cases["multipath"].needs == "a multipath transport"
    assert [len(s.links) for _, s in cases["several-bottlenecks"].cells("cubic")] == [2]


def test_rfc9743s_change_of_delay_can_be_run() -> None:
    cases = {case.name: case for case in find_suite("rfc9743").cases}
    ((_, scenario),) = cases["changed-delay"].cells("cubic")
    assert str(scenario.rtt_steps) == "10s:120ms, 20s:40ms"
    assert cases["changed-delay"].criteria


LINKS = """\
rate = "50mbit"
time = "3s"

[[case]]
name = "two"
require = ["utilization@far >= 10%"]

[[case.link]]
name = "near"
rate = "20mbit"

[[case.link]]
name = "far"
rate = "10mbit"
buffer = "2bdp"

[[case.group]]
cc = "{cc}"
route = ["near", "far"]
"""


def test_a_case_may_have_links(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, LINKS)
    ((_, scenario),) = suite.cases[0].cells("cubic")
    assert [str(link.rate) for link in scenario.links] == ["20mbit", "10mbit"]
    assert str(scenario.time) == "3s"
    again = build_suite("mine", suite.document)  # as a baseline has it
    assert again.cases[0].cells("cubic") == suite.cases[0].cells("cubic")
    with pytest.raises(GateError, match="`buffer` cannot be set: case `two` has links"):
        suite.with_fields({"buffer": "1bdp"})
    (cell,) = run_suite(suite.with_reps(3), "cubic").cells
    far = Observed("", "utilization@far")
    assert all(value and value > 0.9 for value in cell.valid(far).values())


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("@far", "@fra", 6, "the case has no link `fra`; did you mean `far`"),
        ('buffer = "2bdp"', 'bufer = "2bdp"', 15, "did you mean `buffer`"),
        ('rate = "10mbit"', 'rate = "10"', 14, "no unit"),
        ('rate = "10mbit"\n', "", 12, "the link `far` has no `rate`"),
        ('"near", "far"', '"near", "fra"', 19, "there is no link `fra`"),
        ('name = "two"', 'name = "two"\nbuffer = "1bdp"', 6, "`buffer` cannot be combined"),
    ],
)
def test_a_mistake_in_a_case_with_links_has_its_line(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in LINKS
    with pytest.raises(GateError) as caught:
        suite_of(tmp_path, LINKS.replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'mine.toml'}:{line}: "), message
    assert says in message


def test_words_above_the_cases_hold_for_all_of_them(tmp_path: Path) -> None:
    alone, beside = suite_of(tmp_path, SMALL).cases
    assert [label for label, _ in alone.cells("cubic")] == ["buffer=1bdp", "buffer=2bdp"]
    assert {str(scenario.rate) for _, scenario in alone.cells("cubic")} == {"10mbit"}
    assert [str(compared.measure) for compared in alone.compared] == [
        "utilization",
        "queue_delay_mean_us",
    ]
    assert str(beside.compared[-1].measure) == "others.goodput_bps"
    assert beside.subjects == ["{cc}", "reno"]


def test_a_case_may_be_a_scenario_file(tmp_path: Path) -> None:
    (tmp_path / "mine-scenario.toml").write_text(
        'rate = "5mbit"\ntime = "4s"\n[[group]]\ncc = "{cc}"\nflows = 3\n', encoding="utf-8"
    )
    text = '[[case]]\nname = "a"\nscenario = "mine-scenario.toml"\njudge = { jain = "5%" }\n'
    suite = suite_of(tmp_path, text)
    ((_, scenario),) = suite.cases[0].cells("cubic")
    assert (str(scenario.rate), scenario.groups[0].flows) == ("5mbit", 3)
    assert "scenario" not in suite.document["case"][0], "a baseline needs no other file"


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('title = "a small one"', "title = ", 1, "not TOML"),
        ('rate = "10mbit"', 'rate = "10"', 3, "no unit"),
        ('rate = "10mbit"', 'rat = "10mbit"', 3, "did you mean `rate`"),
        ('utilization = "5%"', 'utilizaton = "5%"', 8, "did you mean `utilization`"),
        ('"5% + 1ms"', '"5% + 1mbit"', 9, "has the wrong unit"),
        ('"5% + 1ms"', '"-5%"', 9, "must not be negative"),
        ('"others.goodput_bps"', '"cubic.goodput_bps"', 10, "others.goodput_bps"),
        ('name = "alone"', 'name = "All alone"', 13, "lower-case letters"),
        ("axes = {", "axis = {", 14, "did you mean `axes`"),
        ("axes = { buffer", "axes = { bufer", 14, "did you mean `buffer`"),
        ("utilization >= 90%", "utilization > 90%", 15, "METRIC >= VALUE"),
        ('cc = "{cc}"\n\n', 'cc = "cubic"\n\n', 12, "no group is under test"),
        ("flows = 2", "flow = 2", 25, "did you mean `flows`"),
        ("flows = 2", "flows = 0", 25, "flows is 0"),
        ('cc = "reno"', 'cc = "rino"', 28, "did you mean `reno`"),
        ('name = "beside"', 'name = "alone"', 21, "two cases"),
        ("reps = 3", "reps = 2", 2, "at least 3"),
    ],
)
def test_a_mistake_is_one_line_with_file_line_and_remedy(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in SMALL
    with pytest.raises(GateError) as caught:
        suite_of(tmp_path, SMALL.replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'mine.toml'}:{line}: "), message
    assert says in message
    assert "\n" not in message


@pytest.mark.parametrize("suite_s", ['jani = "5%"', 'jain = "-5%"', '"others.share" = "1mbit"'])
def test_a_mistake_of_the_suite_s_is_blamed_on_no_case(tmp_path: Path, suite_s: str) -> None:
    with pytest.raises(GateError) as caught:
        suite_of(tmp_path, SMALL.replace("[judge]", f"[judge]\n{suite_s}"))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}:8: ")
    assert "case" not in str(caught.value)
    with pytest.raises(GateError, match=r"mine.toml:14: case `alone`: "):
        suite_of(tmp_path, SMALL.replace("axes = {", f"judge = {{ {suite_s} }}\naxes = {{"))


def test_others_need_another_group(tmp_path: Path) -> None:
    with pytest.raises(GateError, match=r"mine.toml:15: .*no other group"):
        suite_of(tmp_path, SMALL.replace("utilization >= 90%", "others.share >= 10%"))


def test_the_error_for_an_unknown_suite_lists_the_suites(cli: Callable[..., Outcome]) -> None:
    outcome = cli("gate", "regresion", "--cc", "cubic")
    assert outcome.code == 2
    assert "did you mean `regression`" in outcome.err


def test_a_suite_that_is_missing(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = cli("gate", str(tmp_path / "none.toml"), "--cc", "cubic")
    assert outcome.code == 2
    assert outcome.err.strip().endswith("none.toml: no such file")

"""`dumbbell search`: planted faults are found, made small, said in a sentence, and written down.

The searches here are small; `test_search_faults.py` has those of docs/search.md.
"""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import pytest

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.compare.fair_part import fair_bits, part_of
from dumbbell.compare.reference import ReferencePair, Side, compared, mean_values
from dumbbell.compare.worst import WORST, Worst, worst_named
from dumbbell.metrics import METRICS, ChosenMetrics, value_in
from dumbbell.run import engine
from dumbbell.scenario.file import format_scenario
from dumbbell.scenario_space.candidate import Candidate, Plain, with_drawn_phase
from dumbbell.scenario_space.kind import Roles
from dumbbell.scenario_space.path_kinds import Flows, LinkRate
from dumbbell.scenario_space.scale import logarithmic, roundness
from dumbbell.scenario_space.space import SPACES, Space, space_named
from dumbbell.testing import assert_keeps_up, scenarios
from dumbbell_studies.search import confirm, search
from dumbbell_studies.search.evaluator import Evaluator
from dumbbell_studies.search.search import SearchResult, bound_of
from dumbbell_studies.search.shrink import shrink
from dumbbell_studies.search.variation import crossed, drawn, mutated
from dumbbell_studies.search.weakness import Weakness
from tests.python.planted_faults import BBR_TIMEOUT, CUBIC_IDLE, RENO_NO_SACK

BASE = Scenario(["reno"], time="8s", sample="50ms")
PAYLOAD = 1448 / 1514
PULSES = "datagram:size=1472B,burst=33,interval=1s"


def plain_of(base: Scenario, against: str = "cubic") -> Plain:
    choice = dumbbell.CongestionControlChoice.parse
    return Plain(base, base.groups[0].cc, choice(against))


def test_the_phase_is_drawn_from_a_packet_s_time_on_the_link_unless_a_group_says_another():
    """A packet of 1514 bytes takes 1.2112 ms at 10 Mbit/s."""
    groups = [Group("cubic"), Group("reno", rtt_dither="3us")]
    drawn_phase = with_drawn_phase(Scenario(groups, rate="10mbit"))
    assert [str(group.rtt_dither) for group in drawn_phase.groups] == ["1211.2us", "3us"]


def test_seeds_of_a_search_differ_in_their_phase():
    candidate, plain = Candidate(), plain_of(BASE)
    runs = [
        dumbbell.run(candidate.scenario(plain, is_reference=False, seed=seed)) for seed in (1, 2, 3)
    ]
    rtts = {run.flows["min_rtt_us"].to_pylist()[-1] for run in runs}
    assert len(rtts) == 3


class Known(Evaluator):
    """Candidates whose scores on each seed are known."""

    known: ClassVar[dict[Candidate, dict[int, float]]] = {}

    def on_seeds(self, candidates, seeds):
        self.runs += len(seeds) * len(candidates)
        return {each: min(self.known[each][seed] for seed in seeds) for each in candidates}


def test_what_one_seed_ruled_out_runs_on_all_before_a_lower_bar_takes_it(monkeypatch):
    """A score that counts is that of the mildest seed."""
    source = random.Random(1)  # noqa: S311
    one, other = Candidate(), drawn(space_named("static", BASE), source)
    scores = {one: dict(enumerate((0.8, 0.0, 0.5))), other: dict(enumerate((0.4, 0.7, 0.6)))}
    monkeypatch.setattr(Known, "known", scores)
    evaluator = Known(plain_of(BASE), worst_named("gap"), (0, 1, 2))
    evaluator.rank([one, other], 0.9)
    assert (evaluator.scores, evaluator.runs) == ({one: 0.8, other: 0.4}, 2)
    evaluator.rank([one, other], 0.5)
    assert (evaluator.scores, evaluator.runs) == ({one: 0.0, other: 0.4}, 4)
    evaluator.rank([one, other], 0.3)
    evaluator.rank([one, other], 0.0)
    assert (evaluator.scores, evaluator.runs) == ({one: 0.0, other: 0.4}, 6)
    assert evaluator.evaluations == 2


def test_values_are_means_over_the_outcomes_that_count():
    def outcome(tested: float | None, reference: float, fault: str = "") -> ReferencePair:
        return ReferencePair(Side(tested, 0.5, fault), Side(reference, 1.0))

    counted = [outcome(0.2, 0.8), outcome(0.4, 0.6)]
    failed = [outcome(None, 0.9, "ended in an error"), outcome(0.9, 0.9, "INVALID")]
    assert mean_values([*counted, *failed], worst_named("gap")) == pytest.approx((0.3, 0.7))
    assert mean_values(failed, worst_named("gap")) == (0.0, 0.0)


@pytest.mark.parametrize("fault", [CUBIC_IDLE, BBR_TIMEOUT, RENO_NO_SACK], ids=lambda f: f.name)
def test_a_planted_fault_still_fits_the_source_and_runs(fault, tmp_path):
    run = dumbbell.run(Scenario([fault.write(tmp_path)], time="1s"))
    assert run.verdict.status != "INVALID"


def test_a_failure_is_found_shrunk_and_said(tmp_path, cli):
    """Copa leaves slow start early where the RTT is long, and then grows slowly."""
    words = ["search", "copa", "--evaluations", "49", "--time", "4s"]
    outcome = cli(*words, "--out", str(tmp_path / "found"), "--json")
    assert outcome.code == 1, outcome.err
    found = json.loads(outcome.out)["finding"]
    assert found["holds"]
    assert len(found["elements"]) <= 3
    assert len(found["scores"]) == 20
    assert min(found["scores"]) > found["bound"]
    assert "in its place" in found["sentence"]
    toml = tmp_path / "found/copa_gap.toml"
    again = Scenario.from_toml(toml)
    assert json.loads(json.dumps(again.to_dict()))["group"] == found["scenario"]["group"]

    # The test that it wrote fails as expected, and says so once the fault is mended.
    test = toml.with_name("test_copa_gap.py")
    assert pytest_of(test) == (0, "1 xfailed")
    toml.write_text(toml.read_text(encoding="utf-8").replace('"copa"', '"cubic"'), "utf-8")
    assert pytest_of(test) == (1, "1 failed")


def pytest_of(test: Path) -> tuple[int, str]:
    """Run a test file by itself; return its exit code and the beginning of its last line."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test)],
        cwd=test.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout.strip().splitlines()[-1].partition(" in ")[0]


def test_the_same_seed_and_evaluations_find_the_same():
    base = Scenario(["vegas"], time="3s", sample="50ms")
    one, other = (
        search(base, space="loss-window", budget_s=None, evaluations=10, jobs=jobs, cache=False)
        for jobs in (1, 2)
    )
    assert one.to_dict() == other.to_dict()
    assert one.evaluations >= 10


def test_a_congestion_control_is_no_worse_than_itself(cli):
    outcome = cli("search", "reno", "--against", "reno", "--evaluations", "10", "--time", "3s")
    assert outcome.code == 0
    assert "no failure found by gap: the worst is 0," in outcome.out


def test_ctrl_c_keeps_the_best_so_far():
    calls = 0

    def stop(progress):
        nonlocal calls
        calls += progress.best > 0.3
        if calls > 1:
            raise KeyboardInterrupt

    base = Scenario(["copa"], time="4s", sample="50ms")
    result = search(base, "cubic", evaluations=10_000, cache=False, on_progress=stop)
    assert result.is_interrupted
    assert result.finding is not None
    assert len(result.finding.scores) == 3  # neither shrunk nor checked


def test_what_the_reference_does_not_manage_either_is_no_failure():
    """Half of all packets lost: nobody does well, so the scenario is bad."""
    lossy = BASE.replace(loss="50%", time="3s")
    result = search(lossy, "cubic", space="segments", budget_s=None, evaluations=5, cache=False)
    assert result.best is None
    assert result.finding is None


class Many(Worst):
    """More than one flow."""

    name, least = "many", 1.5

    def value(self, run, rows):  # noqa: ARG002
        return float(run.scenario.groups[0].flows)

    def score(self, tested, reference):  # noqa: ARG002
        return tested

    def verb(self):
        return "has"

    def shown(self, value, scenario):  # noqa: ARG002
        return f"{value:g} flows"


def test_a_space_and_a_failure_of_one_s_own_are_searched_too():
    kinds = [Flows(2), LinkRate()]
    space = Space("own", {each.name: each for each in kinds})
    result = search(
        BASE, "cubic", worst=Many(), space=space, budget_s=None, evaluations=60, cache=False
    )
    finding = result.failure
    assert finding is not None
    assert [each.name for each in finding.candidate.elements] == ["flows"]
    assert finding.scenario.groups[0].flows >= 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--worst", "gapp"], "unknown failure `gapp`"),
        (["--worst", "backlog_mean_bytes"], "neither more nor less is worse"),
        (["--space", "statics"], "unknown space `statics`; did you mean `static`?"),
        (["--time", "1s"], "finds little"),
        (["--against", "linux/cubic"], "`--confirm kernel` or `--confirm uml`"),
        (["--upload", "cubic"], "no such option"),
    ],
)
def test_what_cannot_be_searched_is_refused(cli, words, why):
    outcome = cli("search", "reno", *words, "--evaluations", "1")
    assert outcome.code == 2
    assert why in outcome.err


def test_every_space_makes_scenarios_that_a_file_says_too(tmp_path):
    source = random.Random(5)  # noqa: S311
    for name in SPACES:
        space = space_named(name, BASE)
        candidates = [drawn(space, source) for _ in range(20)]
        candidates += [mutated(each, space, source) for each in candidates]
        candidates += [
            crossed(source.choice(candidates), source.choice(candidates), source) for _ in range(10)
        ]
        made = 0
        for each in candidates:
            try:
                scenario = each.scenario(plain_of(BASE), is_reference=False, seed=3)
            except ScenarioError:
                continue
            made += 1
            path = tmp_path / "s.toml"
            path.write_text(format_scenario(scenario), encoding="utf-8")
            assert Scenario.from_toml(path).to_json() == scenario.to_json()
        assert made > 40


def test_shrinking_leaves_what_is_needed_and_rounds_it():
    """Fails whenever the buffer is below 0.4 BDP and there is an outage of at least 100 ms."""
    space = space_named("loss-window", BASE)
    source = random.Random(1)  # noqa: S311
    asked = 0

    def fails(candidate: Candidate) -> bool:
        found = {each.name: each.values for each in candidate.elements}
        return (
            found.get("buffer", {"percent": 100})["percent"] < 40
            and found.get("outage", {"off_ms": 0})["off_ms"] >= 100
        )

    def first_failing(candidates: list[Candidate]) -> Candidate | None:
        nonlocal asked
        asked += len(candidates)
        return next((each for each in candidates if fails(each)), None)

    kinds = space.kinds
    big = Candidate.of(
        [
            kinds["buffer"].element((35,)),
            kinds["outage"].element((2500, 120)),
            *(space.draw(source, name) for name in ("rate", "rtt", "outages", "pulses")),
        ]
    )
    small = shrink(big, first_failing)
    assert [(each.name, each.numbers) for each in small.elements] == [
        ("buffer", (20,)), ("outage", (2000, 100)),
    ]  # fmt: skip
    assert asked < 60


def test_pulses_near_the_timeout_starve_reno_and_not_bbr():
    """The shrew attack: its pulses fill a link of 50 Mbit/s twice for 50 ms, 31 times."""
    pulses = space_named("cross", BASE).kinds["pulses"].element((200, 50, 550))
    candidate = Candidate.of([pulses])
    plain = plain_of(BASE.replace(time="18s"), "bbr")
    parts = []
    for is_reference in (False, True):
        run = dumbbell.run(candidate.scenario(plain, is_reference=is_reference, seed=3))
        sent = sum(flow["sent_pkts"] for flow in run.summary["flows"] if flow["group"] == 1)
        assert sent == pytest.approx(31 * 2 * 50e6 * 0.05 / (1514 * 8), rel=0.1)
        parts.append(part_of(run.scenario, run.summary, 0))
    assert parts[0] < 0.4
    assert parts[1] > 0.8
    said = "with pulses of datagrams at 200 % of the link, 50 ms long, every 550 ms"
    assert pulses.kind.phrase(pulses.values, Roles("reno", "bbr")) == said


def test_round_numbers_come_first():
    scale = logarithmic(1, 1000)
    assert scale.rounder(120) == [100, 200, 90, 80, 70, 60]
    assert all(roundness(each) < roundness(350) for each in scale.rounder(350))
    assert scale.rounder(100) == [] or roundness(scale.rounder(100)[0]) < roundness(100)


@pytest.mark.parametrize(
    ("groups", "fields", "expected"),
    [
        (["cubic"], {}, 10 * 8),
        ([Group("cubic", 2), "reno"], {}, 10 * 8 * 2 / 3),
        (["cubic", Group("reno", start="4s")], {}, 10 * 4 + 5 * 4),
        (["cubic"], {"rate_steps": "2s:20mbit"}, 10 * 2 + 20 * 6),
        (["cubic"], {"impair": "outage:at=1s,off=2s"}, 10 * 6),
        (["cubic"], {"impair": "outage:at=1s,off=100ms,on=300ms"}, 10 * 8 * 0.75),
        ([Group("cubic", traffic="onoff:on=1s,off=3s")], {}, 10 * 8 / 4),
        (["cubic", Group("reno", traffic="datagram:size=1472B,rate=1472kbit")], {}, 8.486 * 8),
        # Pulses of 100 ms each second, at four times the rate of the link.
        (["cubic", Group("reno", 10, jitter="100ms", traffic=PULSES)], {}, 9 * 8),
    ],
)
def test_the_fair_share_is_what_is_there_for_equal_flows(groups, fields, expected):
    scenario = Scenario(groups, rate="10mbit", time="8s", **fields)
    assert fair_bits(scenario, 0) == pytest.approx(expected * 1e6 * PAYLOAD)


def test_each_failure_measures_and_says_something():
    run = dumbbell.run(Scenario(["reno", "cubic"], time="3s", buffer="8bdp"))
    every = dumbbell.metrics.measure(run)
    for name in [*WORST, "drop_rate", "goodput_bps", "utilization@bottleneck"]:
        worst = worst_named(name)
        rows = ChosenMetrics(worst.metrics).of(run)
        value = worst.value(run, rows)
        assert value is not None, name
        for measured in worst.metrics:  # as among all of them, and no others
            assert value_in(rows[0], measured) == value_in(every[0], measured), name
        assert len(rows[0].keys() & METRICS.keys()) <= len(worst.metrics)
        assert worst.score(value, value) <= max(0.0, 1.0 - value), name
        assert worst.shown(value, run.scenario), name


def test_the_assertion_says_what_both_did_and_refuses_what_does_not_count():
    bad = Scenario(["copa"], rtt="200ms", time="4s")
    with pytest.raises(AssertionError, match=r"gets .* %, cubic in its place .* %: worse by"):
        assert_keeps_up(bad, "cubic", seeds=1)
    assert_keeps_up(bad.replace(rtt="40ms"), "cubic", seeds=1)
    with pytest.raises(ResultError, match="does not count: cubic gets"):
        assert_keeps_up(bad.replace(loss="50%", time="2s"), "cubic", seeds=1)


def test_hypothesis_draws_scenarios_and_shrinks_them():
    from hypothesis import HealthCheck, Phase, find, given, settings

    quiet = settings(
        max_examples=20, database=None, derandomize=True, deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip

    @quiet
    @given(scenarios("reno", space="cross", time="3s"))
    def each_is_run(scenario):
        assert scenario.groups[0].cc.name == "reno"
        json.loads(scenario.to_json())

    each_is_run()
    some = settings(quiet, max_examples=500, phases=[Phase.generate, Phase.shrink])
    found = find(scenarios("reno"), lambda s: s.groups[0].flows >= 4, settings=some)
    assert found.groups[0].flows == 4
    assert (str(found.rate), found.seed) == ("50mbit", 1)


def test_spaces_are_declared_once():
    for name in SPACES:
        space: Space = space_named(name, BASE)
        assert all(kind.name == key for key, kind in space.kinds.items())


@pytest.fixture
def shallow() -> Weakness:
    """Copa in a buffer of 0.1 BDP, as a search would have found it."""
    plain = plain_of(Scenario(["copa"], time="3s", sample="50ms"))
    kinds = space_named("static", plain.scenario).kinds
    candidate = Candidate.of([kinds["flows"].element((8,)), kinds["buffer"].element((10,))])
    worst = worst_named("drop_rate")
    return Weakness(plain, worst, candidate, candidate, 0.7, 0.01, (0.69,) * 20, 0.3, 1)


def test_what_does_not_hold_on_fresh_seeds_is_no_failure(shallow, cli, monkeypatch, tmp_path):
    scores = (0.69,) * 19 + (0.2,)
    found = SearchResult(dataclasses.replace(shallow, scores=scores), 0.69, 49, 100)
    monkeypatch.setattr("dumbbell_studies.cli.search.search", lambda *_, **__: found)
    outcome = cli("search", "copa", "--worst", "drop_rate", "--out", str(tmp_path / "found"))
    assert outcome.code == 0
    assert "Fails on 19 of 20 fresh seeds" in outcome.out
    assert "fresh seeds do not confirm it" in outcome.err
    assert not (tmp_path / "found").exists()


def test_a_run_fails_from_what_a_failure_is_at_least():
    gap = worst_named("gap")
    assert (bound_of(0.9, gap), bound_of(0.3, gap)) == (0.45, gap.least)


def test_seeds_that_do_not_count_refute_nothing_but_most_must_count(shallow):
    some = dataclasses.replace(shallow, scores=(0.69,) * 11 + (None,) * 9)
    assert some.holds
    assert some.proof.startswith("Fails on 11 of 11 fresh seeds; ")
    assert some.proof.endswith("; 9 more did not count.")
    assert not dataclasses.replace(shallow, scores=(0.69,) * 10 + (None,) * 10).holds


def test_what_ctrl_c_kept_was_not_checked_and_is_written(shallow, cli, monkeypatch, tmp_path):
    kept = dataclasses.replace(shallow, scores=(0.69, 0.69, 0.2), is_checked=False)
    found = SearchResult(kept, 0.69, 49, 100, is_interrupted=True)
    monkeypatch.setattr("dumbbell_studies.cli.search.search", lambda *_, **__: found)
    outcome = cli("search", "copa", "--worst", "drop_rate", "--out", str(tmp_path / "found"))
    assert "Fails on 2 of 3 seeds of the search, unchecked; " in outcome.out
    assert "do not confirm" not in outcome.err
    assert (tmp_path / "found" / "copa_drop_rate.toml").is_file()


def test_what_the_kernel_shows_too_is_confirmed(shallow, fabricated_kernel):
    """On a fabricated kernel, which does what the simulator does."""
    confirmed = confirm(shallow)
    assert confirmed.confirmation is not None
    assert (confirmed.confirmation.status, confirmed.confirmation.why) == ("confirmed", "")
    assert (
        confirmed.proof
        == "Fails on 20 of 20 fresh seeds; the values are means over all; confirmed."
    )
    assert fabricated_kernel.runs == 6
    milder = confirm(dataclasses.replace(shallow, bound=0.99)).confirmation
    assert milder is not None
    assert milder.status == "simulator only"
    assert "not above 0.99" in milder.why


def test_an_invalid_run_on_the_kernel_is_replaced(shallow, fabricated_kernel, monkeypatch):
    seeds: list[list[int]] = []

    def spoiled(pairs, *words, **named):
        seeds.append([pair[0].seed for pair in pairs])
        outcomes = compared(pairs, *words, **named)
        if len(seeds) == 1:
            outcomes[0] = ReferencePair(
                Side(None, 0.0, "an impossible window"), outcomes[0].reference
            )
        return outcomes

    monkeypatch.setattr(import_module("dumbbell_studies.search.search"), "compared", spoiled)
    found = confirm(shallow).confirmation
    assert found is not None
    assert (found.status, len(found.scores)) == ("confirmed", 3)
    assert seeds == [[1, 2, 3], [4]]
    assert fabricated_kernel.runs == 8


def test_what_the_kernel_cannot_run_is_of_the_simulator_only(shallow, monkeypatch):
    monkeypatch.setattr(engine, "may_make_namespaces", lambda: False)
    found = confirm(shallow).confirmation
    assert found is not None
    assert found.status == "simulator only"
    assert "needs root's privileges" in found.why

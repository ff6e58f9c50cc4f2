"""`dumbbell search`: planted faults are found, made small, said in a sentence, and written down.

The searches here are small; `test_search_faults.py` has those of docs/search.md.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.base.errors import ResultError
from dumbbell.compare.fair_part import fair_bits
from dumbbell.compare.reference import ReferencePair, Side, mean_values
from dumbbell.compare.worst import WORST, Worst, worst_named
from dumbbell.metrics import METRICS, ChosenMetrics, value_in
from dumbbell.scenario_space.candidate import Candidate
from dumbbell.scenario_space.path_kinds import Flows, LinkRate
from dumbbell.scenario_space.space import Space, space_named
from dumbbell.testing import assert_keeps_up
from dumbbell_studies.search import search
from dumbbell_studies.search.evaluator import Evaluator
from dumbbell_studies.search.variation import drawn
from tests.python.planted_faults import BBR_TIMEOUT, CUBIC_IDLE, RENO_NO_SACK
from tests.python.searched import BASE, plain_of

PAYLOAD = 1448 / 1514
PULSES = "datagram:size=1472B,burst=33,interval=1s"


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
        [rows] = ChosenMetrics(worst.metrics).of([run])
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

"""`dumbbell tune` and `ablate`: what parameters do, and the best of them, on fresh seeds too."""

from __future__ import annotations

import json

import pytest

from dumbbell import CongestionControlChoice, Scenario
from dumbbell.congestion_control import Parameter
from dumbbell_studies.tuning import Goal, Trial, ranges_of, target_named, tune
from dumbbell_studies.tuning.parameter_range import ParameterRange
from dumbbell_studies.tuning.target import BoardTarget, MetricTarget
from dumbbell_studies.tuning.tune import pareto

SHORT = ["--time", "2s", "--rate", "10mbit", "--seeds", "1", "--no-cache"]
SCENARIO = Scenario(["reno"], time="2s", rate="10mbit")


def test_more_packets_per_flow_are_more_queue(cli):
    """Copa's 1/delta is what a flow keeps in the queue: less of it is less delay."""
    words = ["tune", "copa", "--over", "default_inv_delta=2..20", "--on", "queue_delay_mean_us"]
    outcome = cli(*words, "--trials", "12", *SHORT, "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    best = found["best"][0]
    assert best["params"]["default_inv_delta"] <= 4
    assert found["untuned"]["params"] == {"default_inv_delta": 2}
    assert len(found["trials"]) == 12
    assert best["held_out"]["queue_delay_mean_us"] > 0
    assert found["importances"]["queue_delay_mean_us"]["default_inv_delta"] == 1.0


def test_the_same_seed_tunes_the_same():
    target = target_named("utilization,queue_delay_mean_us", SCENARIO, 1)
    ranges = ranges_of(CongestionControlChoice.parse("cubic"), ["beta=300..1000", "bic_scale"])
    one, other = (
        tune("cubic", ranges, target, trials=5, jobs=jobs, cache=False) for jobs in (1, 2)
    )
    assert one.to_dict() == other.to_dict()
    assert len(one.best) >= 1
    assert one.trials[0].cc == "cubic"


def test_ablation_has_each_end_and_the_difference(cli):
    words = ["tune", "ablate", "cubic", "--over", "hystart,beta=500..1000", "--on", "utilization"]
    outcome = cli(*words, *SHORT)
    assert outcome.code == 0, outcome.err
    lines = [line.strip() for line in outcome.out.splitlines()]
    assert sum(line.startswith("hystart ") for line in lines) == 1  # off; on is the default
    assert sum(line.startswith("beta ") for line in lines) == 2
    assert all("(" in line for line in lines if line.startswith("beta "))


def test_a_better_one_beats_and_an_equal_one_does_not():
    goals = (Goal("more"), Goal("less", is_higher_better=False))
    values = [(1.0, 5.0), (2.0, 5.0), (1.0, 3.0), (2.0, 5.0), (None, 1.0)]
    trials = [Trial(str(n), {}, each) for n, each in enumerate(values)]
    assert [each.cc for each in pareto(trials, goals)] == ["1", "2"]


@pytest.mark.parametrize(
    ("low", "high", "default", "ends"),
    [
        (0, 1, 1, [0]),
        (0, 1_000_000, 2000, [0, 250, 16_000]),
        (1, 1023, 717, [89, 1023]),
        (0, 0x7FFFFFFF, 0, [100]),
        (-5, 500, -3, [0]),
    ],
)
def test_ends_are_within_what_is_declared_and_around_the_default(low, high, default, ends):
    found = ParameterRange.of(Parameter("p", "", "", low, high, default))
    assert set(ends) <= set(found.ends)
    assert low <= found.low < found.high <= high
    assert default not in found.ends


def test_what_is_tuned_on_is_a_board_or_metrics():
    assert isinstance(target_named("jain,utilization", SCENARIO, 2), MetricTarget)
    board = target_named("ideal.own,ideal.loss", SCENARIO, 2)
    assert isinstance(board, BoardTarget)
    assert [each.name for each in board.board.categories] == ["own", "loss"]
    held_out = board.held_out()
    assert not set(held_out.seeds) & set(board.seeds)


def test_a_board_scores_every_setting_and_draws_cells_for_the_end(cli):
    outcome = cli(
        "tune", "cubic", "--over", "hystart", "--on", "ideal.start", "--trials", "2",
        "--seeds", "1",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "held out: board ideal, drawn cells, seeds 1001 to 1001" in outcome.out
    found = [line for line in outcome.out.splitlines() if line.strip().startswith("cubic")]
    assert all(0 < float(value) < 1 for value in found[0].split()[1:])


@pytest.mark.parametrize(
    ("command", "words", "why"),
    [
        ("tune", ["--over", "alpha"], "has no parameter `alpha`"),
        ("tune", ["--over", "beta=5"], "is not a range"),
        ("tune", ["--over", "beta=1..5000"], "is not a range"),
        (
            "tune ablate",
            ["--on", "ideall"],
            "unknown board or metric `ideall`; did you mean `ideal`?",
        ),
        ("tune ablate", ["--on", "backlog_mean_bytes"], "neither more nor less is better"),
        ("tune ablate", ["--on", "ideal,jain"], "neither one board nor metrics"),
    ],
)
def test_what_cannot_be_tuned_is_refused(cli, command, words, why):
    outcome = cli(*command.split(), "cubic", *words)
    assert outcome.code == 2
    assert why in outcome.err


def test_a_range_is_read():
    (of,) = ranges_of(CongestionControlChoice.parse("cubic"), ["beta=500..900"])
    assert (of.low, of.high, of.is_logarithmic) == (500, 900, False)

"""What judges nagi: the table of its targets, and the space in which its lemma is tried."""

from __future__ import annotations

import random
import runpy
from pathlib import Path
from typing import Any

import pytest

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.scenario_space import Candidate, Plain

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="module")
def lock() -> dict[str, Any]:
    return runpy.run_path(str(TOOLS / "nagi_lock.py"))


def scenario_of(candidate: Candidate) -> Scenario:
    plain = Scenario(
        [Group("nagi")], rate="50mbit", rtt="40ms", buffer="4bdp", time="120s", sample="200ms"
    )
    choice = dumbbell.CongestionControlChoice.parse
    return candidate.scenario(
        Plain(plain, choice("nagi"), choice("cubic"), flows=2), is_reference=False, seed=1
    )


def test_flows_of_the_lemma_have_the_packets_that_it_asks_for(lock: dict[str, Any]):
    dice = random.Random(1)  # noqa: S311
    for _ in range(50):
        crowd = lock["SPACE"].draw(dice, "crowd")
        scenario = scenario_of(Candidate((crowd,)))
        rate, rtt_s = int(scenario.links[0].rate), scenario.rtt.seconds
        window = rate * rtt_s / (8 * 1514) / crowd.values["flows"]
        if rate < lock["MOST_RATE"]:
            assert window > 0.999 * lock["least_window"](rtt_s)


def test_guests_of_the_lemma_have_left_before_the_last_minute(lock: dict[str, Any]):
    dice = random.Random(1)  # noqa: S311
    seen = set()
    for _ in range(50):
        others = lock["SPACE"].draw(dice, "others")
        group = scenario_of(Candidate((others,))).groups[1]
        seen.add(str(group.cc))
        if str(group.cc) != "nagi":
            assert group.stop is not None
            assert group.stop.seconds < 60
    assert seen == {"nagi", "cubic", "bbr"}


def test_two_flows_alone_are_of_one_kind(lock: dict[str, Any]):
    run = dumbbell.run(scenario_of(Candidate()))
    assert lock["TwoKinds"]("nagi").value(run, []) == 0


def test_a_target_that_one_engine_misses_comes_first():
    names = runpy.run_path(str(TOOLS / "nagi_targets.py"))
    outcome, table_of = names["Outcome"], names["table_of"]
    table = table_of({
        "simulator": [
            outcome("`late` a", "at most 5 s", "1 s", 2, 2, True),
            outcome("`late` b", "at most 5 s", "2 s", 2, 2, True),
        ],
        "kernel": [outcome("`late` b", "at most 5 s", "9 s", 0, 2, False)],
    })  # fmt: skip
    rows = table.splitlines()
    assert rows[2] == "| `late` b | at most 5 s | 2 s, 2/2 | 9 s, 0/2, missed | missed |"
    assert rows[3] == "| `late` a | at most 5 s | 1 s, 2/2 |  | met |"
    assert rows[-1] == "Targets met: simulator: 2 of 2; kernel: 0 of 1."

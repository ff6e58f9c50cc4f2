"""Spaces of scenarios: what is drawn from them runs, can be written, and is made small."""

from __future__ import annotations

import json
import random

import pytest

import dumbbell
from dumbbell import Group, Scenario
from dumbbell.base.errors import ScenarioError
from dumbbell.compare.fair_part import part_of
from dumbbell.scenario.file import format_scenario
from dumbbell.scenario_space.candidate import Candidate, with_drawn_phase
from dumbbell.scenario_space.kind import Roles
from dumbbell.scenario_space.scale import logarithmic, roundness
from dumbbell.scenario_space.space import SPACES, Space, space_named
from dumbbell.testing import scenarios
from dumbbell_studies.search.shrink import shrink
from dumbbell_studies.search.variation import crossed, drawn, mutated
from tests.python.searched import BASE, plain_of


def test_the_phase_is_drawn_from_a_packet_s_time_on_the_link_unless_a_group_says_another():
    """A packet of 1514 bytes takes 1.2112 ms at 10 Mbit/s."""
    groups = [Group("cubic"), Group("reno", rtt_dither="3us")]
    drawn_phase = with_drawn_phase(Scenario(groups, rate="10mbit"))
    assert [str(group.rtt_dither) for group in drawn_phase.groups] == ["1211.2us", "3us"]


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

"""The findings' rules must be able to say "shown" and "not shown": the numbers here are made up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from dumbbell.papers import PAPERS, ogino2021
from dumbbell.papers.ogino2021 import findings as rules
from dumbbell.papers.ogino2021.in_flight import Counts
from dumbbell.papers.ogino2021.measurements import Kind, Measured, Measurements
from dumbbell.papers.ogino2021.points import BUFFERS_BDP, FLOWS, RIVALS, Point
from dumbbell.papers.paper import Check, Finding


def kind(mbps: float, rtt_ms: float, pkts: float) -> Kind:
    return Kind(mbps, rtt_ms, rtt_ms, pkts, rto_count=0, rwnd_limited_share=0.0)


def measured(copa: float, rival: float, rtt_ms: float, default: float) -> Measured:
    return Measured(
        kind(copa, rtt_ms, 10 * copa), kind(rival, rtt_ms, 10 * rival), default, verdict="OK"
    )


def as_the_paper_says() -> dict[Point, list[Measured]]:
    """Made-up measurements that bear out every finding."""
    world = {}
    for b in BUFFERS_BDP:
        rtt_ms, rank = 40 + 15 * b, BUFFERS_BDP.index(b)
        world["cubic", 1, b] = measured(30 - 4 * rank, 20 + 4 * rank, rtt_ms, 0.9 if b < 2 else 0.1)
        copa = 10 - rank if b <= 2 else 5 - 0.5 * rank
        world["cubic", 4, b] = measured(copa, 12 - copa, rtt_ms, 0.1)
        if b <= 2:
            world["bbr", 1, b] = measured(10, 38, rtt_ms, 0.9 - 0.01 * rank)
        else:
            world["bbr", 1, b] = measured(22, 25, 120, 0.5 - 0.05 * rank)
        world["bbr", 4, b] = measured(3, 9, rtt_ms, 0.5) if b < 16 else measured(9, 3, rtt_ms, 0.1)
    at_32, at_64 = world["cubic", 1, 32.0], world["cubic", 1, 64.0]
    world["cubic", 1, 32.0] = replace(
        at_32, rival=replace(at_32.rival, throughput_mbps=41, rto_count=3)
    )
    world["cubic", 1, 64.0] = replace(at_64, rival=replace(at_64.rival, rwnd_limited_share=0.6))
    return {Point(*key): [value] for key, value in world.items()}


ARTEFACT = Counts(lossy_seconds=100, quiet_seconds=800, excess_lossy=0.3, excess_quiet=0.01)


def check(
    monkeypatch: pytest.MonkeyPatch,
    world: dict[Point, list[Measured]],
    counts: Counts = ARTEFACT,
) -> dict[str, Finding]:
    monkeypatch.setattr(rules, "compare_counts", lambda _runs, _group: counts)
    m = Measurements({})
    m.measured = world
    m.runs = {point: [] for point in world}
    return {finding.id: finding for finding in rules.check_findings(m)}


def test_shown_when_it_is_as_the_paper_says(monkeypatch):
    findings = check(monkeypatch, as_the_paper_says())
    assert list(findings) == ["A1", "A2", "A3", "A4", "A5", "A6", "A7"]
    assert {i: f.evidence for i, f in findings.items() if not f.shown} == {}


Change = Callable[[Measured], Measured]


def swapped(run: Measured) -> Measured:
    return replace(run, copa=run.rival, rival=run.copa)


def raised(run: Measured) -> Measured:
    return replace(run, copa=replace(run.copa, rtt_mean_ms=90.0))


def calm(run: Measured) -> Measured:
    return replace(run, copa=replace(run.copa, rtt_mean_ms=50.0))


def competitive(run: Measured) -> Measured:
    return replace(run, default_share=0.2)


def default(run: Measured) -> Measured:
    return replace(run, default_share=0.99)


def without_rtos(run: Measured) -> Measured:
    return replace(run, rival=replace(run.rival, rto_count=0))


def without_dip(run: Measured) -> Measured:
    return replace(run, rival=replace(run.rival, throughput_mbps=44.0))


def without_limit(run: Measured) -> Measured:
    return replace(run, rival=replace(run.rival, rwnd_limited_share=0.0))


def little_in_flight(run: Measured) -> Measured:
    return replace(run, rival=replace(run.rival, outstanding_pkts=1.0))


def even(run: Measured) -> Measured:
    return replace(run, rival=run.copa)


def almost_even(run: Measured) -> Measured:
    return replace(run, rival=replace(run.copa, throughput_mbps=run.copa.throughput_mbps - 0.1))


@pytest.mark.parametrize(
    ("finding", "rival", "n", "buffers", "change"),
    [
        ("A1", "cubic", 1, [0.5], swapped),
        ("A1", "cubic", 1, [0.5], raised),
        ("A1", "cubic", 1, [0.5], competitive),
        ("A2", "cubic", 1, BUFFERS_BDP, even),
        ("A2", "cubic", 1, BUFFERS_BDP, calm),
        ("A2", "cubic", 1, [64.0], swapped),
        ("A2", "cubic", 1, [16.0], little_in_flight),
        ("A2", "cubic", 1, [8.0], default),
        ("A3", "cubic", 4, [2.0], swapped),
        ("A3", "cubic", 4, [4.0], swapped),
        ("A4", "cubic", 1, [32.0], without_rtos),
        ("A4", "cubic", 1, [32.0], without_dip),
        ("A4", "cubic", 1, [64.0], without_limit),
        ("A6", "bbr", 1, [1.0], swapped),
        ("A6", "bbr", 1, [2.0], raised),
        ("A6", "bbr", 1, [0.5], competitive),
        ("A6", "bbr", 1, [8.0], calm),
        ("A6", "bbr", 1, [4.0, 8.0, 16.0, 32.0, 64.0], default),
        ("A7", "bbr", 4, [0.5], swapped),
        ("A7", "bbr", 4, [16.0], swapped),
        ("A7", "bbr", 4, [32.0], almost_even),
        ("A7", "bbr", 4, BUFFERS_BDP, calm),
    ],
)
def test_not_shown_when_one_thing_differs(monkeypatch, finding, rival, n, buffers, change: Change):
    world = as_the_paper_says()
    for buffer in buffers:
        point = Point(rival, n, buffer)
        world[point] = [change(run) for run in world[point]]
    findings = check(monkeypatch, world)
    assert not findings[finding].shown
    assert "NOT: " in findings[finding].evidence


def test_unfair_at_4_bdp_is_not_a6(monkeypatch):
    world = as_the_paper_says()
    world[Point("bbr", 1, 4.0)] = [measured(12, 36, 120, 0.3)]
    assert not check(monkeypatch, world)["A6"].shown


@pytest.mark.parametrize(
    "counts", [replace(ARTEFACT, excess_lossy=0.05), replace(ARTEFACT, excess_quiet=0.2)]
)
def test_a5_not_shown_without_the_artefact(monkeypatch, counts):
    assert not check(monkeypatch, as_the_paper_says(), counts)["A5"].shown


def test_a_finding_without_checks_is_not_shown():
    assert not Finding("X", "nothing", ()).shown
    assert Finding("X", "something", (Check("so", holds=True),)).shown


def test_values_are_means_over_seeds(monkeypatch):
    world = as_the_paper_says()
    point = Point("cubic", 1, 0.5)
    sound = world[point][0]
    # One seed of three that says the contrary does not turn the mean over.
    world[point] = [sound, sound, swapped(sound)]
    assert check(monkeypatch, world)["A1"].shown
    world[point] = [sound, swapped(sound), swapped(sound)]
    assert not check(monkeypatch, world)["A1"].shown


def test_runs_are_the_papers():
    scenarios = dict(PAPERS["ogino2021"].scenarios([1]))
    assert len(scenarios) == 32 == len(RIVALS) * len(FLOWS) * len(BUFFERS_BDP)
    for scenario in scenarios.values():
        assert (str(scenario.rate), str(scenario.rtt), str(scenario.time)) == (
            "50mbit",
            "40ms",
            "120s",
        )
        copa, rival = scenario.groups
        assert copa.cc.name == "copa"
        assert copa.flows == rival.flows
        assert scenario.bdp_bytes == 250_000
    assert len(PAPERS["ogino2021"].scenarios([1, 2, 3])) == 96
    assert ogino2021.PAPER.name == "ogino2021"

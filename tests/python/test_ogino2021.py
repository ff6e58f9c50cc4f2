"""The rules of A1 to A7 on made-up measurements that satisfy them, and that violate each clause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import dumbbell
from dumbbell.statistics import mean_interval
from dumbbell_studies.papers import PAPERS
from dumbbell_studies.papers.finding import ClauseResult, Finding, Outcome
from dumbbell_studies.papers.inflight_counts import Counts
from dumbbell_studies.papers.ogino2021 import PAPER
from dumbbell_studies.papers.ogino2021.measurements import Kind, Measured, measure
from dumbbell_studies.papers.ogino2021.rules import check_findings
from dumbbell_studies.papers.ogino2021.runs import (
    BUFFERS_BDP,
    FLOWS,
    QUICK_BUFFERS_BDP,
    RIVALS,
    Point,
    scenario,
)
from dumbbell_studies.papers.results import Results

ARTEFACT = Counts(100, 20, 0.3, 0.01, mean_interval([30, 32, 28]))
World = dict[Point, list[Measured]]


def measured(copa: float, rival: float, rtt_ms: float, default: float) -> Measured:
    kinds = [Kind(mbps, rtt_ms, 10 * mbps) for mbps in (copa, rival)]
    return Measured(kinds[0], kinds[1], default, ARTEFACT)


def as_the_paper_says() -> World:
    """Made-up measurements that satisfy every rule."""
    world = {}
    for b in BUFFERS_BDP:
        rtt_ms, rank = 40 + 15 * b, BUFFERS_BDP.index(b)
        default = 0.6 if b < 1 else 0.4 - 0.05 * rank
        world["cubic", 1, b] = measured(25 - 2 * rank, 23 + 2 * rank, rtt_ms, default)
        copa = 10 - rank if b <= 2 else 5 - 0.5 * rank
        world["cubic", 4, b] = measured(copa, 12 - copa, rtt_ms, 0.1)
        if b <= 2:
            world["bbr", 1, b] = measured(10, 38, 60, 0.2)
        else:
            world["bbr", 1, b] = measured(22, 25, 120, 0.1 - 0.01 * rank)
        world["bbr", 4, b] = (
            measured(3, 9, rtt_ms, 0.5) if b < 16 else measured(9, 3, rtt_ms, 0.2 - 0.01 * rank)
        )
    at_32, at_64 = world["cubic", 1, 32.0], world["cubic", 1, 64.0]
    world["cubic", 1, 32.0] = replace(
        at_32, copa=kind(at_32.copa, mbps=8), rival=kind(at_32.rival, rtos=3)
    )
    world["cubic", 1, 64.0] = replace(at_64, rival=kind(at_64.rival, rwnd_limited=0.6))
    worst = world["cubic", 1, 1.0]
    world["cubic", 1, 1.0] = replace(worst, copa=kind(worst.copa, resent_pkts=900))
    return {Point(*key): [value] for key, value in world.items()}


def kind(of: Kind, **values) -> Kind:
    return replace(of, **values)


def check(world: World) -> dict[str, Finding]:
    return {finding.id: finding for finding in check_findings(Results(world))}


def test_shown_when_it_is_as_the_paper_says():
    findings = check(as_the_paper_says())
    assert list(findings) == ["A1", "A2", "A3", "A4", "A5", "A6", "A7"]
    assert {i: f.evidence for i, f in findings.items() if not f.shown} == {}


Change = Callable[[Measured], Measured]


def copa(**values) -> Change:
    return lambda run: replace(run, copa=kind(run.copa, **values))


def rival(**values) -> Change:
    return lambda run: replace(run, rival=kind(run.rival, **values))


def run(**values) -> Change:
    return lambda run: replace(run, **values)


def counts(**values) -> Change:
    return lambda run: replace(run, counts=replace(ARTEFACT, **values))


def swapped(run: Measured) -> Measured:
    return replace(run, copa=run.rival, rival=run.copa)


WITHIN_NOISE = mean_interval([30, -32, 20])


@pytest.mark.parametrize(
    ("finding", "clause", "pair", "buffers", "change"),
    [
        ("A1", 0, ("cubic", 1), [0.5], copa(mbps=22.9)),
        ("A1", 1, ("cubic", 1), [0.5], copa(outstanding_pkts=229)),
        ("A1", 2, ("cubic", 1), BUFFERS_BDP, copa(rtt_ms=100)),
        ("A1", 3, ("cubic", 1), [4.0], copa(rtt_ms=47)),
        ("A1", 4, ("cubic", 1), [64.0], run(default_share=0.61)),
        ("A2", 0, ("cubic", 1), [0.5, 1, 2, 4, 8], rival(mbps=60)),
        ("A2", 1, ("cubic", 1), [1, 2, 4, 8, 16, 32, 64], copa(rtt_ms=50)),
        ("A2", 2, ("cubic", 1), [64.0], swapped),
        ("A2", 3, ("cubic", 1), [64.0], rival(outstanding_pkts=1.0)),
        ("A2", 4, ("cubic", 1), [8.0], run(default_share=0.5)),
        ("A3", 0, ("cubic", 4), [2.0], swapped),
        ("A3", 1, ("cubic", 4), BUFFERS_BDP[3:], rival(mbps=1)),
        ("A3", 2, ("cubic", 4), [64.0], copa(mbps=99)),
        ("A4", 0, ("cubic", 1), [32.0], copa(mbps=13)),
        ("A4", 0, ("cubic", 1), [4.0], rival(mbps=10)),
        ("A4", 1, ("cubic", 1), [32.0], rival(rtos=0)),
        ("A4", 1, ("cubic", 1), [32.0], rival(rtos=float("nan"))),
        ("A4", 2, ("cubic", 1), [64.0], rival(rwnd_limited=0)),
        ("A4", 3, ("cubic", 1), [16.0], rival(rwnd_limited=0.1)),
        ("A5", 0, ("cubic", 1), [1.0], counts(difference_pkts=WITHIN_NOISE)),
        ("A5", 1, ("cubic", 1), [1.0], counts(excess_quiet=0.16)),
        ("A6", 0, ("bbr", 1), [1.0], copa(mbps=38)),
        ("A6", 1, ("bbr", 1), [2.0], copa(outstanding_pkts=380)),
        ("A6", 2, ("bbr", 1), [2.0], copa(rtt_ms=100)),
        ("A6", 3, ("bbr", 1), [8.0], copa(rtt_ms=99)),
        ("A6", 4, ("bbr", 1), [0.5, 1, 2], run(default_share=0.01)),
        ("A6", 5, ("bbr", 1), [32.0], copa(mbps=100)),
        ("A6", 5, ("bbr", 1), [2.0], copa(mbps=37)),
        ("A7", 0, ("bbr", 4), [0.5], copa(mbps=9)),
        ("A7", 1, ("bbr", 4), [2.0], copa(outstanding_pkts=90)),
        ("A7", 2, ("bbr", 4), [16.0], swapped),
        ("A7", 3, ("bbr", 4), [32.0], copa(mbps=3.1)),
        ("A7", 3, ("bbr", 1), [64.0], copa(mbps=100)),
        ("A7", 4, ("bbr", 4), BUFFERS_BDP, copa(rtt_ms=70)),
        ("A7", 5, ("bbr", 4), BUFFERS_BDP, run(default_share=0.5)),
    ],
)
def test_each_clause_can_be_violated(finding, clause, pair, buffers, change: Change):
    world = as_the_paper_says()
    for buffer in buffers:
        point = Point(pair[0], pair[1], float(buffer))
        world[point] = [change(run) for run in world[point]]
    found = check(world)[finding]
    assert found.outcome is Outcome.NOT_SHOWN
    failed = [i for i, each in enumerate(found.checks) if each.outcome is Outcome.NOT_SHOWN]
    assert clause in failed
    assert found.checks[clause].text in found.evidence


def test_only_the_buffer_with_most_losses_decides_a5():
    world = as_the_paper_says()
    point = Point("cubic", 1, 8.0)
    world[point] = [counts(excess_lossy=0.0)(run) for run in world[point]]
    assert check(world)["A5"].shown


def test_a_cubic_that_is_nowhere_ahead_is_not_a2():
    world = as_the_paper_says()
    for buffer in BUFFERS_BDP:
        point = Point("cubic", 1, buffer)
        world[point] = [rival(mbps=0.1 * buffer)(run) for run in world[point]]
    a2 = check(world)["A2"]
    assert a2.checks[4].outcome is Outcome.NOT_SHOWN
    assert a2.checks[4].text.endswith("saw at least unknown")


def test_a_finding_without_checks_is_not_shown():
    assert not Finding("X", "nothing", ()).shown
    assert Finding("X", "something", ((ClauseResult("so", "{:.0f}", (1,), holds=True),),)).shown


def seeds(held: int, of: int) -> World:
    """A1 in some seeds as the paper says, in the others with CUBIC ahead."""
    world = {point: values * of for point, values in as_the_paper_says().items()}
    point = Point("cubic", 1, 0.5)
    good = world[point][0]
    world[point] = [good] * held + [swapped(good)] * (of - held)
    return world


@pytest.mark.parametrize(
    ("held", "of", "outcome", "count"),
    [
        (10, 10, Outcome.SHOWN, "10 of 10"),
        (9, 10, Outcome.SHOWN, "9 of 10"),
        (8, 10, Outcome.BY_CHANCE, "8 of 10"),
        (2, 10, Outcome.BY_CHANCE, "2 of 10"),
        (1, 10, Outcome.NOT_SHOWN, "1 of 10"),
        (0, 10, Outcome.NOT_SHOWN, "0 of 10"),
        (1, 1, Outcome.SHOWN, ""),
    ],
)
def test_seeds_decide_by_how_many_show_it(held, of, outcome, count):
    findings = check(seeds(held, of))
    assert (findings["A1"].outcome, findings["A1"].count) == (outcome, count)
    assert findings["A3"].shown, "the other findings do not depend on that run"
    document = findings["A1"].to_dict()
    assert (document["outcome"], document["shown_in"], document["of"]) == (outcome, held, of)


def test_a_check_says_what_was_expected_and_what_was_seen():
    found = check(seeds(8, 10))["A1"].checks[0]
    assert found.text == (
        "expected at 0.5 BDP Copa's throughput above CUBIC's; saw 24.6 and 23.4 Mbit/s (8 of 10)"
    )


def quick(world: World) -> World:
    """Keep the points of the quick grid."""
    return {
        point: values
        for point, values in world.items()
        if point.buffer_bdp in QUICK_BUFFERS_BDP[point.rival, point.n]
    }


def test_a_thinned_grid_cannot_confirm_a_finding():
    outcomes = {name: found.outcome for name, found in check(quick(as_the_paper_says())).items()}
    assert outcomes == dict.fromkeys(outcomes, Outcome.NOT_DECIDED)


def test_a_thinned_grid_can_refute_a_finding():
    findings = check(quick(seeds(0, 1)))
    assert findings["A1"].outcome is Outcome.NOT_SHOWN
    assert findings["A3"].outcome is Outcome.NOT_DECIDED


def test_runs_are_the_papers():
    scenarios = dict(PAPERS["ogino2021"].scenarios([1]))
    assert len(scenarios) == 32 == len(RIVALS) * len(FLOWS) * len(BUFFERS_BDP)
    for each in scenarios.values():
        assert (str(each.rate), str(each.rtt), str(each.time)) == ("50mbit", "40ms", "120s")
        copa, rival = each.groups
        assert copa.cc.name == "copa"
        assert copa.flows == rival.flows
        assert each.bdp_bytes == 250_000
    assert len(PAPERS["ogino2021"].scenarios([1, 2, 3])) == 96
    assert PAPER.name == "ogino2021"


def test_measures_a_run():
    point = Point("cubic", 4, 1.0)
    run = dumbbell.run(scenario(point, 1).replace(time="4s"))
    measured = measure(point, run)
    flows = run.summary["flows"]
    assert measured.counts is None, "the paper counts packets with one flow of each"
    assert 4 * measured.total_mbps == pytest.approx(sum(f["goodput_bps"] for f in flows) / 1e6)
    assert 4 * measured.rival.outstanding_pkts == pytest.approx(
        sum(f["outstanding_mean_pkts"] for f in flows[4:])
    )
    assert measured.copa.resent_pkts == sum(f["retransmitted_pkts"] for f in flows[:4])
    assert 0 <= measured.default_share < 1, "ccp_copa starts in competitive mode"
    alone = Point("cubic", 1, 0.5)
    assert measure(alone, dumbbell.run(scenario(alone, 1).replace(time="4s"))).counts is not None

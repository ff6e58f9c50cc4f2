"""The rules of B1 to B3."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dumbbell_studies.papers.clauses import at_every
from dumbbell_studies.papers.finding import ClauseResult, Finding, Variation, evaluate
from dumbbell_studies.papers.results import Results
from dumbbell_studies.papers.saito2022.measurements import Means, Measured
from dumbbell_studies.papers.saito2022.runs import BY_APPARATUS, FLOWS, Point
from dumbbell_studies.papers.saito2022.spreads import DECIDING, spreads_of, when

__all__ = ["MANY", "ROUNDS_TO_1_GBPS", "Rule", "b1", "b2", "b3", "check_findings"]

#: "Close to 1 Gbit/s", the paper's one digit: what crosses the bottleneck rounds to 1 Gbit/s and
#: not to 0.9.
ROUNDS_TO_1_GBPS = 950.0
#: No mean RTT is shorter.
BASE_RTT_MS = 40.0
#: "Has increased" (B2): the rule that goes with the reading.
INCREASED = 1.5
MANY = FLOWS[2:]

#: One repetition: a seed's run by the number of flows. B2 and B3 take those there are; without that
#: of 16 flows they can only be refuted.
Repetition = Mapping[int, Measured]
Rule = Callable[[Repetition], list[ClauseResult]]


def check_findings(results: Results[Point, Measured]) -> list[Finding]:
    """Check B1 to B3."""
    by_spread = {spread: repetitions(results, spread) for spread in spreads_of(results)}
    findings = []
    for name, statement, rule in RULES:
        checked = {s: [tuple(rule(each)) for each in seeds] for s, seeds in by_spread.items()}
        findings.append(
            Finding(
                name,
                statement,
                tuple(checks for s in DECIDING for checks in checked.get(s, [])),
                variations=tuple(
                    Variation(f"all flows start {when(s)}", tuple(evaluate(c) for c in seeds))
                    for s, seeds in checked.items()
                    if s != BY_APPARATUS
                ),
            )
        )
    return findings


def repetitions(results: Results[Point, Measured], spread: str) -> list[Repetition]:
    """Return what was measured with one spread of start times, by seed."""
    seeds = results.repetitions([Point(n, spread) for n in FLOWS])
    return [{point.flows: run for point, run in seed.items()} for seed in seeds]


def b1(seen: Repetition) -> list[ClauseResult]:
    """The total throughput."""
    totals = [seen[n].link_mbps for n in FLOWS]
    return [
        at_every(
            "a total throughput (headers included) that rounds to 1 Gbit/s: "
            f"{ROUNDS_TO_1_GBPS:g} Mbit/s or more",
            FLOWS,
            [(total,) for total in totals],
            "{:.0f} Mbit/s",
            [total >= ROUNDS_TO_1_GBPS for total in totals],
            unit="flows",
        )
    ]


def b2(seen: Repetition) -> list[ClauseResult]:
    """The RTT of flow 1."""
    # Without the run of 16 flows: its mean RTT is at least the path's.
    few_ms = seen[FLOWS[0]].rtt_mean_ms if FLOWS[0] in seen else BASE_RTT_MS
    bound = f"{INCREASED:g} × that with {FLOWS[0]} flows"
    checks = [
        ClauseResult(
            f"with {n} flows a mean RTT of flow 1 above {bound}",
            "{:.0f} ms, and {:.0f} ms",
            (seen[n].rtt_mean_ms, few_ms),
            seen[n].rtt_mean_ms > INCREASED * few_ms,
        )
        for n in MANY
        if n in seen
    ]
    if 32 in seen:
        checks.append(
            ClauseResult(
                f"with 32 flows a mean RTT of flow 1 not above {bound}",
                "{:.0f} ms, and {:.0f} ms",
                (seen[32].rtt_mean_ms, few_ms),
                seen[32].rtt_mean_ms <= INCREASED * few_ms,
            )
        )
    return checks


def b3(seen: Repetition) -> list[ClauseResult]:
    """The mode of flow 1, and its inflight and RTT meanwhile."""
    checks = []
    for n in (n for n in MANY if n in seen):
        run, few = seen[n], seen.get(FLOWS[0])
        default = run.default if run.default is not None or few is None else few.whole
        default = default or Means(BASE_RTT_MS, 0.0)
        competitive = run.competitive if run.competitive is not None else run.default
        if competitive is None:
            raise ValueError(f"flow 1 of {n} has no samples")
        checks += [
            ClauseResult(
                f"with {n} flows flow 1 in competitive mode for more than half of the second half",
                "{:.0%}",
                (run.competitive_late,),
                run.competitive_late > 0.5,
            ),
            ClauseResult(
                f"with {n} flows a larger mean RTT of flow 1 in competitive than in default mode "
                f"(than with {FLOWS[0]} flows, if it is never in default mode)",
                "{:.0f} ms, and {:.0f} ms",
                (competitive.rtt_ms, default.rtt_ms),
                competitive.rtt_ms > default.rtt_ms,
            ),
            ClauseResult(
                f"with {n} flows a larger mean inflight of flow 1 in competitive than in default "
                f"mode (than with {FLOWS[0]} flows, if it is never in default mode)",
                "{:.0f} and {:.0f} packets",
                (competitive.inflight_pkts, default.inflight_pkts),
                competitive.inflight_pkts > default.inflight_pkts,
            ),
        ]
    return checks


#: Id, what the paper says, and the rule.
RULES: tuple[tuple[str, str, Rule], ...] = (
    ("B1", "The total throughput is close to 1 Gbit/s whatever the number of flows.", b1),
    ("B2", "Flow 1's mean RTT has increased at 64 and 128 flows.", b2),
    (
        "B3",
        "At 64 and 128 flows flow 1 runs in competitive mode; while it does, inflight and RTT "
        "increase; and it goes on.",
        b3,
    ),
)

"""The paper's findings, each as a rule on one repetition of its experiment.

The rules follow the words of the paper (in Japanese), clause by clause, with no number of our own.
The paper does not say when its flows start: eight hosts' iPerf processes started by one script take
an estimated 0.1 to 0.4 s. A repetition is one seed at every flow count, at either end of that
estimate; both decide. What the rule shows with other start times is reported and does not decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dumbbell.papers.finding import Check, Finding, Variation, evaluate
from dumbbell.papers.saito2022.measurements import Measured, Measurements
from dumbbell.papers.saito2022.points import ESTIMATED_SPREADS, FLOWS, SPREADS, Point
from dumbbell.papers.trend import at_every

__all__ = ["check_findings"]

#: "Close to 1 Gbit/s", the paper's one digit: what crosses the bottleneck rounds to 1 Gbit/s and
#: not to 0.9.
ROUNDS_TO_1_GBPS = 950.0
#: "Has increased" (B2): the rule that goes with the reading.
INCREASED = 1.5
MANY = FLOWS[2:]

#: One repetition: a seed's run by the number of flows.
Repetition = Mapping[int, Measured]
Rule = Callable[[Repetition], list[Check]]


def check_findings(m: Measurements) -> list[Finding]:
    """Check B1 to B3."""
    spreads = [spread for spread in SPREADS if Point(FLOWS[0], spread) in m.measured]
    by_spread = {spread: repetitions(m, spread) for spread in spreads}
    findings = []
    for name, statement, rule in RULES:
        checked = {s: [tuple(rule(each)) for each in seeds] for s, seeds in by_spread.items()}
        findings.append(
            Finding(
                name,
                statement,
                tuple(checks for s in ESTIMATED_SPREADS for checks in checked.get(s, [])),
                variations=tuple(
                    Variation(f"all flows start within {s}", tuple(evaluate(c) for c in seeds))
                    for s, seeds in checked.items()
                ),
            )
        )
    return findings


def repetitions(m: Measurements, spread: str) -> list[Repetition]:
    """Return the measurements with one spread of start times, by seed."""
    seeds = [m.measured[Point(n, spread)] for n in FLOWS]
    return [dict(zip(FLOWS, runs, strict=True)) for runs in zip(*seeds, strict=True)]


def b1(seen: Repetition) -> list[Check]:
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


def b2(seen: Repetition) -> list[Check]:
    """The RTT of flow 1."""
    few_ms = seen[FLOWS[0]].rtt_mean_ms
    bound = f"{INCREASED:g} × that with {FLOWS[0]} flows"
    checks = [
        Check(
            f"with {n} flows a mean RTT of flow 1 above {bound}",
            "{:.0f} ms, and {:.0f} ms",
            (seen[n].rtt_mean_ms, few_ms),
            seen[n].rtt_mean_ms > INCREASED * few_ms,
        )
        for n in MANY
    ]
    checks.append(
        Check(
            f"with 32 flows a mean RTT of flow 1 not above {bound}",
            "{:.0f} ms, and {:.0f} ms",
            (seen[32].rtt_mean_ms, few_ms),
            seen[32].rtt_mean_ms <= INCREASED * few_ms,
        )
    )
    return checks


def b3(seen: Repetition) -> list[Check]:
    """The mode of flow 1, and its inflight and RTT meanwhile."""
    checks = []
    for n in MANY:
        run, few = seen[n], seen[FLOWS[0]]
        default = run.default if run.default is not None else few.whole
        competitive = run.competitive if run.competitive is not None else run.default
        if competitive is None:
            raise ValueError(f"flow 1 of {n} has no samples")
        checks += [
            Check(
                f"with {n} flows flow 1 in competitive mode for more than half of the second half",
                "{:.0%}",
                (run.competitive_late,),
                run.competitive_late > 0.5,
            ),
            Check(
                f"with {n} flows a larger mean RTT of flow 1 in competitive than in default mode "
                f"(than with {FLOWS[0]} flows, if it is never in default mode)",
                "{:.0f} ms, and {:.0f} ms",
                (competitive.rtt_ms, default.rtt_ms),
                competitive.rtt_ms > default.rtt_ms,
            ),
            Check(
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

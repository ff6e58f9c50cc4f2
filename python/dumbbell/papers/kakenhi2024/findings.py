"""The report's findings, each as rules on our measurements.

Written from the report's words before any of our results was looked at. The report's text has no
numbers but C1's; where a rule needs one, the comment at the constant says where it is from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dumbbell.models.cubic_interval import rate_pkts_per_s
from dumbbell.papers.kakenhi2024.measurements import Measurements
from dumbbell.papers.kakenhi2024.points import DEEP_BDP, RIVALS, SPREADS, Alone, Mixed
from dumbbell.papers.paper import Check, Finding
from dumbbell.statistics import spearman

__all__ = ["check_findings"]

#: C1: "several hundred ms".
SEVERAL_HUNDRED_MS = 200.0
#: "Many flows share the bottleneck".
MANY_FLOWS = 16
#: C2: "lower buffering delay than BBR", "low drop rate", "near 100 % utilisation", "better
#: fairness". The report's figures are not in its text; dumbbell asks for a quarter of BBR's delay
#: in 10 BDP, a tenth of its drops in 1 BDP, 97 % and Jain's index 0.95, and that a lone flow fills
#: the link within 2 s of BBR.
DELAY_OF_BBRS = 0.25
DROPS_OF_BBRS = 0.1
UTILIZATION = 0.97
JAIN = 0.95
FILLED_LATER_S = 2.0
#: C3: the model goes with the cube of the interval, so an interval that is 6 % off is worth a fifth
#: of the throughput: the median flow's throughput is within a fifth of the model's.
MODEL_ERROR = 0.2
#: C3: and over all flows the two grow together.
MODEL_CORRELATION = 0.9


def check_findings(m: Measurements) -> list[Finding]:
    """Check C1 to C4."""
    return [c1(m), c2(m), c3(m), c4(m)]


def c1(m: Measurements) -> Finding:
    """Many BBR flows' buffering delay."""
    counts = m.flow_counts()
    delays = [
        m.alone_mean(Alone("bbr", n, DEEP_BDP), lambda run: run.queue_delay_ms) for n in counts
    ]
    return Finding(
        "C1",
        "128 BBR flows sharing 100 Mbit/s reach several hundred ms of buffering delay, because the "
        "bottleneck bandwidth is over-estimated when many flows share it.",
        (
            Check(
                f"{counts[-1]} flows in {DEEP_BDP:g} BDP: mean queueing {delays[-1]:.0f} ms ≥ "
                f"{SEVERAL_HUNDRED_MS:.0f} ms",
                delays[-1] >= SEVERAL_HUNDRED_MS,
            ),
            Check(
                f"{delays[0]:.0f} ms with {counts[0]} flow, and more with more flows",
                spearman(counts, delays) >= MODEL_CORRELATION,
            ),
        ),
        note=f"{counts[-1]} flows that start within "
        + "; within ".join(spread_delays(m, counts[-1])),
    )


def spread_delays(m: Measurements, flows: int) -> list[str]:
    """Return the queueing delay with other start times."""
    points = [Alone("bbr", flows, DEEP_BDP, spread) for spread in SPREADS[1:]]
    return [
        f"{point.spread}: {m.alone_mean(point, lambda run: run.queue_delay_ms):.0f} ms"
        for point in points
    ]


def c2(m: Measurements) -> Finding:
    """L3DR."""
    counts = m.flow_counts()
    many = [n for n in counts if n >= MANY_FLOWS]
    checks = [delay_check(m, n) for n in many] + [drop_check(m, n) for n in counts]
    for buffer in (1.0, 10.0):
        least, at = min(
            (m.alone_mean(Alone("l3dr", n, buffer), lambda run: run.utilization), n) for n in counts
        )
        checks.append(
            Check(
                f"{buffer:g} BDP: utilisation at least {least:.1%} ({flows(at)}) ≥ "
                f"{UTILIZATION:.0%}",
                least >= UTILIZATION,
            )
        )
        unfair, at = min(
            (m.alone_mean(Alone("l3dr", n, buffer), lambda run: run.jain), n) for n in counts
        )
        checks.append(
            Check(
                f"{buffer:g} BDP: Jain's index over the last 60 s at least {unfair:.3f} "
                f"({flows(at)}) ≥ {JAIN}",
                unfair >= JAIN,
            )
        )
    filled, bbr = (
        m.alone_mean(Alone(cc, 1, 10.0), lambda run: run.filled_s) for cc in ("l3dr", "bbr")
    )
    checks.append(
        Check(
            f"a lone flow fills the link after {seconds(filled)}, BBR's after {seconds(bbr)}",
            filled <= bbr + FILLED_LATER_S,
        )
    )
    return Finding(
        "C2",
        "L3DR keeps buffering delay and drop rate low when many flows share the bottleneck: lower "
        "buffering delay than BBR, near 100 % utilisation, better fairness between flows.",
        tuple(checks),
        note="L3DR is a reconstruction (docs/l3dr.md).",
    )


def delay_check(m: Measurements, n: int) -> Check:
    """Check L3DR's queueing delay in 10 BDP against BBR's."""
    ours, bbr = (
        m.alone_mean(Alone(cc, n, 10.0), lambda run: run.queue_delay_ms) for cc in ("l3dr", "bbr")
    )
    return Check(
        f"10 BDP, {flows(n)}: queueing {ours:.1f} ms < {DELAY_OF_BBRS:g} × BBR's {bbr:.1f} ms",
        ours < DELAY_OF_BBRS * bbr,
    )


def drop_check(m: Measurements, n: int) -> Check:
    """Check L3DR's drop rate in 1 BDP against BBR's."""
    ours, bbr = (
        m.alone_mean(Alone(cc, n, 1.0), lambda run: run.drop_pct) for cc in ("l3dr", "bbr")
    )
    return Check(
        f"1 BDP, {flows(n)}: {ours:.3f} % dropped ≤ {DROPS_OF_BBRS:g} × BBR's {bbr:.3f} %",
        ours <= DROPS_OF_BBRS * bbr,
    )


def flows(n: int) -> str:
    """Return a number of flows in words."""
    return "1 flow" if n == 1 else f"{n} flows"


def seconds(value: float) -> str:
    """Return a time; NaN is never."""
    return "no time at all" if math.isnan(value) else f"{value:.1f} s"


def c3(m: Measurements) -> Finding:
    """The CUBIC model."""
    found = [flow for point in m.intervals.values() for flow in point]
    model = np.array([rate_pkts_per_s(flow.interval_s, flow.rtt_s) for flow in found])
    seen = np.array([flow.rate_pkts_per_s for flow in found])
    errors = np.abs(model / seen - 1) if found else np.array([math.inf])
    median = float(np.median(errors))
    correlation = spearman(model.tolist(), seen.tolist()) if found else 0.0
    return Finding(
        "C3",
        "A CUBIC flow's throughput follows from the interval between its packet-loss detections.",
        (
            Check(
                f"{len(found)} flows: throughput off by {median:.0%} in the median ≤ "
                f"{MODEL_ERROR:.0%}",
                median <= MODEL_ERROR,
            ),
            Check(
                f"model and simulation grow together: rank correlation {correlation:.2f} ≥ "
                f"{MODEL_CORRELATION}",
                correlation >= MODEL_CORRELATION,
            ),
        ),
        note="The model is a reconstruction (docs/models.md).",
    )


def c4(m: Measurements) -> Finding:
    """BBR-FCA against CUBIC."""
    unfair = {cc: unfairness([m.of_fair(point) for point in points(m, cc)]) for cc in RIVALS}
    ours = unfair["bbr_fca"]
    return Finding(
        "C4",
        "BBR-FCA is fairer to CUBIC than BBR and its other variants.",
        tuple(
            Check(
                f"a BBR-FCA flow's share is off a fair one by a factor {ours:.2f}, less "
                f"than the {other:.2f} of {cc}",
                ours < other,
            )
            for cc, other in unfair.items()
            if cc != "bbr_fca"
        ),
        note="BBR-FCA is a reconstruction (docs/bbr-fca.md).",
    )


def points(m: Measurements, cc: str) -> list[Mixed]:
    """Return the points of a rival of CUBIC."""
    return [point for point in m.mixed if point.cc == cc]


def unfairness(of_fair: Sequence[float]) -> float:
    """Return the geometric mean of how far shares are off a fair one, either way: 1 is fair.

    A flow that got next to nothing counts as a hundredth.
    """
    factors = np.abs(np.log(np.maximum(np.asarray(of_fair), 0.01)))
    return float(np.exp(np.mean(factors)))

"""The report's findings, each as a rule on one repetition of its experiments.

The rules follow the words of the report (in Japanese), clause by clause. The numbers go with the
words: several hundred ms is 200 ms or more (C1), use near 100 % is 97 % or more, many flows are 16
or more (C2), and a model orders flows when the rank correlation is 0.9 or more (C3). A repetition
is one seed of every run that a finding is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dumbbell.models.cubic_interval import rate_pkts_per_s
from dumbbell.papers.finding import Check, Finding, Variation, evaluate
from dumbbell.papers.kakenhi2024.devices import DEVICES
from dumbbell.papers.kakenhi2024.measurements import (
    AloneMeasured,
    IntervalMeasured,
    Measurements,
)
from dumbbell.papers.kakenhi2024.points import (
    BBR_FCA_RIVALS,
    BUFFERS_BDP,
    C1_FLOWS,
    C1_SPREADS,
    C1_VERSIONS,
    C2_BUFFERS_BDP,
    DEEP_BDP,
    ESTIMATED_SPREADS,
    FLOW_COUNTS,
    INTERVAL_RUNS,
    MIXES,
    Alone,
)
from dumbbell.papers.trend import at_every
from dumbbell.statistics import spearman

__all__ = ["check_c1", "check_findings", "unfairness"]

#: C1: "several hundred ms".
SEVERAL_HUNDRED_MS = 200.0
#: C2: "many flows share the bottleneck".
MANY_FLOWS = 16
#: C2: use "near 100 %".
UTILIZATION = 0.97
#: C3: the model orders flows by throughput.
CORRELATION = 0.9
#: C5: "hundreds of ms" and "tens of seconds".
HUNDREDS_OF_MS, TENS_OF_S_MS = (100.0, 1000.0), 10_000.0


def check_findings(m: Measurements) -> list[Finding]:
    """Check C1 to C5."""
    return [c1(m), c2(m), c3(m), c4(m), c5()]


def c1(m: Measurements) -> Finding:
    """Many BBR flows' buffering delay.

    The report does not say when its flows start. As for saito2022, both ends of 0.1 to 0.4 s
    decide; other start times, and BBR as Linux 4.15 had it, are reported.
    """
    checked = {
        (version, spread): [check_c1(run.queue_delay_p95_ms) for run in m.alone[point]]
        for version, cc in C1_VERSIONS.items()
        for spread in C1_SPREADS
        if (point := Alone(cc, C1_FLOWS, DEEP_BDP, spread)) in m.alone
    }
    first = next(iter(C1_VERSIONS))
    return Finding(
        "C1",
        "128 BBR flows sharing 100 Mbit/s reach several hundred ms of buffering delay, because the "
        "bottleneck bandwidth is over-estimated when many flows share it.",
        tuple((check,) for s in ESTIMATED_SPREADS for check in checked.get((first, s), [])),
        variations=tuple(
            Variation(
                f"{version}, all flows start within {spread}",
                tuple(evaluate([check]) for check in checks),
                f"95th percentile {np.mean([check.values[0] for check in checks]):.0f} ms",
            )
            for (version, spread), checks in checked.items()
        ),
    )


def check_c1(delay_p95_ms: float) -> Check:
    """Check the buffering delay that many BBR flows reach."""
    return Check(
        f"{C1_FLOWS} flows in {DEEP_BDP:g} BDP: 95th percentile of the queueing delay "
        f"{SEVERAL_HUNDRED_MS:g} ms or more",
        "{:.0f} ms",
        (delay_p95_ms,),
        delay_p95_ms >= SEVERAL_HUNDRED_MS,
    )


def c2(m: Measurements) -> Finding:
    """L3DR."""
    points = [
        Alone(cc, n, b) for cc in ("l3dr", "bbr") for n in FLOW_COUNTS for b in C2_BUFFERS_BDP
    ]
    runs = {point: m.alone[point] for point in points if point in m.alone}
    seeds = min(len(found) for found in runs.values())
    return Finding(
        "C2",
        "L3DR keeps buffering delay and drop rate low when many flows share the bottleneck: "
        "smaller buffering delay than BBR, use near 100 %, excellent fairness.",
        tuple(c2_checks({point: found[i] for point, found in runs.items()}) for i in range(seeds)),
        note="L3DR is a reconstruction (docs/l3dr.md).",
    )


def c2_checks(seen: Mapping[Alone, AloneMeasured]) -> tuple[Check, ...]:
    """Check one repetition of C2, in both buffers."""
    wanted = [n for n in FLOW_COUNTS if n >= MANY_FLOWS]
    checks = []
    for buffer in C2_BUFFERS_BDP:
        counts = [n for n in wanted if Alone("l3dr", n, buffer) in seen]
        pairs = [(seen[Alone("l3dr", n, buffer)], seen[Alone("bbr", n, buffer)]) for n in counts]

        def clause(
            expected: str,
            form: str,
            of: Callable[[AloneMeasured], float],
            holds: Callable[[float, float], bool],
            pairs: Sequence[tuple[AloneMeasured, AloneMeasured]] = pairs,
            counts: Sequence[int] = counts,
            buffer: float = buffer,
        ) -> Check:
            values = [(of(ours), of(bbr)) for ours, bbr in pairs]
            return at_every(
                f"{buffer:g} BDP, {MANY_FLOWS} flows and more: {expected}",
                counts,
                values,
                form,
                [holds(ours, bbr) for ours, bbr in values],
                complete=counts == wanted,
                unit="flows",
            )

        checks += [
            clause("L3DR's mean queueing delay below BBR's", "{:.1f} and {:.1f} ms",
                   lambda run: run.queue_delay_ms, lambda ours, bbr: ours < bbr),
            # A drop rate of 0 cannot be undercut.
            clause("L3DR's drop rate below BBR's, or 0 like it", "{:.3f} and {:.3f} %",
                   lambda run: run.drop_pct, lambda ours, bbr: ours < bbr or ours == bbr == 0),
            clause(f"utilisation with L3DR {UTILIZATION:.0%} or more", "{:.1%} (BBR {:.1%})",
                   lambda run: run.utilization, lambda ours, _: ours >= UTILIZATION),
            clause("Jain's index (last 60 s) with L3DR at or above BBR's", "{:.3f} and {:.3f}",
                   lambda run: run.jain, lambda ours, bbr: ours >= bbr),
        ]  # fmt: skip
    return tuple(checks)


def c3(m: Measurements) -> Finding:
    """The CUBIC model."""
    complete = len(m.intervals) == INTERVAL_RUNS
    seeds = min((len(runs) for runs in m.intervals.values()), default=0)
    return Finding(
        "C3",
        "A CUBIC flow's throughput follows from the interval between its packet-loss detections.",
        tuple(
            c3_checks(
                [flow for runs in m.intervals.values() for flow in runs[i]], complete=complete
            )
            for i in range(seeds)
        ),
        note="The model is a reconstruction (docs/models.md); the report claims no accuracy.",
    )


def c3_checks(flows: Sequence[IntervalMeasured], *, complete: bool = True) -> tuple[Check, ...]:
    """Check one repetition of C3."""
    model = np.array([rate_pkts_per_s(flow.interval_s, flow.rtt_s) for flow in flows])
    seen = np.array([flow.rate_pkts_per_s for flow in flows])
    correlation = spearman(model.tolist(), seen.tolist()) if flows else 0.0
    error = float(np.median(np.abs(model / seen - 1))) if flows else float("nan")
    return (
        Check(
            f"the model orders flows by their throughput: rank correlation {CORRELATION:g} or more",
            "{:.2f} over {:.0f} flows, the throughput {:.0%} off in the median",
            (correlation, len(flows), error),
            correlation >= CORRELATION if complete else None,
        ),
    )


def c4(m: Measurements) -> Finding:
    """BBR-FCA against CUBIC."""
    complete = all(
        sum(point.cc == cc for point in m.mixed) == len(MIXES) * len(BUFFERS_BDP)
        for cc in ("bbr_fca", *BBR_FCA_RIVALS)
    )
    seeds = min((len(runs) for runs in m.mixed.values()), default=0)
    repetitions = [
        {
            cc: unfairness([runs[i].of_fair for point, runs in m.mixed.items() if point.cc == cc])
            for cc in ("bbr_fca", *BBR_FCA_RIVALS)
        }
        for i in range(seeds)
    ]
    return Finding(
        "C4",
        "BBR-FCA is fairer to CUBIC than BBR and existing variants of it.",
        tuple(c4_checks(each, complete=complete) for each in repetitions),
        note="BBR-FCA is a reconstruction (docs/bbr-fca.md).",
    )


def c4_checks(unfair: Mapping[str, float], *, complete: bool = True) -> tuple[Check, ...]:
    """Check one repetition of C4, by the factor that each is off a fair share."""
    return tuple(
        Check(
            f"a BBR-FCA flow's share nearer to a fair one than that of a flow of {cc}",
            "off by a factor of {:.2f}, and of {:.2f}",
            (unfair["bbr_fca"], other),
            unfair["bbr_fca"] < other if complete else None,
        )
        for cc, other in unfair.items()
        if cc != "bbr_fca"
    )


def c5() -> Finding:
    """The longest that real devices can delay a packet."""
    delays_ms = sorted(device.delay_ms for device in DEVICES)
    low, high = HUNDREDS_OF_MS
    hundreds = [delay for delay in delays_ms if low <= delay < high]
    return Finding(
        "C5",
        "The maximum buffering delay of real routers and switches runs from hundreds of ms to "
        "tens of seconds.",
        (
            (
                Check(
                    "a device whose buffer can delay a packet for hundreds of ms",
                    "{:.0f}, of {:.0f} devices",
                    (len(hundreds), len(delays_ms)),
                    bool(hundreds),
                ),
                Check(
                    "a device whose buffer can delay a packet for 10 s or more",
                    "at most {:.1f} s",
                    (delays_ms[-1] / 1e3,),
                    delays_ms[-1] >= TENS_OF_S_MS,
                ),
            ),
        ),
        note="Not measured: from the buffers that the table of figure 1 lists. The report's own "
        "devices are not in its text.",
    )


def unfairness(of_fair: Sequence[float]) -> float:
    """Return the geometric mean of how far shares are off a fair one, either way: 1 is fair."""
    shares = np.asarray(of_fair, dtype=np.float64)
    if np.any(shares <= 0):
        return float("inf")
    return float(np.exp(np.mean(np.abs(np.log(shares)))))

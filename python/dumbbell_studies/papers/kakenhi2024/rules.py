"""The rules of C1 to C5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dumbbell.statistics import spearman
from dumbbell_studies.papers.clauses import at_every
from dumbbell_studies.papers.finding import ClauseResult, Finding, Variation, evaluate
from dumbbell_studies.papers.kakenhi2024.by_kind import alone_of, intervals_of, mixed_of
from dumbbell_studies.papers.kakenhi2024.devices import DEVICES
from dumbbell_studies.papers.kakenhi2024.measurements import (
    AloneMeasured,
    IntervalMeasured,
    Measured,
)
from dumbbell_studies.papers.kakenhi2024.runs import (
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
    Mixed,
    Point,
)
from dumbbell_studies.papers.results import Results

__all__ = ["MANY_FLOWS", "c4_checks", "check_c1", "check_findings", "unfairness"]

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


def check_findings(results: Results[Point, Measured]) -> list[Finding]:
    """Check C1 to C5."""
    return [c1(results), c2(results), c3(results), c4(results), c5()]


def c1(results: Results[Point, Measured]) -> Finding:
    """Many BBR flows' buffering delay.

    The report does not say when its flows start. As for saito2022, both ends of 0.1 to 0.4 s
    decide; other start times, and BBR as Linux 4.15 had it, are reported.
    """
    alone = alone_of(results)
    checked = {
        (version, spread): [check_c1(run.queue_delay_p95_ms) for run in alone.measured[point]]
        for version, cc in C1_VERSIONS.items()
        for spread in C1_SPREADS
        if (point := Alone(cc, C1_FLOWS, DEEP_BDP, spread)) in alone
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


def check_c1(delay_p95_ms: float) -> ClauseResult:
    """Check the buffering delay that many BBR flows reach."""
    return ClauseResult(
        f"{C1_FLOWS} flows in {DEEP_BDP:g} BDP: 95th percentile of the queueing delay "
        f"{SEVERAL_HUNDRED_MS:g} ms or more",
        "{:.0f} ms",
        (delay_p95_ms,),
        delay_p95_ms >= SEVERAL_HUNDRED_MS,
    )


def c2(results: Results[Point, Measured]) -> Finding:
    """The rule for C2, on L3DR."""
    points = [
        Alone(cc, n, buffer)
        for cc in ("l3dr", "bbr")
        for n in FLOW_COUNTS
        for buffer in C2_BUFFERS_BDP
        if n >= MANY_FLOWS
    ]
    repetitions = alone_of(results).repetitions(points)
    return Finding(
        "C2",
        "L3DR keeps buffering delay and drop rate low when many flows share the bottleneck: "
        "smaller buffering delay than BBR, use near 100 %, excellent fairness.",
        tuple(c2_checks(each) for each in repetitions),
        note="L3DR is a reconstruction (docs/notes/l3dr.md).",
    )


def c2_checks(seen: Mapping[Alone, AloneMeasured]) -> tuple[ClauseResult, ...]:
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
        ) -> ClauseResult:
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


def c3(results: Results[Point, Measured]) -> Finding:
    """The CUBIC model."""
    intervals = intervals_of(results)
    complete = len(intervals.measured) == INTERVAL_RUNS
    return Finding(
        "C3",
        "A CUBIC flow's throughput follows from the interval between its packet-loss detections.",
        tuple(
            c3_checks([flow for run in each.values() for flow in run], complete=complete)
            for each in intervals.repetitions()
        ),
        note="The model is a reconstruction (docs/models.md); the report claims no accuracy.",
    )


def c3_checks(
    flows: Sequence[IntervalMeasured], *, complete: bool = True
) -> tuple[ClauseResult, ...]:
    """Check one repetition of C3."""
    model = np.array([flow.predict_pkts_per_s() for flow in flows])
    seen = np.array([flow.rate_pkts_per_s for flow in flows])
    correlation = spearman(model.tolist(), seen.tolist()) if flows else 0.0
    error = float(np.median(np.abs(model / seen - 1))) if flows else float("nan")
    return (
        ClauseResult(
            f"the model orders flows by their throughput: rank correlation {CORRELATION:g} or more",
            "{:.2f} over {:.0f} flows, the throughput {:.0%} off in the median",
            (correlation, len(flows), error),
            correlation >= CORRELATION if complete else None,
        ),
    )


def c4(results: Results[Point, Measured]) -> Finding:
    """BBR-FCA against CUBIC."""
    mixed = mixed_of(results)
    rivals = ("bbr_fca", *BBR_FCA_RIVALS)
    complete = all(
        Mixed(cc, mix, b) in mixed for cc in rivals for mix in MIXES for b in BUFFERS_BDP
    )
    repetitions = [
        {
            cc: unfairness([share for point, share in each.items() if point.cc == cc])
            for cc in rivals
        }
        for each in mixed.repetitions()
    ]
    return Finding(
        "C4",
        "BBR-FCA is fairer to CUBIC than BBR and existing variants of it.",
        tuple(c4_checks(each, complete=complete) for each in repetitions),
        note="BBR-FCA is a reconstruction (docs/notes/bbr-fca.md).",
    )


def c4_checks(unfair: Mapping[str, float], *, complete: bool = True) -> tuple[ClauseResult, ...]:
    """Check one repetition of C4, by the factor that each is off a fair share."""
    return tuple(
        ClauseResult(
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
                ClauseResult(
                    "a device whose buffer can delay a packet for hundreds of ms",
                    "{:.0f}, of {:.0f} devices",
                    (len(hundreds), len(delays_ms)),
                    bool(hundreds),
                ),
                ClauseResult(
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

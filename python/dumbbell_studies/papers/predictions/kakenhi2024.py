"""Predictions on kakenhi2024's C1: BBR's versions, and when 128 flows start."""

from __future__ import annotations

import math

from dumbbell_studies.papers.kakenhi2024.measurements import AloneMeasured
from dumbbell_studies.papers.prediction import Ended, Evidence, Prediction, Verdict, only, predicted
from dumbbell_studies.papers.questions import MANY_BBR

__all__ = ["KAKENHI"]

BBR = MANY_BBR[0]
BBR_4_15 = BBR._replace(cc="bbr_4_15")
OVER_PACING = only("bbr_over_pacing", "Linux 4.15")
IN_TURN = only("starts", "50ms apart")
#: Several hundred ms, as C1's rule has it.
SEVERAL_HUNDRED_MS = 200.0
DELAY = "the 95th percentile is {:.0f} ms ({:.0f} to {:.0f})"


def p95_ms(run: AloneMeasured) -> float:
    """Return the 95th percentile of the queueing delay."""
    return run.queue_delay_p95_ms


def hardly(evidence: Evidence) -> Ended:
    """Whether the delay stays where it is."""
    change = evidence.change(OVER_PACING, BBR, p95_ms).interval
    return predicted(
        change, -20, 20, "the 95th percentile changes by {:+.0f} ms ({:+.0f} to {:+.0f})"
    )


def one_reaches(evidence: Evidence) -> Ended:
    """Whether the delay of one BBR reaches several hundred ms and that of the other does not."""
    now, then = (evidence.mean((), point, p95_ms) for point in (BBR, BBR_4_15))
    saw = "; ".join(
        f"{name} {each.mean:.0f} ms ({each.low:.0f} to {each.high:.0f})"
        for name, each in (("BBR", now), ("of Linux 4.15", then))
    )
    if now.low >= SEVERAL_HUNDRED_MS > then.high:
        return Ended(Verdict.CONFIRMED, saw)
    is_refuted = now.high < SEVERAL_HUNDRED_MS or then.low >= SEVERAL_HUNDRED_MS
    return Ended(Verdict.REFUTED if is_refuted else Verdict.UNDECIDABLE, saw)


KAKENHI = (
    Prediction(
        "C1.over-pacing",
        "With 128 flows BBR's over-pacing hardly matters, because cwnd limits them: less than a "
        "tenth of 200 ms.",
        ((), OVER_PACING), MANY_BBR, hardly, measured_before=True,
    ),
    Prediction(
        "C1.versions",
        "With starts within 0.1 s the delay of BBR reaches 200 ms, and that of BBR as before Linux "
        "5.1 does not, by the 95th percentile.",
        ((),), (BBR, BBR_4_15), one_reaches, measured_before=True,
    ),
    Prediction(
        "C1.starts",
        "Starts decide: with eight processes in turn, 50 ms apart, the 95th percentile is 200 ms "
        "or more.",
        (IN_TURN,), MANY_BBR,
        lambda evidence: predicted(
            evidence.mean(IN_TURN, BBR, p95_ms), SEVERAL_HUNDRED_MS, math.inf, DELAY
        ),
        measured_before=True,
    ),
)  # fmt: skip

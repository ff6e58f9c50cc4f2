"""Predictions on coexistence's D3: the receiver's limit, Linux 4.12's TCP, and no pacing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dumbbell.statistics import Interval, student_interval
from dumbbell_studies.papers import coexistence
from dumbbell_studies.papers.element import Setup
from dumbbell_studies.papers.finding import evaluate
from dumbbell_studies.papers.prediction import Ended, Evidence, Prediction, Verdict, only, predicted
from dumbbell_studies.papers.questions import AGAINST_CUBIC, average, d3

__all__ = ["COEXISTENCE"]

LIMIT_48, LIMIT_100 = only("ooo_limit", "48"), only("ooo_limit", "100")
OLD_TCP, UNPACED = only("tcp_4_12", "whole"), only("bbr_4_12", "unpaced")
#: CUBIC's longest epoch at 18 BDP, s: a timeout in each makes at least this many in 120 s.
LONGEST_EPOCH_S = 9.0


def mean_of(
    evidence: Evidence,
    setup: Setup,
    low: float,
    high: float,
    what: Callable[[coexistence.Measured], float],
) -> Interval:
    """Return for each seed the mean of a value over the buffers of a range, with its interval."""
    points = [point for point in AGAINST_CUBIC if low <= point.buffer_bdp <= high]
    by_point = [evidence.values(setup, point, what) for point in points]
    means = [math.fsum(seed) / len(seed) for seed in zip(*by_point, strict=True)]
    return student_interval(np.array(means))


def total(run: coexistence.Measured) -> float:
    """Return the sum of both flows."""
    return run.total_mbps


def rtos(run: coexistence.Measured) -> float:
    """Return the timeouts of both flows."""
    return run.rtos


def shows(setup: Setup, evidence: Evidence) -> Ended:
    """Whether the averages over the seeds show D3 with an element."""
    seen = average([evidence.trials.of_seed(setup, AGAINST_CUBIC, s) for s in evidence.seeds])
    checks = d3(seen)
    verdict = Verdict.CONFIRMED if evaluate(checks) is True else Verdict.REFUTED
    return Ended(verdict, "; ".join(f"{each.expected}: {each.seen}" for each in checks))


D3_SUM = "{:.2f} Mbit/s ({:.2f} to {:.2f})"

COEXISTENCE = (
    Prediction(
        "D3.small", "With 48 segments above a hole the sum is 9.5 Mbit/s at 1 to 3 BDP.",
        (LIMIT_48,), AGAINST_CUBIC,
        lambda evidence: predicted(mean_of(evidence, LIMIT_48, 1, 3, total), 9.45, 9.55, D3_SUM),
        measured_before=True,
    ),
    Prediction(
        "D3.large", "With 48 segments the sum is below 9 Mbit/s from 8 BDP on.",
        (LIMIT_48,), AGAINST_CUBIC,
        lambda evidence: predicted(mean_of(evidence, LIMIT_48, 8, 18, total), 0, 9.0, D3_SUM),
        measured_before=True,
    ),
    Prediction(
        "D3.timeouts",
        "With 48 segments there is a timeout in every epoch of CUBIC from 4 BDP on, the longest of "
        "which lasts 9 s: at least 13.3 a run.",
        (LIMIT_48,), AGAINST_CUBIC,
        lambda evidence: predicted(
            mean_of(evidence, LIMIT_48, 4, 18, rtos), 120 / LONGEST_EPOCH_S, math.inf,
            "{:.2f} timeouts a run ({:.2f} to {:.2f})",
        ),
        measured_before=True,
    ),
    Prediction(
        "D3.limit-100",
        "With 100 segments such timeouts begin at 9 to 12 BDP: from 12 BDP on at least 13.3 a run.",
        (LIMIT_100,), AGAINST_CUBIC,
        lambda evidence: predicted(
            mean_of(evidence, LIMIT_100, 12, 18, rtos), 120 / LONGEST_EPOCH_S, math.inf,
            "{:.2f} timeouts a run ({:.2f} to {:.2f})",
        ),
        measured_before=True,
    ),
    Prediction(
        "D3.recovery",
        "The loss recovery of Linux 4.12 makes the sum fall with the buffer, by timeouts.",
        (OLD_TCP,), AGAINST_CUBIC, lambda evidence: shows(OLD_TCP, evidence), measured_before=True,
    ),
    Prediction(
        "D3.unpaced",
        "A BBR that is not paced (Linux 4.12 without fq) makes the sum fall, by timeouts.",
        (UNPACED,), AGAINST_CUBIC, lambda evidence: shows(UNPACED, evidence), measured_before=True,
    ),
)  # fmt: skip

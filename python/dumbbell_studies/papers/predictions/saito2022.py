"""Predictions on saito2022: when the flows start, and bursts."""

from __future__ import annotations

from dumbbell.statistics import paired_newcombe
from dumbbell_studies.papers.element import Setup
from dumbbell_studies.papers.prediction import (
    Ended,
    Evidence,
    Prediction,
    Verdict,
    counted,
    only,
    predicted,
)
from dumbbell_studies.papers.questions import copas

__all__ = ["SAITO"]

MANY_COPAS = copas(64)[0]
IN_TURN = only("starts", "50ms apart")
SLOW_TURN = only("starts", "1s apart")
IPERF3 = only("starts", "iperf3, 50ms apart")
GSO = only("gso", "on")
#: Shares of seeds that differ by less are taken for the same.
MARGIN = 0.3


def locks(evidence: Evidence, *setups: Setup) -> list[list[bool]]:
    """Return of each set-up which seeds lock."""
    return [
        [bool(value) for value in evidence.values(setup, MANY_COPAS, lambda run: run.is_locked)]
        for setup in setups
    ]


def locks_in_turn(evidence: Evidence) -> Ended:
    """Whether as many seeds lock as was expected."""
    (values,) = locks(evidence, IN_TURN)
    return counted(values, 0.4, 0.8, "lock")


def all_lock(evidence: Evidence) -> Ended:
    """Whether all seeds lock."""
    (values,) = locks(evidence, SLOW_TURN)
    verdict = Verdict.CONFIRMED if all(values) else Verdict.REFUTED
    return Ended(verdict, f"{sum(values)} of {len(values)} seeds lock")


def fewer_lock(evidence: Evidence) -> Ended:
    """Whether fewer seeds lock than with iperf 2."""
    iperf2, iperf3 = locks(evidence, IN_TURN, IPERF3)
    return predicted(
        paired_newcombe(iperf2, iperf3), -1.0, 0.0,
        f"{sum(iperf3)} of {len(iperf3)} seeds, {sum(iperf2)} with iperf 2: "
        "{:+.0%} ({:+.0%} to {:+.0%})",
    )  # fmt: skip


def same_locks(evidence: Evidence) -> Ended:
    """Whether as many seeds lock with bursts, but for a margin."""
    plain, bursts = locks(evidence, (), GSO)
    return predicted(
        paired_newcombe(plain, bursts), -MARGIN, MARGIN,
        f"{sum(bursts)} of {len(bursts)} seeds lock, {sum(plain)} without: "
        "{:+.0%} ({:+.0%} to {:+.0%})",
    )  # fmt: skip


SAITO = (
    Prediction(
        "B2.in-turn",
        "With 64 flows of eight iperf 2 processes that start within 0.4 s, 50 ms apart, two to "
        "four of five seeds lock into competitive mode.",
        (IN_TURN,), (MANY_COPAS,), locks_in_turn, seeds_factor=2, measured_before=True,
    ),
    Prediction(
        "B2.sleep", "With a second between the processes all seeds lock.",
        (SLOW_TURN,), (MANY_COPAS,), all_lock, measured_before=True,
    ),
    Prediction(
        "B2.iperf3",
        "With iperf 3 fewer seeds lock: each host's flows start together and know the base RTT.",
        (IN_TURN, IPERF3), (MANY_COPAS,), fewer_lock,
    ),
    Prediction(
        "B2.gso",
        "Super-packets of two segments change nothing: the share of seeds that lock by less than "
        "30 points.",
        ((), GSO), (MANY_COPAS,), same_locks, seeds_factor=2,
    ),
)  # fmt: skip

"""A run's verdict on itself: whether the results are trustworthy, and what limited the flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell.scenario import Scenario
from dumbbell.verdict.confinement import check_sandbox
from dumbbell.verdict.counters import (
    check_congestion_control,
    check_conservation,
    check_cwnd_zero,
    check_ecn,
    check_idle,
    check_limited,
    check_rto_stalls,
    check_rtt,
    check_unused,
    check_windows,
)
from dumbbell.verdict.emulation import evaluate_emulation
from dumbbell.verdict.links import check_links
from dumbbell.verdict.load import check_load
from dumbbell.verdict.programs import check_programs
from dumbbell.verdict.reason import INVALID, OK, WARN, Reason, Verdict, worst
from dumbbell.verdict.stock_kernel import check_stock_kernel

__all__ = ["INVALID", "OK", "WARN", "Reason", "Verdict", "evaluate", "worst"]


def evaluate(scenario: Scenario, summary: Mapping[str, Any]) -> Verdict:
    """Evaluate a run by its counters.

    Parameters
    ----------
    scenario
        The scenario that ran.
    summary
        The engine's counts.

    Returns
    -------
    Verdict
        OK if no check found anything.
    """
    reasons = [
        *check_conservation(scenario, summary),
        *check_links(scenario, summary),
        *check_congestion_control(scenario, summary),
        *check_rtt(scenario, summary),
        *check_limited(scenario, summary),
        *check_rto_stalls(scenario, summary),
        *check_cwnd_zero(scenario, summary),
        *check_windows(scenario, summary),
        *check_idle(scenario, summary),
        *check_ecn(scenario, summary),
        *check_load(scenario),
        *check_programs(scenario, summary),
        *check_stock_kernel(scenario, summary),
        *check_sandbox(summary),
        *evaluate_emulation(scenario, summary),
    ]
    reasons += check_unused(scenario, summary, reasons)
    return Verdict(tuple(reasons))

"""A run's verdict on itself: whether the results are trustworthy, and what limited the flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from dumbbell.run.verdict.confinement import check_sandbox
from dumbbell.run.verdict.counters import (
    check_congestion_control,
    check_conservation,
    check_cwnd_zero,
    check_ecn,
    check_failures,
    check_idle,
    check_limited,
    check_rto_stalls,
    check_rtt,
    check_unused,
    check_windows,
)
from dumbbell.run.verdict.emulation import evaluate_emulation
from dumbbell.run.verdict.links import check_links
from dumbbell.run.verdict.load import check_load
from dumbbell.run.verdict.programs import check_programs
from dumbbell.run.verdict.reason import INVALID, NOTE, OK, WARN, Reason, Verdict, worst
from dumbbell.run.verdict.stock_kernel import check_stock_kernel
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from dumbbell.records.rows import SummaryRecord

__all__ = ["INVALID", "NOTE", "OK", "WARN", "Reason", "Verdict", "evaluate", "worst"]


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
    counts = cast("SummaryRecord", summary)
    reasons = [
        *check_conservation(scenario, counts),
        *check_links(scenario, counts),
        *check_congestion_control(scenario, counts),
        *check_failures(scenario, counts),
        *check_rtt(scenario, counts),
        *check_limited(scenario, counts),
        *check_rto_stalls(scenario, counts),
        *check_cwnd_zero(scenario, counts),
        *check_windows(scenario, counts),
        *check_idle(scenario, counts),
        *check_ecn(scenario, counts),
        *check_load(scenario),
        *check_programs(scenario, counts),
        *check_stock_kernel(scenario, counts),
        *check_sandbox(summary),
        *evaluate_emulation(scenario, counts),
    ]
    reasons += check_unused(scenario, counts, reasons)
    return Verdict.of(reasons)

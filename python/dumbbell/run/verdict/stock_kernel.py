"""The check of whether a stock kernel would run the congestion control algorithms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dumbbell.run.verdict.reason import WARN, Reason
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from dumbbell.records.rows import SummaryRecord

__all__ = ["check_stock_kernel"]


def check_stock_kernel(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """No congestion control algorithm needs more than a stock kernel has."""
    for loaded in summary.get("congestion_controls", ()):
        for note in loaded.get("declared", {}).get("notes", ()):
            label = scenario.group_labels[loaded["group"]]
            yield Reason(WARN, "stock-kernel", f"{label} {note}")

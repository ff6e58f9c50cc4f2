"""The goodput of a run's flows next to what rules of sharing would give them, in the terminal."""

from __future__ import annotations

from dumbbell.run import Run
from dumbbell.terminal.console import print_line
from dumbbell.terminal.table import print_table

__all__ = ["print_references"]


def print_references(result: Run) -> None:
    """Print a row per group of a run with several links whose flows send all the time."""
    groups = result.scenario.groups
    sends_always = all(group.client is None and group.traffic.is_bulk for group in groups)
    if len(result.scenario.links) < 2 or not sends_always:
        return
    from dumbbell.models.reference_goodputs import reference_goodputs

    references = reference_goodputs(result.scenario)
    columns = (
        "goodput per flow,\nMbit/s", "measured", *(f"if {rule.title}" for rule in references),
    )  # fmt: skip
    rows = [
        (
            label,
            f"{group['goodput_per_flow_bps'] / 1e6:.2f}",
            *(f"{rates[index] / 1e6:.2f}" for rates in references.values()),
        )
        for index, (label, group) in enumerate(
            zip(result.scenario.group_labels, result.groups, strict=True)
        )
    ]
    print_table(columns, rows, apart=True)
    print_line("if …: as rules of sharing would have it, without what ACKs take")

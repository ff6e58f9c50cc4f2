"""A run's transfers in the terminal: how many of each group, and how long they took."""

from __future__ import annotations

from dumbbell.run import Run
from dumbbell.terminal.table import print_table

__all__ = ["print_transfers"]

#: What a kind of transfer is called, and its time.
KINDS = {
    "flow": "flows", "request": "requests", "page": "pages", "chunk": "chunks", "burst": "bursts",
}  # fmt: skip


def print_transfers(result: Run) -> None:
    """Print a row per group and kind of transfer; nothing for a run without transfers."""
    columns = (
        "transfers", "", "count", "unfinished\n%", "mean size\nkB", "time p50\nms", "p95\nms",
        "p99\nms",
    )  # fmt: skip
    rows = [
        (
            label,
            KINDS[each["kind"]],
            f"{each['count']:,}",
            f"{100 * each['unfinished'] / each['count']:.1f}",
            f"{each['size_bytes'] / each['count'] / 1e3:.1f}",
            *(milliseconds(each[f"time_{which}_us"]) for which in ("p50", "p95", "p99")),
        )
        for group, label in zip(result.groups, result.scenario.group_labels, strict=True)
        for each in group.get("transfers", ())
    ]
    if rows:
        print_table(columns, rows, left=range(2), optional=("p99\nms", "mean size\nkB"), apart=True)


def milliseconds(time_us: float | None) -> str:
    """Write a time; a dash where too few were complete for it."""
    return "–" if time_us is None else f"{time_us / 1e3:.1f}"

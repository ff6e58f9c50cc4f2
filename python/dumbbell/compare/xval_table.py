"""The comparison as rows of text, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.compare.comparison import Comparison
from dumbbell.compare.engines import Worst, engine_difference, relative_difference
from dumbbell.compare.xval import CrossValidation

__all__ = [
    "COLUMNS",
    "MARK",
    "OVERVIEW_COLUMNS",
    "comparison_row",
    "counts",
    "overview_rows",
    "summary_lines",
]

COLUMNS = ("", "simulator", "kernel", "difference", "95 % interval", "")
OVERVIEW_COLUMNS = (
    "scenario", "group", "share, %: simulator", "kernel", "difference of share, points",
    "median RTT, ms: simulator", "kernel", "difference of RTT, %",
)  # fmt: skip
#: Where the interval excludes 0.
MARK = "≠"
ABSENT = "–"


def comparison_row(entry: Comparison) -> tuple[str, ...]:
    """Return a metric's row: what, simulator, kernel, difference, interval, mark."""
    metric, interval = entry.metric, entry.difference.interval.scaled(entry.metric.scale)
    difference = engine_difference(entry)
    unit = metric.shown_unit or metric.unit
    return (
        f"{entry.name_a} {metric.title}, {unit}".strip(),
        *(mean(values, metric.scale) for values in (entry.b, entry.a)),
        ABSENT if difference is None else f"{interval.mean:+.2f}",
        f"{interval.low:+.2f} … {interval.high:+.2f}" if interval.bounded else ABSENT,
        MARK if entry.excludes_zero else "",
    )


def overview_rows(result: CrossValidation) -> list[tuple[str, ...]]:
    """Return a row per scenario and group: share and median RTT in either engine."""
    rows = []
    for case in result.cases:
        by_key = {(entry.metric.name, entry.group): entry for entry in case.comparisons}
        for group, label in enumerate(case.scenario.group_labels):
            share, rtt = by_key["share", group], by_key["rtt_p50_us", group]
            rows.append(
                (
                    "" if group else case.name,
                    label,
                    *comparison_row(share)[1:3],
                    marked(engine_difference(share), share),
                    *comparison_row(rtt)[1:3],
                    marked(relative_difference(rtt), rtt),
                )
            )
    return rows


def marked(part: float | None, entry: Comparison) -> str:
    """Write a difference in hundredths, marked where its interval excludes 0."""
    mark = f" {MARK}" if entry.excludes_zero else ""
    return ABSENT if part is None else f"{100 * part:+.1f}{mark}"


def mean(values: tuple[float, ...], scale: float) -> str:
    """Write a mean in the metric's shown unit."""
    return f"{scale * np.mean(values):.2f}" if values else ABSENT


def counts(verdicts: Mapping[str, int]) -> str:
    """Write how many runs had which verdict: ``2 OK, 1 WARN``."""
    return ", ".join(f"{count} {status}" for status, count in sorted(verdicts.items())) or "none"


def summary_lines(result: CrossValidation) -> list[str]:
    """Return all scenarios in a few lines."""
    summary = result.summary
    simulated = sum(len(case.simulator) for case in result.cases)
    total = sum(result.verdicts.values())
    lines = [
        f"{pluralize(len(result.cases), 'scenario')}, "
        f"{pluralize(simulated, 'run')} in the simulator, "
        f"{total} on the kernel "
        f"({counts(result.verdicts)})"
    ]
    if summary.share is not None:
        lines.append(f"throughput share: {worst_line(summary.share, ' points')}")
    if summary.rtt_p50 is not None:
        lines.append(f"median RTT: {worst_line(summary.rtt_p50, ' %')}")
    if summary.left_out:
        lines.append(
            "not in these means, with fewer than two valid runs on the kernel: "
            + ", ".join(summary.left_out)
        )
    lines.append(
        f"{summary.excludes_zero} of {summary.comparisons} differences have a 95 % interval that "
        f"excludes 0 ({MARK}); by chance alone about {0.05 * summary.comparisons:.0f} would"
    )
    return lines


def worst_line(worst: Worst, unit: str) -> str:
    """Write a mean and a largest difference."""
    return (
        f"mean absolute difference {100 * worst.mean:.1f}{unit}, "
        f"largest {100 * worst.worst:.1f}{unit} ({worst.name}, {worst.case})"
    )

"""Media at a constant rate in the terminal: one-way delay, jitter, lateness, a call's rating."""

from __future__ import annotations

from dumbbell.cli.console import print_table
from dumbbell.metrics import METRICS
from dumbbell.metrics.observation import Observation
from dumbbell.run import Run

__all__ = ["print_media"]

#: Heading, metric, factor and decimals of each column.
COLUMNS = (
    ("delay p50\nms", "one_way_delay_p50_us", 1e-3, 1),
    ("p95\nms", "one_way_delay_p95_us", 1e-3, 1),
    ("p99\nms", "one_way_delay_p99_us", 1e-3, 1),
    ("jitter\nms", "jitter_us", 1e-3, 1),
    ("late or\nlost %", "late_or_lost_share", 100, 2),
    ("R", "r_factor", 1, 0),
    ("MOS", "mos", 1, 1),
)


def print_media(result: Run) -> None:
    """Print a row per group whose application measures one-way delays; nothing without one."""
    obs = Observation(result)
    rows = []
    for group, label in enumerate(result.scenario.group_labels):
        values = [of_group(METRICS[name].observe(obs), group) for _, name, _, _ in COLUMNS]
        if values[0] is not None:
            cells = (
                write(value, factor, decimals)
                for value, (_, _, factor, decimals) in zip(values, COLUMNS, strict=True)
            )
            rows.append((label, *cells))
    if rows:
        headings = ("media", *(heading for heading, _, _, _ in COLUMNS))
        print_table(headings, rows, left=range(1), optional=("jitter\nms", "p99\nms"))


def of_group(values: float | list[float | None] | None, group: int) -> float | None:
    """Return a group's value of a metric of groups."""
    return values[group] if isinstance(values, list) else values


def write(value: float | None, factor: float, decimals: int) -> str:
    """Write a value; a dash where it is not known."""
    return "–" if value is None else f"{factor * value:.{decimals}f}"

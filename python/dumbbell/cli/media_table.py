"""Media in the terminal: delays and rating of constant-rate media, bitrate and stalls of video."""

from __future__ import annotations

from dumbbell.run import Run
from dumbbell.terminal.table import print_table

__all__ = ["print_media"]

#: For each table the heading, metric, factor and decimals of its columns; a group without the first
#: has no row.
TABLES: dict[str, tuple[tuple[str, str, float, int], ...]] = {
    "media": (
        ("delay p50\nms", "one_way_delay_p50_us", 1e-3, 1),
        ("p95\nms", "one_way_delay_p95_us", 1e-3, 1),
        ("p99\nms", "one_way_delay_p99_us", 1e-3, 1),
        ("jitter\nms", "jitter_us", 1e-3, 1),
        ("late or\nlost %", "late_or_lost_share", 100, 2),
        ("R", "r_factor", 1, 0),
        ("MOS", "mos", 1, 1),
    ),
    "video": (
        ("bitrate\nMbit/s", "video_bitrate_bps", 1e-6, 2),
        ("stalled\n%", "stall_ratio", 100, 2),
        ("stalls\nper player", "video_stalls", 1, 1),
        ("start-up\ns", "startup_delay_s", 1, 2),
        ("switches\nper player", "video_switches", 1, 1),
        ("QoE_lin", "qoe_lin", 1, 1),
    ),
}
#: What a flow of media or video measures.
MEASURED = ("one_way_delay_p50_us", "bitrate_mean_bps")
#: What a narrow terminal does without.
OPTIONAL = ("jitter\nms", "p99\nms", "QoE_lin")


def print_media(result: Run) -> None:
    """Print a row per group with one-way delays, and one per group with video players."""
    applications = [flow.get("application", {}) for flow in result.summary["flows"]]
    if not any(name in each for each in applications for name in MEASURED):
        return
    from dumbbell.metrics import METRICS  # numpy: slow to import
    from dumbbell.metrics.observation import Observation

    obs = Observation(result)
    for title, columns in TABLES.items():
        rows = []
        for group, label in enumerate(result.scenario.group_labels):
            values = [of_group(METRICS[name].observe(obs), group) for _, name, _, _ in columns]
            if values[0] is not None:
                cells = (
                    write(value, factor, decimals)
                    for value, (_, _, factor, decimals) in zip(values, columns, strict=True)
                )
                rows.append((label, *cells))
        if rows:
            headings = (title, *(heading for heading, _, _, _ in columns))
            optional = tuple(each for each in OPTIONAL if each in headings)
            print_table(headings, rows, left=range(1), optional=optional, apart=True)


def of_group(values: float | list[float | None] | None, group: int) -> float | None:
    """Return a group's value of a metric of groups."""
    return values[group] if isinstance(values, list) else values


def write(value: float | None, factor: float, decimals: int) -> str:
    """Write a value; a dash where it is not known."""
    return "–" if value is None else f"{factor * value:.{decimals}f}"

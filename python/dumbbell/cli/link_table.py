"""The links of a run in the terminal: a line for one, a table for several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from dumbbell.base.quantities.quantity import Rate
from dumbbell.run import Run
from dumbbell.run.links import LinkCounts, write_statistic
from dumbbell.terminal.table import print_table

__all__ = ["percent", "print_links"]


def print_links(console: Console, result: Run) -> None:
    """Print the bottleneck in a line; of several links a table first."""
    if len(result.links) > 1:
        print_link_table(result)
    console.print(bottleneck_line(result), markup=False, soft_wrap=True)
    for link in result.links if len(result.links) > 1 else ():
        if changed := changed_behind(link):
            line = f"{'impairments':12} {link['name']}: {changed.removeprefix('; ')}"
            console.print(line, markup=False, soft_wrap=True)
    for link in result.links:
        if any(link.statistics.values()):
            line = f"{'queue':12} {statistics_text(result, link)}"
            console.print(line, markup=False, soft_wrap=True)


def print_link_table(result: Run) -> None:
    """Print a row per link."""
    columns = (
        "link", "rate", "used\n%", "queueing delay\nmean ms", "p95\nms", "queue max\nkB",
        "dropped\npackets", "dropped\n%", "marked\n%",
    )  # fmt: skip
    rows = [
        (
            link["name"],
            str(Rate(link["link_rate_bps"])),
            f"{100 * link['utilization']:.1f}",
            f"{link['queue_delay_mean_us'] / 1e3:.1f}",
            f"{link['queue_delay_p95_us'] / 1e3:.1f}",
            f"{link['backlog_max_bytes'] / 1e3:.1f}",
            f"{link['dropped_pkts']:,}",
            percent(link["dropped_pkts"], link["offered_pkts"]),
            percent(link.get("marked_pkts"), link["forwarded_pkts"]),
        )
        for link in result.links
    ]
    print_table(
        columns, rows, optional=("queue max\nkB", "marked\n%", "dropped\npackets"), apart=True
    )


def bottleneck_line(result: Run) -> str:
    """Write the bottleneck in a line."""
    link = result.summary["bottleneck"]
    if len(result.links) > 1:
        return f"bottleneck   {link['name']}, the link with the largest utilisation"
    return (
        f"bottleneck   {Rate(link['link_rate_bps']).in_words}, "
        f"{100 * link['utilization']:.1f} % used; "
        f"queueing delay mean {link['queue_delay_mean_us'] / 1e3:.1f} ms, "
        f"p95 {link['queue_delay_p95_us'] / 1e3:.1f} ms; "
        f"dropped {link['dropped_pkts']:,} of {link['offered_pkts']:,} packets "
        f"({percent(link['dropped_pkts'], link['offered_pkts'])} %)"
        f"{lost(link, result)}{marked(link)}"
    )


def statistics_text(result: Run, link: LinkCounts) -> str:
    """Write a queue discipline's own statistics, without what is zero.

    Of CAKE's tins only those that had packets.
    """
    of = f" of {link['name']}" if len(result.links) > 1 else ""
    idle = tuple(
        name.removesuffix("pkts")
        for name, value in link.statistics.items()
        if name.startswith("tin") and name.endswith("_pkts") and name.count("_") == 1 and not value
    )
    counted = (
        (name, value)
        for name, value in link.statistics.items()
        if value and not name.startswith(idle)
    )
    shown = ", ".join(write_statistic(name, value) for name, value in counted)
    return f"{link.get('queue', 'drop-tail')}{of}: {shown}"


def lost(link: Mapping[str, Any], result: Run) -> str:
    """Write how many of the dropped packets were lost before the queue, if any could be."""
    pkts = link.get("random_loss_pkts")
    if pkts is None:
        return ""
    is_impaired = result.scenario.link(link["name"]).impair
    before = f", {pkts:,} of them {'by impairments' if is_impaired else 'lost at random'}"
    return f"{before}{changed_behind(link)}"


def changed_behind(link: Mapping[str, Any]) -> str:
    """Write how many packets were lost behind the link and how many were copied, if any were."""
    lost_pkts, copies = link.get("lost_behind_pkts"), link.get("duplicated_pkts")
    behind = f"; {lost_pkts:,} lost behind the link" if lost_pkts else ""
    return f"{behind}{f'; {copies:,} duplicated' if copies else ''}"


def marked(link: Mapping[str, Any]) -> str:
    """Write how many packets were marked, if the link marks."""
    pkts = link.get("marked_pkts")
    if pkts is None:
        return ""
    return f"; marked {pkts:,} ({percent(pkts, link['forwarded_pkts'])} %)"


def percent(part: float | None, total: float | None) -> str:
    """Write a part as a percentage."""
    return f"{100 * part / total:.2f}" if total and part is not None else "–"

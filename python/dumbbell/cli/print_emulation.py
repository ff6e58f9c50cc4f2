"""The summary of an emulated path, printed when its command has ended."""

from __future__ import annotations

from dumbbell.base.quantities.quantity import Rate
from dumbbell.cli.link_table import percent
from dumbbell.emulation.scenario import UP
from dumbbell.run import Run
from dumbbell.run.links import LinkCounts
from dumbbell.scenario.link import BOTTLENECK
from dumbbell.terminal.console import err, paint

__all__ = ["print_emulation"]


def print_emulation(result: Run) -> None:
    """Print a line for each way, and the verdict, to stderr."""
    console = err()
    for link in result.links:
        console.print(link_line(link), markup=False)
    for reason in result.verdict.reasons:
        console.print(f"{reason.status.lower()}: {reason.message}", markup=False)
    facts = result.emulation
    late = "" if facts is None else f"; packets were {facts['lateness_p99_us']:.0f} µs late at p99"
    console.print(f"verdict {paint(result.verdict.status)}{late}")


def link_line(link: LinkCounts) -> str:
    """Write in a line what a link did."""
    way = {BOTTLENECK: "server → client", UP: "client → server"}.get(link["name"], link["name"])
    marked = link.get("marked_pkts")
    offered = link["offered_pkts"]
    share = f" ({percent(link['dropped_pkts'], offered)} %)" if offered else ""
    marks = f", marked {marked:,}" if marked else ""
    lost = link.get("lost_behind_pkts")
    behind = f", lost {lost:,} behind the link" if lost else ""
    return (
        f"{way}  {Rate(link['link_rate_bps']).in_words}, {100 * link['utilization']:.1f} % used; "
        f"queueing delay mean {link['queue_delay_mean_us'] / 1e3:.1f} ms, p95 "
        f"{link['queue_delay_p95_us'] / 1e3:.1f} ms; dropped {link['dropped_pkts']:,} of "
        f"{offered:,} packets{share}{marks}{behind}"
    )

"""The summary of an emulated path, printed when its command has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from dumbbell.base.quantities.quantity import Rate
from dumbbell.cli.link_table import percent
from dumbbell.run import Run
from dumbbell.run.directions import Got, Way, ways_of
from dumbbell.run.links import LinkCounts
from dumbbell.scenario.describe_path import describe_path
from dumbbell.scenario.link import BOTTLENECK, UNLIMITED, UP
from dumbbell.terminal.console import err, paint

__all__ = ["print_emulation"]

#: Most flows whose rates are written one by one.
MAX_RATES = 4
#: Most changes of a rate that are written one by one.
MAX_CHANGES = 2


def print_emulation(result: Run, *, is_within: bool = False) -> None:
    """Print each way with who got what of it, and the verdict, to stderr.

    Above that of a path within another, whose summary follows, is which path it is.
    """
    console = err()
    if is_within:
        console.print(f"the inner path: {describe_path(result.scenario)}", markup=False)
    ways = {way.links[0]: way for way in ways_of(result) if way.links}
    labels = result.scenario.group_labels
    for link in result.links:
        changes = rate_changes(result, link["name"])
        for line in link_lines(link, ways.get(link["name"]), labels, changes):
            for part in broken(line, console.width):
                console.print(part, markup=False)
    verdict = result.verdict
    for status, message in [
        *((reason.status.lower(), reason.message) for reason in verdict.reasons),
        *(("note", each.message) for each in verdict.notes),
    ]:
        console.print(f"{status}: {message}", markup=False)
    has_packets = any(link["offered_pkts"] for link in result.links)
    if not has_packets:
        console.print(
            "note: nothing crossed the path, which joins `client` and `server`; other hosts are "
            "reached with `--internet`",
            markup=False,
        )
    facts = result.emulation
    late = ""
    if facts is not None and has_packets:
        late = f"; packets were {facts['lateness_p99_us']:.0f} µs late at p99"
    console.print(f"verdict {paint(verdict.status)}{late}")


def rate_changes(result: Run, link: str) -> list[tuple[float, int]]:
    """Return when the rate of a link was changed while it ran, s, and to what, bit/s."""
    facts = result.emulation
    made = () if facts is None else facts.get("changes", ())
    return [
        (cast("int", change["at_us"]) / 1e6, cast("int", change["link_rate_bps"]))
        for change in made
        if change["kind"] == "rate" and change["link"] == link
    ]


def broken(line: str, width: int) -> list[str]:
    """Return a line that is too wide as two: what follows its first half-sentence is below it."""
    if len(line) <= width or "; " not in line:
        return [line]
    first, _, rest = line.partition("; ")
    indent = len(line) - len(line.lstrip()) + 4
    return [f"{first};", f"{' ' * indent}{rest}"]


def link_lines(
    link: LinkCounts,
    way: Way | None,
    labels: Sequence[str],
    changes: Sequence[tuple[float, int]] = (),
) -> Iterator[str]:
    """Write what a link did, and what each group got of it."""
    name = {BOTTLENECK: "server → client", UP: "client → server"}.get(link["name"], link["name"])
    offered = link["offered_pkts"]
    share = f" ({percent(link['dropped_pkts'], offered)} %)" if offered else ""
    used = f", {100 * link['utilization']:.1f} % used" if is_limited(link["link_rate_bps"]) else ""
    yield (
        f"{name}  {rate_words(link['link_rate_bps'])}{changed_words(changes)}{used}; "
        f"dropped {link['dropped_pkts']:,} of {offered:,} packets{share}"
    )
    marked, lost = link.get("marked_pkts"), link.get("lost_behind_pkts")
    parts = [
        f"queueing delay mean {link['queue_delay_mean_us'] / 1e3:.1f} ms, p95 "
        f"{link['queue_delay_p95_us'] / 1e3:.1f} ms",
        f"marked {marked:,}" if marked else "",
        f"lost {lost:,} behind the link" if lost else "",
        f"Jain's index {way.jain:.3f}" if way is not None and way.jain is not None else "",
    ]
    yield f"    {'; '.join(filter(None, parts))}"
    groups = () if way is None else way.groups
    width = max((len(labels[each.group]) for each in groups), default=0)
    for each in groups:
        yield f"    {group_text(each, labels[each.group].ljust(width), is_alone=len(groups) == 1)}"


def group_text(got: Got, label: str, *, is_alone: bool) -> str:
    """Write what a group got one way."""
    if not got.received_bytes:
        return f"{label}  no payload of TCP or UDP"
    parts = [
        f"{got.goodput_bps / 1e6:.2f} Mbit/s{'' if is_alone else f', {100 * got.share:.1f} %'}"
    ]
    if got.flows > 1:
        rates = [f"{rate / 1e6:.2f}" for rate in got.per_flow_bps]
        shown = rates if len(rates) <= MAX_RATES else [*rates[: MAX_RATES - 1], "…"]
        parts[0] += f" ({' + '.join(shown)})"
    if got.rtt_mean_us is not None and got.rtt_p95_us is not None:
        parts.append(f"RTT mean {got.rtt_mean_us / 1e3:.1f} ms, p95 {got.rtt_p95_us / 1e3:.1f} ms")
    return f"{label}  {'; '.join(parts)}"


def changed_words(changes: Sequence[tuple[float, int]]) -> str:
    """Write what a rate was changed to: the last time, of many."""
    shown = changes if len(changes) <= MAX_CHANGES else changes[-1:]
    words = [f", {rate_words(rate_bps)} from {at_s:.3g} s" for at_s, rate_bps in shown]
    left = len(changes) - len(shown)
    return f"{f', {left} changes' if left else ''}{''.join(words)}"


def rate_words(rate_bps: int) -> str:
    """Write a link's rate."""
    return Rate(rate_bps).in_words if is_limited(rate_bps) else "any rate"


def is_limited(rate_bps: int) -> bool:
    """Whether packets take time on a link of this rate."""
    return rate_bps < UNLIMITED

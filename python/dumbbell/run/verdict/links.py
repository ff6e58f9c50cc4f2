"""The checks of the links' counters, in both engines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.run.verdict.counters import is_emulated, links_of
from dumbbell.run.verdict.reason import INVALID, WARN, Reason
from dumbbell.scenario import Link as ScenarioLink
from dumbbell.scenario import Scenario
from dumbbell.scenario.element import queue_disciplines
from dumbbell.scenario.routes import largest_queued_bytes

if TYPE_CHECKING:
    from dumbbell.records.rows import LinkRecord, SummaryRecord

__all__ = ["check_links"]

#: Share of the packets that a queue may drop without a warning: what a policer costs BBR, which is
#: the congestion control algorithm that tolerates most (1 - 1/1.25).
DROPPED_SHARE = 0.2
#: Tolerance of a link's rate and of the longest wait: more than the uncertainty of a busy time at
#: the ends of the run and where a packet crosses them.
RATE_TOLERANCE = 0.01
#: A medium may save up what it offers for so long, in addition to the token bucket in its summary.
SAVED_UP_S = 0.01
#: Shorter busy times have too few packets for that tolerance.
MIN_BUSY_US = 1_000_000
#: Impairments that take marks away.
CLEARS_MARKS = ("bleach",)


def check_links(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """Check what was counted of each link."""
    for link in links_of(summary):
        yield from check_conservation(link, name_of(link, summary))
    yield from check_marks(summary)
    yield from check_marks_arrive(scenario, summary)
    for link in links_of(summary):
        name = name_of(link, summary)
        yield from check_rate(scenario, summary, link, name)
        yield from check_queue_delay(scenario, summary, link, name)
        yield from check_order(link, name)
        yield from check_drops(summary, link, name)
        yield from check_used(summary, link, name)


def name_of(link: LinkRecord, summary: SummaryRecord) -> str:
    """Return what a link is called in messages."""
    return "the bottleneck" if len(links_of(summary)) == 1 else f"link `{link['name']}`"


def check_conservation(link: LinkRecord, name: str) -> Iterator[Reason]:
    """Every packet that arrived was forwarded, dropped or is still there."""
    accounted = link["forwarded_pkts"] + link["dropped_pkts"] + link["left_pkts"]
    if link["offered_pkts"] != accounted:
        yield Reason(
            INVALID,
            "conservation",
            f"{name} was offered {link['offered_pkts']} packets, accounts for {accounted}",
        )


def check_marks(summary: SummaryRecord) -> Iterator[Reason]:
    """The links made the marks that the flows' packets have."""
    marked = sum(flow.get("marked_pkts") or 0 for flow in summary["flows"])
    made = sum(link.get("marked_pkts") or 0 for link in links_of(summary))
    if marked > made:
        links = "the bottleneck" if len(links_of(summary)) == 1 else "the links"
        yield Reason(
            INVALID, "conservation", f"{links} marked {made} packets, the flows have {marked}"
        )


def check_marks_arrive(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """Each mark of a flow's packets reached its receiver, unless its packet did not."""
    if any(each.name in CLEARS_MARKS for link in scenario.links for each in link.impair):
        return
    for flow in summary["flows"]:
        marked, arrived = flow.get("marked_pkts"), flow.get("ce_arrived_pkts")
        if marked is None or arrived is None:  # nothing marks, or a run of an earlier version
            continue
        lost = marked - arrived
        copies = flow.get("duplicated_pkts") or 0
        if -copies <= lost <= flow["dropped_pkts"] + flow["on_path_pkts"]:
            continue
        yield Reason(
            INVALID,
            "conservation",
            f"{marked:,} packets of flow {flow['flow']} were marked, {arrived:,} reached its "
            "receiver with a mark",
        )


def check_order(link: LinkRecord, name: str) -> Iterator[Reason]:
    """A queue lets no packet overtake another of its flow, unless its discipline does so."""
    reordered = link.get("reordered_pkts") or 0
    if reordered:
        yield Reason(
            INVALID,
            "order",
            f"{pluralize(reordered, 'packet')} left the queue of {name} after a later one of the "
            "same flow",
        )


def check_rate(
    scenario: Scenario, summary: SummaryRecord, link: LinkRecord, name: str
) -> Iterator[Reason]:
    """The link carried what its rate allows: never more, and no less while it was busy."""
    config = scenario.link(link["name"])
    packet_bytes = largest_queued_bytes(config, scenario)
    can_carry_bytes = link["link_rate_bps"] * summary["duration_ns"] / (8 * 10**9)
    # Only if its rate changes.
    can_carry_bytes = link.get("capacity_bytes", can_carry_bytes)
    # The packet that is on the wire when the rate changes keeps its transmission time.
    straddling_bytes = packet_bytes * sum(rate_changes(config))
    can_carry_bytes += straddling_bytes
    if config.has_medium:
        # It counts some headers for nothing, and carries a little of what it offered before.
        can_carry_bytes += link.get("uncounted_bytes", 0) * link["forwarded_pkts"]
        can_carry_bytes += link.get("saved_up_bytes", 0)
        can_carry_bytes += 2 * packet_bytes + int(config.rate) * SAVED_UP_S / 8
    if is_emulated(summary):
        # The path is not empty when a run on the kernel begins: a packet may be on the link.
        can_carry_bytes += packet_bytes
    if link["forwarded_bytes"] > can_carry_bytes:
        yield Reason(
            INVALID,
            "rate",
            f"{name} forwarded {link['forwarded_bytes']} B, "
            f"more than the {can_carry_bytes:.0f} B its rate allows",
        )
        return
    busy_us = link.get("busy_us", 0)  # runs saved by earlier versions have none
    # A medium other than a wire does not carry its rate whenever something waits.
    if busy_us < MIN_BUSY_US or config.has_medium:
        return
    busy_bytes = link["link_rate_bps"] * busy_us / (8 * 10**6)
    busy_bytes = link.get("busy_capacity_bytes", busy_bytes)
    tolerance_bytes = RATE_TOLERANCE * busy_bytes + packet_bytes + straddling_bytes
    if abs(link["forwarded_bytes"] - busy_bytes) > tolerance_bytes:
        yield Reason(
            INVALID,
            "rate",
            f"{name} forwarded {link['forwarded_bytes']} B in the {busy_us / 1e6:.2f} s it "
            f"was busy, its rate allows {busy_bytes:.0f} B",
        )


def check_queue_delay(
    scenario: Scenario, summary: SummaryRecord, link: LinkRecord, name: str
) -> Iterator[Reason]:
    """In a FIFO no packet waited longer than a full buffer and the packet on the link take."""
    config = scenario.link(link["name"])
    packet_bytes = largest_queued_bytes(config, scenario)
    limit_pkts, limit_bytes = link.get("limit_pkts"), link["limit_bytes"]
    if limit_bytes is None and limit_pkts is not None:
        limit_bytes = limit_pkts * packet_bytes
    is_exact = not holds_back(link) and not config.has_medium
    if limit_bytes is None or not is_fifo(link) or not is_exact:
        return
    ahead_bytes = limit_bytes + packet_bytes
    if link.get("queue") == "dummynet":
        # It takes a packet while what waits is not above its limit.
        ahead_bytes += packet_bytes
    lowest_bps = min(int(rate) for rate in config.rates)
    longest_us = ahead_bytes * 8 * 10**6 / lowest_bps * (1 + RATE_TOLERANCE)
    if is_emulated(summary):
        # The wait includes the lateness of the relay, which `lateness` checks.
        longest_us += summary["emulation"]["lateness_max_us"]
    if link["queue_delay_max_us"] > longest_us + 1:  # + 1: whole µs
        where = "" if len(links_of(summary)) == 1 else f" at {name}"
        yield Reason(
            INVALID,
            "queue_delay",
            f"a packet waited {link['queue_delay_max_us']} µs{where}, "
            f"a full buffer takes {longest_us:.0f} µs",
        )


def is_fifo(link: LinkRecord) -> bool:
    """Whether packets left a link's queue in the order in which they came."""
    name = link.get("queue")  # only if it is not drop-tail
    known = queue_disciplines()
    return name is None or (name in known and known[name].is_fifo)


def holds_back(link: LinkRecord) -> bool:
    """Whether packets may wait in a link's queue while the link is idle."""
    discipline = queue_disciplines().get(link.get("queue", ""))
    return discipline is not None and discipline.holds_back


def rate_changes(link: ScenarioLink) -> list[float]:
    """Return the time of a packet on the wire at each rate change, in packets at the new rate."""
    return [max(1.0, int(after) / int(before)) for before, after in pairwise(link.rates)]


def check_drops(summary: SummaryRecord, link: LinkRecord, name: str) -> Iterator[Reason]:
    """The queue did not drop more than a fifth of the packets."""
    # What is lost at random is configured, and so is CAKE's filter of ACKs.
    statistics = link.get("statistics") or {}
    filtered_pkts = sum(
        count for name, count in statistics.items() if name.endswith("_ack_drop_pkts")
    )
    overflown_pkts = link["dropped_pkts"] - link.get("random_loss_pkts", 0) - filtered_pkts
    if overflown_pkts > DROPPED_SHARE * link["offered_pkts"]:
        queue = "the queue" if len(links_of(summary)) == 1 else f"the queue of {name}"
        yield Reason(
            WARN,
            "drops",
            f"{queue} dropped {overflown_pkts:,} of {link['offered_pkts']:,} packets, "
            f"{overflown_pkts / link['offered_pkts']:.1%}; above {DROPPED_SHARE:.0%} is unusual",
        )


def check_used(summary: SummaryRecord, link: LinkRecord, name: str) -> Iterator[Reason]:
    """Packets reached each of several links."""
    if len(links_of(summary)) > 1 and link["offered_pkts"] == 0:
        yield Reason(WARN, "link-unused", f"no packet reached {name}")

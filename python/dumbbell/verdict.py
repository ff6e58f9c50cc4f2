"""A run's verdict on itself: may its numbers be believed, and what limited the flows?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dumbbell.scenario import Scenario

__all__ = ["INVALID", "OK", "WARN", "Reason", "Verdict", "gravest", "judge"]

#: Share of a flow's time that the receive window or send buffer may limit it unremarked.
LIMITED_SHARE = 0.01
#: An RTO stall from here on is worth a warning: five times Linux's smallest RTO of 200 ms, so a
#: single timeout passes and backed-off ones do not.
RTO_STALL_US = 1_000_000

#: How far the link's rate and the longest wait may be off: what a busy time is known to at the ends
#: of the run and where a packet crosses it, with room to spare.
RATE_TOLERANCE = 0.01
#: Shorter busy times are too few packets for that.
MIN_BUSY_US = 1_000_000

OK, WARN, INVALID = "OK", "WARN", "INVALID"


def gravest(statuses: Iterable[str]) -> str:
    """Return the gravest of some verdicts; OK when there are none."""
    return max(statuses, key=(OK, WARN, INVALID).index, default=OK)


@dataclass(frozen=True)
class Reason:
    """One thing that is not as it should be.

    Attributes
    ----------
    status
        ``WARN``: the numbers are right, but look at this; ``INVALID``: do not use them.
    check
        Which check found it: ``conservation``, ``congestion_control``, ``rate``,
        ``queue_delay``, ``rtt``, ``rwnd``, ``sndbuf``, ``rto_stall`` or ``idle``.
    message
        What it found, with numbers.
    """

    status: str
    check: str
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Verdict:
    """OK, WARN or INVALID, and why."""

    reasons: tuple[Reason, ...] = field(default=())

    @property
    def status(self) -> str:
        """The gravest of the reasons."""
        return gravest(reason.status for reason in self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as `--json` has it."""
        reasons = [
            {"status": r.status, "check": r.check, "message": r.message} for r in self.reasons
        ]
        return {"status": self.status, "reasons": reasons}


def judge(scenario: Scenario, summary: Mapping[str, Any]) -> Verdict:
    """Judge a run by its counters.

    Parameters
    ----------
    scenario
        What was asked for.
    summary
        What the engine counted.

    Returns
    -------
    Verdict
        OK when nothing is amiss.
    """
    reasons = [
        *check_conservation(summary),
        *check_congestion_control(scenario, summary),
        *check_rate(scenario, summary),
        *check_queue_delay(scenario, summary),
        *check_rtt(summary),
        *check_limited(summary),
        *check_rto_stalls(summary),
        *check_idle(summary),
    ]
    return Verdict(tuple(reasons))


def check_conservation(summary: Mapping[str, Any]) -> Iterator[Reason]:
    """Every packet sent was dropped, arrived or is on the path; the bottleneck made none."""
    wrong = []
    for flow in summary["flows"]:
        accounted = flow["dropped_pkts"] + flow["arrived_pkts"] + flow["on_path_pkts"]
        if flow["sent_pkts"] != accounted:
            wrong.append((flow, f"sent {flow['sent_pkts']} packets, {accounted} accounted for"))
    yield from about_flows(INVALID, "conservation", "packets went missing", wrong, summary)
    link = summary["bottleneck"]
    accounted = link["forwarded_pkts"] + link["dropped_pkts"] + link["left_pkts"]
    if link["offered_pkts"] != accounted:
        yield Reason(
            INVALID,
            "conservation",
            f"the bottleneck was offered {link['offered_pkts']} packets, accounts for {accounted}",
        )


def check_congestion_control(scenario: Scenario, summary: Mapping[str, Any]) -> Iterator[Reason]:
    """Each flow ran the congestion control that was asked for."""
    loaded = {entry["group"]: entry["cc"] for entry in summary["congestion_controls"]}
    wrong = []
    for flow in summary["flows"]:
        group = flow["group"]
        asked = scenario.groups[group].cc
        # A file's own name is known only once it is loaded.
        name = loaded.get(group) if asked.is_file else asked.name
        if flow["cc"] != name:
            wrong.append((flow, f"ran `{flow['cc']}`, asked for `{name}`"))
    what = "ran another congestion control"
    yield from about_flows(INVALID, "congestion_control", what, wrong, summary)
    if len(summary["flows"]) != scenario.flow_count:
        yield Reason(
            INVALID,
            "congestion_control",
            f"{len(summary['flows'])} flows ran, {scenario.flow_count} were asked for",
        )


def check_rate(scenario: Scenario, summary: Mapping[str, Any]) -> Iterator[Reason]:
    """The bottleneck carried what its rate allows: no more ever, and no less while it was busy."""
    link = summary["bottleneck"]
    can_carry_bytes = link["link_rate_bps"] * summary["duration_ns"] / (8 * 10**9)
    if link["forwarded_bytes"] > can_carry_bytes:
        yield Reason(
            INVALID,
            "rate",
            f"the bottleneck forwarded {link['forwarded_bytes']} B, "
            f"more than the {can_carry_bytes:.0f} B its rate allows",
        )
        return
    busy_us = link.get("busy_us", 0)  # runs saved by earlier versions have none
    if busy_us < MIN_BUSY_US:
        return
    busy_bytes = link["link_rate_bps"] * busy_us / (8 * 10**6)
    tolerance_bytes = RATE_TOLERANCE * busy_bytes + largest_packet_bytes(scenario)
    if abs(link["forwarded_bytes"] - busy_bytes) > tolerance_bytes:
        yield Reason(
            INVALID,
            "rate",
            f"the bottleneck forwarded {link['forwarded_bytes']} B in the {busy_us / 1e6:.2f} s it "
            f"was busy, its rate makes {busy_bytes:.0f} B",
        )


def check_queue_delay(scenario: Scenario, summary: Mapping[str, Any]) -> Iterator[Reason]:
    """No packet waited longer than a full buffer takes, and the packet on the link before it."""
    link = summary["bottleneck"]
    if link["limit_bytes"] is None:
        return
    ahead_bytes = link["limit_bytes"] + largest_packet_bytes(scenario)
    longest_us = ahead_bytes * 8 * 10**6 / link["link_rate_bps"] * (1 + RATE_TOLERANCE)
    if link["queue_delay_max_us"] > longest_us + 1:  # + 1: whole µs
        yield Reason(
            INVALID,
            "queue_delay",
            f"a packet waited {link['queue_delay_max_us']} µs, "
            f"a full buffer takes {longest_us:.0f} µs",
        )


def largest_packet_bytes(scenario: Scenario) -> int:
    """Size of the largest packet of any group on the wire."""
    return max(group.packet_bytes for group in scenario.groups)


def check_rtt(summary: Mapping[str, Any]) -> Iterator[Reason]:
    """No packet was faster than the path."""
    wrong = [
        (flow, f"min RTT {flow['rtt_min_us']} µs, base RTT {flow['base_rtt_us']} µs")
        for flow in summary["flows"]
        if 0 < flow["rtt_min_us"] < flow["base_rtt_us"]
    ]
    yield from about_flows(INVALID, "rtt", "measured an RTT below the path's", wrong, summary)


def check_limited(summary: Mapping[str, Any]) -> Iterator[Reason]:
    """The congestion control, not a window or buffer, decided what was in flight."""
    for check, what in (("rwnd", "receive window"), ("sndbuf", "send buffer")):
        limited = []
        for flow in summary["flows"]:
            part = flow[f"{check}_limited_us"] / max(flow["end_us"] - flow["start_us"], 1)
            if part > LIMITED_SHARE:
                limited.append((flow, f"{100 * part:.1f} % of its time"))
        yield from about_flows(WARN, check, f"limited by the {what}", limited, summary)


def check_rto_stalls(summary: Mapping[str, Any]) -> Iterator[Reason]:
    """No flow stood still for long after a retransmission timeout."""
    stalled = [
        (flow, f"{flow['rto_stall_max_us'] / 1e6:.2f} s at a time, {flow['rto_count']} RTOs")
        for flow in summary["flows"]
        if flow["rto_stall_max_us"] >= RTO_STALL_US
    ]
    yield from about_flows(WARN, "rto_stall", "stalled after an RTO", stalled, summary)


def check_idle(summary: Mapping[str, Any]) -> Iterator[Reason]:
    """Every flow got something across."""
    idle = [
        (flow, f"sent {flow['sent_pkts']} packets, 0 bytes received")
        for flow in summary["flows"]
        if flow["received_bytes"] == 0
    ]
    yield from about_flows(WARN, "idle", "got nothing across", idle, summary)


def about_flows(
    status: str,
    check: str,
    what: str,
    found: Sequence[tuple[Mapping[str, Any], str]],
    summary: Mapping[str, Any],
) -> Iterator[Reason]:
    """Say one thing about all the flows it holds for, with the first as the example."""
    if not found:
        return
    flow, detail = found[0]
    total = len(summary["flows"])
    example = f"flow {flow['flow']} ({flow['cc']}): {detail}"
    yield Reason(status, check, f"{len(found)} of {total} flows {what}: {example}")

"""The checks of the flows' counters, in both engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from math import log2
from typing import TYPE_CHECKING, Any

from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.congestion_control.name_kinds import KERNELS_DEFAULT
from dumbbell.run.verdict.reason import INVALID, WARN, Reason, about_flows
from dumbbell.scenario import Scenario
from dumbbell.scenario.link import BOTTLENECK

if TYPE_CHECKING:
    from dumbbell.records.rows import LinkRecord, SummaryRecord

__all__ = [
    "check_congestion_control",
    "check_conservation",
    "check_cwnd_zero",
    "check_ecn",
    "check_failures",
    "check_idle",
    "check_limited",
    "check_rto_stalls",
    "check_rtt",
    "check_unused",
    "check_windows",
    "is_emulated",
    "largest_packet_bytes",
    "links_of",
]

#: Share of a flow's time for which the receive window or send buffer may limit it without a
#: warning.
LIMITED_SHARE = 0.01
#: RTO stalls this long cause a warning: five times Linux's smallest RTO of 200 ms, so a
#: single timeout passes and backed-off ones do not.
RTO_STALL_US = 1_000_000
#: A cwnd of 0 that stays as long as Linux's smallest RTO is ended by a timeout.
CWND_ZERO_US = 200_000

#: The largest window that TCP can advertise (RFC 7323 §2.3): no congestion control algorithm needs
#: more.
LARGEST_WINDOW_BYTES = 2**30

#: Share of the link that a flow must use when it is alone: what one reduction of Reno's leaves in a
#: buffer of no size.
LONE_FLOW_SHARE = 0.5
#: The initial window (RFC 6928), which slow start doubles every round trip (RFC 5681).
INITIAL_WINDOW_PKTS = 10
#: Round trips to get from slow start to a steady state: the length of BBR's bandwidth filter, and
#: longer than any other memory of a built-in congestion control algorithm but PROBE_RTT's.
SETTLING_RTTS = 10
#: Checks whose reasons do not explain why a flow leaves the link idle.
NO_CAUSE_OF_IDLENESS = frozenset(("drops", "ecn", "sandbox", "sampling", "capture", "stock-kernel"))

#: What Linux's DCTCP calls itself, and is, where the handshake did not agree on ECN (`dctcp_init`).
WITHOUT_ECN = {"linux/dctcp": "linux/dctcp-reno"}
#: How far below the base RTT the kernel engine may measure an RTT: its clocks are read where a
#: packet enters and leaves, to a whole µs, and not at the same instant as the path's.
RTT_TOLERANCE = 0.01


def check_conservation(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """Every packet sent, or copied by an impairment, was dropped, arrived or is on the path."""
    wrong = []
    for flow in summary["flows"]:
        accounted = flow["dropped_pkts"] + flow["arrived_pkts"] + flow["on_path_pkts"]
        copies = flow.get("duplicated_pkts") or 0  # only where there were any
        if flow["sent_pkts"] + copies != accounted:
            sent = f"sent {flow['sent_pkts']} packets"
            copied = f" and {copies} were copied" if copies else ""
            wrong.append((flow, f"{sent}{copied}, {accounted} accounted for"))
    yield from about_flows(INVALID, "conservation", "packets went missing", wrong, scenario)


def check_failures(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """No connection was ended by an error of its stack, after which its flow gets nothing."""
    wrong = [(flow, flow["failure"]) for flow in summary["flows"] if flow.get("failure")]
    what = "ended by an error of the stack, and got nothing from then on"
    yield from about_flows(INVALID, "connection", what, wrong, scenario)


def check_congestion_control(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """Each flow ran the requested congestion control."""
    loaded = {entry["group"]: entry["cc"] for entry in summary["congestion_controls"]}
    wrong = []
    for flow in summary["flows"]:
        group = flow["group"]
        asked = scenario.groups[group].cc
        # A file's own name is known only once it is loaded.
        is_known_later = asked.is_file or asked.is_python or asked.name == KERNELS_DEFAULT
        name = loaded.get(group) if is_known_later else asked.name
        if flow["cc"] not in (name, WITHOUT_ECN.get(str(name))):
            wrong.append((flow, f"ran `{flow['cc']}`, expected `{name}`"))
    what = "ran another algorithm"
    yield from about_flows(INVALID, "congestion_control", what, wrong, scenario)
    if len(summary["flows"]) != scenario.flow_count:
        yield Reason(
            INVALID,
            "congestion_control",
            f"{len(summary['flows'])} flows ran, {scenario.flow_count} were requested",
        )


def largest_packet_bytes(scenario: Scenario) -> int:
    """Return the wire size of the largest packet of any group."""
    return max(group.packet_bytes for group in scenario.groups)


def links_of(summary: SummaryRecord) -> Sequence[LinkRecord]:
    """Return the links; results of the first versions have only one, the bottleneck."""
    links: Sequence[LinkRecord] = summary.get("links") or [
        {"name": BOTTLENECK, **summary["bottleneck"]}
    ]
    return links


def is_emulated(summary: SummaryRecord) -> bool:
    """Whether the run was on the kernel engine, in real time."""
    return summary.get("emulation") is not None


def check_rtt(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """No packet was faster than the path."""
    tolerance = RTT_TOLERANCE if is_emulated(summary) else 0
    wrong = [
        (flow, f"min RTT {flow['rtt_min_us']} µs, base RTT {flow['base_rtt_us']} µs")
        for flow in summary["flows"]
        if 0 < flow["rtt_min_us"] < (1 - tolerance) * flow["base_rtt_us"]
    ]
    yield from about_flows(INVALID, "rtt", "measured an RTT below the path's", wrong, scenario)


def check_limited(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """The congestion control algorithm, not a window or buffer, decided what was in flight."""
    for check, what in (("rwnd", "receive window"), ("sndbuf", "send buffer")):
        limited = []
        for flow in summary["flows"]:
            row: Mapping[str, Any] = flow
            part = row[f"{check}_limited_us"] / max(flow["end_us"] - flow["start_us"], 1)
            if part > LIMITED_SHARE:
                limited.append((flow, f"{100 * part:.1f} % of its time"))
        yield from about_flows(WARN, check, f"limited by the {what}", limited, scenario)


def check_rto_stalls(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """No flow stalled for long after a retransmission timeout."""
    stalled = [
        (flow, f"{stall_us / 1e6:.2f} s at a time, {pluralize(flow['rto_count'] or 0, 'RTO')}")
        for flow in summary["flows"]
        # Not reported by the kernel.
        if (stall_us := flow["rto_stall_max_us"] or 0) >= RTO_STALL_US
    ]
    yield from about_flows(WARN, "rto_stall", "stalled after an RTO", stalled, scenario)


def check_cwnd_zero(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """No congestion control algorithm left cwnd at 0 until a timeout came."""
    at_zero = [
        (flow, f"{max_us / 1e6:.2f} s at a time")
        for flow in summary["flows"]
        if (max_us := flow.get("cwnd_zero_max_us") or 0) >= CWND_ZERO_US
    ]
    yield from about_flows(WARN, "cwnd_zero", "left cwnd at 0", at_zero, scenario)


def check_windows(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """No socket had a cwnd or ssthresh that no TCP can use: the kernel ran something else."""
    wild = []
    for flow in summary["flows"]:
        largest_pkts = LARGEST_WINDOW_BYTES // int(scenario.groups[flow["group"]].mss)
        largest = {"cwnd": flow.get("cwnd_max_pkts"), "ssthresh": flow.get("ssthresh_max_pkts")}
        for name, sampled_pkts in largest.items():
            pkts = sampled_pkts or 0
            if pkts > largest_pkts:
                wild.append(
                    (flow, f"{name} of {pkts:,} packets, at most {largest_pkts:,} make sense")
                )
    what = "had a window that no congestion control sets; run it again"
    yield from about_flows(INVALID, "window", what, wild, scenario)


def check_idle(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """Every flow of ours delivered data; programs may have no data to send."""
    idle = [
        (flow, f"sent {flow['sent_pkts']} packets, 0 bytes received")
        for flow in summary["flows"]
        if flow["received_bytes"] == 0 and scenario.groups[flow["group"]].client is None
    ]
    yield from about_flows(WARN, "idle", "delivered nothing", idle, scenario)


def check_ecn(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """If flows use ECN, a link marks packets."""
    if any(link.get("marked_pkts") is not None for link in links_of(summary)):
        return
    loaded = zip(scenario.groups, summary["congestion_controls"], strict=True)
    uses_ecn = [group.ecn or entry.get("needs_ecn") for group, entry in loaded]
    if any(uses_ecn):
        with_ecn = compress(scenario.group_labels, uses_ecn)
        yield Reason(
            WARN,
            "ecn",
            f"`{'`, `'.join(with_ecn)}` received no ECN marks; only losses signalled congestion; "
            "set `--ecn-threshold 20pkt` or `--queue fq_codel`",
        )


def check_unused(
    scenario: Scenario, summary: SummaryRecord, reasons: Sequence[Reason]
) -> Iterator[Reason]:
    """A flow alone on the link uses at least half of it, unless one of `reasons` explains it."""
    explained = any(reason.check not in NO_CAUSE_OF_IDLENESS for reason in reasons)
    configured = scenario.rtt_steps or any(
        int(link.loss) > 0 or link.impair or link.rate_steps or link.trace
        for link in scenario.links
    )
    first = scenario.groups[0]
    configured = configured or first.client is not None or not first.traffic.is_bulk
    if scenario.flow_count != 1 or len(summary["flows"]) != 1 or explained or configured:
        return
    flow, link = summary["flows"][0], summary["bottleneck"]
    # The busiest of several links need not be on the flow's way there.
    used = max(flow["throughput_bps"] / link["link_rate_bps"], link.get("utilization", 0))
    lasted_us = flow["end_us"] - flow["start_us"]
    rtt_us = max(flow["base_rtt_us"], flow["rtt_mean_us"])
    bdp_pkts = link["link_rate_bps"] * rtt_us / (8 * 10**6) / largest_packet_bytes(scenario)
    slow_start_rtts = log2(max(1.0, bdp_pkts / INITIAL_WINDOW_PKTS))
    # A flow that fills the link from the middle of its time on uses half of it.
    if used >= LONE_FLOW_SHARE or lasted_us < 2 * (slow_start_rtts + SETTLING_RTTS) * rtt_us:
        return
    yield Reason(
        WARN,
        "unused",
        f"the only flow ({scenario.group_labels[0]}) left {1 - used:.1%} of the link unused, and "
        "no window, application, configured loss or step explains it: "
        f"{flow['throughput_bps'] / 1e6:.4g} of {link['link_rate_bps'] / 1e6:g} Mbit/s in "
        f"{lasted_us / 1e6:.3g} s, mean RTT {rtt_us / 1e3:.3g} ms, "
        f"mean cwnd {flow['cwnd_mean_pkts']:.3g} packets, "
        f"{link['dropped_pkts']:,} of {link['offered_pkts']:,} packets dropped",
    )

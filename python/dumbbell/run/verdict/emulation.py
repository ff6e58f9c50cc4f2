"""The checks of the kernel's and the UML engine's precision: on time, on a fast enough machine?

Its errors are compared with RTTs, because congestion control algorithms measure these: a packet
that leaves the path late has an RTT that is longer by that much.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dumbbell.run.guest import UML
from dumbbell.run.verdict.reason import INVALID, NOTE, WARN, Reason
from dumbbell.scenario import Link, Scenario
from dumbbell.scenario.link import UNLIMITED
from dumbbell.scenario.routes import links_back_of, links_of

if TYPE_CHECKING:
    from dumbbell.records.rows import EmulationRecord, SummaryRecord

__all__ = ["evaluate_emulation"]

#: p99 lateness over the smallest RTT that a flow's packets had, in the median (`usual_rtt_us`): of
#: 1 ms in an idle path 50 µs are a twentieth, of the 30 ms behind a queue they are nothing. Up to a
#: hundredth, RTTs are as accurate as rate and base RTT are required to be. A twentieth is like a
#: queue: 2 ms of 40 ms are eight packets at 50 Mbit/s, where Copa aims at two per flow.
LATE_WARN, LATE_INVALID = 0.01, 0.05
#: A single packet later than this part of the base RTT is a gap in the ACKs that shows in a time
#: series. A gap now and then, of a packet in a thousand, changes no mean.
#: The engine counts later packets as `late_pkts` (`LATE_DIVISOR` of `crates/emu/src/summarize.rs`).
GAP = 0.1
GAP_PKTS = 0.001
#: Rate and base RTT measured on the idle path against those of the scenario; as for lateness.
OFF_WARN, OFF_INVALID = 0.01, 0.05
#: Above this share of computing time a relay thread falls behind, and arriving packets are late:
#: p99 of an M/D/1 queue at 90 % load is about twenty service times.
BUSY_SHARE = 0.9
#: Below this idle time, in cores, there was no reserve for bursts.
IDLE_CORES = 0.05
#: Cores that other processes may use. Real-time priority protects the relay from them, but nothing
#: protects the kernel's TCP.
OTHER_CORES = 0.5
#: Share of all CPUs that the hypervisor may give to others; this machine cannot see that time.
STOLEN_SHARE = 0.05
#: p99 distance of a sample from its instant; beyond half an interval it belongs to the next.
JITTER_SHARE = 0.5
#: Share of sampling instants that may be without rows.
MISSED_SHARE = 0.01
#: The hosts' counters are read after the path's, which are from the very end. In between, a flow
#: sends as its ACKs come, at the link's rate, and a burst (at most 64 kB in TCP) may have left it
#: and not arrived.
READ_US = 50_000
BURST_BYTES = 65_536


def evaluate_emulation(scenario: Scenario, summary: SummaryRecord) -> Iterator[Reason]:
    """Check what the kernel engine reports about itself; no checks for a simulated run."""
    facts = summary.get("emulation")
    if facts is None:
        return
    yield from check_lateness(scenario, summary, facts)
    if summary.get("engine") != UML:  # in virtual time neither the machine nor its load counts
        yield from check_calibration(scenario, facts)
        yield from check_cpu(facts)
        yield from check_sampling(scenario, facts)
    yield from check_host_drops(scenario, facts)
    yield from check_capture(facts)


def graded(value: float, warn: float, invalid: float) -> str | None:
    """Return the status of a value; None if it is small enough."""
    if value > invalid:
        return INVALID
    return WARN if value > warn else None


def usual_rtt_us(scenario: Scenario, summary: SummaryRecord) -> float:
    """Return the smallest of the flows' median RTTs; the base RTT if that of a flow is not known.

    A flow that keeps its queue empty has hardly more than the base RTT. RTTs of programs without
    TCP, as of datagrams and ping, are not known.
    """
    base_rtt_us = int(scenario.shortest_rtt) / 1000
    is_program = [group.client is not None for group in scenario.groups]
    medians_us = [
        float(flow.get("rtt_p50_us", 0))
        for flow in summary["flows"]
        if flow.get("received_bytes") != 0 or is_program[flow["group"]]
    ]
    return max(base_rtt_us, min(medians_us, default=0))  # 0: without a sample


def check_lateness(
    scenario: Scenario, summary: SummaryRecord, facts: EmulationRecord
) -> Iterator[Reason]:
    """Packets left the path when they were due."""
    base_rtt_us = int(scenario.shortest_rtt) / 1000
    usual_us = usual_rtt_us(scenario, summary)
    p99_us, max_us = facts["lateness_p99_us"], facts["lateness_max_us"]
    status = graded(p99_us / usual_us, LATE_WARN, LATE_INVALID)
    of_rtt = f"of the base RTT of {base_rtt_us / 1000:g} ms"
    of_usual = of_rtt if usual_us == base_rtt_us else f"of the median RTT of {usual_us / 1000:g} ms"
    if status is not None:
        yield Reason(
            status,
            "lateness",
            f"1 packet in 100 left the path {p99_us:.0f} µs late or more, "
            f"{p99_us / usual_us:.1%} {of_usual}",
        )
    if max_us > GAP * base_rtt_us and facts["late_pkts"] > GAP_PKTS * facts["written_pkts"]:
        yield Reason(
            WARN,
            "lateness",
            f"packets left the path up to {max_us:.0f} µs late, "
            f"{max_us / base_rtt_us:.0%} {of_rtt}",
        )


def check_calibration(scenario: Scenario, facts: EmulationRecord) -> Iterator[Reason]:
    """Rate and base RTT, measured before the run, are those of the scenario."""
    # What the first group's data cross, and no more.
    crossed = links_of(scenario.groups[0], scenario)
    rate_bps = min(int(link.rate) for link in crossed)
    measured_bps = facts["calibrated_link_rate_bps"]
    status = graded(abs(measured_bps / rate_bps - 1), OFF_WARN, OFF_INVALID)
    if status is not None and is_plain(crossed) and rate_bps < UNLIMITED:
        yield Reason(
            status,
            "calibration",
            f"the idle link carried {measured_bps / 1e6:.2f} Mbit/s of {rate_bps / 1e6:g} Mbit/s",
        )
    for entry in facts["calibration"]:
        group = scenario.groups[entry["group"]]
        if not is_plain([*links_of(group, scenario), *links_back_of(group, scenario)]):
            continue
        base_us, measured_us = entry["base_rtt_us"], entry["measured_rtt_us"]
        # The engine has subtracted the time that the SYN itself was on the link.
        status = graded(abs(measured_us / base_us - 1), OFF_WARN, OFF_INVALID)
        if status is not None:
            yield Reason(
                status,
                "calibration",
                f"group {entry['group']}: the idle path's RTT is {measured_us / 1000:.3f} ms, "
                f"its base RTT {base_us / 1000:g} ms",
            )


def is_plain(links: Iterable[Link]) -> bool:
    """Whether an idle path over links has their rate and delays.

    Impairments, media and shapers hold back, drop and copy the calibration's packets too.
    """
    return not any(link.impair or link.has_medium or is_shaped(link) for link in links)


def is_shaped(link: Link) -> bool:
    """Whether a link's queue discipline may hold packets back while the link is idle."""
    return link.queue is not None and link.queue.declaration.holds_back


def check_cpu(facts: EmulationRecord) -> Iterator[Reason]:
    """The machine had enough CPU time; what a run suffered without it, other checks find."""
    cpus = facts["cpus"]
    if facts["relay_cpu_share"] > BUSY_SHARE:
        yield Reason(
            NOTE, "cpu", f"the relay computed {facts['relay_cpu_share']:.0%} of the time; "
            "it is at its limit"
        )  # fmt: skip
    if facts["idle_cpu_cores"] < IDLE_CORES:
        yield Reason(NOTE, "cpu", f"no CPU was idle: {facts['idle_cpu_cores']:.2f} of {cpus} cores")
    if facts["other_cpu_cores"] > OTHER_CORES:
        yield Reason(
            NOTE, "cpu", f"other processes took {facts['other_cpu_cores']:.2f} of {cpus} cores"
        )
    if facts["stolen_cpu_cores"] > STOLEN_SHARE * cpus:
        yield Reason(
            NOTE,
            "cpu",
            f"the hypervisor took {facts['stolen_cpu_cores']:.2f} of {cpus} cores for others",
        )


def check_sampling(scenario: Scenario, facts: EmulationRecord) -> Iterator[Reason]:
    """Samples were taken near their instants."""
    jitter_us, interval_us = facts["sample_jitter_p99_us"], int(scenario.sample) / 1000
    if interval_us > 0 and (jitter_us or 0) > JITTER_SHARE * interval_us:
        yield Reason(
            WARN,
            "sampling",
            f"1 sample in 100 was taken {jitter_us / 1000:.1f} ms late or more; "
            f"the interval is {scenario.sample}; use a longer `--sample`",
        )
    missed = facts["missed_samples"]
    if interval_us > 0 and missed * interval_us > MISSED_SHARE * int(scenario.time) / 1000:
        yield Reason(
            WARN,
            "sampling",
            f"{missed} sampling instants have no rows, because sampling was that late; "
            "use a longer `--sample`",
        )


def check_host_drops(scenario: Scenario, facts: EmulationRecord) -> Iterator[Reason]:
    """All packets that the kernel's TCP sent entered the path."""
    dropped_pkts = facts["host_dropped_pkts"]
    if dropped_pkts > 0:
        yield Reason(
            INVALID, "host_drops", f"{dropped_pkts} packets were lost between TCP and the path"
        )
    sent_pkts, entered_pkts = facts["hosts_sent_pkts"], facts["path_entered_pkts"]
    if abs(sent_pkts - entered_pkts) > may_differ_pkts(scenario):
        yield Reason(
            WARN,
            "host_drops",
            f"TCP sent {sent_pkts} packets, {entered_pkts} entered the path",
        )


def may_differ_pkts(scenario: Scenario) -> float:
    """Return how many packets may be sent but not yet counted on the path at the end."""
    smallest_bytes = min(int(group.mss) for group in scenario.groups)
    highest_bps = max(int(rate) for link in scenario.links for rate in link.rates)
    meanwhile_bytes = highest_bps * READ_US / (8 * 10**6)
    return (scenario.flow_count * BURST_BYTES + meanwhile_bytes) / smallest_bytes


def check_capture(facts: EmulationRecord) -> Iterator[Reason]:
    """If there is a capture, it has every packet."""
    missing_pkts = facts.get("capture_lost_pkts")  # absent in runs of the first versions
    if missing_pkts:
        yield Reason(
            WARN,
            "capture",
            f"{missing_pkts} packets are missing from the capture, because it could not be written "
            "that fast; use fewer `--capture-points`, or a smaller `--capture-snap`",
        )

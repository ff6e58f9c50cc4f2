"""How elements of an apparatus change a scenario."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from dumbbell.scenario import Scenario, TcpChoice
from dumbbell_studies.papers.apparatus_element import Change
from dumbbell_studies.papers.starts import in_turn, later

__all__ = [
    "bbr_paced", "delayed_count", "dummynet", "flows", "impaired", "late", "late_timers", "memory",
    "noise", "parameters", "phase", "turns",
]  # fmt: skip


def flows(**fields: Any) -> Change:
    """Set fields of every group."""

    def change(scenario: Scenario) -> Scenario:
        groups = [dataclasses.replace(group, **fields) for group in scenario.groups]
        return scenario.replace(groups=groups)

    return change


def parameters(cc: str, **values: int | None) -> Change:
    """Set parameters of one congestion control algorithm; None returns one to its default."""

    def change(scenario: Scenario) -> Scenario:
        return scenario.with_ccs(
            lambda own: (
                dataclasses.replace(
                    own,
                    params={
                        name: value
                        for name, value in {**own.params, **values}.items()
                        if value is not None
                    },
                )
                if own.name == cc
                else own
            )
        )

    return change


def bbr_paced(**values: int | None) -> Change:
    """Set parameters of BBR; what TCP's own timer charges in a scenario is not charged twice."""
    without = {name: value for name, value in values.items() if name != "timer_burst_bytes"}

    def change(scenario: Scenario) -> Scenario:
        by_tcp = any(group.tcp.to_engine()["pacing"] == "timer" for group in scenario.groups)
        return parameters("bbr", **(without if by_tcp else values))(scenario)

    return change


def memory(size: str) -> Change:
    """Limit the memory of all sockets; send buffers are tuned within 16 MiB."""
    tuned = flows(sndbuf="16MiB", sndbuf_auto=True)
    return lambda scenario: tuned(scenario).replace(tcp_mem=size)


def impaired(what: str) -> Change:
    """Add an impairment or medium to the link, behind those it has."""

    def change(scenario: Scenario) -> Scenario:
        return scenario.replace(impair=[*map(str, scenario.links[0].impair), what])

    return change


def noise(largest_us: int) -> Change:
    """Delay each data packet by up to `largest_us`, uniformly; packets stay in order."""
    half_ns = 500 * largest_us
    return impaired(f"jitter:delay={half_ns}ns,uniform={half_ns}ns")


#: Bytes of a packet as scripts count them in `max_queue_size`.
SCRIPT_PACKET_BYTES = 1500


def delayed_count(link: str) -> Change:
    """Let the queue hold delayed packets too, within a limit in packets: `max_queue_size`."""

    def change(scenario: Scenario) -> Scenario:
        if scenario.buffer is None:
            return impaired(link)(scenario)
        limit_bytes = scenario.buffer.limit_bytes(scenario.rate, scenario.rtt)
        limit = limit_bytes // SCRIPT_PACKET_BYTES
        return impaired(link)(scenario.replace(buffer=f"{limit}pkt"))

    return change


def dummynet(scenario: Scenario) -> Scenario:
    """Make the bottleneck dummynet's pipe with its queue."""
    return impaired("dummynet_pipe")(scenario.replace(queue="dummynet"))


def phase(scenario: Scenario) -> Scenario:
    """Lengthen the RTT by up to the time of a full packet on the link, drawn from the seed."""
    group = scenario.groups[0]
    packet_ns = 8 * group.packet_bytes * 10**9 // int(scenario.rate)
    return flows(rtt_dither=f"{packet_ns}ns")(scenario)


def late_timers(lateness: str) -> Change:
    """Let TCP pace by its own timers, which fire late; its other rules stay as they are."""

    def change(scenario: Scenario) -> Scenario:
        groups = [
            dataclasses.replace(group, tcp=paced_by_timer(group.tcp), timer_lateness=lateness)
            for group in scenario.groups
        ]
        return scenario.replace(groups=groups)

    return change


def paced_by_timer(tcp: TcpChoice) -> TcpChoice:
    """Return a TCP that paces by its own timer; nothing else of it changes."""
    if tcp.to_engine()["pacing"] == "timer":
        return tcp
    return TcpChoice(tcp.name, {**tcp.params, "pacing": "timer"})


def turns(apart: str, *, iperf3: bool = False, rival_first: bool = False) -> Change:
    """Start processes in turn."""
    return partial(in_turn, apart=apart, iperf3=iperf3, rival_first=rival_first)


def late(cc: str, by: str) -> Change:
    """Start one congestion control algorithm later; only where it has a rival."""
    return lambda scenario: later(scenario, cc, by) if len(scenario.groups) > 1 else scenario

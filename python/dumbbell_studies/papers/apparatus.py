"""The papers' apparatus: elements that the plain set-up lacks and that can be added to it.

Each element comes from a source, and its levels are what the source says: all of them, where it
leaves a range. None was chosen for an outcome. A new element is an entry of `ELEMENTS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from dumbbell.scenario import Scenario
from dumbbell_studies.papers.apparatus_element import ApparatusElement, Level, Setup, Treatment
from dumbbell_studies.papers.changes import (
    bbr_paced,
    delayed_count,
    dummynet,
    flows,
    impaired,
    late,
    late_timers,
    memory,
    noise,
    parameters,
    phase,
    turns,
)
from dumbbell_studies.papers.hosts import (
    BBR_4_12,
    BBR_4_12_UNPACED,
    BBR_4_15,
    COPA_CCP_KERNEL,
    OVER_PACING,
)

__all__ = ["ELEMENTS", "Treatment", "apply", "elements_for", "is_control", "is_part"]

#: Tried only where an element's first level changes something.
part = partial(Level, is_part=True)

#: The facts come from the code of Mininet, ccp, FreeBSD and Linux: docs/notes/apparatus.md.
ALL = (
    ApparatusElement(
        "rwnd",
        "The receive window: 8 MiB, at which tcp_rmem and rmem_max of 16 MiB end with "
        "tcp_adv_win_scale 1; 16 MiB if the hosts were tuned after Mininet had started; 7 and 9 "
        "MiB on either side, and 4 MiB to see whether a dip moves.",
        "Mininet 2.2.2 to 2.3 (util.py, fixLimits); Linux 4.15",
        ("A4",),
        (
            *(Level(size, flows(rwnd=size)) for size in ("8MiB", "16MiB", "9MiB", "7MiB")),
            Level("4MiB", flows(rwnd="4MiB"), is_control=True),
        ),
    ),
    ApparatusElement(
        "sndbuf",
        "A send buffer that grows with twice cwnd to 16 MiB, tcp_wmem's largest value, or is as "
        "large from the start; the plain set-up has no limit.",
        "Mininet 2.2.2 to 2.3 (util.py, fixLimits)",
        ("A4",),
        (
            Level("16MiB, tuned", flows(sndbuf="16MiB", sndbuf_auto=True)),
            Level("16MiB", flows(sndbuf="16MiB")),
        ),
    ),
    ApparatusElement(
        "ooo_limit",
        "A receiver that keeps at most so many segments above a hole and drops the others without "
        "a SACK: 48 in old releases of FreeBSD, of 2010 or before; 100 from August 2018, after the "
        "paper, to compare with.",
        "FreeBSD tcp_reass.c; advisory SA-18:08",
        ("D3",),
        (
            Level("48", flows(ooo_limit="48pkt")),
            Level("100", flows(ooo_limit="100pkt"), is_control=True),
        ),
    ),
    ApparatusElement(
        "single_segments",
        "No segmentation offload at the senders: single segments leave, not bursts.",
        "Mininet leaves TSO and GSO on and switches GRO off (link.py); ogino2021's RTTs rule out "
        "that packets of many segments filled the queue",
        ("A4", "A6", "A7", "B2", "B3", "D3"),
        (Level("on", flows(tso=False)),),
        "offload",
    ),
    ApparatusElement(
        "noise",
        "Up to so much delay of each packet, drawn uniformly: what a virtual machine's timers and "
        "queues add. On a path without noise many RTTs equal min_rtt, and BBR before Linux 5.10 "
        "renews it at each.",
        "estimated, 20 to 100 µs",
        ("A6", "A7", "B2", "B3", "C1"),
        tuple(Level(f"{us}us", noise(us)) for us in (20, 100)),
    ),
    ApparatusElement(
        "starts",
        "Processes that a script starts one after the other, with the flows of each within 5 ms; "
        "eight hosts where all flows are alike. 10 to 50 ms a process are estimated, 1 s if the "
        "script sleeps. iperf 3 connects flow by flow, and they start when all have.",
        "Mininet's host.cmd; iperf 2 Launch.cpp; iperf 3.1.3",
        ("A6", "A7", "B2", "B3", "C1"),
        (
            Level("50ms apart", turns("50ms")),
            Level("10ms apart", turns("10ms")),
            Level("1s apart", turns("1s")),
            Level("iperf3, 50ms apart", turns("50ms", iperf3=True)),
        ),
        "starts",
    ),
    ApparatusElement(
        "order",
        "Which kind of flow starts first, and by how much; the plain set-up starts all within "
        "0.1 s, in any order.",
        "not in the papers",
        ("A6", "A7"),
        (
            Level("Copa first by 0.1s", late("bbr", "100ms")),
            Level("BBR first by 0.1s", late("copa", "100ms")),
            Level("BBR first, in turn 50ms apart", turns("50ms", rival_first=True)),
            Level("Copa first by 1s", late("bbr", "1s"), is_control=True),
            Level("BBR first by 1s", late("copa", "1s"), is_control=True),
        ),
        "starts",
    ),
    ApparatusElement(
        "phase",
        "The base RTT is longer by less than a packet's time on the link, another part of it in "
        "each seed: which packets a full queue takes depends on that, and a noiseless path always "
        "has the same part.",
        "Floyd, Jacobson 1992, on traffic phase effects; hosts add tens of µs",
        ("A4", "A6", "A7", "B2", "B3", "C1", "D3"),
        (Level("a packet's time", phase),),
    ),
    ApparatusElement(
        "bbr_ack_aggregation",
        "BBR adds an estimate of ACK aggregation to cwnd, as from Linux 5.1 on.",
        "Linux commit 78dc70ebaa38; ogino2021's hosts had 4.15 by its text",
        ("A6",),
        (Level("Linux 5.1", parameters("bbr", extra_acked_gain=None), is_control=True),),
    ),
    ApparatusElement(
        "bbr_min_rtt_ties",
        "An RTT equal to min_rtt no longer renews it, as from Linux 5.10 on.",
        "Linux commit 1b9e2a8c99a5; ogino2021's hosts had 4.15 by its text",
        ("A6",),
        (Level("Linux 5.10", parameters("bbr", min_rtt_tie_renews=None), is_control=True),),
    ),
    ApparatusElement(
        "gso",
        "Super-packets of segmentation offload stay whole through the queue, are dropped whole and "
        "get an ACK each; the queue's limit is in bytes.",
        "Linux 4.15 veth, netem; Mininet leaves GSO on",
        ("A4", "A6", "A7", "B2", "B3"),
        (Level("on", flows(gso=True)),),
        "offload",
    ),
    ApparatusElement(
        "tclink_htb",
        "Mininet's default link: a packet leaves whole at the start of its service. The delay is "
        "elsewhere and the limit in bytes, or as `max_queue_size` has it: the delay passes in the "
        "queue, whose limit of packets of 1500 bytes counts delayed ones.",
        "Mininet link.py; Linux 4.15 sch_htb, sch_netem; docs/media.md",
        ("A4", "A6", "A7"),
        (
            Level("delay apart", impaired("tclink_htb:delay_in_queue=off")),
            Level("limit counts delayed packets", delayed_count("tclink_htb")),
        ),
        "link",
    ),
    ApparatusElement(
        "tclink_tbf",
        "Mininet's link with `use_tbf`: a token bucket of 15 kB, 2.4 ms at 50 Mbit/s. The delay is "
        "elsewhere and the limit in bytes.",
        "Mininet link.py; Linux 4.15 sch_tbf; docs/media.md",
        ("A4", "A6", "A7"),
        (Level("delay apart", impaired("tclink_tbf:delay_in_queue=off")),),
        "link",
    ),
    ApparatusElement(
        "tcp_4_15",
        "Loss recovery and pacing of Linux 4.15: losses are counted too, a timeout marks all lost "
        "and sets cwnd to 1, the retransmit hint has a defect, pacing makes up for nothing. One of "
        "these rules alone, if the whole changes anything.",
        "Linux 4.15.18; docs/tcp.md",
        ("A4", "A6", "A7"),
        (
            Level("whole", flows(tcp="4.15")),
            part("timeout", flows(tcp="6.18:rto_marks=all,rto_cwnd=one")),
            part("hint defect", flows(tcp="6.18:hint_defect=on")),
            part("detection", flows(tcp="6.18:detection=dupthresh_and_rack")),
        ),
        "tcp",
    ),
    ApparatusElement(
        "tcp_4_12",
        "Loss recovery of Linux 4.12: that of 4.15, and any SACK undoes a timeout. Pacing is left "
        "to fq. One of these rules alone, if the whole changes anything.",
        "Linux 4.12.4; docs/tcp.md",
        ("D3",),
        (
            Level("whole", flows(tcp="4.12:pacing=departure_time")),
            part("timeout", flows(tcp="6.18:rto_marks=all,rto_cwnd=one")),
            part("undo", flows(tcp="6.18:undo_on_any_sack=on")),
            part("hint defect", flows(tcp="6.18:hint_defect=on")),
        ),
        "tcp",
    ),
    ApparatusElement(
        "tcp_mem",
        "Memory of TCP in a small virtual machine, which both ends share: pressure begins at 1/16, "
        "32 MB of 512 MB, and the window falls. With 1 GB it would not be reached.",
        "Linux 4.15 tcp_init; docs/tcp.md",
        ("A4",),
        tuple(
            Level(size, memory(size)) for size in ("32MB", "64MB")
        ),
        "memory",
    ),
    ApparatusElement(
        "ooo_memory",
        "Data above a hole take 2304 bytes a packet of the receive buffer, so that the window "
        "shrinks.",
        "Linux 4.15; docs/tcp.md",
        ("A4",),
        (Level("on", flows(ooo_memory=True)),),
        "memory",
    ),
    ApparatusElement(
        "timer_lateness",
        "Pacing timers that fire late, with the pacing of Linux 4.15, which makes up for nothing; "
        "and that pacing with timers that are on time, to compare with.",
        "Linux 4.15; estimated, 20 to 100 µs",
        ("A6", "A7"),
        (
            *(
                Level(us, late_timers(us))
                for us in ("50us", "20us", "100us")
            ),
            Level("0us", late_timers("0us"), is_control=True),
        ),
    ),
    ApparatusElement(
        "bbr_over_pacing",
        "BBR with internal pacing paces 1.4 to 3 % above its bandwidth: it counts 1500 bytes a "
        "packet, and the timer charges the payload and one TCP header a burst.",
        "Linux 4.13 to 4.18; corrected by cadefe5f584a; docs/bbr.md",
        ("A6", "A7", "C1"),
        (Level("Linux 4.15", bbr_paced(**OVER_PACING)),),
        "bbr",
    ),
    ApparatusElement(
        "bbr_4_15",
        "BBR with all that changed since Linux 4.15, its over-pacing included.",
        "Linux 4.15.18; docs/bbr.md",
        ("A6", "A7", "C1"),
        (Level("whole", bbr_paced(**BBR_4_15)),),
        "bbr",
    ),
    ApparatusElement(
        "bbr_4_12",
        "BBR with all that changed since Linux 4.12, paced by fq 0.9 % below its bandwidth, or not "
        "at all.",
        "Linux 4.12.4; docs/bbr.md",
        ("D3",),
        (
            Level("with fq", parameters("bbr", **BBR_4_12)),
            Level("unpaced", parameters("bbr", **BBR_4_12_UNPACED)),
        ),
        "bbr",
    ),
    ApparatusElement(
        "copa_agent",
        "CCP's agent and module on Linux 4.15: an answer takes 30 µs, and at a timeout the old "
        "cwnd is written back and reported twice.",
        "ccp-kernel, ccp_copa; docs/copa.md",
        ("A4", "A6", "A7"),
        (Level("on", parameters("copa", **COPA_CCP_KERNEL)),),
    ),
    ApparatusElement(
        "dummynet",
        "FreeBSD's router: a limit in bytes with one packet over, times rounded to ticks of 1 ms.",
        "FreeBSD 10.4 ip_dn_io.c; docs/media.md",
        ("D3",),
        (Level("on", dummynet),),
        "link",
    ),
    ApparatusElement(
        "receiver_freebsd",
        "FreeBSD's receiver: an ACK every second packet or after 100 ms, six SACK blocks, no "
        "D-SACK.",
        "FreeBSD 10.4 tcp_input.c; docs/tcp.md",
        ("D3",),
        (Level("on", flows(receiver="freebsd")),),
    ),
)  # fmt: skip

#: Every element by its id, in the order in which they are added.
ELEMENTS: dict[str, ApparatusElement] = {element.id: element for element in ALL}


def elements_for(finding: str) -> Iterable[ApparatusElement]:
    """Return the elements that may matter for a finding."""
    return (element for element in ALL if finding in element.findings)


def apply(setup: Setup, scenario: Scenario) -> Scenario:
    """Return a scenario with elements added, in the order of `ELEMENTS`, not in theirs."""
    position = {name: at for at, name in enumerate(ELEMENTS)}
    for each in sorted(setup, key=lambda treatment: position[treatment.element]):
        scenario = ELEMENTS[each.element].level(each.level).change(scenario)
    return scenario


def is_control(setup: Setup) -> bool:
    """Whether the paper's apparatus cannot have had some of it."""
    return any(level_of(each).is_control for each in setup)


def is_part(setup: Setup) -> bool:
    """Whether some of it is a part of an element."""
    return any(level_of(each).is_part for each in setup)


def level_of(treatment: Treatment) -> Level:
    """Return an element's level."""
    return ELEMENTS[treatment.element].level(treatment.level)

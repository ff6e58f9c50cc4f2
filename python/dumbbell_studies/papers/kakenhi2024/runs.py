"""The runs: flows alone, loss intervals and flows against CUBIC, and the scenario of each point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dumbbell.scenario import Group, Scenario
from dumbbell_studies.papers.hosts import BBR_BEFORE_5_1, spelled

__all__ = [
    "ALONE_CCS",
    "BBR_FCA_RIVALS",
    "BUFFERS_BDP",
    "C1_FLOWS",
    "C1_SPREADS",
    "C1_VERSIONS",
    "C2_BUFFERS_BDP",
    "DEEP_BDP",
    "ESTIMATED_SPREADS",
    "FLOW_COUNTS",
    "INTERVAL_BUFFERS_BDP",
    "INTERVAL_FLOWS",
    "INTERVAL_RTTS",
    "INTERVAL_RUNS",
    "MIXES",
    "QUICK_BUFFERS_BDP",
    "QUICK_FLOW_COUNTS",
    "RIVALS",
    "Alone",
    "Interval",
    "Mixed",
    "Point",
    "grid",
    "run_name",
    "scenario",
]

#: C1 and C2: the report names 128 flows, 100 Mbit/s and buffers of 10 and 1 BDP. Its base RTT is
#: not known; 40 ms is that of the other papers.
FLOW_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128)
ALONE_CCS = ("bbr", "l3dr", "bbr3", "cubic")
#: C1's "deep buffer", in which "several hundred ms" can be seen: 1.28 s.
DEEP_BDP = 32.0
#: When the flows start is not in the report. C1 is decided with what is estimated for saito2022's
#: script, 0.1 to 0.4 s, as nothing else is known; the others are run because start times decide
#: whether the flows' PROBE_RTTs coincide. All other runs have the first.
ESTIMATED_SPREADS = ("100ms", "400ms")
C1_SPREADS = ("0s", *ESTIMATED_SPREADS, "1s", "5s")
C1_FLOWS = 128
#: C1's BBRs: the name of each, and what `Alone.cc` calls it.
C1_VERSIONS = {"BBR": "bbr", "BBR as in Linux 4.15": "bbr_4_15"}
#: Of those the ones that are a congestion control algorithm with parameters; see ogino2021.
PARAMETERS = {"bbr_4_15": spelled("bbr", BBR_BEFORE_5_1)}
C2_BUFFERS_BDP = (1.0, 10.0)

#: C3: "over buffers, RTTs and flow counts".
INTERVAL_BUFFERS_BDP = (0.5, 1.0, 2.0, 4.0, 8.0)
INTERVAL_RTTS = ("20ms", "40ms", "80ms")
INTERVAL_FLOWS = (1, 4, 16)
INTERVAL_RUNS = len(INTERVAL_BUFFERS_BDP) * len(INTERVAL_RTTS) * len(INTERVAL_FLOWS)

#: C4: what competes with CUBIC, and of these BBR and its variants, which BBR-FCA is compared with.
RIVALS = ("bbr_fca", "bbr", "bbr3", "copa")
BBR_FCA_RIVALS = ("bbr", "bbr3")
MIXES = ((1, 1), (1, 4), (4, 1), (4, 4))
BUFFERS_BDP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

QUICK_FLOW_COUNTS = (1, 16, 128)
QUICK_BUFFERS_BDP = (1.0, 4.0, 16.0)


class Alone(NamedTuple):
    """Flows of one congestion control algorithm among themselves: C1 and C2.

    Attributes
    ----------
    cc
        Its name.
    flows
        How many.
    buffer_bdp
        Bottleneck buffer.
    spread
        All flows start within this.
    """

    cc: str
    flows: int
    buffer_bdp: float
    spread: str = ESTIMATED_SPREADS[0]


class Interval(NamedTuple):
    """CUBIC flows among themselves, for the time between their losses: C3.

    Attributes
    ----------
    rtt
        Base RTT.
    flows
        How many.
    buffer_bdp
        Bottleneck buffer.
    """

    rtt: str
    flows: int
    buffer_bdp: float


class Mixed(NamedTuple):
    """Flows of one congestion control algorithm against CUBIC: C4.

    Attributes
    ----------
    cc
        CUBIC's rival.
    mix
        Flows of the rival, flows of CUBIC.
    buffer_bdp
        Bottleneck buffer.
    """

    cc: str
    mix: tuple[int, int]
    buffer_bdp: float


Point = Alone | Interval | Mixed


def run_name(point: Point) -> str:
    """Return the name that a point's runs are saved under."""
    if isinstance(point, Alone):
        return f"alone-{point.cc}-n{point.flows}-{point.buffer_bdp:g}bdp-spread{point.spread}"
    if isinstance(point, Interval):
        return f"interval-{point.rtt}-n{point.flows}-{point.buffer_bdp:g}bdp"
    return f"mixed-{point.cc}-{point.mix[0]}to{point.mix[1]}-{point.buffer_bdp:g}bdp"


def scenario(point: Point, seed: int) -> Scenario:
    """Return what to run; against CUBIC the rival's group is the first."""
    buffer = f"{point.buffer_bdp:g}bdp"
    if isinstance(point, Alone):
        group = Group(PARAMETERS.get(point.cc, point.cc), point.flows, jitter=point.spread)
        return Scenario(
            [group], rate="100mbit", rtt="40ms", buffer=buffer, time="120s", seed=seed,
            sample="100ms",
        )  # fmt: skip
    if isinstance(point, Interval):
        # Every recovery lasts an RTT at least, so two samples see it.
        return Scenario(
            [Group("cubic", point.flows)], rate="50mbit", rtt=point.rtt, buffer=buffer,
            time="300s", seed=seed, sample="10ms",
        )  # fmt: skip
    rival, cubic = point.mix
    return Scenario(
        [Group(point.cc, rival), Group("cubic", cubic)], rate="50mbit", rtt="40ms", buffer=buffer,
        time="300s", seed=seed, sample="1s",
    )  # fmt: skip


def grid(
    flow_counts: Sequence[int],
    rtts: Sequence[str],
    mixes: Sequence[tuple[int, int]],
    buffers: Sequence[float],
    interval_buffers: Sequence[float],
    c1: Sequence[tuple[str, str]],
) -> tuple[Point, ...]:
    """Return the points of a grid."""
    deep: list[Point] = [
        *(Alone("bbr", n, DEEP_BDP) for n in flow_counts),
        *(Alone(cc, C1_FLOWS, DEEP_BDP, spread) for cc, spread in c1),
    ]
    alone: list[Point] = [
        Alone(cc, n, buffer) for cc in ALONE_CCS for buffer in C2_BUFFERS_BDP for n in flow_counts
    ]
    intervals: list[Point] = [
        Interval(rtt, n, buffer)
        for rtt in rtts
        for n in INTERVAL_FLOWS
        for buffer in interval_buffers
    ]
    mixed: list[Point] = [
        Mixed(cc, mix, buffer) for cc in RIVALS for mix in mixes for buffer in buffers
    ]
    return tuple(dict.fromkeys([*deep, *alone, *intervals, *mixed]))

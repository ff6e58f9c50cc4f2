"""The report's experiments: many flows alone, CUBIC's loss intervals, and BBR against CUBIC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dumbbell.scenario import Group, Scenario

__all__ = [
    "BUFFERS_BDP",
    "DEEP_BDP",
    "ESTIMATED_SPREADS",
    "FLOW_COUNTS",
    "INTERVAL_RUNS",
    "MIXES",
    "QUICK_NOTE",
    "RIVALS",
    "Alone",
    "Interval",
    "Mixed",
    "quick_scenarios",
    "scenarios",
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
#: Of those the ones that are a congestion control with parameters; see ogino2021.
PARAMETERS = {"bbr_4_15": "bbr:extra_acked_gain=0,min_rtt_tie_renews=1"}
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
    """Flows of one congestion control among themselves: C1 and C2.

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

    def run_name(self, seed: int) -> str:
        """Return the name its run is saved under."""
        where = f"n{self.flows}-{self.buffer_bdp:g}bdp-spread{self.spread}"
        return f"alone-{self.cc}-{where}-seed{seed}"

    def scenario(self, seed: int) -> Scenario:
        """Return what to run."""
        return Scenario(
            [Group(PARAMETERS.get(self.cc, self.cc), self.flows, jitter=self.spread)],
            rate="100mbit",
            rtt="40ms",
            buffer=f"{self.buffer_bdp:g}bdp",
            time="120s",
            seed=seed,
            sample="100ms",
            name=self.run_name(seed),
        )


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

    def run_name(self, seed: int) -> str:
        """Return the name its run is saved under."""
        return f"interval-{self.rtt}-n{self.flows}-{self.buffer_bdp:g}bdp-seed{seed}"

    def scenario(self, seed: int) -> Scenario:
        """Return what to run; every recovery lasts an RTT at least, so two samples see it."""
        return Scenario(
            [Group("cubic", self.flows)],
            rate="50mbit",
            rtt=self.rtt,
            buffer=f"{self.buffer_bdp:g}bdp",
            time="300s",
            seed=seed,
            sample="10ms",
            name=self.run_name(seed),
        )


class Mixed(NamedTuple):
    """Flows of one congestion control against CUBIC: C4.

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

    def run_name(self, seed: int) -> str:
        """Return the name its run is saved under."""
        rival, cubic = self.mix
        return f"mixed-{self.cc}-{rival}to{cubic}-{self.buffer_bdp:g}bdp-seed{seed}"

    def scenario(self, seed: int) -> Scenario:
        """Return what to run; the rival's group is the first."""
        rival, cubic = self.mix
        return Scenario(
            [Group(self.cc, rival), Group("cubic", cubic)],
            rate="50mbit",
            rtt="40ms",
            buffer=f"{self.buffer_bdp:g}bdp",
            time="300s",
            seed=seed,
            sample="1s",
            name=self.run_name(seed),
        )


Point = Alone | Interval | Mixed


def named(points: Sequence[Point], seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return points' names and scenarios, once per seed."""
    return [(point.run_name(seed), point.scenario(seed)) for point in points for seed in seeds]


def grid(
    flow_counts: Sequence[int],
    rtts: Sequence[str],
    mixes: Sequence[tuple[int, int]],
    buffers: Sequence[float],
    interval_buffers: Sequence[float],
    c1: Sequence[tuple[str, str]],
) -> list[Point]:
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
    return list(dict.fromkeys([*deep, *alone, *intervals, *mixed]))


def scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return every run's name and scenario, once per seed."""
    c1 = [(cc, spread) for cc in C1_VERSIONS.values() for spread in C1_SPREADS]
    points = grid(FLOW_COUNTS, INTERVAL_RTTS, MIXES, BUFFERS_BDP, INTERVAL_BUFFERS_BDP, c1)
    return named(points, seeds)


def quick_scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return the runs of the quick grid."""
    mixes, c1 = ((1, 1), (4, 4)), [("bbr", spread) for spread in ESTIMATED_SPREADS]
    points = grid(QUICK_FLOW_COUNTS, ("40ms",), mixes, QUICK_BUFFERS_BDP, (1.0, 4.0), c1)
    return named(points, seeds)


QUICK_NOTE = (
    "Quick: 1, 16 and 128 flows of each alone; CUBIC's loss intervals at 40 ms and two buffers; "
    "against CUBIC the mixes 1:1 and 4:4 at 1, 4 and 16 BDP. A clause about runs that are missing "
    "is not decided, unless one that is there violates it."
)

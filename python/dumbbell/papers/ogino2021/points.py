"""The paper's 32 runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dumbbell.scenario import Group, Scenario

__all__ = [
    "BUFFERS_BDP",
    "FLOWS",
    "QUICK_NOTE",
    "RIVALS",
    "RWND",
    "Point",
    "quick_scenarios",
    "scenarios",
]

RIVALS = ("cubic", "bbr")

#: What each of them runs. The paper's hosts had Linux 4.15.18, whose BBR did not yet add an
#: estimate of ACK aggregation to cwnd (that came with commit 78dc70ebaa38 in Linux 5.1), and put
#: PROBE_RTT off on an RTT equal to min_rtt too, not only on a smaller one (1b9e2a8c99a5, Linux
#: 5.10).
CONGESTION_CONTROLS = {
    "copa": "copa",
    "cubic": "cubic",
    "bbr": "bbr:extra_acked_gain=0,min_rtt_tie_renews=1",
}

FLOWS = (1, 4)
BUFFERS_BDP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

#: What is left of them when it must be quick, by rival and n: both ends, both sides of where a
#: finding says that something turns, the points that one is about (A1 0.5, A4 32 and 64 BDP), and
#: four wherever something is said to grow, for fewer have no rank correlation to speak of.
QUICK_BUFFERS_BDP = {
    ("cubic", 1): (0.5, 4.0, 32.0, 64.0),
    ("cubic", 4): (2.0, 4.0, 16.0, 32.0, 64.0),
    ("bbr", 1): (0.5, 2.0, 4.0, 64.0),
    ("bbr", 4): (0.5, 2.0, 16.0, 64.0),
}

#: Receive window. The paper says that CUBIC's cwnd reached its upper limit at 64 BDP, and not at
#: 32 BDP; 8 MiB is 33.5 BDP. It is what a Linux 4.15 host with net.core.rmem_max = 16 MiB
#: advertises: tcp_adv_win_scale = 1 keeps half of the buffer for overhead. A reconstruction.
RWND = "8MiB"


class Point(NamedTuple):
    """Where a run lies.

    Attributes
    ----------
    rival
        What Copa competes with: ``cubic`` or ``bbr``.
    n
        Flows of each.
    buffer_bdp
        Bottleneck buffer.
    """

    rival: str
    n: int
    buffer_bdp: float

    def run_name(self, seed: int) -> str:
        """Return the name its run is saved under."""
        return f"copa-{self.rival}-n{self.n}-{self.buffer_bdp:g}bdp-seed{seed}"

    def scenario(self, seed: int) -> Scenario:
        """Return what to run; Copa's group is the first."""
        groups = [
            Group(CONGESTION_CONTROLS[name], self.n, rwnd=RWND) for name in ("copa", self.rival)
        ]
        return Scenario(
            groups,
            rate="50mbit",
            rtt="40ms",
            buffer=f"{self.buffer_bdp:g}bdp",
            time="120s",
            seed=seed,
            name=self.run_name(seed),
        )


def scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return every run's name and scenario, once per seed, in the paper's order."""
    points = [Point(rival, n, b) for rival in RIVALS for n in FLOWS for b in BUFFERS_BDP]
    return [(point.run_name(seed), point.scenario(seed)) for point in points for seed in seeds]


def quick_scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return the runs of the quick grid."""
    points = [Point(*pair, b) for pair, buffers in QUICK_BUFFERS_BDP.items() for b in buffers]
    return [(point.run_name(seed), point.scenario(seed)) for point in points for seed in seeds]


def missing_buffers(rival: str, n: int) -> str:
    """Return what the quick grid leaves out of a pair: ``cubic n = 1: 1, 2, 8, 16 BDP``."""
    kept = QUICK_BUFFERS_BDP[rival, n]
    missing = ", ".join(f"{buffer:g}" for buffer in BUFFERS_BDP if buffer not in kept)
    return f"{rival} n = {n}: {missing} BDP"


QUICK_NOTE = (
    "Quick: each finding's rule is applied to fewer buffers; of four, what is said to grow must "
    "grow at every step, and what is shown may differ from the whole grid's. Missing are, with "
    + "; ".join(missing_buffers(rival, n) for rival, n in QUICK_BUFFERS_BDP)
    + "."
)

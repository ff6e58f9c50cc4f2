"""The runs: Copa's rival, flows of each and buffer, and the scenario of each point."""

from __future__ import annotations

from typing import NamedTuple

from dumbbell.scenario import Group, Scenario
from dumbbell_studies.papers.hosts import BBR_BEFORE_5_1, spelled

__all__ = [
    "BUFFERS_BDP",
    "COPA",
    "FLOWS",
    "QUICK_BUFFERS_BDP",
    "RIVAL",
    "RIVALS",
    "RWND",
    "Point",
    "scenario",
]

RIVALS = ("cubic", "bbr")

#: What each of them runs. The paper's hosts had Linux 4.15.18.
CONGESTION_CONTROLS = {
    "copa": "copa",
    "cubic": "cubic",
    "bbr": spelled("bbr", BBR_BEFORE_5_1),
}

FLOWS = (1, 4)
BUFFERS_BDP = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

#: What `--quick` keeps of them, by rival and n: both ends, both sides of where a
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

#: Groups of every run.
COPA, RIVAL = 0, 1


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


def scenario(point: Point, seed: int) -> Scenario:
    """Return what to run; Copa's group is the first."""
    ccs = [CONGESTION_CONTROLS[name] for name in ("copa", point.rival)]
    return Scenario(
        [Group(cc, point.n, rwnd=RWND) for cc in ccs],
        rate="50mbit",
        rtt="40ms",
        buffer=f"{point.buffer_bdp:g}bdp",
        time="120s",
        seed=seed,
    )

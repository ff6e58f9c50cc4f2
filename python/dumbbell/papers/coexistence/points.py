"""The experiment's 360 runs: BBR alone and BBR against CUBIC, 18 buffers, 10 repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dumbbell.scenario import Group, Scenario

__all__ = [
    "BUFFERS_BDP",
    "QUICK_BUFFERS_BDP",
    "QUICK_NOTE",
    "Point",
    "quick_scenarios",
    "scenarios",
]

#: BBR as Linux 4.12 had it, as in ogino2021: without the ACK-aggregation term (78dc70ebaa38, Linux
#: 5.1), and an RTT equal to min_rtt renews it (until 1b9e2a8c99a5, Linux 5.10).
BBR = "bbr:extra_acked_gain=0,min_rtt_tie_renews=1"
BUFFERS_BDP = tuple(float(buffer) for buffer in range(1, 19))
QUICK_BUFFERS_BDP = (1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 15.0, 18.0)
#: "Maximum window 100 MBytes".
WINDOW = "100MB"


class Point(NamedTuple):
    """Where a run lies.

    Attributes
    ----------
    with_cubic
        Whether BBR competes with CUBIC or is alone.
    buffer_bdp
        Bottleneck buffer.
    """

    with_cubic: bool
    buffer_bdp: float

    def run_name(self, seed: int) -> str:
        """Return the name its run is saved under."""
        who = "bbr-cubic" if self.with_cubic else "bbr"
        return f"{who}-{self.buffer_bdp:g}bdp-seed{seed}"

    def scenario(self, seed: int) -> Scenario:
        """Return what to run; BBR's group is the first."""
        ccs = [BBR, "cubic"] if self.with_cubic else [BBR]
        return Scenario(
            [Group(cc, 1, rwnd=WINDOW, sndbuf=WINDOW) for cc in ccs],
            rate="10mbit",
            rtt="40ms",
            buffer=f"{self.buffer_bdp:g}bdp",
            time="120s",
            seed=seed,
            sample="100ms",
            name=self.run_name(seed),
        )


def grid(buffers: Sequence[float], seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return the runs at some buffers."""
    points = [Point(with_cubic, buffer) for with_cubic in (False, True) for buffer in buffers]
    return [(point.run_name(seed), point.scenario(seed)) for point in points for seed in seeds]


def scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return every run's name and scenario, once per seed."""
    return grid(BUFFERS_BDP, seeds)


def quick_scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return the runs of the quick grid."""
    return grid(QUICK_BUFFERS_BDP, seeds)


QUICK_NOTE = (
    "Quick: 8 of the 18 buffers ("
    + ", ".join(f"{buffer:g}" for buffer in QUICK_BUFFERS_BDP)
    + " BDP); each finding's rule is applied to those."
)

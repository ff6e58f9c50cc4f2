"""The paper's four runs, with start times varied, and with each supposed cause switched off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dumbbell.scenario import Group, Scenario

__all__ = [
    "CAUSES",
    "CAUSE_SPREADS",
    "CAUSE_TIME",
    "ESTIMATED_SPREADS",
    "FLOWS",
    "PAPER_SPREAD",
    "QUICK_NOTE",
    "SPREADS",
    "VARIANTS",
    "Point",
    "quick_scenarios",
    "scenarios",
]

FLOWS = (16, 32, 64, 128)
#: All flows start within this. The paper does not say; its 8 senders each start one `iperf` with 2
#: to 16 parallel flows, from one script: 10 to 50 ms a process, 0.1 to 0.4 s for all. The findings
#: are decided with both; the others are run to show what start times do.
ESTIMATED_SPREADS = ("100ms", "400ms")
SPREADS = ("0s", *ESTIMATED_SPREADS, "1s", "5s")
#: Of the figures over time.
PAPER_SPREAD = ESTIMATED_SPREADS[0]
#: Of the runs that switch a cause off.
CAUSE_SPREADS = ("100ms", "1s", "5s")

#: Copa as it ran (ccp_copa), and with each of the three causes switched off that are supposed to
#: lock many flows into competitive mode.
VARIANTS = {
    "as it ran": "copa",
    "default start": "copa:competitive_start_windows=0",
    "RTT_min known": "copa:rtt_min_known_us=40000",
    "1/δ does not grow": "copa:inv_delta_max=2",
    "default start, RTT_min known": "copa:competitive_start_windows=0,rtt_min_known_us=40000",
}
AS_IT_RAN = "as it ran"
CAUSES = tuple(variant for variant in VARIANTS if variant != AS_IT_RAN)
#: Where the flows do lock, so that there is something to switch off.
CAUSE_FLOWS = (64, 128)
#: Half of the paper's time; what ran longer is compared by its first half.
CAUSE_TIME = "60s"


class Point(NamedTuple):
    """Where a run lies.

    Attributes
    ----------
    flows
        Copa flows.
    spread
        All start within this.
    variant
        Which Copa.
    """

    flows: int
    spread: str
    variant: str = AS_IT_RAN

    def run_name(self, seed: int) -> str:
        """Return the name its run is saved under."""
        number = list(VARIANTS).index(self.variant)
        return f"copa-n{self.flows}-spread{self.spread}-variant{number}-seed{seed}"

    def scenario(self, seed: int) -> Scenario:
        """Return what to run."""
        return Scenario(
            [Group(VARIANTS[self.variant], self.flows, jitter=self.spread)],
            rate="1gbit",
            rtt="40ms",
            buffer="64bdp",
            time="120s" if self.variant == AS_IT_RAN else CAUSE_TIME,
            seed=seed,
            sample="100ms",
            name=self.run_name(seed),
        )


def named(points: Sequence[Point], seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return points' names and scenarios, once per seed."""
    return [(point.run_name(seed), point.scenario(seed)) for point in points for seed in seeds]


def scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return every run's name and scenario, once per seed."""
    paper = [Point(flows, spread) for spread in SPREADS for flows in FLOWS]
    causes = [
        Point(flows, spread, variant)
        for variant in CAUSES
        for spread in CAUSE_SPREADS
        for flows in CAUSE_FLOWS
    ]
    return named([*paper, *causes], seeds)


def quick_scenarios(seeds: Sequence[int]) -> list[tuple[str, Scenario]]:
    """Return the paper's own runs, with the start times that it is estimated to have had."""
    return named([Point(flows, s) for s in ESTIMATED_SPREADS for flows in FLOWS], seeds)


QUICK_NOTE = (
    "Quick: the paper's four flow counts, all flows starting within "
    f"{' and '.join(ESTIMATED_SPREADS)}, one seed; other start times, and the runs that switch "
    "each cause off, are left out."
)

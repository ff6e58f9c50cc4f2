"""The runs: Copa flows, when they start and which Copa, and the scenario of each point."""

from __future__ import annotations

from typing import NamedTuple

from dumbbell.scenario import Group, Scenario

__all__ = [
    "APPARATUS_POINTS",
    "AS_IT_RAN",
    "BY_APPARATUS",
    "CAUSE_SPREADS",
    "CAUSE_TIME",
    "ESTIMATED_SPREADS",
    "FLOWS",
    "PAPER_SPREAD",
    "POINTS",
    "QUICK_POINTS",
    "SPREADS",
    "VARIANTS",
    "Point",
    "run_name",
    "scenario",
]

FLOWS = (16, 32, 64, 128)
#: All flows start within this. The paper does not say; its 8 senders each start one `iperf` with 2
#: to 16 parallel flows, from one script: 10 to 50 ms a process, 0.1 to 0.4 s for all. The findings
#: are decided with both; the others are run to show what start times do.
ESTIMATED_SPREADS = ("100ms", "400ms")
SPREADS = ("0s", *ESTIMATED_SPREADS, "1s", "5s")
#: Of the figures over time.
PAPER_SPREAD = ESTIMATED_SPREADS[0]
#: In place of a spread where a preset says when the flows start.
BY_APPARATUS = "apparatus"
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
        All start within this; or `BY_APPARATUS`.
    variant
        Which Copa.
    """

    flows: int
    spread: str
    variant: str = AS_IT_RAN


def run_name(point: Point) -> str:
    """Return the name that a point's runs are saved under."""
    number = list(VARIANTS).index(point.variant)
    return f"copa-n{point.flows}-spread{point.spread}-variant{number}"


def scenario(point: Point, seed: int) -> Scenario:
    """Return what to run."""
    jitter = "0s" if point.spread == BY_APPARATUS else point.spread
    return Scenario(
        [Group(VARIANTS[point.variant], point.flows, jitter=jitter)],
        rate="1gbit",
        rtt="40ms",
        buffer="64bdp",
        time="120s" if point.variant == AS_IT_RAN else CAUSE_TIME,
        seed=seed,
        sample="100ms",
    )


#: The paper's runs, and those that switch a cause off.
POINTS = (
    *(Point(flows, spread) for spread in SPREADS for flows in FLOWS),
    *(
        Point(flows, spread, variant)
        for variant in CAUSES
        for spread in CAUSE_SPREADS
        for flows in CAUSE_FLOWS
    ),
)
APPARATUS_POINTS = tuple(Point(flows, BY_APPARATUS) for flows in FLOWS)
QUICK_POINTS = tuple(Point(flows, spread) for spread in ESTIMATED_SPREADS for flows in FLOWS)

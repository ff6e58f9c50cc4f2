"""Grades lab 1: the saw-tooth of one Reno flow, and two flows that share. Run `pytest lab1`."""

from __future__ import annotations

from functools import cache

import numpy as np

import dumbbell
from dumbbell import Group
from grading import Answers

#: Rate in Mbit/s, RTT in ms, buffer in BDP: the paths on which the formula is tried.
PATHS = ((10, 80, 1.0), (20, 60, 0.75), (15, 40, 3.0))
#: A tooth is 3 to 7 % longer than the formula's: its top is up to 3 packets higher, and recovery
#: takes a round trip.
TOLERANCE = 0.15
UTILIZATION = 0.998
EVEN, WINDOW_S, SECOND_START_S = 0.9, 5, 30


@cache
def alone(rate_mbps: float, rtt_ms: float, buffer_bdp: float) -> dumbbell.Run:
    """Run a Reno flow alone for two minutes."""
    return dumbbell.run(
        ["reno"], rate=f"{rate_mbps}mbit", rtt=f"{rtt_ms}ms", buffer=f"{buffer_bdp:g}bdp",
        time="120s", sample="20ms",
    )  # fmt: skip


@cache
def tooth_s(rate_mbps: float, rtt_ms: float, buffer_bdp: float) -> float:
    """Return the mean time between losses after the first 15 s."""
    flow = alone(rate_mbps, rtt_ms, buffer_bdp).flows.to_pandas()
    is_recovering = (flow["ca_state"].astype(str) == "recovery").to_numpy()
    times_s = flow["time_us"].to_numpy()[1:] / 1e6
    losses_s = times_s[is_recovering[1:] & ~is_recovering[:-1]]
    return float(np.diff(losses_s[losses_s > 15]).mean())


@cache
def even_after_s() -> int:
    """Return when the later of two flows has nearly what the earlier one has."""
    groups = [Group("reno"), Group("reno", start=f"{SECOND_START_S}s")]
    run = dumbbell.run(
        groups, rate="20mbit", rtt="40ms", buffer="1bdp", time="120s", sample="100ms"
    )
    rates = run.flows.to_pandas().pivot(index="time_us", columns="flow", values="goodput_bps")
    for after_s in range(120 - SECOND_START_S - WINDOW_S):
        begin_us = 1e6 * (SECOND_START_S + after_s)
        mean = rates[(rates.index >= begin_us) & (rates.index < begin_us + 1e6 * WINDOW_S)].mean()
        if mean[1] >= EVEN * mean[0]:
            return after_s
    raise RuntimeError("the flows never share")


def test_a_prediction_was_recorded(answers: Answers) -> None:
    """Any will do."""
    assert answers["prediction"] is not None


def test_the_formula_gives_the_length_of_a_tooth(answers: Answers) -> None:
    """On paths that the notebook does not have."""
    for path in PATHS:
        said_s, real_s = answers.calls("period_s", *path), tooth_s(*path)
        error = said_s / real_s - 1
        assert abs(error) <= TOLERANCE, (
            f"`period_s{path}` is {said_s:.3g} s, which is too {'long' if error > 0 else 'short'}: "
            f"it is to be within {TOLERANCE:.0%} of the simulator's teeth"
        )


def test_the_buffer_is_the_smallest_that_fills_the_link(answers: Answers) -> None:
    """To a tenth of a BDP."""
    buffer_bdp = answers.number("smallest_bdp")
    assert 0.1 < buffer_bdp <= 64, f"`smallest_bdp` is {buffer_bdp:g}: give a number of BDP"
    used = alone(20, 40, round(buffer_bdp, 2)).bottleneck["utilization"]
    assert used >= UTILIZATION, (
        f"`smallest_bdp`: with {buffer_bdp:g} BDP the link is used to {used:.1%} only"
    )
    used = alone(20, 40, round(buffer_bdp - 0.1, 2)).bottleneck["utilization"]
    assert used < UTILIZATION, f"`smallest_bdp`: {buffer_bdp - 0.1:.2g} BDP fill the link too"


def test_two_flows_come_to_share(answers: Answers) -> None:
    """To two seconds."""
    after_s = answers.number("even_s")
    error_s = after_s - even_after_s()
    assert abs(error_s) <= 2, (
        f"`even_s` is {after_s:g} s, which is too {'late' if error_s > 0 else 'early'}: the later "
        f"flow has {EVEN:.0%} of the earlier one's goodput over {WINDOW_S} s at another time"
    )

"""Grades lab 1: the saw-tooth of one Reno flow, and two flows that share. Run `pytest lab1`."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import dumbbell
from dumbbell import Group
from grading import Answers

#: Rate in Mbit/s, RTT in ms, buffer in BDP: the paths on which the formula is tried.
PATHS = ((10, 80, 1.0), (20, 60, 0.75), (15, 40, 3.0))
#: A tooth is 3 to 7 % longer than the formula's: its top is up to 3 packets higher, and recovery
#: takes a round trip.
TOLERANCE = 0.15
UTILIZATION = 0.998
EVEN, WINDOW_S, SECOND_START_S, END_S = 0.9, 5, 28, 120


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
def two_flows() -> pd.DataFrame:
    """Return the goodput of two flows, of which one starts later: a row each 0.1 s."""
    groups = [Group("reno"), Group("reno", start=f"{SECOND_START_S}s")]
    run = dumbbell.run(
        groups, rate="20mbit", rtt="40ms", buffer="1bdp", time=f"{END_S}s", sample="100ms"
    )
    flows = run.flows.to_pandas()
    rates: pd.DataFrame = flows.pivot_table("goodput_bps", index="time_us", columns="flow")
    return rates


def later_share(after_s: int) -> float:
    """Return how much of the earlier flow's goodput the later one has, in a window after its start.

    The first second with 90 % does not depend on a row more or less at an end: until 14 s there
    are at most 89.0 %, at 15 s 101.7 to 103.2 %.
    """
    rates, begin_us = two_flows(), 1e6 * (SECOND_START_S + after_s)
    mean = rates[(rates.index >= begin_us) & (rates.index < begin_us + 1e6 * WINDOW_S)].mean()
    return float(mean[1] / mean[0])


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
    tenths = round(10 * buffer_bdp)
    is_tenths = abs(10 * buffer_bdp - tenths) < 1e-6 and 1 <= tenths <= 640
    assert is_tenths, f"`smallest_bdp` is {buffer_bdp:g}: give tenths of a BDP, like 0.5"
    used = alone(20, 40, tenths / 10).bottleneck["utilization"]
    assert used >= UTILIZATION, (
        f"`smallest_bdp`: with {buffer_bdp:g} BDP the link is used to {used:.1%} only"
    )
    used = alone(20, 40, (tenths - 1) / 10).bottleneck["utilization"]
    assert used < UTILIZATION, f"`smallest_bdp`: {(tenths - 1) / 10:g} BDP fill the link too"


def test_two_flows_come_to_share(answers: Answers) -> None:
    """The whole second, without a tolerance: the run is the same each time."""
    after_s = answers.number("even_s")
    last_s = END_S - SECOND_START_S - WINDOW_S
    is_whole = after_s.is_integer() and 0 <= after_s <= last_s
    assert is_whole, f"`even_s` is {after_s:g}: give whole seconds, from 0 to {last_s}"
    is_first = all(later_share(earlier_s) < EVEN for earlier_s in range(int(after_s)))
    assert is_first, f"`even_s` is {after_s:g} s, which is too late: the flows share before"
    share = later_share(int(after_s))
    assert share >= EVEN, (
        f"`even_s`: from {after_s:g} s after its start, the later flow has {share:.1%} of the "
        f"earlier one's goodput over {WINDOW_S} s, not {EVEN:.0%}"
    )

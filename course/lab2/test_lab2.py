"""Grades lab 2: how long a full buffer delays, and which queue helps. Run `pytest lab2`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell.metrics import METRICS
from grading import Answers

HOUSEHOLD = Path(__file__).with_name("household.toml")
DOWNLOADS, CALL, PAGES = range(3)
#: Lines on which the formula is tried: Mbit/s, kB.
LINES = ((5, 100), (20, 500), (2, 64))
TOLERANCE = 0.05
#: What ITU-T G.107 calls satisfied.
GOOD_MOS = 4.0
#: What the line's owner wants: the call's 95th percentile, ms; the median page, s; the share of the
#: downloads' goodput with drop-tail.
CALL_MS, PAGE_S, SHARE = 30, 1.0, 0.85


@cache
def household(**fields: str) -> dumbbell.Run:
    """Run the household with another queue or buffer."""
    return dumbbell.run(dumbbell.Scenario.from_toml(HOUSEHOLD).replace(**fields))


@cache
def longest_ms(rate_mbps: float, buffer_kb: float) -> float:
    """Return the longest time that a packet waits behind a CUBIC flow."""
    rate, buffer = f"{rate_mbps}mbit", f"{buffer_kb}kB"
    run = dumbbell.run(["cubic"], rate=rate, rtt="30ms", buffer=buffer, time="20s")
    return float(run.bottleneck["queue_delay_max_us"]) / 1e3


def of(run: dumbbell.Run, metric: str, group: int) -> float:
    """Return a group's metric."""
    values: Any = METRICS[metric].of(run)
    return float(values[group])


def test_a_prediction_was_recorded(answers: Answers) -> None:
    """Any will do."""
    assert answers["prediction"] is not None


def test_the_formula_gives_the_longest_wait(answers: Answers) -> None:
    """On lines that the notebook does not have."""
    for line in LINES:
        said_ms, real_ms = answers.calls("longest_wait_ms", *line), longest_ms(*line)
        error = said_ms / real_ms - 1
        assert abs(error) <= TOLERANCE, (
            f"`longest_wait_ms{line}` is {said_ms:.4g} ms, which is too "
            f"{'long' if error > 0 else 'short'}: it is to be within {TOLERANCE:.0%}"
        )


def test_the_largest_buffer_that_the_call_stands(answers: Answers) -> None:
    """Of a plain queue, in steps of half a BDP."""
    buffer_bdp = answers.number("largest_bdp")
    is_half = (2 * buffer_bdp).is_integer() and 0.5 <= buffer_bdp <= 64
    assert is_half, f"`largest_bdp` is {buffer_bdp:g}: give halves of a BDP"
    mos = of(household(buffer=f"{buffer_bdp:g}bdp"), "mos", CALL)
    assert mos >= GOOD_MOS, f"`largest_bdp`: with {buffer_bdp:g} BDP the call's MOS is {mos:.2f}"
    mos = of(household(buffer=f"{buffer_bdp + 0.5:g}bdp"), "mos", CALL)
    assert mos < GOOD_MOS, f"`largest_bdp`: with half a BDP more the call's MOS is still {mos:.2f}"


def test_the_queue_serves_all_three(answers: Answers) -> None:
    """With 8 BDP of buffer, as the line has it."""
    queue = answers["queue"]
    assert isinstance(queue, str), f"`queue` is {queue!r}: give a queue's name as text"
    try:
        run = household(queue=queue)
    except dumbbell.DumbbellError:
        raise AssertionError(
            f"`queue` {queue!r} cannot be run: `dumbbell list queues` names those that there are"
        ) from None
    misses = []
    waits_ms = of(run, "one_way_delay_p95_us", CALL) / 1e3
    if waits_ms > CALL_MS:
        misses.append(f"95 % of the call's packets arrive within {waits_ms:.0f} ms, not {CALL_MS}")
    page_s = of(run, "page_load_time_p50_s", PAGES)
    if page_s > PAGE_S:
        misses.append(f"half of the pages take longer than {page_s:.2f} s, not {PAGE_S:g}")
    plain = household().groups[DOWNLOADS]["goodput_bps"]
    share = run.groups[DOWNLOADS]["goodput_bps"] / plain
    if share < SHARE:
        misses.append(f"the downloads have {share:.0%} of what they had, not {SHARE:.0%}")
    assert not misses, f"`queue` is {queue!r}: " + "; ".join(misses)

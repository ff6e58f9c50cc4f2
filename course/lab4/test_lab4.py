"""Grades lab 4: what a longer RTT costs. Run `pytest lab4`."""

from __future__ import annotations

from functools import cache
from math import log
from typing import Any

import dumbbell
from dumbbell import Group
from grading import Answers, as_number, check_each, is_empty

ALGORITHMS = ("reno", "cubic", "bbr")
#: Base RTTs of the far flow from which the exponent is found, ms; the near one has 20 ms.
FAR_MS = (40, 80, 160)
#: Of a ratio, and of the exponent.
RATIO, EXPONENT = 0.05, 0.1
#: What the remedy must reach.
FAIR, UTILIZATION = 1.5, 0.95


@cache
def near_and_far(cc: str, far_ms: int = 80, **fields: str) -> dumbbell.Run:
    """Run a flow of 20 ms and one of a longer RTT for a minute and a half."""
    groups = [Group(cc, rtt="20ms", name="near"), Group(cc, rtt=f"{far_ms}ms", name="far")]
    usual = dumbbell.Scenario(groups, rate="20mbit", rtt="40ms", buffer="1bdp", time="90s")
    return dumbbell.run(usual.replace(**fields))


def ratio(run: dumbbell.Run) -> float:
    """Return how many times as much as the far flow the near one gets."""
    near, far = run.groups
    return float(near["goodput_bps"] / far["goodput_bps"])


@cache
def exponent() -> float:
    """Return Reno's: the ratio of goodputs is that of the measured RTTs to this power."""
    found = []
    for far_ms in FAR_MS:
        run = near_and_far("reno", far_ms)
        near, far = run.groups
        found.append(log(ratio(run)) / log(far["rtt_mean_us"] / near["rtt_mean_us"]))
    return sum(found) / len(found)


def test_a_prediction_was_recorded(answers: Answers) -> None:
    """Any will do."""
    answers.choices("prediction", ALGORITHMS)


def test_the_ratios_of_three_algorithms(answers: Answers) -> None:
    """How many times as much as the far flow the near one gets."""
    ratios = answers.choices("ratios", ALGORITHMS)

    def is_near(cc: str) -> None:
        said, real = as_number(ratios[cc], f"`ratios[{cc!r}]`"), ratio(near_and_far(cc))
        assert abs(said / real - 1) <= RATIO, (
            f"`ratios[{cc!r}]` is {said:g}, which is too {'large' if said > real else 'small'}: "
            "divide the near flow's goodput by the far one's"
        )

    check_each(is_near, ALGORITHMS)


def test_the_exponent_of_reno(answers: Answers) -> None:
    """By the RTTs that were measured."""
    said = answers.number("exponent")
    assert abs(said - exponent()) <= EXPONENT, (
        f"`exponent` is {said:g}, which is too {'large' if said > exponent() else 'small'}: take "
        "the RTTs that the flows measured, and the mean over the three far RTTs"
    )


def test_the_remedy_makes_reno_fair(answers: Answers) -> None:
    """The network's, not the sender's."""
    fields: Any = answers["remedy"]
    assert isinstance(fields, dict), f"`remedy` is {fields!r}: use a dict, as the cell has it"
    unknown = set(fields) - {"queue", "buffer"}
    assert not unknown, f"`remedy` sets {', '.join(sorted(unknown))}: set `queue` and `buffer` only"
    chosen = {name: str(value) for name, value in fields.items() if not is_empty(value)}
    try:
        run = near_and_far("reno", **chosen)
    except dumbbell.DumbbellError:
        raise AssertionError(
            f"`remedy` {chosen} cannot be run: `dumbbell list queues` names the queues, and a "
            "buffer is like '2bdp'"
        ) from None
    found, used = ratio(run), run.bottleneck["utilization"]
    assert max(found, 1 / found) <= FAIR, (
        f"`remedy`: the near flow gets {found:.2f} times as much as the far one, not {FAIR:g}"
    )
    assert used >= UTILIZATION, f"`remedy`: the link is used to {used:.1%}, not {UTILIZATION:.0%}"

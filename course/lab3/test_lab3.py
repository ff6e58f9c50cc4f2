"""Grades lab 3: who wins as the buffer grows. Run `pytest lab3`."""

from __future__ import annotations

from functools import cache
from statistics import median

import dumbbell
from grading import Answers, check_each

#: The pairs and buffers of the table; the answer to each is the name of who gets more.
TABLE = tuple(
    f"{pair} {buffer}"
    for pair in ("copa-cubic", "copa-bbr")
    for buffer in ("0.5bdp", "4bdp", "16bdp")
)
#: How far from a half BBR's share may be where the two are even.
EVEN = 0.05
TOLERANCE = 0.05
DEEP, WARM_US = "8bdp", 20e6


@cache
def pair(first: str, second: str, buffer: str) -> dumbbell.Run:
    """Run two flows for a minute."""
    return dumbbell.run([first, second], rate="20mbit", rtt="40ms", buffer=buffer, time="60s")


def winner(entry: str) -> str:
    """Return who gets more, for an entry of the table."""
    names, buffer = entry.split()
    first, second = names.split("-")
    return first if pair(first, second, buffer).groups[0]["share"] > 0.5 else second


@cache
def believed() -> tuple[float, float]:
    """Return BBR's minimum RTT in ms in a deep buffer, and its cwnd in BDPs of its own estimate."""
    run = pair("bbr", "cubic", DEEP)
    state = run.state(0).to_pandas()
    flow = run.flows.to_pandas()
    both = state.merge(flow[flow["flow"] == 0], on="time_us", suffixes=("", "_flow"))
    both = both[(both["time_us"] > WARM_US) & (both["mode"] == "probe_bw")]
    own_bdp_pkts = both["bw_bps"] * both["min_rtt_us"] / 1e6 / 8 / 1448
    return (
        float(median(both["min_rtt_us"])) / 1e3,
        float(median(both["cwnd_pkts"] / own_bdp_pkts)),
    )


def test_a_prediction_was_recorded(answers: Answers) -> None:
    """Any will do."""
    answers.choices("prediction", ("1bdp", "16bdp"))


def test_the_table_of_winners(answers: Answers) -> None:
    """All of it: how many are right is said, not which."""
    said = answers.choices("winners", TABLE)

    def is_of_the_pair(entry: str) -> None:
        names = entry.split()[0].split("-")
        assert said[entry] in names, (
            f"`winners[{entry!r}]` is {said[entry]!r}: use {' or '.join(names)}"
        )

    check_each(is_of_the_pair, said)
    right = sum(winner(entry) == name for entry, name in said.items())
    assert right == len(TABLE), f"`winners`: {right} of {len(TABLE)} are right"


def test_where_bbr_and_cubic_are_even(answers: Answers) -> None:
    """To five points."""
    buffer_bdp = answers.number("even_bdp")
    assert 0.1 <= buffer_bdp <= 64, f"`even_bdp` is {buffer_bdp:g}: give a number of BDP"
    share = pair("bbr", "cubic", f"{buffer_bdp:.4g}bdp").groups[0]["share"]
    assert abs(share - 0.5) <= EVEN, f"`even_bdp`: with {buffer_bdp:g} BDP, BBR has {share:.0%}"


def test_what_bbr_believes_in_a_deep_buffer(answers: Answers) -> None:
    """Its minimum RTT, and what cwnd it makes of that."""

    def is_near(asked: tuple[str, float]) -> None:
        name, real = asked
        said = answers.number(name)
        assert abs(said / real - 1) <= TOLERANCE, (
            f"`{name}` is {said:g}, which is too {'large' if said > real else 'small'}: take the "
            f"median after 20 s, in the mode probe_bw, with a buffer of {DEEP}"
        )

    names = ("believed_rtt_ms", "cwnd_in_own_bdp")
    check_each(is_near, zip(names, believed(), strict=True))

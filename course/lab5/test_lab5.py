"""Grades lab 5: which algorithm is in which capture, and how it shows. Run `pytest lab5`."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np

import dumbbell
from grading import Answers, check_each

sys.path.insert(0, str(Path(__file__).parent))
from captures import ALGORITHMS, LETTERS, _drawn

#: Of the share that CUBIC keeps, and of the time between BBR's dips in s.
SHARE, DIPS_S = 0.06, 0.6


def number_of(answers: Answers) -> int:
    """Return the number that the captures were made with."""
    number = answers.number("number")
    is_whole = number >= 0 and number.is_integer()
    assert is_whole, f"`number` is {number:g}: give a whole number from 0 on"
    return int(number)


def algorithm(number: int, letter: str) -> str:
    """Return whose capture a letter is."""
    return str(_drawn(number)[letter].groups[0].cc.name)


@cache
def run_of(number: int, cc: str) -> dumbbell.Run:
    """Run the flow of a capture again."""
    found = next(each for each in LETTERS if algorithm(number, each) == cc)
    return dumbbell.run(_drawn(number)[found])


@cache
def kept(number: int) -> float:
    """Return the share of cwnd that CUBIC keeps at a loss: the mean over losses after 5 s."""
    flow = run_of(number, "cubic").flows.to_pandas()
    is_recovering = (flow["ca_state"].astype(str) == "recovery").to_numpy()
    begins = np.flatnonzero(is_recovering[1:] & ~is_recovering[:-1])
    begins = begins[flow["time_us"].to_numpy()[begins] > 5e6]
    before = flow["cwnd_pkts"].to_numpy()[begins]
    return float((flow["ssthresh_pkts"].to_numpy()[begins + 1] / before).mean())


@cache
def dips_s(number: int) -> float:
    """Return the mean time between the starts of BBR's phases of probing for the RTT."""
    state = run_of(number, "bbr").state(0).to_pandas()
    is_probing = (state["mode"].astype(str) == "probe_rtt").to_numpy()
    starts_us = state["time_us"].to_numpy()[1:][is_probing[1:] & ~is_probing[:-1]]
    return float(np.diff(starts_us).mean()) / 1e6


def test_a_prediction_was_recorded(answers: Answers) -> None:
    """Any will do."""
    assert answers["prediction"] is not None


def test_each_capture_has_its_algorithm(answers: Answers) -> None:
    """How many are right is said, not which."""
    number, said = number_of(answers), answers.choices("who", tuple(LETTERS))

    def is_a_name(letter: str) -> None:
        assert said[letter] in ALGORITHMS, (
            f"`who[{letter!r}]` is {said[letter]!r}: use one of {', '.join(ALGORITHMS)}"
        )

    check_each(is_a_name, said)
    right = sum(algorithm(number, letter) == name for letter, name in said.items())
    assert right == len(LETTERS), f"`who`: {right} of {len(LETTERS)} are right"


def test_what_cubic_keeps_at_a_loss(answers: Answers) -> None:
    """As a share, from its capture."""
    said, real = answers.number("kept"), kept(number_of(answers))
    assert abs(said - real) <= SHARE, (
        f"`kept` is {said:g}, which is too {'large' if said > real else 'small'}: it is the share "
        "of what was in flight before a loss that is left after it, between 0 and 1"
    )


def test_how_often_bbr_dips(answers: Answers) -> None:
    """In seconds."""
    said, real = answers.number("dips_s"), dips_s(number_of(answers))
    assert abs(said - real) <= DIPS_S, (
        f"`dips_s` is {said:g} s, which is too {'long' if said > real else 'short'}: it is the "
        "time from the beginning of one dip to that of the next"
    )

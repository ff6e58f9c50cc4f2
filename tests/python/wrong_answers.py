"""Answers to the labs of the course that their tests refuse, ten for each, with why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["WRONG", "WRONG_FILES", "Wrong"]

#: Where the model answer of lab 6 and what `dumbbell cc new` writes are.
MODEL = Path(__file__).parents[2] / "course" / "teacher" / "answers" / "mine.bpf.c"


class Wrong(NamedTuple):
    """A wrong answer: its name, its value, and what the test says of it."""

    name: str
    value: Any
    says: str


def in_milliseconds(rate_mbps: float, rtt_ms: float, buffer_bdp: float) -> float:
    return 1e3 * right_period_s(rate_mbps, rtt_ms, buffer_bdp)


def right_period_s(rate_mbps: float, rtt_ms: float, buffer_bdp: float) -> float:
    pkts_per_s = rate_mbps * 1e6 / 8 / 1514
    peak: float = (1 + buffer_bdp) * pkts_per_s * rtt_ms / 1e3
    return 3 / 8 * peak**2 / pkts_per_s


def without_queue(rate_mbps: float, rtt_ms: float, buffer_bdp: float) -> float:
    """Takes each round trip for one without a queue."""
    return (1 + buffer_bdp) * rate_mbps * 1e6 * (rtt_ms / 1e3) ** 2 / 8 / 1514 / 2


def without_buffer(rate_mbps: float, rtt_ms: float, buffer_bdp: float) -> float:
    """Forgets what the buffer holds."""
    return right_period_s(rate_mbps, rtt_ms, 0)


def divides_by_zero(*_: float) -> float:
    return 1 / 0


COPA = {"copa-cubic 0.5bdp": "copa", "copa-cubic 4bdp": "cubic", "copa-cubic 16bdp": "cubic"}
BBR = {"copa-bbr 0.5bdp": "bbr", "copa-bbr 4bdp": "bbr"}
LETTERS = {"a": "bbr", "b": "vegas", "c": "cubic", "d": "copa", "e": "reno"}

WRONG: dict[str, list[Wrong]] = {
    "lab1": [
        Wrong("prediction", ..., "`prediction` has no answer"),
        Wrong("period_s", without_queue, "too short"),
        Wrong("period_s", without_buffer, "too short"),
        Wrong("period_s", in_milliseconds, "too long"),
        Wrong("period_s", divides_by_zero, "fails: ZeroDivisionError"),
        Wrong("period_s", 4.3, "it is to be a function"),
        Wrong("smallest_bdp", 0.8, "the link is used to 99"),
        Wrong("smallest_bdp", 2, "fill the link too"),
        Wrong("smallest_bdp", "1bdp", "it is to be a number"),
        Wrong("even_s", 41, "too late"),
    ],
    "lab2": [
        Wrong("prediction", "", "`prediction` has no answer"),
        Wrong("longest_wait_ms", lambda rate, buffer: buffer / rate, "too short"),
        Wrong("longest_wait_ms", lambda rate, buffer: buffer * 8 / rate / 1e3, "too short"),
        Wrong("longest_wait_ms", lambda *_: 40, "too short"),
        Wrong("longest_wait_ms", lambda *_: None, "returns nothing"),
        Wrong("largest_bdp", 8, "the call's MOS is"),
        Wrong("largest_bdp", 1, "half a BDP more"),
        Wrong("queue", "codel", "95 % of the call's packets"),
        Wrong("queue", "bfifo", "half of the pages take longer"),
        Wrong("queue", "fqcodel", "cannot be run"),
    ],
    "lab3": [
        Wrong("prediction", {"1bdp": ..., "16bdp": 5}, "no answer for 1bdp"),
        Wrong("winners", {**COPA, **BBR, "copa-bbr 16bdp": "bbr"}, "5 of 6 are right"),
        Wrong("winners", dict.fromkeys([*COPA, *BBR, "copa-bbr 16bdp"], "copa"), "of 6 are right"),
        Wrong("winners", {**COPA, **BBR}, "no answer for copa-bbr 16bdp"),
        Wrong("winners", {**COPA, **BBR, "copa-bbr 16bdp": "reno"}, "use copa or bbr"),
        Wrong("winners", ["copa"], "use a dict"),
        Wrong("even_bdp", 1, "BBR has 85%"),
        Wrong("even_bdp", 4, "BBR has 38%"),
        Wrong("believed_rtt_ms", 40, "too small"),
        Wrong("cwnd_in_own_bdp", 4.9, "too large"),
    ],
    "lab4": [
        Wrong("prediction", {"reno": 4, "cubic": 4}, "no answer for bbr"),
        Wrong("ratios", {"reno": 0.19, "cubic": 2.92, "bbr": 0.78}, "`ratios['reno']`"),
        Wrong("ratios", {"reno": 5.14, "cubic": 2.92, "bbr": 1.28}, "`ratios['bbr']`"),
        Wrong("ratios", {"reno": 5.14, "cubic": "about 3", "bbr": 0.78}, "it is to be a number"),
        Wrong("exponent", 1.28, "too small"),
        Wrong("exponent", -1.3, "too small"),
        Wrong("remedy", {"queue": "codel", "buffer": "1bdp"}, "times as much"),
        Wrong("remedy", {"buffer": "4bdp"}, "times as much"),
        Wrong("remedy", {"queue": "fq_codel", "buffer": "0.2bdp"}, "the link is used to"),
        Wrong("remedy", {"cc": "bbr"}, "set `queue` and `buffer` only"),
    ],
    "lab5": [
        Wrong("prediction", None, "`prediction` has no answer"),
        Wrong("number", 4.5, "give a whole number"),
        Wrong("who", {**LETTERS, "c": "reno", "e": "cubic"}, "3 of 5 are right"),
        Wrong("who", dict.fromkeys("abcde", "bbr"), "1 of 5 are right"),
        Wrong("who", {**LETTERS, "a": "bbr3"}, "use one of"),
        Wrong("who", {"a": "bbr"}, "no answer for b, c, d, e"),
        Wrong("kept", 0.5, "too small"),
        Wrong("kept", 0.3, "too small"),
        Wrong("kept", 88, "too large"),
        Wrong("dips_s", 0.2, "too short"),
    ],
    "lab6": [
        Wrong("prediction", ..., "`prediction` has no answer"),
        Wrong("file", ..., "`file` has no answer"),
        Wrong("file", "mine/other.bpf.c", "there is no mine/other.bpf.c"),
    ],
}


def constant(source: str) -> str:
    """Never changes cwnd."""
    return source.replace("ca->busy_rounds) {\n", "ca->busy_rounds > 1000000) {\n").replace(
        "tcp_cong_avoid_ai(tp, tp->snd_cwnd, acked)", "tp->snd_cwnd = 1000"
    )


#: By what is wrong: how the file is made of the model answer, and what is said.
WRONG_FILES: dict[str, tuple[Callable[[str], str], str]] = {
    "does not compile": (lambda source: source.replace("u32	", "u33	"), "unknown type name"),
    "writes what the kernel does not let it": (
        lambda source: source.replace(
            "	ca->round_end = tcp_sk(sk)",
            "	tcp_sk(sk)->mss_cache = 1;\n	ca->round_end = tcp_sk(sk)",
        ),
        "mss_cache",
    ),
    "divides by zero": (
        lambda source: source.replace("ca->reductions++;", "tp->snd_cwnd /= ca->compete_rounds;"),
        "division by zero",
    ),
    "knows the path": (
        lambda source: source.replace(
            "PARAM(u32, target_us",
            "PARAM(u32, known_rtt_us, 40000, "
            '0, 100000, "us", "the path\'s");\nPARAM(u32, target_us',
        ),
        "is disqualified",
    ),
    "starves next to CUBIC": (
        lambda source: source.replace("patience, 30", "patience, 1000"),
        "worst category is `cubic`",
    ),
    "does not return": (
        lambda source: source.replace("ca->reductions++;", 'for (;;) asm volatile("");'),
        "does not return from `cong_avoid` within 3 s",
    ),
    "a window that never changes": (constant, "and the bar is"),
}

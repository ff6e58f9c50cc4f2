"""Values as ns-3's command line has them, which `SCENARIO` is written for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Rate, Time

__all__ = ["Option", "choice", "count", "numbers", "percent", "rate", "time", "yes"]

#: Most packets that a queue holds, and of other counts.
MOST = 10**6


@dataclass(frozen=True)
class Option:
    """An option of a scenario.

    Attributes
    ----------
    read
        Reads its value; gets the option's name for errors.
    example
        A value.
    default
        If it is not given; `REQUIRED`: it has to be.
    """

    read: Callable[[str, str], Any]
    example: str
    default: Any = None
    required: bool = False


def refuse(name: str, text: str, use: str) -> ScenarioError:
    """Return the error for a value."""
    return ScenarioError(f"invalid --{name} `{excerpt(text)}`: use {use}", key=name)


def time(text: str, name: str) -> Time:
    """Read a time; one without a unit is in seconds."""
    bare = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None
    return Time.parse(f"{text}s" if bare else text, f"--{name}")


def rate(text: str, name: str) -> Rate:
    """Read a rate: `10Mbps` and `10Mb/s` are bits, `10MBps` and `10MB/s` are bytes."""
    found = re.fullmatch(r"([0-9.]+)([kKMG]?)([bB])(?:ps|/s)", text)
    if found is None:
        return Rate.parse(text, f"--{name}", minimum=1)
    number, prefix, unit = found.groups()
    bits = Rate.parse(f"{number}{prefix.lower()}bit", f"--{name}", minimum=1)
    return Rate(int(bits) * 8) if unit == "B" else bits


def count(text: str, name: str, least: int = 1) -> int:
    """Read a number of packets, or of times."""
    if not (text.isascii() and text.isdecimal() and least <= int(text) <= MOST):
        raise refuse(name, text, f"a whole number from {least} to {MOST}")
    return int(text)


def percent(text: str, name: str) -> int:
    """Read a whole percentage."""
    if not (text.isascii() and text.isdecimal() and int(text) <= 100):
        raise refuse(name, text, "a whole number of percent, 0 to 100")
    return int(text)


def numbers(text: str, name: str) -> tuple[int, ...]:
    """Read packets' numbers, from 1 on, with commas between them."""
    words = [word for word in text.split(",") if word]
    if not all(word.isascii() and word.isdecimal() and 0 < int(word) < 2**63 for word in words):
        raise refuse(name, text, "packets' numbers from 1 on, e.g. `1,3,15`")
    return tuple(sorted({int(word) for word in words}))


def choice(*words: str) -> Callable[[str, str], str]:
    """Return what reads one of several words."""

    def read(text: str, name: str) -> str:
        if text not in words:
            raise refuse(name, text, " or ".join(f"`{word}`" for word in words))
        return text

    return read


def yes(text: str, name: str) -> bool:
    """Read a switch, which needs no value."""
    if text.lower() not in ("", "1", "t", "true", "0", "f", "false"):
        raise refuse(name, text, "no value, `true` or `false`")
    return text.lower() in ("", "1", "t", "true")

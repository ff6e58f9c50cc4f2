"""Integers that a search tries, and which of them are round."""

from __future__ import annotations

import random
from bisect import bisect_left
from dataclasses import dataclass

__all__ = ["Scale", "linear", "logarithmic", "roundness"]

#: Mantissas of a logarithmic scale: neighbours differ by a quarter at most.
MANTISSAS = (100, 120, 150, 180, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900)


def roundness(value: int) -> tuple[int, int]:
    """Return how round a number is, the roundest first: 1, 2 and 5 times a power of ten.

    Examples
    --------
    >>> sorted([120, 25, 7, 2000, 300], key=roundness)
    [2000, 7, 300, 120, 25]
    """
    digits = str(value).rstrip("0")
    return len(digits), digits not in ("", "1", "2", "5")


@dataclass(frozen=True)
class Scale:
    """The values that a parameter may have, ascending.

    Attributes
    ----------
    values
        All of them.
    """

    values: tuple[int, ...]

    def draw(self, source: random.Random) -> int:
        """Return any of the values."""
        return source.choice(self.values)

    def near(self, value: int, source: random.Random) -> int:
        """Return another value: mostly a neighbour, now and then a distant one."""
        if len(self.values) == 1:
            return value
        at = bisect_left(self.values, value)
        step = 1 + int(source.expovariate(4 / len(self.values)))
        last = len(self.values) - 1
        to = at + (step if source.random() < 0.5 else -step)
        to = min(max(to, 0), last)
        return self.values[to] if to != at else self.values[at - 1 if at else 1]

    def rounder(self, value: int) -> list[int]:
        """Return the values within a factor of two that are rounder, the roundest first."""
        close = (each for each in self.values if value <= 2 * each <= 4 * value)
        better = [each for each in close if roundness(each) < roundness(value)]
        return sorted(better, key=lambda each: (roundness(each), abs(each - value)))


def logarithmic(least: int, most: int) -> Scale:
    """Return numbers with at most two digits and zeros, from the least to the most."""
    found = {least, most}
    power = 1
    while power <= most:
        found |= {power * mantissa // 100 for mantissa in MANTISSAS}
        power *= 10
    return Scale(tuple(sorted(value for value in found if least <= value <= most)))


def linear(least: int, most: int, step: int) -> Scale:
    """Return numbers at equal distances."""
    return Scale(tuple(range(least, most + 1, step)))

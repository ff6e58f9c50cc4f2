"""Shares of repetitions in which something is so, and how two of them differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from dumbbell.statistics.interval import LEVEL, Interval

__all__ = ["mcnemar", "newcombe", "paired_newcombe", "wilson"]


def wilson(held: int, of: int, level: float = LEVEL) -> Interval:
    """Return a share with Wilson's score interval, which holds for few repetitions too.

    Parameters
    ----------
    held, of
        In how many repetitions it is so, of how many.
    level
        Confidence level.

    References
    ----------
    Wilson: "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22, 1927.
    """
    if of == 0:
        return Interval(math.nan, 0.0, 1.0, level, 0, "too few")
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, scale = held / of, 1 + z * z / of
    middle = (share + z * z / (2 * of)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    # At the ends the interval reaches 0 or 1 exactly, which rounding errors would miss.
    low = 0.0 if held == 0 else middle - half
    high = 1.0 if held == of else middle + half
    return Interval(share, low, high, level, of, "Wilson")


def newcombe(a: Sequence[bool], b: Sequence[bool], level: float = LEVEL) -> Interval:
    """Return the share of b minus that of a, with Newcombe's interval from Wilson's of both.

    Parameters
    ----------
    a, b
        Of each repetition whether it is so; they are not paired.
    level
        Confidence level.

    References
    ----------
    Newcombe: "Interval estimation for the difference between independent proportions: comparison of
    eleven methods", Statistics in Medicine 17, 1998, method 10.
    """
    return square_and_add(a, b, 0.0, level, "Newcombe")


def paired_newcombe(a: Sequence[bool], b: Sequence[bool], level: float = LEVEL) -> Interval:
    """Return the share of b minus that of a over pairs, with Newcombe's interval for these.

    What pairs have in common makes it narrower, or wider if they are opposite.

    Parameters
    ----------
    a, b
        Of each repetition whether it is so, in the same order of seeds.
    level
        Confidence level.

    References
    ----------
    Newcombe: "Improved confidence intervals for the difference between binomial proportions based
    on paired data", Statistics in Medicine 17, 1998, method 10.
    """
    return square_and_add(a, b, pair_correlation(a, b), level, "Newcombe, paired")


def square_and_add(
    a: Sequence[bool], b: Sequence[bool], correlation: float, level: float, method: str
) -> Interval:
    """Return the share of b minus that of a, its interval from Wilson's of both."""
    first, second = (wilson(sum(each), len(each), level) for each in (a, b))
    difference = second.mean - first.mean
    below = third_side(second.mean - second.low, first.high - first.mean, correlation)
    above = third_side(second.high - second.mean, first.mean - first.low, correlation)
    n = min(first.n, second.n)
    return Interval(difference, difference - below, difference + above, level, n, method)


def third_side(a: float, b: float, cosine: float) -> float:
    """Return the third side of a triangle: the deviation of a difference."""
    return math.sqrt(max(0.0, a * a - 2 * cosine * a * b + b * b))


def pair_correlation(a: Sequence[bool], b: Sequence[bool]) -> float:
    """Return the correlation of pairs, a positive one with Newcombe's continuity correction."""
    n, first, second = len(a), sum(a), sum(b)
    both = sum(x and y for x, y in zip(a, b, strict=True))
    variances = first * (n - first) * second * (n - second)
    if variances == 0:
        return 0.0
    # The determinant of the two-by-two table: both × neither − first alone × second alone.
    determinant = float(both * n - first * second)
    if determinant > 0:
        determinant = max(0.0, determinant - n / 2)
    return determinant / math.sqrt(variances)


def mcnemar(a: Sequence[bool], b: Sequence[bool]) -> float:
    """Return the two-sided p of McNemar's exact test: whether b differs from a over pairs.

    Only pairs in which one is so and the other is not count: each way is as likely by chance.

    Parameters
    ----------
    a, b
        Of each repetition whether it is so, in the same order of seeds.

    References
    ----------
    McNemar: "Note on the sampling error of the difference between correlated proportions",
    Psychometrika 12(2), 1947; exact by the binomial distribution.
    """
    gained = sum(after and not before for before, after in zip(a, b, strict=True))
    lost = sum(before and not after for before, after in zip(a, b, strict=True))
    n = gained + lost
    tail = sum(math.comb(n, k) for k in range(min(gained, lost) + 1))
    return min(1.0, 2.0 * tail / float(2**n))

"""Student's t distribution, for which SciPy would make up a quarter of an installation.

The incomplete beta function by its continued fraction: NIST Digital Library of Mathematical
Functions, 8.17.22.
"""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["student_cdf", "student_quantile"]

#: Convergence limit of a continued fraction, and the replacement of a zero in it.
EPSILON = 3e-16
TINY = 1e-300


def student_cdf(t: float, freedom: float) -> float:
    """Return the probability of a value of at most `t`, for some degrees of freedom."""
    tail = incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2
    return tail if t < 0 else 1 - tail


def student_quantile(freedom: float, p: float) -> float:
    """Return the value that is exceeded with probability 1 - `p`, for 0.5 < `p` < 1."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    t = NormalDist().inv_cdf(p)
    # Newton's method rises to the quantile: the normal one is below it, and the CDF is concave.
    while True:
        density = scale * math.pow(1 + t * t / freedom, -(freedom + 1) / 2)
        # Compare the upper tail, which keeps its precision if the CDF is close to 1.
        step = (student_cdf(-t, freedom) - (1 - p)) / density
        t += step
        if step <= 1e-14 * t:
            return t


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b)."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    log_factor = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    factor = math.exp(log_factor + a * math.log(x) + b * math.log1p(-x)) / a
    # Lentz's method, modified by Thompson and Barnett.
    c, d = 1.0, 1 / nonzero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / nonzero(1 + term * d)
            c = nonzero(1 + term / c)
            fraction *= c * d
        if abs(c * d - 1) < EPSILON:
            break
    return factor * fraction


def nonzero(value: float) -> float:
    """Return a divisor that is not zero."""
    return value if abs(value) > TINY else TINY

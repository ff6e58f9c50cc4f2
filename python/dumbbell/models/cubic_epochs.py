"""Linux's CUBIC between its losses: why T is longer than K, and the trajectory of its window.

`cubic_interval` takes T = K: the window is back at W_max when it is lost again. At a bottleneck
that the flows fill themselves (base RTT l, mean RTT R, K = ∛((1 - β)·W_max/C)) an epoch differs in
four points:

    recovery     for a round trip after a loss is seen the window does not grow
    lag          cwnd grows by (W_cubic(t + l) - cwnd) per R (RFC 9438 §4.2): R - l behind its curve
    detection    a loss is seen R after the queue overflowed, and until then the window grows
    convergence  a peak below the last W_max makes the next W_max (1 + β)/2 of it (§4.7)

**Steady.** The queue overflows at one window W_max. An epoch after fast convergence (A) aims at
(1 + β)/2·W_max, in the middle between its start and W_max, and passes W_max while its growth is
steep: 3·C·K_A² packets/s, K_A = K/∛2. What it grows by until the loss is seen makes the next
epoch's (B) plateau higher than W_max by g packets, so B reaches W_max that much before its own
plateau, and ends below the last peak: fast convergence again.

    g   = 3·C·(K/∛2)²·R              h = ∛(g/C) = ∛(1.89·K²·R)       B overflows h before its K
    T_A = 2·R + (R - l) + 2^⅔·K      T_B = 2·R + (R - l) + K - h
    T   = (T_A + T_B)/2 = 1.2937·K - h/2 + 2·R + (R - l)
    W_avg/W_max = (2^⅔·(1 + β)/2·K + (3 + β)/4·K - h)/((1 + 2^⅔)·K - h)

In the Reno-friendly region W_avg = 3/2·(T - R)/R as before.

**Trajectory.** Flows that do not lose together have intervals of very different lengths, and the
window is a cube of each: no one T describes them. The same rules give the window over the epochs as
they came, each starting where the last one ended. The first window is the one that the sequence
returns to when it is repeated.

Everything is from RFC 9438 and Linux's implementation of it; nothing is fitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dumbbell.models.cubic_interval import ALPHA, BETA, C, k_s

__all__ = ["Epoch", "epoch", "steady_interval_s", "steady_mean_pkts", "trajectory_mean_pkts"]

#: T_A + T_B over K, without what is unseen.
CUBE_ROOT_4 = math.cbrt(4)
#: Solves K for T: each step leaves a tenth of the error.
STEPS = 8
#: Where an epoch's window is evaluated: midpoints of as many parts.
PARTS = 24
#: The sequence is repeated until its mean changes by less, or as often.
CONVERGED = 1e-3
PASSES = 30
#: RFC 9438 §4.6 and Linux: ssthresh is never lower.
LEAST_PKTS = 2


def early_s(k: float, rtt_s: float) -> float:
    """Return h: how long before its plateau an epoch overflows the queue again."""
    return min(k, math.cbrt(3 / CUBE_ROOT_4 * k * k * rtt_s))


def steady_interval_s(w_max: float, rtt_s: float, base_rtt_s: float) -> float:
    """Return T, the mean of both kinds of epochs."""
    k = k_s(w_max)
    growing = ((1 + CUBE_ROOT_4) * k - early_s(k, rtt_s)) / 2
    return growing + delays_s(rtt_s, base_rtt_s)


def delays_s(rtt_s: float, base_rtt_s: float) -> float:
    """Return recovery, detection and lag."""
    return 2 * rtt_s + max(0.0, rtt_s - base_rtt_s)


def steady_mean_pkts(interval_s: float, rtt_s: float, base_rtt_s: float) -> float:
    """Return the mean window of a flow that loses every `interval_s` seconds on average."""
    growing = max(0.0, interval_s - delays_s(rtt_s, base_rtt_s))
    k = h = 0.0
    for _ in range(STEPS):
        k = (2 * growing + h) / (1 + CUBE_ROOT_4)
        h = early_s(k, rtt_s)
    cubic = 0.0
    if k > 0:
        area = (CUBE_ROOT_4 * (1 + BETA) / 2 + (3 + BETA) / 4) * k - h
        cubic = C * k**3 / (1 - BETA) * area / ((1 + CUBE_ROOT_4) * k - h)
    friendly = (1 + BETA) / 2 * ALPHA / (1 - BETA) * max(0.0, interval_s - rtt_s) / rtt_s
    return max(cubic, friendly)


class Epoch(NamedTuple):
    """From one loss that is seen to the next.

    Attributes
    ----------
    area
        The window's integral, packets · s.
    peak_pkts
        Window at the end, when the next loss is seen.
    w_max
        What the epoch aimed at.
    """

    area: float
    peak_pkts: float
    w_max: float


def epoch(
    peak_pkts: float, w_max: float, duration_s: float, rtt_s: float, base_rtt_s: float
) -> Epoch:
    """Return the epoch after a loss.

    Parameters
    ----------
    peak_pkts
        Window when the loss was seen.
    w_max
        What the epoch before aimed at.
    duration_s
        Until the next loss is seen.
    rtt_s, base_rtt_s
        Mean RTT, and RTT without a queue.
    """
    peak = math.floor(peak_pkts)
    aim = math.floor((1 + BETA) / 2 * peak) if peak < w_max else peak
    start = max(math.floor(BETA * peak), LEAST_PKTS)
    recovery = min(rtt_s, duration_s)
    area = recovery * (peak + start) / 2
    growing = duration_s - recovery
    if growing <= 0:
        return Epoch(area, start, aim)
    time = np.append((np.arange(PARTS) + 0.5) / PARTS, 1.0) * growing
    k = math.cbrt(max(0, aim - start) / C)
    curve = max(aim, start) + C * (time - max(0.0, rtt_s - base_rtt_s) - k) ** 3
    window = np.maximum(np.maximum(curve, start + ALPHA * time / rtt_s), start)
    return Epoch(area + growing * float(np.mean(window[:-1])), float(window[-1]), aim)


def trajectory_mean_pkts(intervals_s: Sequence[float], rtt_s: float, base_rtt_s: float) -> float:
    """Return the mean window of a flow over the intervals between its losses."""
    total = math.fsum(intervals_s)
    peak = w_max = steady_mean_pkts(total / len(intervals_s), rtt_s, base_rtt_s)
    mean = 0.0
    for _ in range(PASSES):
        area, before = 0.0, mean
        for duration in intervals_s:
            found = epoch(peak, w_max, duration, rtt_s, base_rtt_s)
            area, peak, w_max = area + found.area, found.peak_pkts, found.w_max
        mean = area / total
        if abs(mean - before) < CONVERGED * mean:
            break
    return mean

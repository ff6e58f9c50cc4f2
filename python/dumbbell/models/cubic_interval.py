"""CUBIC's throughput from the time between its losses.

With one loss every T seconds CUBIC's window returns to the same value after each: T = K. With RFC
9438's curve W(t) = C·(t - K)³ + W_max, K = ∛(W_max·(1 - β)/C), its mean over an epoch is
W_max - C·K³/4:

    W_max(T) = C·T³/(1 - β)                                              = 1.3333·T³ packets
    W_avg(T) = C·T³·(3 + β)/(4·(1 - β))                                  = 1.2333·T³ = 0.925·W_max
    in the Reno-friendly region, α = 3·(1 - β)/(1 + β) packets per RTT   = 0.529
    W_max(T) = α·T/((1 - β)·RTT)                                         = 1.765·T/RTT
    W_avg(T) = (1 + β)/2 · W_max(T)                                      = 1.5·T/RTT
    W_avg(T) = max of the two;  x(T) = W_avg(T)/RTT packets/s
    the regions meet (equal W_max) at T* = √(α/(C·RTT))

C = 0.4 packets/s³ and β = 0.7 (RFC 9438 §4.1, §4.6); the papers' β of 0.3 is 1 - β here. The RTT is
the mean, including queueing.

Outside that steady state, after a loss at W_max and with the next loss T ≠ K later:

    W_avg(T; W_max) = W_max + C/(4T)·((T - K)⁴ - K⁴)
    W' = W_max + C·(T - K)³, the next peak; W_max' = (1 + β)/2 · W' if W' < W_max (fast convergence)

At a drop-tail bottleneck T follows from buffer and flow count: see `at_bottleneck`.

Derived here from RFC 9438 §5.1 and its appendix C, with the idea of Utsumi and Hasegawa (KAKENHI
20K11786, "BBR-FCA", IFIP Networking 2022), whose own formula is not in any text we have: a
reconstruction. If T is imposed from outside, W_max' over W_max has the derivative 1 at the fixed
point, so the window needs very many epochs to get there. The model describes losses that the
flows' own windows cause.
"""

from __future__ import annotations

import math

import numpy as np

from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.calculation import Calculation, Column
from dumbbell.models.model import DERIVED, LONG_FLOWS, Headline, Model
from dumbbell.models.prediction import Prediction
from dumbbell.models.sawtooth import (
    FloatArray,
    Law,
    Sawtooth,
    calculate_sawtooth,
    linear_law,
    predict_alone,
    sawtooth,
)
from dumbbell.scenario import Scenario

__all__ = [
    "ALPHA",
    "BETA",
    "MODEL",
    "C",
    "at_bottleneck",
    "crossover_s",
    "next_w_max",
    "rate_pkts_per_s",
    "w_avg_pkts",
    "w_avg_unsteady_pkts",
    "w_max_pkts",
]

#: RFC 9438 §4.1, packets/s³.
C = 0.4
#: RFC 9438 §4.6: the part of cwnd that remains after a loss.
BETA = 0.7
#: RFC 9438 §4.3: packets per RTT in the Reno-friendly region.
ALPHA = 3 * (1 - BETA) / (1 + BETA)


def w_max_pkts(interval_s: float, rtt_s: float) -> float:
    """Return the window at a loss: the larger of CUBIC's own and the Reno-friendly region's."""
    return max(C * interval_s**3 / (1 - BETA), ALPHA * interval_s / ((1 - BETA) * rtt_s))


def w_avg_pkts(interval_s: float, rtt_s: float) -> float:
    """Return the mean window of a flow that loses every `interval_s` seconds.

    Examples
    --------
    >>> round(w_avg_pkts(10, 0.1))
    1233
    """
    cubic = C * interval_s**3 * (3 + BETA) / (4 * (1 - BETA))
    friendly = (1 + BETA) / 2 * ALPHA * interval_s / ((1 - BETA) * rtt_s)
    return max(cubic, friendly)


def rate_pkts_per_s(interval_s: float, rtt_s: float) -> float:
    """Return the throughput, packets/s: W_avg / RTT."""
    return w_avg_pkts(interval_s, rtt_s) / rtt_s


def crossover_s(rtt_s: float) -> float:
    """Return T*: if losses are closer than this, the flow is in the Reno-friendly region."""
    return math.sqrt(ALPHA / (C * rtt_s))


def k_s(w_max: float) -> float:
    """Return K: the time to return to W_max (RFC 9438 figure 2)."""
    return math.cbrt(w_max * (1 - BETA) / C)


def w_avg_unsteady_pkts(interval_s: float, w_max: float) -> float:
    """Return the mean window over an epoch that lasts `interval_s` instead of K."""
    k = k_s(w_max)
    return w_max + C / (4 * interval_s) * ((interval_s - k) ** 4 - k**4)


def next_w_max(interval_s: float, w_max: float) -> float:
    """Return the next W_max when a loss comes `interval_s` after the last one."""
    peak = w_max + C * (interval_s - k_s(w_max)) ** 3
    return peak if peak >= w_max else (1 + BETA) / 2 * peak


def at_bottleneck(bottleneck: Bottleneck, flows: int) -> Sawtooth:
    """Return the sawtooth of synchronised CUBIC flows that fill a drop-tail buffer.

    Each flow's peak is its share of pipe and buffer. The window returns there with the cubic curve
    or the Reno-friendly line, whichever is faster.

    Parameters
    ----------
    bottleneck
        c, l and q.
    flows
        Number of flows.
    """
    friendly = linear_law(bottleneck, flows, ALPHA)

    def law(peak: float) -> Law:
        def time_s(window: FloatArray) -> FloatArray:
            below = np.maximum(0.0, peak - window)
            faster: FloatArray = np.minimum(k_s(peak) - np.cbrt(below / C), friendly(window))
            return faster

        return time_s

    return sawtooth(bottleneck, flows, BETA, law)


def predict(scenario: Scenario) -> Prediction:
    """Predict CUBIC flows alone."""
    return predict_alone(scenario, "cubic", at_bottleneck)


MODEL = Model(
    name="cubic-interval",
    label="CUBIC loss interval",
    title="CUBIC's window and throughput from the time between losses",
    source="derived from RFC 9438 §5.1 and appendix C; reconstruction of the model behind BBR-FCA",
    status=DERIVED,
    help="CUBIC's window and throughput from the time between losses (derived).",
    calculations=(
        Calculation(
            {"interval": None, "rtt": "40ms"},
            (
                Column("w_max_pkts", "W_max\npkts", "{:.1f}"),
                Column("w_avg_pkts", "W_avg\npkts", "{:.1f}"),
                Column("rate_pkts_per_s", "throughput\npkts/s", "{:.1f}"),
                Column("reno_friendly", "Reno-friendly"),
            ),
            lambda t, r: {
                "w_max_pkts": w_max_pkts(t, r),
                "w_avg_pkts": w_avg_pkts(t, r),
                "rate_pkts_per_s": rate_pkts_per_s(t, r),
                "reno_friendly": t < crossover_s(r),
            },
        ),
        calculate_sawtooth(at_bottleneck),
    ),
    of_scenario=predict,
    covers=LONG_FLOWS,
    headline=Headline(
        "queue_delay_mean_us", None, "mean queueing delay", "ms", 1e-3, is_relative=True
    ),
)

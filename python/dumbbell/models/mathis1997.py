"""Mathis, Semke, Mahdavi, Ott 1997: Reno's throughput from the loss rate.

Losses are evenly spaced, 1/p packets apart; the window falls from W to W/2 at each and grows by a
packet per RTT, or by 1/b when an ACK acknowledges b packets:

    1/p = 3·b/8 · W²,  so  W = √(8/(3·b·p))
    mean window = 3/4 · W = √(3/(2·b·p))
    rate = MSS/RTT · C/√p,  C = √(3/(2·b)):  1.22 for b = 1, 0.87 for delayed ACKs (b = 2)

p losses per packet; W packets; RTT s, assumed fixed.

Linux counts the packets that an ACK acknowledges (RFC 3465), so b = 1 there even with delayed ACKs.

Assumptions: no timeouts, so p below a few percent; one loss halves the window once; the receiver
does not limit. At a drop-tail bottleneck W is pipe and buffer over the flow count, which determines
p, and the RTT is not fixed: `at_bottleneck` includes its growth with the queue (derived here).

Source: "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR 27(3), 1997.
"""

from __future__ import annotations

import math

from dumbbell.models.bottleneck import Bottleneck
from dumbbell.models.calculation import PACKETS_PER_ACK, Calculation, Column
from dumbbell.models.model import LONG_FLOWS, PUBLISHED, Headline, Model
from dumbbell.models.prediction import Prediction
from dumbbell.models.sawtooth import (
    Sawtooth,
    calculate_sawtooth,
    linear_law,
    predict_alone,
    sawtooth,
)
from dumbbell.scenario import Scenario

__all__ = ["MODEL", "at_bottleneck", "avg_w_pkts", "loss_for_peak", "peak_w_pkts"]

#: The part of the window that remains after a loss (RFC 5681).
BETA = 0.5


def peak_w_pkts(loss: float, packets_per_ack: float = 1) -> float:
    """Return W: the window at a loss."""
    return math.sqrt(8 / (3 * packets_per_ack * loss))


def avg_w_pkts(loss: float, packets_per_ack: float = 1) -> float:
    """Return the mean window, packets; divided by the RTT it is the rate.

    Parameters
    ----------
    loss
        p.
    packets_per_ack
        b.

    Examples
    --------
    >>> round(avg_w_pkts(1e-4), 1)
    122.5
    """
    return (1 + BETA) / 2 * peak_w_pkts(loss, packets_per_ack)


def loss_for_peak(peak_pkts: float, packets_per_ack: float = 1) -> float:
    """Return p when the window is `peak_pkts` at each loss: 8/(3·b·W²)."""
    return 8 / (3 * packets_per_ack * peak_pkts**2)


def at_bottleneck(bottleneck: Bottleneck, flows: int) -> Sawtooth:
    """Return the sawtooth of synchronised Reno flows that fill a drop-tail buffer."""
    grow = linear_law(bottleneck, flows, 1.0)
    return sawtooth(bottleneck, flows, BETA, lambda _peak: grow)


def predict(scenario: Scenario) -> Prediction:
    """Predict Reno flows alone."""
    return predict_alone(scenario, "reno", at_bottleneck)


MODEL = Model(
    name="mathis",
    label="Mathis et al. 1997",
    title="Reno's window and throughput from the loss rate",
    source="Mathis, Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance "
    "Algorithm, CCR 27(3), 1997; at a drop-tail bottleneck derived from it",
    status=PUBLISHED,
    help="Reno: Mathis et al. 1997. With --loss from the loss rate, else at a drop-tail buffer.",
    calculations=(
        Calculation(
            {"loss": None, "rtt": "40ms"},
            (
                Column("w_max_pkts", "W\npkts", "{:.1f}"),
                Column("w_avg_pkts", "mean window\npkts", "{:.1f}"),
                Column("rate_pkts_per_s", "throughput\npkts/s", "{:.1f}"),
            ),
            lambda p, r, packets_per_ack: {
                "w_max_pkts": peak_w_pkts(p, packets_per_ack),
                "w_avg_pkts": avg_w_pkts(p, packets_per_ack),
                "rate_pkts_per_s": avg_w_pkts(p, packets_per_ack) / r,
            },
            (PACKETS_PER_ACK,),
        ),
        calculate_sawtooth(at_bottleneck),
    ),
    of_scenario=predict,
    covers=LONG_FLOWS,
    headline=Headline(
        "queue_delay_mean_us", None, "mean queueing delay", "ms", 1e-3, is_relative=True
    ),
)

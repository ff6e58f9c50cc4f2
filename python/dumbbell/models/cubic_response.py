"""CUBIC's mean window from the loss rate: RFC 9438's response function.

With one loss every 1/p packets:

    AVG_W_cubic = ⁴√(C·(3 + β)/(4·(1 - β))) · RTT^¾ / p^¾ = 1.054·(RTT/p)^¾     (figures 6 to 8)
    AVG_W_reno  = 1.2/√p                                                     (RFC 3649, table 1)
    AVG_W       = max of the two: the second is the Reno-friendly region

p loss events per packet sent; RTT s; windows packets; C = 0.4, β = 0.7.

Assumptions: losses are evenly spaced and independent of the window; there are no timeouts; the
receiver does not limit; the RTT is fixed. Source: RFC 9438 §5.
"""

from __future__ import annotations

import math

from dumbbell.models.calculation import Calculation, Column
from dumbbell.models.cubic_interval import BETA, C
from dumbbell.models.model import PUBLISHED, Model

__all__ = ["MODEL", "loss_for_window", "reno_avg_w_pkts", "response_avg_w_pkts"]

#: RFC 3649 §2 rounds √(3/2) = 1.22 to this, and RFC 9438's tables use it.
RENO = 1.2


def factor(c: float) -> float:
    """Return ⁴√(C·(3 + β)/(4·(1 - β)))."""
    return math.pow(c * (3 + BETA) / (4 * (1 - BETA)), 0.25)


def reno_avg_w_pkts(loss: float) -> float:
    """Return Reno's mean window as in RFC 9438's tables: 1.2/√p."""
    return RENO / math.sqrt(loss)


def response_avg_w_pkts(loss: float, rtt_s: float, c: float = C) -> float:
    """Return CUBIC's mean window.

    Parameters
    ----------
    loss
        p: loss events per packet.
    rtt_s
        RTT.
    c
        C, packets/s³.

    Examples
    --------
    >>> [round(response_avg_w_pkts(p, 0.1)) for p in (1e-3, 1e-4, 1e-5, 1e-6)]
    [38, 187, 1054, 5926]
    """
    return max(factor(c) * math.pow(rtt_s / loss, 0.75), reno_avg_w_pkts(loss))


def loss_for_window(window_pkts: float, rtt_s: float, c: float = C) -> float:
    """Return the loss rate for a mean window of CUBIC: the inverse of the response function."""
    return max(rtt_s * math.pow(factor(c) / window_pkts, 4 / 3), (RENO / window_pkts) ** 2)


MODEL = Model(
    name="cubic-response",
    label="RFC 9438",
    title="CUBIC's mean window from the loss rate",
    source="RFC 9438 §5, figures 6 to 8, tables 1 to 3",
    status=PUBLISHED,
    help="CUBIC's mean window from the loss rate: RFC 9438's response function.",
    calculations=(
        Calculation(
            {"loss": "1e-8..1e-2", "rtt": "100ms"},
            (
                Column("w_avg_pkts", "CUBIC's mean\nwindow, pkts", "{:.0f}"),
                Column("reno_w_avg_pkts", "Reno's\npkts", "{:.0f}"),
            ),
            lambda p, r: {
                "w_avg_pkts": response_avg_w_pkts(p, r),
                "reno_w_avg_pkts": reno_avg_w_pkts(p),
            },
        ),
    ),
)

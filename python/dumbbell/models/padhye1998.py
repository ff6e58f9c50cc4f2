"""Padhye, Firoiu, Towsley, Kurose 1998 ("PFTK"): Reno's throughput with timeouts.

Losses are independent between rounds; after a first loss the rest of the round is lost too. A loss
that leaves fewer than three duplicate ACKs is detected by a timeout, whose length doubles up to
64 T0:

    E[W] = (2 + b)/(3b) + √(8·(1 - p)/(3·b·p) + ((2 + b)/(3b))²)          mean window at a loss
    Q(w) = min(1, (1 - (1-p)³)·(1 + (1-p)³·(1 - (1-p)^(w-3)))/(1 - (1-p)^w))  a loss is a timeout
    f(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶                         timeouts' lengths, in T0
    B(p) = ((1-p)/p + E[W] + Q(E[W])/(1-p)) / (RTT·(b/2·E[W] + 1) + Q(E[W])·T0·f(p)/(1-p))
    with E[W] ≥ W_m, the receiver's window:
    B(p) = ((1-p)/p + W_m + Q(W_m)/(1-p))
           / (RTT·(b/8·W_m + (1-p)/(p·W_m) + 2) + Q(W_m)·T0·f(p)/(1-p))

and the approximation that is usually quoted:

    B(p) = min(W_m/RTT, 1/(RTT·√(2bp/3) + T0·min(1, 3·√(3bp/8))·p·(1 + 32p²)))

RFC 5348 §3.1 (TFRC) has this without the min(1, …) and W_m. p loss events per packet; b packets per
ACK; RTT and T0 (the first RTO) s; B packets/s sent.

Assumptions: Reno without SACK, so several losses in a window end in a timeout more often than in
Linux; fixed RTT, independent of the window. Source: "Modeling TCP Throughput: A Simple Model and
its Empirical Validation", SIGCOMM 1998, equations 13, 24, 28 to 30.
"""

from __future__ import annotations

import math

from dumbbell.models.calculation import PACKETS_PER_ACK, Calculation, Column, Factor
from dumbbell.models.model import PUBLISHED, Model

__all__ = ["MODEL", "approximate_rate_pkts_per_s", "rate_pkts_per_s", "timeout_probability"]


def expected_w_pkts(loss: float, packets_per_ack: float) -> float:
    """Return E[W]: the mean window at a loss (equation 13)."""
    offset = (2 + packets_per_ack) / (3 * packets_per_ack)
    return offset + math.sqrt(8 * (1 - loss) / (3 * packets_per_ack * loss) + offset**2)


def timeout_probability(loss: float, window_pkts: float) -> float:
    """Return Q: the probability that a loss in a window ends in a timeout (equation 24)."""
    if window_pkts <= 3:
        return 1.0
    kept = 1 - loss
    three = math.pow(kept, 3)
    numerator = (1 - three) * (1 + three * (1 - math.pow(kept, window_pkts - 3)))
    # expm1 and log1p: 1 - (1 - p)^w loses its digits for a small p.
    return min(1.0, numerator / -math.expm1(window_pkts * math.log1p(-loss)))


def rate_pkts_per_s(
    loss: float,
    rtt_s: float,
    rto_s: float,
    packets_per_ack: float = 1,
    w_max_pkts: float = math.inf,
) -> float:
    """Return the send rate of the full model (equations 28 and 29).

    Parameters
    ----------
    loss
        p.
    rtt_s, rto_s
        RTT and T0.
    packets_per_ack
        b.
    w_max_pkts
        W_m: the receiver's window.
    """
    window = expected_w_pkts(loss, packets_per_ack)
    rounds = packets_per_ack / 2 * window + 1
    if window >= w_max_pkts:
        window = w_max_pkts
        rounds = packets_per_ack / 8 * window + (1 - loss) / (loss * window) + 2
    timeouts = timeout_probability(loss, window) / (1 - loss)
    backoff = 1 + math.fsum(math.ldexp(math.pow(loss, k), k - 1) for k in range(1, 7))
    sent = (1 - loss) / loss + window + timeouts
    return sent / (rtt_s * rounds + timeouts * rto_s * backoff)


def approximate_rate_pkts_per_s(
    loss: float,
    rtt_s: float,
    rto_s: float,
    packets_per_ack: float = 1,
    w_max_pkts: float = math.inf,
) -> float:
    """Return the send rate of the approximate model (equation 30).

    Examples
    --------
    >>> round(approximate_rate_pkts_per_s(0.01, 0.1, 0.4))
    112
    """
    b = packets_per_ack
    waiting = rto_s * min(1.0, 3 * math.sqrt(3 * b * loss / 8)) * loss * (1 + 32 * loss**2)
    return min(w_max_pkts / rtt_s, 1 / (rtt_s * math.sqrt(2 * b * loss / 3) + waiting))


MODEL = Model(
    name="pftk",
    label="Padhye et al. 1998",
    title="Reno's throughput from the loss rate, timeouts included",
    source="Padhye, Firoiu, Towsley, Kurose: Modeling TCP Throughput: A Simple Model and its "
    "Empirical Validation, SIGCOMM 1998, equations 28 to 30; RFC 5348 §3.1",
    status=PUBLISHED,
    help="Reno with timeouts: Padhye et al. 1998.",
    calculations=(
        Calculation(
            {"loss": "1e-5..1e-1", "rtt": "40ms"},
            (
                Column("rate_pkts_per_s", "full model\npkts/s", "{:.1f}"),
                Column("approximate_rate_pkts_per_s", "approximation\npkts/s", "{:.1f}"),
            ),
            lambda p, r, rto, packets_per_ack: {
                "rate_pkts_per_s": rate_pkts_per_s(p, r, rto, packets_per_ack),
                "approximate_rate_pkts_per_s": approximate_rate_pkts_per_s(
                    p, r, rto, packets_per_ack
                ),
            },
            (Factor("rto", "200ms", "T0: the first RTO."), PACKETS_PER_ACK),
        ),
    ),
)

"""Datagrams of media: one-way delay, jitter, what is late or lost, and how a call sounds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["G711", "G729A", "Codec", "mos_of", "r_of"]


@dataclass(frozen=True)
class Codec:
    """What a codec costs a call (ITU-T G.113 Appendix I).

    Attributes
    ----------
    impairment
        Equipment impairment factor without loss, Ie.
    robustness
        Packet-loss robustness factor, Bpl.
    """

    impairment: float
    robustness: float


#: G.711 with packet loss concealment, and G.729A.
G711 = Codec(0, 25.1)
G729A = Codec(11, 19)
#: Time that a packet of a call gathers speech before it is sent, ms.
PACKETISATION_MS = 20.0
#: R of a call without delay or loss, by G.107's default values.
R_BEST = 93.2
#: One-way delay above which a conversation suffers, ms.
KNEE_MS = 177.3


def r_of(delay_ms: float, loss: float, codec: Codec = G711, burst_ratio: float = 1.0) -> float:
    """Return the E-model's transmission rating factor R, reduced to delay and loss.

    R = 93.2 - Id - Ie,eff, Id = 0.024·d + 0.11·(d - 177.3) where d > 177.3, Ie,eff = Ie + (95 - Ie)
    · Ppl / (Ppl / BurstR + Bpl).

    Parameters
    ----------
    delay_ms
        From mouth to ear, one way.
    loss
        Share of the packets that are lost or too late.
    codec
        The codec.
    burst_ratio
        BurstR: 1 for losses at random.

    References
    ----------
    ITU-T G.107; Cole, Rosenbluth: "Voice over IP performance monitoring", CCR 31(2), 2001.

    Examples
    --------
    >>> [round(r_of(*each), 1) for each in ((0, 0), (150, 0), (300, 0), (0, 0.02))]
    [93.2, 89.6, 72.5, 86.2]
    """
    delay_impairment = 0.024 * delay_ms + 0.11 * max(delay_ms - KNEE_MS, 0)
    lost_pct = 100 * loss
    of_loss = lost_pct / (lost_pct / burst_ratio + codec.robustness)
    return R_BEST - delay_impairment - codec.impairment - (95 - codec.impairment) * of_loss


def mos_of(r: float) -> float:
    """Return the mean opinion score of a rating R: 1 + 0.035·R + 7·10⁻⁶·R·(R - 60)·(100 - R).

    1 below R = 0, 4.5 above 100.

    References
    ----------
    ITU-T G.107 Annex B.

    Examples
    --------
    >>> [round(mos_of(r), 2) for r in (93.2, 72.5, -5, 110)]
    [4.41, 3.71, 1, 4.5]
    """
    if r <= 0:
        return 1
    if r >= 100:
        return 4.5
    return 1 + 0.035 * r + 7e-6 * r * (r - 60) * (100 - r)

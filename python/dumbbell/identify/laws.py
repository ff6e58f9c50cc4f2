"""How known algorithms grow their window between losses: packets per round trip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dumbbell.identify.floats import Floats

__all__ = ["LAWS", "RoundState"]


@dataclass(frozen=True)
class RoundState:
    """Rounds between losses: what a law looks at.

    Attributes
    ----------
    window_pkts, since_s, rtt_s
        The window, the time since the loss, the RTT.
    before_pkts, after_pkts, peak_pkts
        The window before and after the last loss, and before that which came earlier.
    per_rtt
        How many round trips the round is.
    base_rtt_s, max_rtt_s
        Of the flow.
    """

    window_pkts: Floats
    since_s: Floats
    rtt_s: Floats
    before_pkts: Floats
    after_pkts: Floats
    peak_pkts: Floats
    per_rtt: Floats
    base_rtt_s: float
    max_rtt_s: float

    @property
    def queued_pkts(self) -> Floats:
        """Packets that are in queues, as Vegas counts them."""
        return self.window_pkts * (1.0 - self.base_rtt_s / np.maximum(self.rtt_s, self.base_rtt_s))


def reno(state: RoundState) -> Floats:
    """One packet (RFC 5681 §3.1)."""
    return np.ones_like(state.window_pkts)


def cubic(state: RoundState) -> Floats:
    """RFC 9438 §4.2, with fast convergence (§4.7) and the Reno-friendly region (§4.3)."""
    c, kept = 0.4, 0.7
    converges = state.before_pkts < state.peak_pkts
    origin = np.where(converges, state.before_pkts * (1 + kept) / 2, state.before_pkts)
    origin = np.maximum(origin, state.after_pkts)
    k_s = np.cbrt((origin - state.after_pkts) / c)
    now, then = state.since_s - k_s, state.since_s + state.rtt_s - k_s
    grown = c * (then**3 - now**3)
    # At most half the window in a round trip (§4.4), at least as Reno would (§4.3).
    friendly = 3 * (1 - kept) / (1 + kept)
    return np.clip(grown, friendly, np.maximum(state.window_pkts / 2, friendly))


def bic(state: RoundState) -> Floats:
    """Binary search, as Linux has it: B = 4, increments of at most 16 and at least 1/5."""
    kept, most, b, smooth = 819 / 1024, 16.0, 4.0, 20.0
    converges = state.before_pkts < state.peak_pkts
    origin = np.where(converges, state.before_pkts * (1 + kept) / 2, state.before_pkts)
    below = (origin - state.window_pkts) / b
    above = state.window_pkts - origin
    under = np.where(below > most, most, np.where(below <= 1, b / smooth, below))
    over = np.where(above < b, b / smooth, np.where(above < most * (b - 1), above / (b - 1), most))
    return np.where(state.window_pkts < origin, under, over)


def htcp(state: RoundState) -> Floats:
    """H-TCP: from 1 s after a loss on the growth rises with the time (draft-leith-tcp-htcp §2)."""
    late_s = np.maximum(state.since_s - 1.0, 0.0)
    kept = np.clip(state.base_rtt_s / state.max_rtt_s, 0.5, 0.8)
    return np.where(late_s > 0, 2 * (1 - kept) * (1 + 10 * late_s + (late_s / 2) ** 2), 1.0)


def highspeed(state: RoundState) -> Floats:
    """RFC 3649 §5, from its formulas."""
    window = np.maximum(state.window_pkts, 38.0)
    loss = 0.078 / window**1.2
    kept = 0.5 - 0.4 * (np.log(window) - np.log(38)) / (np.log(83_000) - np.log(38))
    return np.where(window <= 38.0, 1.0, window**2 * loss * 2 * kept / (2 - kept))


def scalable(state: RoundState) -> Floats:
    """A hundredth of the window, at least one packet (Kelly 2003; Linux's constant)."""
    return np.maximum(state.window_pkts / 100.0, 1.0)


def hybla(state: RoundState) -> Floats:
    """The square of the RTT over 25 ms (Caini and Firrincieli 2004)."""
    rho = max(state.base_rtt_s / 0.025, 1.0)
    return np.full_like(state.window_pkts, rho * rho)


def illinois(state: RoundState) -> Floats:
    """10 packets without a queue, 0.3 with the longest (Liu, Başar and Srikant 2008)."""
    longest_s = max(state.max_rtt_s - state.base_rtt_s, 1e-6)
    least_s = longest_s / 100
    delay_s = np.maximum(state.rtt_s - state.base_rtt_s - least_s, 0.0)
    longest_s -= least_s
    return 10 * longest_s / (longest_s + delay_s * (10 - 0.3) / 0.3)


def veno(state: RoundState) -> Floats:
    """One packet, half of one from 3 in the queue on (Fu and Liew 2003)."""
    return np.where(state.queued_pkts < 3, 1.0, 0.5)


def vegas(state: RoundState) -> Floats:
    """Between 2 and 4 packets in the queue (Brakmo and Peterson 1995, Linux's constants)."""
    return np.where(state.queued_pkts < 2, 1.0, np.where(state.queued_pkts > 4, -1.0, 0.0))


#: By the name of the algorithm.
LAWS: dict[str, Callable[[RoundState], Floats]] = {
    "reno": reno, "cubic": cubic, "bic": bic, "htcp": htcp, "highspeed": highspeed,
    "scalable": scalable, "hybla": hybla, "illinois": illinois, "veno": veno, "vegas": vegas,
}  # fmt: skip

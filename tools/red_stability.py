"""RED with TCP as a linear control loop: where it is stable, and how it would oscillate.

Hollot, Misra, Towsley and Gong, "A control theoretic analysis of RED", IEEE INFOCOM 2001: N flows
of additive increase and multiplicative decrease, a queue that integrates, RED's average as a
low-pass filter, all linearised around the equilibrium.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["Loop"]

#: How far the equilibrium is narrowed down, bisections.
STEPS = 60


@dataclass(frozen=True)
class Loop:
    """A link with RED and flows of Reno.

    Attributes
    ----------
    flows
        N.
    rtt_s
        Propagation round trip, s.
    capacity
        C, packets/s.
    min_pkts, max_pkts
        RED's bounds.
    probability
        Probability of a drop at `max_pkts`, with which the slope is L_red.
    weight
        Of a packet in the average.
    """

    flows: int
    rtt_s: float
    capacity: float
    min_pkts: float
    max_pkts: float
    probability: float
    weight: float

    @property
    def slope(self) -> float:
        """L_red, per packet."""
        return self.probability / (self.max_pkts - self.min_pkts)

    @property
    def filter_per_s(self) -> float:
        """K: the pole of the average, one sample per packet, 1/s."""
        return -self.capacity * math.log1p(-self.weight)

    def delay_s(self, queue: float) -> float:
        """Return R, the round trip with a queue, s."""
        return self.rtt_s + queue / self.capacity

    def queue(self) -> float:
        """Return the equilibrium's queue, packets: the drop rate of RED is that of TCP, 2/W²."""
        low, high = self.min_pkts, self.max_pkts
        for _ in range(STEPS):
            middle = (low + high) / 2
            window = self.delay_s(middle) * self.capacity / self.flows
            if self.slope * (middle - self.min_pkts) < 2 / window**2:
                low = middle
            else:
                high = middle
        return low

    def bound(self) -> float:
        """Return the left side of Proposition 1 over the right side: at most 1 is stable.

        With N and R of the equilibrium in the places of their bounds N⁻ and R⁺.
        """
        delay_s = self.delay_s(self.queue())
        frequency = 0.1 * min(2 * self.flows / (delay_s**2 * self.capacity), 1 / delay_s)
        left = self.slope * (delay_s * self.capacity) ** 3 / (2 * self.flows) ** 2
        return left / math.hypot(frequency / self.filter_per_s, 1)

    def crossover(self) -> tuple[float, float]:
        """Return the loop's gain where its phase is -180°, and the period there, s.

        Nyquist: the linear loop is stable if and only if the gain is below 1.
        """
        delay_s = self.delay_s(self.queue())
        s = 1j * np.logspace(-2, 3, 50_000)
        window_pole = 2 * self.flows / (delay_s**2 * self.capacity)
        gain = (
            self.slope * self.filter_per_s / (s + self.filter_per_s)
            * self.capacity**2 / (2 * self.flows)
            / ((s + window_pole) * (s + 1 / delay_s))
            * np.exp(-s * delay_s)
        )  # fmt: skip
        at = int(np.argmax(np.unwrap(np.angle(gain)) <= -np.pi))
        return float(abs(gain[at])), float(2 * np.pi / s[at].imag)

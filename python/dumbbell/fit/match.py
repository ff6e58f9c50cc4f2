"""How well a simulated path explains a capture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell.fit.connection_series import Floats
from dumbbell.fit.evidence import Evidence
from dumbbell.fit.path import PathModel
from dumbbell.fit.simulated import Simulated

__all__ = ["Candidate", "weights"]

#: Queueing delays differ by a factor; below this they are the same, s, and as a share of the RTT.
SAME_S, SAME_SHARE = 1e-3, 0.02
#: Quantiles of the queueing delays at losses.
AT_LOSS = (10, 50, 90)
#: Least standard deviation of each statistic: what engines that agree differ by. In order:
#: logarithms of five quantiles of the queueing delay, and of three before losses; the square root
#: of the loss events, whose standard deviation is 1/2 (Bartlett 1936); logarithms of the goodput
#: and of the share of retransmissions; the busy share; the logarithm of how the rate moves,
#: and of the link's rate by ACKs; and of the noise of the RTT.
LEAST = np.array([0.15] * 5 + [0.15] * 3 + [0.5, 0.03, 0.5, 0.1, 0.5, 0.1, 0.3])
#: A share of retransmissions and a movement below these count as none.
NO_LOSS, NO_MOVE = 1e-5, 0.02
#: Noise that hosts make, s.
NO_NOISE_S = 3e-4


@dataclass(frozen=True, eq=False)
class Candidate:
    """A path, and how far its runs are from the capture.

    Attributes
    ----------
    distance
        Squared differences of the statistics, each in standard deviations, added up.
    """

    path: PathModel
    distance: float

    @classmethod
    def of(cls, seen: Evidence, runs: Sequence[Simulated]) -> Candidate:
        """Compare runs of one path with what was seen."""
        found = np.array([statistics(each.evidence, seen.base_rtt_s) for each in runs])
        spread = np.maximum(LEAST, found.std(axis=0))
        away = (statistics(seen, seen.base_rtt_s) - found.mean(axis=0)) / spread
        return cls(runs[0].path, float((away**2).sum()))


def statistics(evidence: Evidence, base_s: float) -> Floats:
    """Return what two records are compared by; `LEAST` has the order."""
    same_s = SAME_S + SAME_SHARE * base_s
    at_loss = [each.queue_s for each in evidence.losses] or [0.0]
    delays = np.concatenate((evidence.queue_s, np.percentile(at_loss, AT_LOSS)))
    return np.array(
        [
            *np.log(np.maximum(delays, 0.0) + same_s),
            np.sqrt(len(evidence.losses)),
            np.log(max(evidence.series.goodput_bps, 1.0)),
            np.log(evidence.loss_share + NO_LOSS),
            evidence.busy_share,
            np.log(evidence.moves + NO_MOVE),
            np.log(max(evidence.link_bps or evidence.rate_bps, 1.0)),
            np.log(evidence.noise_s + NO_NOISE_S),
        ]
    )


def weights(candidates: Sequence[Candidate]) -> list[float]:
    """Return how probable each candidate is, next to the others."""
    distances = np.array([each.distance for each in candidates])
    likely = np.exp(-(distances - distances.min()) / 2)
    shares: list[float] = (likely / likely.sum()).tolist()
    return shares

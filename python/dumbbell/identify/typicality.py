"""How far a flow is from what a known algorithm does on such a path.

For each class a quadratic of the path (its RTT, BDP and queue, the losses, the capture's length)
says what every feature is expected to be. What is left over, in units of the class's own scatter,
is summed up in a few numbers, which mean the same for each class: trees for novelty look at them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.identify.features import FEATURES, GROUPS
from dumbbell.identify.floats import Floats

__all__ = ["SURPRISES", "Typicality", "path_terms", "without_hosts"]

#: What hosts negotiate says nothing of whether an algorithm does what it is expected to.
OF_HOSTS = [FEATURES.index(name) for name in ("ect_share", "ce_share", "accurate_ecn")]

#: Residuals count no more than this; for the whitened ones it is less.
MOST, MOST_WHITENED = 8.0, 6.0
#: A value beyond all that were seen is this much further out at most.
BEYOND = 2.0
#: Features whose residuals are looked at together: those of a module, and of the known laws.
TOGETHER = (
    *GROUPS,
    tuple(at for at, name in enumerate(FEATURES) if name.startswith(("ratio_", "error_"))),
)
#: Ranks of absolute residuals, and levels above which they are counted.
RANKS, LEVELS = (5, 10, 20), (3.0, 2.0)
#: How many numbers `surprises` returns.
SURPRISES = 3 + 4 * len(TOGETHER) + len(RANKS) + len(LEVELS)


@dataclass(frozen=True)
class Typicality:
    """What is expected of each class's flows.

    Attributes
    ----------
    knots, heights
        Feature × quantile: values, and what a normal variable has there. NaN of features that were
        hardly ever there.
    weights
        Class × term of the path × feature.
    scatter, present
        Class × feature: of the residuals; the share of flows that have the feature.
    whitening
        Feature × feature: what makes residuals of known flows independent.
    """

    knots: Floats
    heights: Floats
    weights: Floats
    scatter: Floats
    present: Floats
    whitening: Floats

    def evened(self, features: Floats) -> Floats:
        """Return features on the scale of a normal variable, each by its own quantiles."""
        features = without_hosts(features)
        found = np.full(features.shape, np.nan)
        for at, (knots, heights) in enumerate(zip(self.knots, self.heights, strict=True)):
            values = features[:, at]
            here = ~np.isnan(values)
            if np.isnan(knots[0]) or not here.any():
                continue
            values, middle = values[here], knots[len(knots) // 2]
            above = (values - knots[-1]) / (abs(knots[-1] - middle) + 1e-9)
            below = (knots[0] - values) / (abs(middle - knots[0]) + 1e-9)
            beyond = np.clip(above, 0, BEYOND) - np.clip(below, 0, BEYOND)
            found[here, at] = np.interp(values, knots, heights) + beyond
        return found

    def residuals(self, evened: Floats, terms: Floats, which: int) -> Floats:
        """Return what a class does not explain, in units of its scatter; NaN where none is."""
        found: Floats = (evened - terms @ self.weights[which]) / self.scatter[which]
        return found

    def surprises(self, features: Floats, classes: npt.NDArray[np.int64]) -> Floats:
        """Return `SURPRISES` numbers for each flow, as one of a class.

        Parameters
        ----------
        features
            A row per flow.
        classes
            The number of the class for each.
        """
        evened, terms = self.evened(features), path_terms(features)
        found = np.zeros((len(features), SURPRISES))
        for which in np.unique(classes).tolist():
            rows = classes == which
            residuals = self.residuals(evened[rows], terms[rows], which)
            found[rows] = self._summed_up(residuals, self.present[which])
        return found

    def _summed_up(self, residuals: Floats, present: Floats) -> Floats:
        missing = np.isnan(residuals)
        # The model keeps shares as half floats, in which nearly all is all.
        present = np.clip(present, 2.0**-24, 1 - 2.0**-11)
        unlikely = -np.where(missing, np.log1p(-present), np.log(present)).sum(axis=1)
        residuals = np.nan_to_num(np.clip(residuals, -MOST, MOST))
        squares = (np.clip(residuals, -MOST_WHITENED, MOST_WHITENED) @ self.whitening) ** 2
        columns = [
            np.log1p(squares.sum(axis=1)),
            np.log1p(np.sort(squares, axis=1)[:, -10:].sum(axis=1)),
            unlikely,
        ]
        size = np.abs(residuals)
        for together in TOGETHER:
            ranked = np.sort(size[:, together], axis=1)
            mean, square = ranked[:, -8:].mean(axis=1), np.sqrt((ranked**2).mean(axis=1))
            columns += [ranked[:, -1], ranked[:, -3], mean, square]
        ranked = np.sort(size, axis=1)
        columns += [ranked[:, -rank] for rank in RANKS]
        columns += [(size > level).sum(axis=1) for level in LEVELS]
        return np.stack(columns, axis=1)


def without_hosts(features: Floats) -> Floats:
    """Return features without those that hosts negotiate."""
    found = features.copy()
    found[:, OF_HOSTS] = np.nan
    return found


def path_terms(features: Floats) -> Floats:
    """Return the terms of a quadratic of the path: of its logarithms, about their middles."""

    def log(name: str, least: float, most: float, middle: float) -> Floats:
        values = np.nan_to_num(features[:, FEATURES.index(name)], nan=least)
        found: Floats = np.log(np.clip(values, least, most) / middle)
        return found

    bent = [
        log("base_rtt_ms", 1.0, 1e4, 55.0),
        log("bdp_pkts", 4.0, 1e6, 150.0),
        log("largest_rtt_over_base", 1.0, 20.0, 2.0),
        log("duration_s", 5.0, 100.0, 30.0),
    ]
    is_receivers = (features[:, FEATURES.index("vantage")] == 2).astype(np.float64)
    linear = [0.2 * log("loss_rate", 1e-6, 1.0, 3e-4), is_receivers]
    squares = [first * second for at, first in enumerate(bent) for second in bent[at:]]
    return np.stack([np.ones(len(features)), *bent, *linear, *squares], axis=1)

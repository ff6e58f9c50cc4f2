"""How far a flow is from what a known algorithm does on such a path.

For each class a quadratic of the path (its RTT, BDP and queue, the losses, the capture's length)
says what every feature is expected to be, on a scale of the class's own. What is left over, in
units of the scatter that the class has with as many losses on such a path, counts by how often any
class has as much left of that feature. A few numbers sum that up, which mean the same for each
class: trees for novelty look at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dumbbell.identify.features import FEATURES, GROUPS
from dumbbell.identify.floats import Floats

__all__ = ["SURPRISES", "TAILS", "Typicality", "path_terms", "scatter_terms", "without_hosts"]

#: What hosts negotiate says nothing of whether an algorithm does what it is expected to.
OF_HOSTS = [FEATURES.index(name) for name in ("ect_share", "ce_share", "accurate_ecn")]

#: Shares of known flows that have more left over, and what a normal variable has there.
TAILS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
NORMAL = (0.0, *(NormalDist().inv_cdf(1 - share / 2) for share in TAILS))
#: Values are on a straight scale up to this number of a class's units from its middle.
STRAIGHT = 3.0
#: What is left over counts no more than this; when whitened it is less.
MOST, MOST_WHITENED = 8.0, 6.0
#: Beyond the last of the shares: for each time as much again.
BEYOND = 0.75 * NORMAL[-1]
#: Scatter depends on the path by no more than this factor's logarithm, and is no less than this.
MOST_SCATTER_CHANGE, LEAST_SCATTER = 1.5, 0.09
#: Features whose residuals are looked at together: those of a module, and of the known laws.
TOGETHER = (
    *GROUPS,
    tuple(at for at, name in enumerate(FEATURES) if name.startswith(("ratio_", "error_"))),
)
#: Ranks of absolute residuals, levels above which they are counted, and how many of the largest
#: have a mean.
RANKS, LEVELS, LARGEST = (5, 10, 20), (3.0, 2.0), 40
#: How many numbers `surprises` returns.
SURPRISES = 4 + 4 * len(TOGETHER) + len(RANKS) + len(LEVELS)


@dataclass(frozen=True)
class Typicality:
    """What is expected of each class's flows.

    Attributes
    ----------
    middle, unit
        Class × feature: of its values. NaN of features that the class hardly ever has.
    weights
        Class × term of the path × feature.
    scatter, present
        Class × feature: of the residuals; the share of flows that have the feature.
    scatter_range
        Class × (least, most, mean, deviation) × term of the scatter.
    scatter_weights
        Class × term of the scatter × feature: of its logarithm.
    tails
        Feature × `TAILS`: residuals of all classes. NaN of features that were hardly ever there.
    whitening
        Feature × feature: what makes residuals of known flows independent.
    """

    middle: Floats
    unit: Floats
    weights: Floats
    scatter: Floats
    present: Floats
    scatter_range: Floats
    scatter_weights: Floats
    tails: Floats
    whitening: Floats

    def scaled(self, features: Floats, which: int) -> Floats:
        """Return features on a class's own scale: straight about its middle, then logarithmic."""
        units = (without_hosts(features) - self.middle[which]) / self.unit[which]
        found: Floats = STRAIGHT * np.arcsinh(units / STRAIGHT)
        return found

    def scatter_of(self, features: Floats, which: int) -> Floats:
        """Return the scatter that a class has with as many losses on such a path."""
        least, most, mean, deviation = self.scatter_range[which]
        terms = (np.clip(scatter_terms(features), least, most) - mean) / deviation
        change = terms @ self.scatter_weights[which]
        change = np.clip(change, -MOST_SCATTER_CHANGE, MOST_SCATTER_CHANGE)
        found: Floats = np.hypot(np.exp(change) * self.scatter[which], LEAST_SCATTER)
        return found

    def residuals(self, features: Floats, which: int) -> Floats:
        """Return what a class does not explain, in units of its scatter; NaN where none is."""
        expected = path_terms(features) @ self.weights[which]
        found: Floats = (self.scaled(features, which) - expected) / self.scatter_of(features, which)
        return found

    def ranked(self, residuals: Floats) -> Floats:
        """Return residuals by how often any class has as much, on a normal variable's scale."""
        found = np.full(residuals.shape, np.nan)
        for at, tails in enumerate(self.tails):
            size = np.abs(residuals[:, at])
            if np.isnan(tails[0]):
                continue
            rank = np.interp(size, np.concatenate(([0.0], tails)), NORMAL)
            rank += BEYOND * np.maximum(size / tails[-1] - 1, 0.0)
            found[:, at] = np.sign(residuals[:, at]) * rank
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
        found = np.zeros((len(features), SURPRISES))
        for which in np.unique(classes).tolist():
            rows = classes == which
            residuals = self.ranked(self.residuals(features[rows], which))
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
        columns += [np.sqrt((ranked[:, -LARGEST:] ** 2).mean(axis=1))]
        return np.stack(columns, axis=1)


def without_hosts(features: Floats) -> Floats:
    """Return features without those that hosts negotiate."""
    found = features.copy()
    found[:, OF_HOSTS] = np.nan
    return found


def log_of(features: Floats, name: str, ends: tuple[float, float], middle: float) -> Floats:
    """Return a feature's logarithm about its middle; of nothing, that of the lower end."""
    values = np.nan_to_num(features[:, FEATURES.index(name)], nan=ends[0])
    found: Floats = np.log(np.clip(values, *ends) / middle)
    return found


def of_path(features: Floats) -> list[Floats]:
    """Return logarithms of the path's RTT, BDP and longest queue, and of the capture's length."""
    return [
        log_of(features, "base_rtt_ms", (1.0, 1e4), 55.0),
        log_of(features, "bdp_pkts", (4.0, 1e6), 150.0),
        log_of(features, "largest_rtt_over_base", (1.0, 20.0), 2.0),
        log_of(features, "duration_s", (5.0, 100.0), 30.0),
    ]


def path_terms(features: Floats) -> Floats:
    """Return the terms of a quadratic of the path: of its logarithms, about their middles."""
    bent = of_path(features)
    is_receivers = (features[:, FEATURES.index("vantage")] == 2).astype(np.float64)
    linear = [0.2 * log_of(features, "loss_rate", (1e-6, 1.0), 3e-4), is_receivers]
    squares = [first * second for at, first in enumerate(bent) for second in bent[at:]]
    return np.stack([np.ones(len(features)), *bent, *linear, *squares], axis=1)


def scatter_terms(features: Floats) -> Floats:
    """Return what a feature's scatter depends on: with more losses it is a mean of more."""
    losses = np.log1p(np.maximum(np.nan_to_num(features[:, FEATURES.index("losses")]), 0.0))
    return np.stack([losses, *of_path(features)], axis=1)

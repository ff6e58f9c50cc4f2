"""What is expected of each class on a path, learned from quiet flows: `Typicality`."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from dumbbell.identify import Floats, Typicality, path_terms

__all__ = ["expected_of"]

#: Quantiles that even a feature out.
QUANTILES = np.linspace(0.002, 0.998, 61)
#: Fewer values say nothing of a feature, or of a class's.
LEAST_VALUES, LEAST_OF_CLASS = 20, 8
#: What a weight costs: a class has tens of flows, and a quadratic a dozen terms.
RIDGE = 3.0
#: Residuals are of flows that the weights have not seen, up to this share of what each weighs.
MOST_LEVERAGE = 0.8
#: Scatter is never below this, of a feature's own; the ridge of its correlations.
LEAST_SCATTER, SHRINKAGE = 0.05, 0.1


def expected_of(features: Floats, numbers: Floats, classes: int) -> Typicality:
    """Learn what is expected of each class's flows.

    Parameters
    ----------
    features
        A row per flow: of lone flows through drop-tail, which show their algorithm best.
    numbers
        The number of each one's class.
    classes
        How many there are.
    """
    knots, heights = quantiles_of(features)
    shape = (classes, features.shape[1])
    empty = Typicality(
        knots, heights, np.zeros((classes, path_terms(features[:1]).shape[1], shape[1])),
        np.ones(shape), np.full(shape, 0.5), np.eye(shape[1]),
    )  # fmt: skip
    evened, terms = empty.evened(features), path_terms(features)
    residuals = []
    for which in range(classes):
        own = numbers == which
        left = fitted(evened[own], terms[own], empty.weights[which])
        for at, column in enumerate(left.T):
            known = np.abs(column[~np.isnan(column)])
            if len(known):
                usual = np.quantile(known, 0.9) / NormalDist().inv_cdf(0.95)
                empty.scatter[which, at] = np.hypot(usual, LEAST_SCATTER)
        empty.present[which] = ((~np.isnan(evened[own])).sum(axis=0) + 1) / (own.sum() + 2)
        residuals.append(np.nan_to_num(np.clip(left / empty.scatter[which], -6, 6)))
    together = np.concatenate(residuals)
    covariance = together.T @ together / max(len(together), 1)
    covariance += SHRINKAGE * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    empty.whitening[:] = vectors / np.sqrt(values)
    return empty


def quantiles_of(features: Floats) -> tuple[Floats, Floats]:
    """Return each feature's quantiles, and what a normal variable has there."""
    normal = np.array([NormalDist().inv_cdf(share) for share in QUANTILES])
    knots = np.full((features.shape[1], len(QUANTILES)), np.nan)
    heights = np.tile(normal, (features.shape[1], 1))
    for at, column in enumerate(features.T):
        known = column[~np.isnan(column)]
        if len(known) < LEAST_VALUES:
            continue
        knots[at] = np.quantile(known, QUANTILES)
        # Values that many flows have are in the middle of their quantiles.
        for value in np.unique(knots[at]):
            heights[at, knots[at] == value] = normal[knots[at] == value].mean()
    return knots, heights


def fitted(evened: Floats, terms: Floats, weights: Floats) -> Floats:
    """Fit a class's weights; return residuals, each of a flow that its weights have not seen."""
    left = np.full(evened.shape, np.nan)
    ridge = RIDGE * np.eye(terms.shape[1])
    ridge[0, 0] = 1e-3
    for at in range(evened.shape[1]):
        here = ~np.isnan(evened[:, at])
        if here.sum() < LEAST_OF_CLASS:
            continue
        inside, values = terms[here], evened[here, at]
        inverse = np.linalg.inv(inside.T @ inside + ridge)
        weights[:, at] = inverse @ (inside.T @ values)
        leverage = np.einsum("ij,jk,ik->i", inside, inverse, inside)
        left[here, at] = (values - inside @ weights[:, at]) / (
            1 - np.minimum(leverage, MOST_LEVERAGE)
        )
    return left

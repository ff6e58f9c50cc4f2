"""What is expected of each class on a path, learned from quiet flows: `Typicality`."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dumbbell.identify import TAILS, Floats, Typicality, path_terms, scatter_terms, without_hosts

__all__ = ["expected_of"]

#: Fewer values say nothing of a feature, of a class's, of its scatter, and of residuals of all.
LEAST_VALUES, LEAST_OF_CLASS, LEAST_OF_SCATTER, LEAST_OF_ALL = 20, 8, 20, 100
#: A class's unit is at least this share of the feature's own, which is of all classes.
LEAST_UNIT = 0.02
#: What a weight costs: a class has a hundred flows, a quadratic a dozen terms and scatter five.
RIDGE, SCATTER_RIDGE, FREE = 3.0, 20.0, 1e-3
#: Residuals are of flows that the weights have not seen, up to this share of what each weighs.
MOST_LEVERAGE = 0.8
#: Scatter is never below this; the weights of its logarithm are no larger.
LEAST_SCATTER, MOST_SCATTER_WEIGHT = 0.15, 1.0
#: Added to residuals whose logarithm is taken; to the deviation of a term; between two tails.
NO_LOGARITHM, LEAST_DEVIATION, LEAST_STEP = 0.1, 0.05, 1e-3
#: The ridge of the residuals' correlations.
SHRINKAGE = 0.1
#: A normal variable's quartile, its 95th percentile.
QUARTILE, HIGH = NormalDist().inv_cdf(0.75), NormalDist().inv_cdf(0.95)


def expected_of(features: Floats, numbers: npt.NDArray[np.int64], classes: int) -> Typicality:
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
    features = without_hosts(features)
    terms, of_scatter = path_terms(features), scatter_terms(features)
    count, some = features.shape[1], of_scatter.shape[1]
    shape = (classes, count)
    empty = Typicality(
        middle=np.full(shape, np.nan), unit=np.ones(shape),
        weights=np.zeros((classes, terms.shape[1], count)),
        scatter=np.ones(shape), present=np.full(shape, 0.5),
        scatter_range=np.ones((classes, 4, some)), scatter_weights=np.zeros((classes, some, count)),
        tails=np.full((count, len(TAILS)), np.nan), whitening=np.eye(count),
    )  # fmt: skip
    least = LEAST_UNIT * np.array([unit_of(column) for column in features.T])
    residuals = []
    for which in range(classes):
        own = features[numbers == which]
        if not len(own):
            continue
        measure(own, least, empty, which)
        left = fitted(empty.scaled(own, which), terms[numbers == which], empty.weights[which])
        scattered(left, of_scatter[numbers == which], empty, which)
        empty.present[which] = ((~np.isnan(own)).sum(axis=0) + 1) / (len(own) + 2)
        residuals.append(left / empty.scatter_of(own, which))
    together = np.concatenate(residuals)
    empty.tails[:] = [tails_of(column) for column in together.T]
    return replace(empty, whitening=whitening_of(empty.ranked(together)))


def unit_of(values: Floats) -> float:
    """Return a feature's usual range over all classes, in deviations."""
    known = values[~np.isnan(values)]
    if len(known) < LEAST_VALUES:
        return 1.0
    low, lower, upper, high = np.quantile(known, (0.05, 0.25, 0.75, 0.95)).tolist()
    return float(max((upper - lower) / (2 * QUARTILE), (high - low) / (2 * HIGH), 1e-9))


def measure(own: Floats, least: Floats, into: Typicality, which: int) -> None:
    """Find a class's own scale."""
    for at, column in enumerate(own.T):
        known = column[~np.isnan(column)]
        if len(known) >= LEAST_OF_CLASS:
            lower, middle, upper = np.quantile(known, (0.25, 0.5, 0.75)).tolist()
            into.middle[which, at] = middle
            into.unit[which, at] = max((upper - lower) / (2 * QUARTILE), least[at])


def fitted(scaled: Floats, terms: Floats, weights: Floats) -> Floats:
    """Fit a class's weights; return residuals, each of a flow that its weights have not seen."""
    left = np.full(scaled.shape, np.nan)
    ridge = RIDGE * np.eye(terms.shape[1])
    ridge[0, 0] = FREE
    for at in range(scaled.shape[1]):
        here = ~np.isnan(scaled[:, at])
        if here.sum() < LEAST_OF_CLASS:
            continue
        inside, values = terms[here], scaled[here, at]
        inverse = np.linalg.inv(inside.T @ inside + ridge)
        weights[:, at] = inverse @ (inside.T @ values)
        leverage = np.einsum("ij,jk,ik->i", inside, inverse, inside)
        left[here, at] = (values - inside @ weights[:, at]) / (
            1 - np.minimum(leverage, MOST_LEVERAGE)
        )
    return left


def scattered(left: Floats, terms: Floats, into: Typicality, which: int) -> None:
    """Find a class's scatter, and what it depends on."""
    ends = np.quantile(terms, (0.02, 0.98), axis=0)
    mean, deviation = terms.mean(axis=0), terms.std(axis=0) + LEAST_DEVIATION
    into.scatter_range[which] = [*ends, mean, deviation]
    inside = np.hstack([np.ones((len(terms), 1)), (np.clip(terms, *ends) - mean) / deviation])
    ridge = SCATTER_RIDGE * np.eye(inside.shape[1])
    ridge[0, 0] = FREE
    for at, column in enumerate(left.T):
        here = ~np.isnan(column)
        if not here.any():
            continue
        size = np.abs(column[here])
        usual = float(np.hypot(np.quantile(size, 0.9) / HIGH, LEAST_SCATTER))
        if here.sum() >= LEAST_OF_SCATTER:
            rows = inside[here]
            logarithm = np.log(size / usual + NO_LOGARITHM)
            weights = np.linalg.solve(rows.T @ rows + ridge, rows.T @ logarithm)[1:]
            weights = np.clip(weights, -MOST_SCATTER_WEIGHT, MOST_SCATTER_WEIGHT)
            usual = max(float(np.quantile(size / np.exp(rows[:, 1:] @ weights), 0.9)) / HIGH, 1e-3)
            into.scatter_weights[which, :, at] = weights
        into.scatter[which, at] = usual


def tails_of(residuals: Floats) -> Floats:
    """Return what shares of all classes' flows exceed."""
    size = np.abs(residuals[~np.isnan(residuals)])
    if len(size) < LEAST_OF_ALL:
        return np.full(len(TAILS), np.nan)
    found: Floats = np.quantile(size, 1 - np.array(TAILS)) + LEAST_STEP * np.arange(
        1, len(TAILS) + 1
    )
    return found


def whitening_of(residuals: Floats) -> Floats:
    """Return what makes residuals independent."""
    together = np.nan_to_num(np.clip(residuals, -6, 6))
    covariance = together.T @ together / max(len(together), 1)
    covariance += SHRINKAGE * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    found: Floats = vectors / np.sqrt(values)
    return found

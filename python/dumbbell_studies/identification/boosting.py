"""Gradient boosting of symmetric trees for several classes, in numpy.

Friedman 2001; trees as in Prokhorenkova et al. 2018. Each asks the same question at all nodes of a
level, so that a tree of depth d is d questions and 2^d values: small to ship, and fast to evaluate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.identify import Floats, Forest

__all__ = ["Boosting", "boost"]

Codes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Boosting:
    """How trees are grown.

    Attributes
    ----------
    rounds, depth, rate
        Trees of each class, questions of each tree, and the share of its values that counts.
    l2
        Added to the curvature, so that leaves with few flows say little.
    feature_share, row_share
        Of the features and flows that each tree looks at.
    bins
        Values that a question may compare with, for each feature.
    seed
        Of both draws.
    """

    rounds: int = 120
    depth: int = 5
    rate: float = 0.15
    l2: float = 3.0
    feature_share: float = 0.3
    row_share: float = 0.8
    bins: int = 40
    seed: int = 1


def boost(
    features: Floats, classes: Integers, count: int, how: Boosting, weights: Floats | None = None
) -> Forest:
    """Learn to tell classes apart.

    Parameters
    ----------
    features
        A row per flow; NaN where there is none.
    classes
        The number of each flow's class.
    count
        How many classes there are.
    how
        The trees.
    weights
        What each flow counts; by default all count 1.
    """
    chance = np.random.default_rng(how.seed)
    weight = np.ones(len(features)) if weights is None else weights
    edges = [quantile_edges(features[:, column], how.bins) for column in range(features.shape[1])]
    codes = np.stack(
        [coded(features[:, column], edges[column]) for column in range(features.shape[1])]
    )
    scores = np.zeros((len(features), count))
    truth = np.eye(count)[classes]
    trees: list[list[tuple[Integers, Integers, npt.NDArray[np.bool_], Floats]]] = []
    for _ in range(how.rounds):
        chances = softmax(scores)
        of_round = []
        for which in range(count):
            rows = np.flatnonzero(chance.random(len(features)) < how.row_share)
            columns = chance.choice(
                features.shape[1], max(int(how.feature_share * features.shape[1]), 1), replace=False
            )
            gradient = weight * (chances[:, which] - truth[:, which])
            curvature = weight * np.maximum(chances[:, which] * (1 - chances[:, which]), 1e-6)
            tree = grow(codes, rows, columns, gradient, curvature, how)
            of_round.append(tree)
            scores[:, which] += tree[3][places(codes, *tree[:3])]
        trees.append(of_round)
    return forest_of(trees, edges, count)


def quantile_edges(values: Floats, bins: int) -> Floats:
    """Return values between which a feature's bins lie."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(0)
    found: Floats = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)[1:-1]))
    return found


def coded(values: Floats, edges: Floats) -> Codes:
    """Return the number of each value's bin from 1 on, 0 for none."""
    codes = np.searchsorted(edges, values, side="left") + 1
    codes[np.isnan(values)] = 0
    return codes.astype(np.uint8)


def softmax(scores: Floats) -> Floats:
    """Return each class's chance, from scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


def grow(
    codes: Codes,
    rows: Integers,
    columns: Integers,
    gradient: Floats,
    curvature: Floats,
    how: Boosting,
) -> tuple[Integers, Integers, npt.NDArray[np.bool_], Floats]:
    """Grow a tree: its features, the last bins below, whether none counts as above, its values."""
    bins = how.bins + 2
    inside = codes[np.ix_(columns, rows)].astype(np.int64)
    node = np.zeros(len(rows), dtype=np.int64)
    g, h = gradient[rows], curvature[rows]
    features, lasts, missing = [], [], []
    sums = summed(inside, node, (g, h), 1, bins)
    for level in range(how.depth):
        if level:
            # The larger half of a node is the node less the smaller: each flow of the smaller half
            # of its node counts, and the others do not.
            counts = np.bincount(node, minlength=1 << level).reshape(-1, 2)
            smaller = 2 * np.arange(len(counts)) + (counts[:, 1] <= counts[:, 0])
            chosen = np.flatnonzero(node == smaller[node >> 1])
            of_smaller = summed(
                inside[:, chosen], node[chosen] >> 1, (g[chosen], h[chosen]), len(counts), bins
            )
            halves = np.empty((2, 1 << level, len(columns), bins))
            halves[:, smaller], halves[:, smaller ^ 1] = of_smaller, sums - of_smaller
            sums = halves
        column, last, is_above = best_question(sums[0], sums[1], how.l2)
        code = inside[column]
        above = (code > last) | ((code == 0) & is_above)
        node = node * 2 + (above & ((code != 0) | is_above))
        features.append(columns[column])
        lasts.append(last)
        missing.append(is_above)
    leaves = 1 << how.depth
    values = -how.rate * np.bincount(node, g, leaves) / (np.bincount(node, h, leaves) + how.l2)
    return np.array(features), np.array(lasts), np.array(missing), values


def summed(
    codes: Integers, node: Integers, values: tuple[Floats, Floats], nodes: int, bins: int
) -> Floats:
    """Return sums of both values: value × node × feature × bin."""
    found = np.empty((len(codes), 2, nodes, bins))
    first = node * bins
    # A feature at a time: its flows are in the processor's cache.
    for place, code in zip(found, codes, strict=True):
        index = code + first
        for sums, value in zip(place, values, strict=True):
            sums[:] = np.bincount(index, value, nodes * bins).reshape(nodes, bins)
    return found.transpose(1, 2, 0, 3)


def best_question(g: Floats, h: Floats, l2: float) -> tuple[int, int, bool]:
    """Return the feature, the last bin below and where none goes, by the gain over all nodes."""
    total_g, total_h = g.sum(axis=2, keepdims=True), h.sum(axis=2, keepdims=True)
    best = (-1.0, 0, 0, False)
    known_g, known_h = np.cumsum(g[:, :, 1:], axis=2), np.cumsum(h[:, :, 1:], axis=2)
    for is_above in (False, True):
        below_g, below_h = known_g, known_h
        if not is_above:
            below_g, below_h = below_g + g[:, :, :1], below_h + h[:, :, :1]
        gain = below_g**2 / (below_h + l2)
        gain += (total_g - below_g) ** 2 / (total_h - below_h + l2)
        gains = gain.sum(axis=0)
        place = int(np.argmax(gains))
        column, last = divmod(place, gains.shape[1])
        if gains.flat[place] > best[0]:
            best = (float(gains.flat[place]), column, last + 1, is_above)
    return best[1:]


def places(
    codes: Codes, features: Integers, lasts: Integers, missing: npt.NDArray[np.bool_]
) -> Integers:
    """Return the leaf of each flow."""
    node = np.zeros(codes.shape[1], dtype=np.int64)
    for feature, last, is_above in zip(features, lasts, missing, strict=True):
        code = codes[feature]
        node = node * 2 + ((code > last) | ((code == 0) & is_above))
    return node


def forest_of(
    trees: list[list[tuple[Integers, Integers, npt.NDArray[np.bool_], Floats]]],
    edges: list[Floats],
    count: int,
) -> Forest:  # fmt: skip
    """Return the trees in the form in which they are shipped: thresholds instead of bins."""
    flat = [tree for of_round in trees for tree in of_round]
    thresholds = np.array([
        [threshold(edges[feature], last) for feature, last in zip(tree[0], tree[1], strict=True)]
        for tree in flat
    ])  # fmt: skip
    return Forest(
        features=np.array([tree[0] for tree in flat], dtype=np.uint16),
        thresholds=thresholds.astype(np.float32),
        missing=np.array([tree[2] for tree in flat], dtype=np.bool_),
        values=np.array([tree[3] for tree in flat], dtype=np.float16),
        classes=count,
    )


def threshold(edges: Floats, last: int) -> float:
    """Return the largest value that is in a bin or below it."""
    return float(edges[last - 1]) if last - 1 < len(edges) else float("inf")

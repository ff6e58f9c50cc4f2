"""From the scores of cells to that of a category, and from those to one number.

A cell's score is the minimum of its metrics', so that delay cannot buy throughput. A category is
half the mean and half the worst of its cells. The whole is the geometric mean of the categories,
with a floor, so that a hopeless category cannot be averaged away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["category_score", "overall_score"]


def category_score(scores: Sequence[float], weights: Sequence[float], worst_share: float) -> float:
    """Return a category's score.

    Parameters
    ----------
    scores, weights
        Of its cells; weights count in the mean.
    worst_share
        The part that the worst cell has.

    Examples
    --------
    >>> from dumbbell_studies.score.aggregate import category_score
    >>> category_score([1.0, 1.0, 0.25], [1, 1, 1], worst_share=0.5)
    0.5
    """
    mean = math.fsum(s * w for s, w in zip(scores, weights, strict=True)) / math.fsum(weights)
    return worst_share * min(scores) + (1 - worst_share) * mean


def overall_score(scores: Sequence[float], weights: Sequence[float], floor: float) -> float:
    """Return the weighted geometric mean of categories' scores, none of which is below a floor.

    Examples
    --------
    >>> from dumbbell_studies.score.aggregate import overall_score
    >>> round(overall_score([1.0, 0.04], [1, 1], floor=0.02), 6)
    0.2
    >>> round(overall_score([1.0, 0.0], [1, 1], floor=0.04), 6)
    0.2
    """
    logs = (w * math.log(max(s, floor)) for s, w in zip(scores, weights, strict=True))
    return math.exp(math.fsum(logs) / math.fsum(weights))

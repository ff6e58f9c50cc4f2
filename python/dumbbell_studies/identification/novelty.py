"""Trees that tell flows of the class that is named from those of any other algorithm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dumbbell.identify import (
    AT_SENDER,
    ELSEWHERE,
    FEATURES,
    SURPRISES,
    Floats,
    Forest,
    Model,
    NamingRule,
    Typicality,
    as_one_of,
)
from dumbbell_studies.identification.boosting import Boosting, boost
from dumbbell_studies.identification.calibration import (
    FOLDS,
    LabelledFeatures,
    Trained,
    fold_of,
)
from dumbbell_studies.identification.expectation import expected_of

__all__ = ["with_novelty"]

#: Drawn algorithms' flows count together as much as this share of the known ones', and so do known
#: ones as their second, and as their third class.
WEIGHT_OF_OTHERS, WEIGHT_OF_RELATIVES = 0.7, 0.3
#: Fixed on drawn algorithms, fresh paths and laws looked at before it was judged: of quiet known
#: flows these shares, at the sender and elsewhere, are too novel, and unfamiliar
#: (docs/notes/identify.md).
TOO_NOVEL, UNFAMILIAR = (0.03, 0.02), (0.16, 0.08)
#: What familiar and unfamiliar ones need for a name.
RULE = NamingRule(
    least_chance=(0.6, 0.7),
    level=(0.05, 0.05),
    unfamiliar_chance=(0.8, 0.95),
    unfamiliar_level=(0.05, 0.2),
)


@dataclass(frozen=True)
class Claims:
    """Flows, each taken for one of a class.

    Attributes
    ----------
    flows, classes
        Numbers of both.
    is_false
        Whether the flow is of another algorithm.
    weight
        What it counts in learning.
    """

    flows: npt.NDArray[np.int64]
    classes: npt.NDArray[np.int64]
    is_false: npt.NDArray[np.int64]
    weight: Floats


def with_novelty(
    trained: Trained, known: LabelledFeatures, others: LabelledFeatures, how: Boosting
) -> tuple[Model, Floats]:
    """Return a model that also has trees for novelty.

    Parameters
    ----------
    trained
        On the known ones.
    known, others
        Flows of known algorithms, and of those that stand for all others.
    how
        The trees.

    Returns
    -------
    Model and numpy.ndarray
        The novelty of the known flows and then of the others, by trees that have not seen their
        runs.
    """
    novelty = np.full(len(known.labels) + len(others.labels), -np.inf)
    expected: list[Typicality] = []
    forests: list[Forest] = []
    places = places_of(known.features)
    for place in (AT_SENDER, ELSEWHERE):
        at = np.flatnonzero(places == place)
        if place == ELSEWHERE and not len(at):
            expected, forests = expected * 2, forests * 2
            break
        of = np.flatnonzero(places_of(others.features) == place)
        typicality, forest, found = of_place(
            replace(trained, scores=trained.scores[at]),
            part_of(known, at),
            part_of(others, of),
            how,
        )
        expected.append(typicality)
        forests.append(forest)
        novelty[np.concatenate([at, len(places) + of])] = found
    classes = trained.model.classes
    numbers = np.array([classes.index(label) for label in known.labels])
    judged = np.array(known.is_quiet) & (trained.scores.argmax(axis=1) == numbers)
    rule = replace(
        RULE,
        most_novelty=exceeded_by(novelty[: len(places)], judged, places, TOO_NOVEL),
        unfamiliar=exceeded_by(novelty[: len(places)], judged, places, UNFAMILIAR),
    )
    model = replace(trained.model, rule=rule, typicality=tuple(expected), novelty=tuple(forests))
    return model, novelty


def places_of(features: Floats) -> npt.NDArray[np.int64]:
    """Return whether each flow was captured at the sender, 0, or elsewhere, 1."""
    return (features[:, FEATURES.index("vantage")] > 0).astype(np.int64)


def part_of(flows: LabelledFeatures, rows: npt.NDArray[np.int64]) -> LabelledFeatures:
    """Return some of the flows."""
    return LabelledFeatures(
        flows.features[rows],
        [flows.labels[row] for row in rows],
        [flows.runs[row] for row in rows],
        [flows.is_quiet[row] for row in rows],
    )


def of_place(
    trained: Trained, known: LabelledFeatures, others: LabelledFeatures, how: Boosting
) -> tuple[Typicality, Forest, Floats]:
    """Return what is expected at a place, trees for novelty, and the novelty of unseen flows."""
    model, count = trained.model, len(trained.model.classes)
    numbers = np.array([model.classes.index(label) for label in known.labels], dtype=np.int64)
    is_quiet = np.array(known.is_quiet, dtype=np.bool_)
    features = np.concatenate([known.features, others.features])
    folds = np.array([fold_of(run) for run in (*known.runs, *others.runs)], dtype=np.int64)
    taken_for = model.forest.scores(others.features).argmax(axis=1)
    claims = claims_of(trained.scores, numbers, taken_for)
    looked_at = np.zeros((len(claims.flows), features.shape[1] + count + SURPRISES))
    part = folds[claims.flows]
    for fold in range(FOLDS):
        seen = is_quiet & (folds[: len(numbers)] != fold)
        expected = expected_of(known.features[seen], numbers[seen], count)
        of = part == fold
        rows = features[claims.flows[of]]
        looked_at[of] = as_one_of(expected, rows, claims.classes[of], count)

    def grown(rows: npt.NDArray[np.bool_]) -> Forest:
        rows = rows & (claims.weight > 0)
        return boost(looked_at[rows], claims.is_false[rows], 2, how, claims.weight[rows])

    first = len(features)  # claims; the others are of relatives
    scores = np.zeros((first, 2))
    for fold in range(FOLDS):
        here = folds == fold
        scores[here] = grown(part != fold).scores(looked_at[:first][here])
    return (
        expected_of(known.features[is_quiet], numbers[is_quiet], count),
        grown(np.ones(len(part), dtype=np.bool_)),
        scores[:, 1] - scores[:, 0],
    )


def claims_of(
    scores: Floats, numbers: npt.NDArray[np.int64], taken_for: npt.NDArray[np.int64]
) -> Claims:
    """Return every flow as one of its most likely class, then relatives of what is named.

    Parameters
    ----------
    scores, numbers
        Of the known flows, and their classes.
    taken_for
        The most likely class of the others.
    """
    order = np.argsort(-scores, axis=1)
    known, others = len(numbers), len(taken_for)
    # What is named rightly is not of its second or third class, and could be taken for it.
    is_right = order[:, 0] == numbers
    right = int(is_right.sum())
    of_others = WEIGHT_OF_OTHERS * right / max(others, 1)
    relatives = [WEIGHT_OF_RELATIVES * is_right] * 2
    own = np.arange(known)
    return Claims(
        np.concatenate([np.arange(known + others), own, own]),
        np.concatenate([order[:, 0], taken_for, order[:, 1], order[:, 2]]),
        np.concatenate([~is_right, np.ones(others + 2 * known, dtype=np.bool_)]).astype(np.int64),
        np.concatenate([is_right, np.full(others, of_others), *relatives]),
    )


def exceeded_by(
    novelty: Floats,
    judged: npt.NDArray[np.bool_],
    places: npt.NDArray[np.int64],
    shares: tuple[float, float],
) -> tuple[float, float]:
    """Return what a share of the flows at the sender, and of those elsewhere, exceed."""
    of_place = [novelty[judged & (places == place)] for place in (0, 1)]
    first, second = (
        float(np.quantile(each, 1 - share)) if len(each) else math.inf
        for each, share in zip(of_place, shares, strict=True)
    )
    return first, second

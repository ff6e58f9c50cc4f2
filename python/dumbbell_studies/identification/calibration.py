"""A model of labelled flows: its trees, and how sure they may be."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dumbbell.identify import FEATURES, Floats, Model, NamingRule, softmax
from dumbbell_studies.identification.boosting import Boosting, boost

__all__ = ["FOLDS", "LabelledFeatures", "Trained", "fold_of", "train"]

#: Parts of the flows; each is scored by trees that have not seen it.
FOLDS = 5
#: Quantiles of each class's own scores.
QUANTILES = np.linspace(0.0, 1.0, 81)
#: The rule of a model without trees for novelty.
PLAIN = NamingRule(least_chance=(0.7, 0.7), level=(0.05, 0.1))
#: Temperatures that are tried.
TEMPERATURES = np.geomspace(0.4, 2.5, 43)


@dataclass(frozen=True)
class LabelledFeatures:
    """Flows to learn from.

    Attributes
    ----------
    features
        A row per flow.
    labels
        Names of their algorithms.
    runs
        Numbers of the runs that they are of: flows of a run are never on both sides of a test.
    is_quiet
        Whether each was alone behind a drop-tail queue, without random loss or jitter.
    """

    features: Floats
    labels: list[str]
    runs: list[int]
    is_quiet: list[bool]


@dataclass(frozen=True)
class Trained:
    """A model, and what it would have said of flows that it had not seen.

    Attributes
    ----------
    model
        Learned from all.
    scores, places
        Of each flow, by trees that have not seen its run; where it was captured.
    novelty
        Of each flow, and then of others', by trees that have not seen its run; empty without.
    """

    model: Model
    scores: Floats
    places: npt.NDArray[np.int64]
    novelty: Floats = field(default_factory=lambda: np.zeros(0))


def train(known: LabelledFeatures, how: Boosting) -> Trained:
    """Learn from flows."""
    classes = tuple(sorted(set(known.labels)))
    numbers = np.array([classes.index(label) for label in known.labels])
    folds = np.array([fold_of(run) for run in known.runs])
    places = (known.features[:, FEATURES.index("vantage")] > 0).astype(np.int64)
    scores = np.zeros((len(numbers), len(classes)))
    for fold in range(FOLDS):
        inside = folds != fold
        forest = boost(known.features[inside], numbers[inside], len(classes), how)
        scores[~inside] = forest.scores(known.features[~inside])
    temperature = np.array(
        [best_temperature(scores[places == p], numbers[places == p]) for p in (0, 1)]
    )
    reference = np.array([
        [reference_of(scores, (places == place) & (numbers == which), which)
         for which in range(len(classes))]
        for place in (0, 1)
    ])  # fmt: skip
    forest = boost(known.features, numbers, len(classes), how)
    return Trained(Model(classes, forest, temperature, reference, PLAIN), scores, places)


def fold_of(run: int) -> int:
    """Return the part that a run is in."""
    return hashlib.sha256(str(run).encode()).digest()[0] % FOLDS


def best_temperature(scores: Floats, numbers: npt.NDArray[np.int64]) -> float:
    """Return the temperature with which the chances are the most likely (Guo et al. 2017)."""
    if not len(scores):
        return 1.0
    losses = [
        -np.log(np.maximum(softmax(scores / t)[np.arange(len(numbers)), numbers], 1e-9)).mean()
        for t in TEMPERATURES
    ]
    return float(TEMPERATURES[int(np.argmin(losses))])


def reference_of(scores: Floats, chosen: npt.NDArray[np.bool_], which: int) -> Floats:
    """Return quantiles of a class's own scores; of nothing, scores that nothing reaches."""
    own = scores[chosen, which]
    if not len(own):
        return np.full(len(QUANTILES), np.inf)
    found: Floats = np.quantile(own, QUANTILES)
    return found

"""The trained model: a data file of the package, and what it says of a flow."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dumbbell.base.errors import ResultError
from dumbbell.identify.features import FEATURES
from dumbbell.identify.floats import Floats
from dumbbell.identify.forest import Forest

__all__ = ["MODEL_VERSION", "Model", "Opinion", "shipped_model"]

#: Version of the file.
MODEL_VERSION = 1
#: Where the wheel has it.
SHIPPED = Path(__file__).parent
#: A flow that is scored lower than this share of a class's own flows is not of it, at the sender
#: and elsewhere: the level of the conformal test (Vovk, Gammerman and Shafer 2005, by class).
LEVELS = (0.05, 0.1)
#: Below this chance no name is given.
LEAST_CHANCE = 0.7
#: Kinds of places with a calibration of their own.
AT_SENDER, ELSEWHERE = 0, 1


@dataclass(frozen=True)
class Opinion:
    """What the model says of a flow.

    Attributes
    ----------
    algorithm
        None for unknown.
    chance
        Of the most likely known algorithm, calibrated on flows of known ones.
    typical
        The share of that algorithm's flows that look no more like it than this one does.
    chances
        Of each known algorithm, most likely first.
    """

    algorithm: str | None
    chance: float
    typical: float
    chances: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Model:
    """Trees, their calibration, and the names of the classes.

    Attributes
    ----------
    classes
        Names of the algorithms, in the order of the forest's classes.
    forest
        Scores for each class.
    temperature
        What scores are divided by before they are chances (Guo et al. 2017); for each place.
    reference
        Place × class × quantile: scores of each class's own flows that the trees had not seen.
    """

    classes: tuple[str, ...]
    forest: Forest
    temperature: Floats
    reference: Floats

    def opinions(self, features: Floats) -> list[Opinion]:
        """Return what the model says of each row."""
        if not len(features):
            return []
        scores = self.forest.scores(features)
        places = np.where(features[:, FEATURES.index("vantage")] > 0, ELSEWHERE, AT_SENDER)
        return [
            self.opinion(each, self.chances_of(each, place), place)
            for each, place in zip(scores, places.tolist(), strict=True)
        ]

    def chances_of(self, scores: Floats, place: int) -> Floats:
        """Return calibrated chances of a flow's scores."""
        found: Floats = softmax(scores[None, :] / self.temperature[place])[0]
        return found

    def opinion(self, scores: Floats, chances: Floats, place: int) -> Opinion:
        """Return what follows from scores."""
        order = np.argsort(-chances)
        best = int(order[0])
        chance = float(chances[best])
        typical = float(np.mean(self.reference[place, best] <= scores[best]))
        is_known = chance >= LEAST_CHANCE and typical >= LEVELS[place]
        return Opinion(
            self.classes[best] if is_known else None,
            chance,
            typical,
            tuple((self.classes[which], float(chances[which])) for which in order),
        )

    def save(self, path: Path) -> None:
        """Write the file that the wheel has."""
        about = {"version": MODEL_VERSION, "classes": self.classes, "features": FEATURES}
        np.savez_compressed(
            path,
            about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
            features=self.forest.features,
            thresholds=self.forest.thresholds,
            missing=self.forest.missing,
            values=self.forest.values,
            temperature=self.temperature.astype(np.float32),
            reference=self.reference.astype(np.float32),
        )

    @classmethod
    def load(cls, path: Path) -> Model:
        """Read a file that `save` wrote.

        Raises
        ------
        ResultError
            It is not one, or it is of other features.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            about = json.loads(arrays["about"].tobytes())
        except (OSError, ValueError, KeyError) as error:
            raise ResultError(f"{path}: is not a model: {error}") from None
        if about.get("version") != MODEL_VERSION or tuple(about["features"]) != FEATURES:
            raise ResultError(
                f"{path}: is of another version of dumbbell; train it again with "
                "`python -m dumbbell_studies.identification`"
            )
        classes = tuple(about["classes"])
        forest = Forest(
            arrays["features"], arrays["thresholds"], arrays["missing"], arrays["values"],
            len(classes),
        )  # fmt: skip
        temperature, reference = (
            arrays[name].astype(np.float64) for name in ("temperature", "reference")
        )
        return cls(classes, forest, temperature, reference)


def softmax(scores: Floats) -> Floats:
    """Return each class's chance, from scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


@functools.cache
def shipped_model(protocol: str = "tcp") -> Model:
    """Return the model of this package for a protocol: ``tcp`` or ``quic``."""
    return Model.load(SHIPPED / f"model-{protocol}.npz")

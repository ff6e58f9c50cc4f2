"""The trained model: a data file of the package, and what it says of a flow."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dumbbell.base.errors import ResultError
from dumbbell.identify.features import FEATURES
from dumbbell.identify.floats import Floats
from dumbbell.identify.forest import Forest
from dumbbell.identify.typicality import Typicality, without_hosts

__all__ = [
    "AT_SENDER",
    "ELSEWHERE",
    "MODEL_VERSION",
    "Model",
    "NamingRule",
    "Opinion",
    "as_one_of",
    "shipped_model",
]

#: Version of the file.
MODEL_VERSION = 4
#: Where the wheel has it.
SHIPPED = Path(__file__).parent
#: Arrays of a forest.
FOREST = ("features", "thresholds", "missing", "values")
#: Arrays of what is expected of each class; values of features are of any size.
EXPECTED = {
    "middle": np.float32, "unit": np.float32, "weights": np.float16, "scatter": np.float16,
    "present": np.float16, "scatter_range": np.float16, "scatter_weights": np.float16,
    "tails": np.float16, "whitening": np.float16,
}  # fmt: skip
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
class NamingRule:
    """When a flow gets a name; each value for the sender and for elsewhere.

    Attributes
    ----------
    least_chance
        Below this calibrated chance there is no name.
    level
        A flow that is scored lower than this share of a class's own flows is not of it: a conformal
        test (Vovk, Gammerman and Shafer 2005, by class).
    most_novelty
        Above this score of the trees for novelty it is none of the known algorithms.
    unfamiliar, unfamiliar_chance, unfamiliar_level
        Above this score the other two have to be as high as these.
    """

    least_chance: tuple[float, float]
    level: tuple[float, float]
    most_novelty: tuple[float, float] = (math.inf, math.inf)
    unfamiliar: tuple[float, float] = (math.inf, math.inf)
    unfamiliar_chance: tuple[float, float] = (1.0, 1.0)
    unfamiliar_level: tuple[float, float] = (1.0, 1.0)

    def allows(self, place: int, chance: float, typical: float, novelty: float) -> bool:
        """Whether a flow gets the name of the most likely algorithm."""
        if novelty > self.most_novelty[place]:
            return False
        least, level = self.least_chance[place], self.level[place]
        if novelty > self.unfamiliar[place]:
            least, level = self.unfamiliar_chance[place], self.unfamiliar_level[place]
        return chance >= least and typical >= level


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
    rule
        When a flow gets a name.
    typicality
        What is expected of each class, at the sender and elsewhere; empty without novelty.
    novelty
        For both, trees that tell flows of the class that is named, the first, from any other's, the
        second; empty without.
    """

    classes: tuple[str, ...]
    forest: Forest
    temperature: Floats
    reference: Floats
    rule: NamingRule
    typicality: tuple[Typicality, ...] = ()
    novelty: tuple[Forest, ...] = ()

    def opinions(self, features: Floats) -> list[Opinion]:
        """Return what the model says of each row."""
        if not len(features):
            return []
        scores = self.forest.scores(features)
        places = np.where(features[:, FEATURES.index("vantage")] > 0, ELSEWHERE, AT_SENDER)
        novelty = self.novelty_of(features, scores, places)
        return [
            self.opinion(each, self.chances_of(each, place), place, novel)
            for each, place, novel in zip(scores, places.tolist(), novelty.tolist(), strict=True)
        ]

    def novelty_of(self, features: Floats, scores: Floats, places: npt.NDArray[np.int64]) -> Floats:
        """Return how little each flow looks like one of its most likely class."""
        novel = np.full(len(features), -np.inf)
        best = scores.argmax(axis=1)
        for place, (expected, forest) in enumerate(zip(self.typicality, self.novelty, strict=True)):
            here = places == place
            looked_at = as_one_of(expected, features[here], best[here], len(self.classes))
            found = forest.scores(looked_at)
            novel[here] = found[:, 1] - found[:, 0]
        return novel

    def chances_of(self, scores: Floats, place: int) -> Floats:
        """Return calibrated chances of a flow's scores."""
        found: Floats = softmax(scores[None, :] / self.temperature[place])[0]
        return found

    def opinion(
        self, scores: Floats, chances: Floats, place: int, novelty: float = -math.inf
    ) -> Opinion:
        """Return what follows from scores."""
        order = np.argsort(-chances)
        best = int(order[0])
        chance = float(chances[best])
        typical = float(np.mean(self.reference[place, best] <= scores[best]))
        return Opinion(
            self.classes[best] if self.rule.allows(place, chance, typical, novelty) else None,
            chance,
            typical,
            tuple((self.classes[which], float(chances[which])) for which in order),
        )

    def save(self, path: Path) -> None:
        """Write the file that the wheel has."""
        about = {
            "version": MODEL_VERSION,
            "classes": self.classes,
            "features": FEATURES,
            "rule": asdict(self.rule),
        }
        forests = {"": self.forest}
        expected: dict[str, npt.NDArray[Any]] = {}
        for place, (typicality, forest) in enumerate(
            zip(self.typicality, self.novelty, strict=True)
        ):
            forests[prefix_of(place)] = forest
            for name, kind in EXPECTED.items():
                expected[prefix_of(place) + name] = getattr(typicality, name).astype(kind)
        np.savez_compressed(
            path,
            about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
            **{prefix + name: getattr(forest, name) for prefix, forest in forests.items()
               for name in FOREST},
            **expected,  # type: ignore[arg-type]
            temperature=self.temperature.astype(np.float32),
            reference=self.reference.astype(np.float32),
        )  # fmt: skip

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
        known = tuple(about.get("features", ()))
        # New features are added behind the others, which keep their places.
        if about.get("version") != MODEL_VERSION or FEATURES[: len(known)] != known or not known:
            raise ResultError(
                f"{path}: is of another version of dumbbell; train it again with "
                "`python -m dumbbell_studies.identification`"
            )
        classes = tuple(about["classes"])
        forest = forest_in(arrays, "", len(classes))
        prefixes = [prefix_of(place) for place in (AT_SENDER, ELSEWHERE)]
        prefixes = [prefix for prefix in prefixes if f"{prefix}values" in arrays]
        novelty = tuple(forest_in(arrays, prefix, 2) for prefix in prefixes)
        typicality = tuple(
            Typicality(**{name: arrays[prefix + name].astype(np.float64) for name in EXPECTED})
            for prefix in prefixes
        )
        rule = NamingRule(**{name: tuple(values) for name, values in about["rule"].items()})
        temperature, reference = (
            arrays[name].astype(np.float64) for name in ("temperature", "reference")
        )
        return cls(classes, forest, temperature, reference, rule, typicality, novelty)


def prefix_of(place: int) -> str:
    """Return what the names of the arrays for novelty at a place begin with."""
    return f"novelty_{place}_"


def forest_in(arrays: dict[str, npt.NDArray[Any]], prefix: str, classes: int) -> Forest:
    """Take a forest's arrays out of a file's."""
    features, thresholds, missing, values = (arrays[prefix + name] for name in FOREST)
    return Forest(features, thresholds, missing, values, classes)


def as_one_of(
    typicality: Typicality, features: Floats, classes: npt.NDArray[np.int64], count: int
) -> Floats:
    """Return what trees for novelty look at: features, the class, how it surprises as one of it."""
    surprises = typicality.surprises(features, classes)
    return np.hstack([without_hosts(features), np.eye(count)[classes], surprises])


def softmax(scores: Floats) -> Floats:
    """Return each class's chance, from scores."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found


@functools.cache
def shipped_model(protocol: str = "tcp") -> Model:
    """Return the model of this package for a protocol: ``tcp`` or ``quic``."""
    return Model.load(SHIPPED / f"model-{protocol}.npz")

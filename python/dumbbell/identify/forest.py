"""Symmetric trees that score a flow for each class; a model's core, evaluated with numpy alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dumbbell.identify.floats import Floats

__all__ = ["Forest"]

#: Flows that are scored at once: few enough for the cache.
BLOCK = 256


@dataclass(frozen=True)
class Forest:
    """Trees of several classes in turn: tree t is of class t modulo their number.

    Attributes
    ----------
    features, thresholds, missing
        A row per tree, a column per level: the feature, above which value the answer is yes, and
        whether it is yes where there is no value.
    values
        A row per tree, a column per leaf.
    classes
        How many.
    """

    features: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
    thresholds: npt.NDArray[np.float32]
    missing: npt.NDArray[np.bool_]
    values: npt.NDArray[np.float16]
    classes: int

    def scores(self, features: Floats) -> Floats:
        """Return the score of each class, a row per flow."""
        found = [self._block(features[at : at + BLOCK]) for at in range(0, len(features), BLOCK)]
        return np.concatenate(found) if found else np.zeros((0, self.classes))

    def _block(self, features: Floats) -> Floats:
        values = features.astype(np.float32)
        leaf = np.zeros((len(values), len(self.features)), dtype=np.int64)
        for level in range(self.features.shape[1]):
            asked = values[:, self.features[:, level]]
            yes = asked > self.thresholds[:, level]
            yes |= np.isnan(asked) & self.missing[:, level]
            leaf = 2 * leaf + yes
        scored = self.values[np.arange(len(self.values)), leaf].astype(np.float64)
        found: Floats = scored.reshape(len(values), -1, self.classes).sum(axis=1)
        return found

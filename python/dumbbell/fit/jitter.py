"""Delays that change from packet to packet more than a queue makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dumbbell.fit.path import PathModel

__all__ = ["adjusted_jitter", "first_jitter"]

#: More than this factor above the noise of a path without jitter, and more than this, s, which
#: hosts may make of it, is jitter.
ABOVE, LEAST_S = 1.5, 1.5e-4
#: A step changes jitter by this factor at most.
MAX_STEP = 3.0


def first_jitter(seen_s: float, without_s: float) -> float:
    """Return jitter to begin with; 0 if the noise is what a path without jitter has."""
    if seen_s < ABOVE * without_s or seen_s - without_s < LEAST_S:
        return 0.0
    return (seen_s - without_s) / 2


def adjusted_jitter(
    path: PathModel, seen_s: float, without_s: float, simulated_s: Sequence[float]
) -> PathModel:
    """Return the path with the jitter whose noise is nearer to what was seen."""
    simulated = max(float(np.median(simulated_s)) - without_s, 1e-6)
    factor = float(np.clip((seen_s - without_s) / simulated, 1 / MAX_STEP, MAX_STEP))
    return replace(path, jitter_s=path.jitter_s * factor)

"""The type of numbers over time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Floats"]

Floats = npt.NDArray[np.float64]

"""Arrow columns as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["to_floats"]

FloatArray = npt.NDArray[np.float64]


def to_floats(values: Any) -> FloatArray:
    """Return an Arrow column as floats; missing values become NaN, large counts the nearest."""
    column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    array: FloatArray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return array

"""A congestion control's state as numbers."""

from __future__ import annotations

import pyarrow as pa

from dumbbell.plots.figure import FloatArray
from dumbbell.run.series import to_floats

__all__ = ["state_values"]


def state_values(column: pa.ChunkedArray) -> tuple[FloatArray, list[str]]:
    """Return a state as numbers, and the names of 0, 1, … if it has names."""
    values = column.combine_chunks()
    if pa.types.is_string(values.type):
        values = values.dictionary_encode()
    if pa.types.is_dictionary(values.type):
        return to_floats(values.indices), values.dictionary.to_pylist()
    return to_floats(values), []

"""A congestion control algorithm's state, that of a group's first flow, as numbers."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.figures.figure import FloatArray
from dumbbell.figures.floats import to_floats
from dumbbell.run import Run

__all__ = ["first_state", "state_values"]


def first_state(run: Run, group: int) -> pa.Table | None:
    """Return the state of a group's first flow; None if its CCA records none."""
    try:
        table = run.state(group)
    except KeyError:
        return None
    return table.filter(pc.equal(table["flow"], pc.min(table["flow"])))


def state_values(column: pa.ChunkedArray) -> tuple[FloatArray, list[str]]:
    """Return a state as numbers, and the names of 0, 1, … if it has names."""
    values = column.combine_chunks()
    if pa.types.is_string(values.type):
        values = values.dictionary_encode()
    if pa.types.is_dictionary(values.type):
        return to_floats(values.indices), values.dictionary.to_pylist()
    return to_floats(values), []
